"""Answers are kept, a stopped run goes on, and its numbers are those of an undisturbed one."""

import math
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.core.questions import Answer, Fill, Likelihood, Question, Span
from evenhand.errors import RunError
from evenhand.models.cache import CachedAnswers, Remembering, fingerprints
from evenhand.models.planning.plan import Batch, Limit, Plan, Read, Reading, Values, run_plan
from evenhand.models.table import Table
from helpers.typed import only


class Letters:
    """A planned model without a network: each letter masked in turn, its value made from the whole batch.

    Answers depend on what else is in the batch, as rounding does in a real model, only much more. So any change of
    the batches shows.
    """

    name = "letters"

    def __init__(self, fingerprint: str = "one", stop_at: int | None = None) -> None:
        self.fingerprint = fingerprint
        self.stop_at = stop_at
        self.ran: list[str] = []

    def plan(self, questions: Sequence[Question]) -> Plan:
        return Plan([self._reading(q) for q in questions], Limit(tokens=10**6, inputs=4, positions=10**6))

    def _reading(self, question: Question) -> Reading:
        assert isinstance(question, Likelihood)
        ids = [ord(c) for c in question.text]
        if "?" in question.text:
            return Reading(note="unknown word")
        return Reading(tuple(Read((*ids[:i], 0, *ids[i + 1 :]), ((i, ids[i]),)) for i in range(len(ids))))

    def run(self, batch: Batch) -> Values:
        if len(self.ran) == self.stop_at:
            raise KeyboardInterrupt
        self.ran.append(batch.key)
        flavour = sum(map(sum, batch.inputs)) / 1000
        return [[-flavour - position for position, _ in cells] for cells in batch.cells]

    def stream(self, batches: Sequence[tuple[int, Batch]]) -> Iterator[tuple[int, Values]]:
        return ((number, self.run(batch)) for number, batch in batches)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return run_plan(self.plan(questions), self.stream)


# They share inputs ("abc" and "abd" with the last letter masked), and straddle batches of four.
QUESTIONS = [Likelihood(text) for text in ("abc", "abd", "xyzxyz", "q?", "hello", "hallo", "ab")]


def test_it_answers_as_the_model_does(tmp_path: Path) -> None:
    answers = Remembering(Letters(), tmp_path / "a.sqlite").answer(QUESTIONS)
    assert _same(answers, Letters().answer(QUESTIONS))
    assert answers[3].note == "unknown word"


def test_what_is_kept_is_not_asked_again(tmp_path: Path) -> None:
    first = Remembering(Letters(), tmp_path / "a.sqlite").answer(QUESTIONS)
    again = Letters()
    remembering = Remembering(again, tmp_path / "a.sqlite")
    assert _same(remembering.answer(QUESTIONS), first)
    assert again.ran == []
    assert remembering.work.kept == len(QUESTIONS)


@pytest.mark.parametrize("stop_at", range(len(Letters().plan(QUESTIONS).batches)))
def test_a_stopped_run_goes_on_with_the_same_numbers_and_loses_one_batch_at_most(tmp_path: Path, stop_at: int) -> None:
    undisturbed = Letters()
    want = undisturbed.answer(QUESTIONS)
    stopped = Letters(stop_at=stop_at)
    with pytest.raises(KeyboardInterrupt):
        Remembering(stopped, tmp_path / "a.sqlite").answer(QUESTIONS)
    resumed = Letters()
    assert _same(Remembering(resumed, tmp_path / "a.sqlite").answer(QUESTIONS), want)
    assert stopped.ran + resumed.ran == undisturbed.ran  # only the batch that was under way is run again


def test_another_fingerprint_never_hits_old_answers(tmp_path: Path) -> None:
    Remembering(Letters("one"), tmp_path / "a.sqlite").answer(QUESTIONS)
    retrained = Letters("two")
    Remembering(retrained, tmp_path / "a.sqlite").answer(QUESTIONS)
    assert len(retrained.ran) == len(retrained.plan(QUESTIONS).batches)
    assert fingerprints(tmp_path / "a.sqlite") == {"one", "two"}


def test_questions_that_differ_in_anything_are_kept_apart(tmp_path: Path) -> None:
    text, blank = "He is a mason.", Span(0, 2)
    questions: list[Question] = [
        Fill(text, blank, "He"),
        Fill(text, blank, "She"),
        Fill(text, blank, "He", hidden=(Span(8, 13),)),
        Fill(text, blank, "He", hidden=(Span(8, 13),), masks="words"),
        Fill(text, blank, "He", among=("He", "She")),
        Likelihood(text),
        Likelihood(text, within_word=True),
        Likelihood(text, skip=(blank,)),
    ]
    table = Table({q: (-float(i),) for i, q in enumerate(questions)})
    Remembering(table, tmp_path / "a.sqlite").answer(questions)
    kept = CachedAnswers(tmp_path / "a.sqlite", "table", table.fingerprint)
    assert [a.logps for a in kept.answer(questions)] == [(-float(i),) for i in range(len(questions))]


def test_a_model_without_plan_is_asked_only_what_is_missing(tmp_path: Path) -> None:
    table = Table(only(Likelihood, lambda q: (-float(len(q.text)),)))
    assert table.fingerprint != Table(lambda q: (-1.0,)).fingerprint
    Remembering(table, tmp_path / "a.sqlite").answer(QUESTIONS[:3])
    assert [a.logp for a in Remembering(table, tmp_path / "a.sqlite").answer(QUESTIONS[1:5])] == [-3, -6, -2, -5]
    assert table.asked == QUESTIONS[:5]


def test_missing_answers_are_counted_not_guessed(tmp_path: Path) -> None:
    Remembering(Letters(), tmp_path / "a.sqlite").answer(QUESTIONS[:2])
    with pytest.raises(RunError, match="5 of 7 answers"):
        CachedAnswers(tmp_path / "a.sqlite", "letters", "one").answer(QUESTIONS)
    with pytest.raises(RunError, match="does not exist"):
        CachedAnswers(tmp_path / "b.sqlite", "letters", "one").answer(QUESTIONS)
    assert not (tmp_path / "b.sqlite").exists()
    (tmp_path / "c.sqlite").touch()
    with pytest.raises(RunError, match="7 of 7 answers"):
        CachedAnswers(tmp_path / "c.sqlite", "letters", "one").answer(QUESTIONS)
    assert (tmp_path / "c.sqlite").read_bytes() == b""


def test_a_damaged_file_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(RunError, match="delete it"):
        Remembering(Letters(), tmp_path / "a.sqlite").answer(QUESTIONS)


DAMAGES = {
    "a digit": "UPDATE answers SET logps = X'000000000000F0BF' WHERE question LIKE '%abc%'",
    "a log-probability less": "UPDATE answers SET logps = substr(logps, 9) WHERE question LIKE '%abc%'",
    "half a number": "UPDATE answers SET logps = substr(logps, 4) WHERE question LIKE '%abc%'",
    "a text": "UPDATE answers SET logps = 'abc' WHERE question LIKE '%abc%'",
    "a note": "UPDATE answers SET note = 'too long' WHERE question LIKE '%abc%'",
    "a note that is no text": "UPDATE answers SET note = CAST(X'FF' AS TEXT) WHERE question LIKE '%abc%'",
    "the checksum": "UPDATE answers SET checksum = NULL WHERE question LIKE '%abc%'",
    "the answer to another": """UPDATE answers SET (logps, note, checksum) =
        (SELECT logps, note, checksum FROM answers WHERE question LIKE '%abd%') WHERE question LIKE '%abc%'""",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_answer_is_asked_for_again_and_never_scored(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.sqlite"
    want = Remembering(Letters(), path).answer(QUESTIONS)
    with closing(sqlite3.connect(path)) as store, store:
        assert store.execute(damage).rowcount == 1
    with pytest.raises(RunError, match=r"1 of 7 answers in .* are damaged: .* Run the audit again"):
        CachedAnswers(path, "letters", "one").answer(QUESTIONS)
    remembering = Remembering(Letters(), path)
    assert _same(remembering.answer(QUESTIONS), want)
    assert remembering.work.kept == len(QUESTIONS) - 1
    assert "1 answers in" in caplog.text
    assert _same(CachedAnswers(path, "letters", "one").answer(QUESTIONS), want)


@pytest.mark.parametrize("damage", ["X'000000000000F0BF'", "'abc'", "zeroblob(length(logps))", "substr(logps, 9)"])
def test_a_damaged_batch_is_run_again(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.sqlite"
    with pytest.raises(KeyboardInterrupt):
        Remembering(Letters(stop_at=3), path).answer(QUESTIONS)
    with closing(sqlite3.connect(path)) as store, store:
        assert store.execute(f"UPDATE batches SET logps = {damage}").rowcount == 3
    assert _same(Remembering(Letters(), path).answer(QUESTIONS), Letters().answer(QUESTIONS))


def test_answers_of_an_older_version_are_read_and_get_checksums(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    want = Remembering(Letters(), path).answer(QUESTIONS)
    with closing(sqlite3.connect(path)) as store, store:
        for table in ("answers", "batches"):
            store.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
        store.execute("PRAGMA user_version = 0")
    as_it_was = path.read_bytes()
    assert _same(CachedAnswers(path, "letters", "one").answer(QUESTIONS), want)
    assert fingerprints(path) == {"one"}
    assert path.read_bytes() == as_it_was  # reading writes nothing
    again = Letters()
    assert _same(Remembering(again, path).answer(QUESTIONS), want)
    assert again.ran == []
    with closing(sqlite3.connect(path)) as store, store:
        store.execute(DAMAGES["a digit"])
    with pytest.raises(RunError, match="1 of 7 answers"):
        CachedAnswers(path, "letters", "one").answer(QUESTIONS)


def _same(one: Sequence[Answer], other: Sequence[Answer]) -> bool:
    """Equal to the last bit, NaN included."""
    return repr(one) == repr(other) and any(not math.isnan(a.logp) for a in one)
