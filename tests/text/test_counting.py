"""Corpus counts on texts whose answer is known."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from evenhand import BadInput
from evenhand.cli.app import app, main
from evenhand.cli.terminal import run as run_command
from evenhand.text import shares as analysis
from evenhand.text.names import Naming
from evenhand.text.swap import Swapper
from helpers.counts import count
from helpers.typed import numbers

TEXTS = (
    ["The secretary washed her hands. The weather was fine."] * 20
    + ["The engineer lost his keys near the bridge."] * 30
    + ["The secretary washed his hands."] * 2
    + ["He and she saw a secretary."] * 5
)


def test_words_and_sentences_are_counted() -> None:
    found = count(TEXTS)
    assert (found.documents, found.sentences, found.words.female, found.words.male) == (57, 77, 25, 37)
    beside = found.beside.set_index("profession")
    assert numbers(beside, "secretary", ["female", "male"]) == [20, 2]  # a sentence with both says nothing
    assert numbers(beside, "engineer", ["female", "male"]) == [0, 30]


def test_the_ratio_is_that_of_the_formula() -> None:
    found = count(TEXTS)
    lean = found.words.log
    assert lean.value == pytest.approx(math.log(37.5 / 25.5))
    secretary = found.beside.set_index("profession").loc["secretary"]
    assert secretary["ratio"] == pytest.approx(math.log(2.5 / 20.5) - lean.value)
    assert secretary["low"] < secretary["ratio"] < secretary["high"] < 0
    assert lean.low < lean.value < lean.high


def test_a_swapped_corpus_leans_the_other_way() -> None:
    swap = Swapper()
    here, there = count(TEXTS), count([swap(text) for text in TEXTS])
    assert there.words.log.value == pytest.approx(-here.words.log.value)
    ratios = [c.beside.set_index("profession")["ratio"] for c in (here, there)]
    assert ratios[1].to_dict() == pytest.approx({k: -v for k, v in ratios[0].to_dict().items()})


def test_a_corpus_with_both_copies_is_neutral() -> None:
    swap = Swapper()
    found = count([*TEXTS, *(swap(text) for text in TEXTS)])
    assert found.words.log.value == pytest.approx(0.0)
    assert found.score.value == pytest.approx(0.0)


def test_shares_are_those_of_the_counts_and_judged_by_the_rule() -> None:
    found = count(TEXTS).words
    assert found.share.value == pytest.approx(25 / 62)
    assert found.share.low < 25.5 / 63 < found.share.high < 0.6
    assert (found.share.low, found.share.high) == pytest.approx(
        (1 / (1 + math.exp(found.log.high)), 1 / (1 + math.exp(found.log.low)))
    )
    assert found.lean == "not shown"
    assert count(["She left."] * 30 + ["He left."] * 4).words.lean == "female"
    assert count(["She left."] * 3).words.lean == "too few"


def test_false_alarms_about_professions_are_rare() -> None:
    """Thirty corpora in which no profession leans, and men are three of four: at most three may say that one does."""
    rng = np.random.default_rng(1)
    alarms = 0
    for seed in range(30):
        jobs = ["doctor", "judge", "lawyer", "nurse", "secretary", "guard"]
        who = rng.choice(["her", "his"], size=150, p=[0.25, 0.75])
        texts = [f"The {job} lost {one} keys." for job, one in zip(rng.choice(jobs, size=150), who, strict=True)]
        alarms += bool(set(count(texts, seed=seed).beside["lean"]) & {"female", "male"})
    assert alarms <= 3
    leaning = count(["The secretary lost her keys."] * 30 + ["The judge lost his keys."] * 30).beside.set_index(
        "profession"
    )
    assert leaning["lean"].to_dict() == {"judge": "male", "secretary": "female"}


def test_words_around_people_are_no_function_words_and_no_names() -> None:
    words = set(count(["Mary said that she is at the bridge with Tom."] * 9 + ["He is a guard."] * 9).contexts["word"])
    assert words == {"bridge", "guard"}


def test_contexts_tell_the_sides_apart() -> None:
    words = count(TEXTS).contexts
    assert words.iloc[0]["word"] in ("secretary", "hands", "washed")
    assert words.iloc[-1]["word"] in ("engineer", "keys", "bridge", "lost", "near")


def test_intervals_cover_the_truth() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for seed in range(40):
        texts = [f"The secretary lost {'her' if rng.random() < 0.6 else 'his'} keys." for _ in range(80)]
        found = count(texts, words=["secretary"], seed=seed)
        hits += found.words.log.low <= math.log(0.4 / 0.6) <= found.words.log.high
    assert hits >= 35


def test_own_words_take_the_place_of_professions() -> None:
    found = count(["She likes pottery."] * 6 + ["He likes chess."] * 6, words=["pottery", "chess"])
    assert found.beside["profession"].tolist() == ["chess", "pottery"]


def test_the_command_compares_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("\n".join(TEXTS))
    other.write_text("\n".join(map(Swapper(), TEXTS)))
    assert run_command(app, ["corpus", str(one), str(other)]) == 0
    printed = capsys.readouterr().out
    assert "one.txt" in printed
    assert "secretary" in printed
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert run_command(app, ["corpus", str(empty)]) == 2
    assert run_command(app, ["corpus", str(tmp_path / "none.txt")]) == 2


NAMED = ["Mary Smith met Tom in May. Will they marry? Ruby said so.", "Anna and Tom left for Georgia.", "He left."]


def test_first_names_are_counted_where_they_are_a_persons() -> None:
    found = count(NAMED)
    assert (found.names.female, found.names.male) == (3, 2)  # not May, Will and Georgia
    assert found.names.log.value == pytest.approx(math.log(2.5 / 3.5))
    assert found.names.log.low < found.names.log.value < found.names.log.high
    assert (found.words.female, found.words.male) == (0, 1)
    swap = Swapper(names=Naming())
    there = count(map(swap, NAMED)).names
    assert (there.female, there.male) == (2, 3)


def test_names_say_nothing_about_a_sentence() -> None:
    found = count(["Mary washed the secretary."] * 9)
    assert found.beside.empty
    assert (found.names.female, found.names.male) == (9, 0)


def test_intervals_of_names_cover_the_truth() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for seed in range(40):
        log = count((f"We saw {'Mary' if rng.random() < 0.6 else 'Tom'}." for _ in range(80)), seed=seed).names.log
        hits += log.low <= math.log(0.4 / 0.6) <= log.high
    assert hits >= 35


def test_what_is_not_there_has_no_number_but_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nobody, somebody = tmp_path / "a.txt", tmp_path / "b.txt"
    nobody.write_text("It rains.\nThe door is open.\n")
    somebody.write_text("She left.\n\nHe stayed.\n")
    assert run_command(app, ["corpus", str(nobody), str(somebody)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"gendered words +0 +0 +– +–", printed)
    assert re.search(r"first names +0 +0 +– +–", printed)
    assert "No gendered words were found, so there is no value." in printed
    assert "Mean size over professions: –, since no profession is in 5 sentences" in printed
    assert "0.00" not in printed
    assert run_command(app, ["corpus", str(nobody), str(somebody), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["a.txt"]
    for ratio, what in ((found, "gendered words"), (found["first_names"], "first names")):
        assert (ratio["female"], ratio["male"]) == (0, 0)
        assert (ratio["lean"], ratio["low"], ratio["high"], ratio["share"]) == (None, None, None, None)
        assert ratio["note"] == f"no {what} were found, so there is no value"
    assert found["score"] is None
    assert found["score_note"].startswith("no profession is in 5 sentences")


def test_texts_without_women_and_men_are_an_error_and_leave_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("It rains.\nThe door is open.\n")
    with pytest.raises(SystemExit, match="2"):
        main(["corpus", str(file), "--out", str(tmp_path / "out")])
    assert "nothing to count: no gendered words and no first names are in 'a.txt'" in capsys.readouterr().err
    assert not list((tmp_path / "out").iterdir())


def test_one_document_has_no_interval_and_says_so() -> None:
    log = count(["She left.", "It rains."]).words.log
    assert log.value < 0
    assert not log.spans
    assert log.note == "all gendered words are in one document, so there is no interval"


def test_texts_in_another_language_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    english, german = tmp_path / "en.txt", tmp_path / "de.txt"
    english.write_text("\n".join(TEXTS))
    german.write_text("Die Ärztin sagt, dass man sie nicht kennt.\nEr ist Pfleger.\n", encoding="utf-8")
    for options in ([], ["--json"]):
        with pytest.raises(SystemExit, match="2"):
            main(["corpus", str(english), str(german), *options])
        told = capsys.readouterr()
        assert "'de.txt': The texts seem to be German" in told.err
        assert told.out == ""
    with pytest.raises(SystemExit, match="2"):
        main(["corpus", str(german), "--lang", "de"])
    assert "--lang de needs a list of gendered words of that language: --word-pairs" in capsys.readouterr().err
    with pytest.raises(BadInput, match="seem to be German"):
        count(german.read_text(encoding="utf-8").splitlines())
    assert run_command(app, ["corpus", str(german), "--lang", "en"]) == 0


def test_nothing_gives_no_number() -> None:
    with pytest.raises(BadInput, match="no texts"):
        count([])


def test_very_many_documents_have_the_interval_of_a_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without drawing one, which would take minutes."""
    rng = np.random.default_rng(0)
    table = rng.poisson((0.4, 0.5), size=(3_000, 2)).astype(np.float64)
    drawn = analysis._ratio(table, np.random.default_rng(1), "words").log
    monkeypatch.setattr(analysis, "VERY_MANY", 100)
    found = analysis._ratio(table, np.random.default_rng(1), "words").log
    assert (found.low, found.high) == pytest.approx((drawn.low, drawn.high), abs=0.006)
    assert found.low < found.value < found.high


def test_a_word_and_its_plural_are_one_sentence() -> None:
    found = count(["The taper told the other tapers that she was late."] * 3)
    assert found.rare.to_dict("records") == [{"profession": "taper", "female": 3, "male": 0}]


def test_five_sentences_show_no_word() -> None:
    others = [f"He {verb}." for verb in ("slept", "danced", "waited", "shouted", "cooked")]
    found = count(["She baked."] * 5 + others, lang="en")  # z is 2.24, the binomial p .0625
    assert (found.tested, len(found.contexts)) == (1, 0)
