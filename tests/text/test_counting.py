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
from evenhand.text import shares
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
    result = count(TEXTS)
    assert (result.documents, result.sentences, result.words.female, result.words.male) == (57, 77, 25, 37)
    beside = result.beside.set_index("profession")
    assert numbers(beside, "secretary", ["female", "male"]) == [20, 2]  # a sentence with both says nothing
    assert numbers(beside, "engineer", ["female", "male"]) == [0, 30]


def test_the_ratio_is_that_of_the_formula() -> None:
    result = count(TEXTS)
    lean = result.words.log
    assert lean.value == pytest.approx(math.log(37.5 / 25.5))
    secretary = result.beside.set_index("profession").loc["secretary"]
    assert secretary["ratio"] == pytest.approx(math.log(2.5 / 20.5) - lean.value)
    assert secretary["low"] < secretary["ratio"] < secretary["high"] < 0
    assert lean.low < lean.value < lean.high


def test_a_swapped_corpus_leans_the_other_way() -> None:
    swap = Swapper()
    original, swapped = count(TEXTS), count([swap(text) for text in TEXTS])
    assert swapped.words.log.value == pytest.approx(-original.words.log.value)
    before, after = (result.beside.set_index("profession")["ratio"] for result in (original, swapped))
    assert after.to_dict() == pytest.approx({k: -v for k, v in before.to_dict().items()})


def test_a_corpus_with_both_copies_is_neutral() -> None:
    swap = Swapper()
    result = count([*TEXTS, *(swap(text) for text in TEXTS)])
    assert result.words.log.value == pytest.approx(0.0)
    assert result.score.value == pytest.approx(0.0)


def test_shares_are_those_of_the_counts_and_judged_by_the_rule() -> None:
    words = count(TEXTS).words
    assert words.share.value == pytest.approx(25 / 62)
    assert words.share.low < 25.5 / 63 < words.share.high < 0.6
    assert (words.share.low, words.share.high) == pytest.approx(
        (1 / (1 + math.exp(words.log.high)), 1 / (1 + math.exp(words.log.low)))
    )
    assert words.lean == "not shown"
    assert count(["She left."] * 30 + ["He left."] * 4).words.lean == "female"
    assert count(["She left."] * 3).words.lean == "too few"


@pytest.fixture
def fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """For simulations: their noise is far below that of thirty corpora."""
    monkeypatch.setattr(shares, "DRAWS", 500)


@pytest.mark.usefixtures("fewer_draws")
def test_false_alarms_about_professions_are_rare() -> None:
    """Thirty corpora in which no profession leans, and men are three of four: at most three may say that one does."""
    rng = np.random.default_rng(1)
    alarms = 0
    for seed in range(30):
        jobs = ["doctor", "judge", "lawyer", "nurse", "secretary", "guard"]
        who = rng.choice(["her", "his"], size=150, p=[0.25, 0.75])
        texts = [f"The {job} lost {her} keys." for job, her in zip(rng.choice(jobs, size=150), who, strict=True)]
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


@pytest.mark.usefixtures("fewer_draws")
def test_intervals_cover_the_truth() -> None:
    """Of the ratio of words, and of that of names, which is another one in the same texts."""
    rng = np.random.default_rng(0)
    hits = np.zeros(2)
    for seed in range(40):
        names, words = (rng.random(80) < 0.6 for _ in range(2))
        texts = [
            f"We saw {'Mary' if name else 'Tom'}. The guard lost {'her' if word else 'his'} keys."
            for name, word in zip(names, words, strict=True)
        ]
        result = count(texts, words=["guard"], seed=seed)
        hits += [ratio.log.low <= math.log(0.4 / 0.6) <= ratio.log.high for ratio in (result.words, result.names)]
    assert hits.min() >= 35


def test_own_words_take_the_place_of_professions() -> None:
    result = count(["She likes pottery."] * 6 + ["He likes chess."] * 6, words=["pottery", "chess"])
    assert result.beside["profession"].tolist() == ["chess", "pottery"]


def test_the_command_compares_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original, swapped = tmp_path / "one.txt", tmp_path / "other.txt"
    original.write_text("\n".join(TEXTS))
    swapped.write_text("\n".join(map(Swapper(), TEXTS)))
    assert run_command(app, ["corpus", str(original), str(swapped)]) == 0
    printed = capsys.readouterr().out
    assert "one.txt" in printed
    assert "secretary" in printed
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert run_command(app, ["corpus", str(empty)]) == 2
    assert run_command(app, ["corpus", str(tmp_path / "none.txt")]) == 2


NAMED = ["Mary Smith met Tom in May. Will they marry? Ruby said so.", "Anna and Tom left for Georgia.", "He left."]


def test_first_names_are_counted_where_they_are_a_persons() -> None:
    result = count(NAMED)
    assert (result.names.female, result.names.male) == (3, 2)  # not May, Will and Georgia
    assert result.names.log.value == pytest.approx(math.log(2.5 / 3.5))
    assert result.names.log.low < result.names.log.value < result.names.log.high
    assert (result.words.female, result.words.male) == (0, 1)
    swapped = count(map(Swapper(names=Naming()), NAMED)).names
    assert (swapped.female, swapped.male) == (2, 3)


def test_names_say_nothing_about_a_sentence() -> None:
    result = count(["Mary washed the secretary."] * 9)
    assert result.beside.empty
    assert (result.names.female, result.names.male) == (9, 0)


def test_what_is_not_there_has_no_number_but_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nobody, somebody = tmp_path / "a.txt", tmp_path / "b.txt"
    nobody.write_text("It rains.\nThe door is open.\n")
    somebody.write_text("She left.\n\nHe stayed.\n")
    assert run_command(app, ["corpus", str(nobody), str(somebody)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"gendered words +0 +0 +– +–", printed)
    assert re.search(r"first names +0 +0 +– +–", printed)
    assert "No gendered words" in printed
    assert "professions: –, since" in printed
    assert "0.00" not in printed
    assert run_command(app, ["corpus", str(nobody), str(somebody), "--json"]) == 0
    table = json.loads(capsys.readouterr().out)["a.txt"]
    for ratio, what in ((table, "gendered words"), (table["first_names"], "first names")):
        assert (ratio["female"], ratio["male"]) == (0, 0)
        assert (ratio["lean"], ratio["low"], ratio["high"], ratio["share"]) == (None, None, None, None)
        assert ratio["note"].startswith(f"no {what}")
    assert table["score"] is None
    assert table["score_note"].startswith("no profession")


def test_texts_without_women_and_men_are_an_error_and_leave_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("It rains.\nThe door is open.\n")
    with pytest.raises(SystemExit, match="2"):
        main(["corpus", str(file), "--out", str(tmp_path / "out")])
    assert "nothing to count" in capsys.readouterr().err
    assert not list((tmp_path / "out").iterdir())


def test_one_document_has_no_interval_and_says_so() -> None:
    log = count(["She left.", "It rains."]).words.log
    assert log.value < 0
    assert not log.spans
    assert "one document" in log.note


def test_texts_in_another_language_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    english, german = tmp_path / "en.txt", tmp_path / "de.txt"
    english.write_text("\n".join(TEXTS))
    german.write_text("Die Ärztin sagt, dass man sie nicht kennt.\nEr ist Pfleger.\n", encoding="utf-8")
    for options in ([], ["--json"]):
        with pytest.raises(SystemExit, match="2"):
            main(["corpus", str(english), str(german), *options])
        out, err = capsys.readouterr()
        assert re.search("'de.txt'.*German", err)
        assert out == ""
    with pytest.raises(SystemExit, match="2"):
        main(["corpus", str(german), "--lang", "de"])
    assert "--word-pairs" in capsys.readouterr().err
    with pytest.raises(BadInput, match="German"):
        count(german.read_text(encoding="utf-8").splitlines())
    assert run_command(app, ["corpus", str(german), "--lang", "en"]) == 0


def test_nothing_gives_no_number() -> None:
    with pytest.raises(BadInput, match="no texts"):
        count([])


def test_very_many_documents_have_the_interval_of_a_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without drawing one, which would take minutes."""
    rng = np.random.default_rng(0)
    table = rng.poisson((0.4, 0.5), size=(3_000, 2)).astype(np.float64)
    drawn = shares._ratio(table, np.random.default_rng(1), "words").log
    monkeypatch.setattr(shares, "VERY_MANY", 100)
    quick = shares._ratio(table, np.random.default_rng(1), "words").log
    assert (quick.low, quick.high) == pytest.approx((drawn.low, drawn.high), abs=0.006)
    assert quick.low < quick.value < quick.high


def test_a_word_and_its_plural_are_one_sentence() -> None:
    result = count(["The taper told the other tapers that she was late."] * 3)
    assert result.rare.to_dict("records") == [{"profession": "taper", "female": 3, "male": 0}]


def test_five_sentences_show_no_word() -> None:
    others = [f"He {verb}." for verb in ("slept", "danced", "waited", "shouted", "cooked")]
    result = count(["She baked."] * 5 + others, lang="en")  # z is 2.24, the binomial p .0625
    assert (result.tested, len(result.contexts)) == (1, 0)
