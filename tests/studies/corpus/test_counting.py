"""Corpus counts on texts whose answer is known."""

import math
from pathlib import Path

import pytest

from evenhand import BadInput
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.mitigation.swap import Swapper
from evenhand.studies.corpus.counting import count
from helpers.typed import numbers

TEXTS = (
    ["The secretary washed her hands. The weather was fine."] * 20
    + ["The engineer lost his keys near the bridge."] * 30
    + ["The secretary washed his hands."] * 2
    + ["He and she saw a secretary."] * 5
)


def test_words_and_sentences_are_counted() -> None:
    found = count(TEXTS)
    assert (found.documents, found.sentences, found.female, found.male) == (57, 77, 25, 37)
    beside = found.beside.set_index("profession")
    assert numbers(beside, "secretary", ["female", "male"]) == [20, 2]  # a sentence with both says nothing
    assert numbers(beside, "engineer", ["female", "male"]) == [0, 30]


def test_the_ratio_is_that_of_the_formula() -> None:
    found = count(TEXTS)
    assert found.lean == pytest.approx(math.log(37.5 / 25.5))
    secretary = found.beside.set_index("profession").loc["secretary"]
    assert secretary["ratio"] == pytest.approx(math.log(2.5 / 20.5) - found.lean)
    assert secretary["low"] < secretary["ratio"] < secretary["high"] < 0
    assert found.low < found.lean < found.high


def test_a_swapped_corpus_leans_the_other_way() -> None:
    swap = Swapper()
    here, there = count(TEXTS), count([swap(text) for text in TEXTS])
    assert there.lean == pytest.approx(-here.lean)
    ratios = [c.beside.set_index("profession")["ratio"] for c in (here, there)]
    assert ratios[1].to_dict() == pytest.approx({k: -v for k, v in ratios[0].to_dict().items()})


def test_a_corpus_with_both_copies_is_neutral() -> None:
    swap = Swapper()
    found = count([*TEXTS, *(swap(text) for text in TEXTS)])
    assert found.lean == pytest.approx(0.0)
    assert found.score == pytest.approx(0.0)


def test_contexts_tell_the_sides_apart() -> None:
    words = count(TEXTS).contexts
    assert words.iloc[0]["word"] in ("secretary", "hands", "washed")
    assert words.iloc[-1]["word"] in ("engineer", "keys", "bridge", "lost", "near")


def test_intervals_cover_the_truth() -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    hits = 0
    for seed in range(40):
        texts = [f"The secretary lost {'her' if rng.random() < 0.6 else 'his'} keys." for _ in range(80)]
        found = count(texts, words=["secretary"], seed=seed)
        hits += found.low <= math.log(0.4 / 0.6) <= found.high
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


def test_nothing_gives_no_number() -> None:
    with pytest.raises(BadInput, match="no texts"):
        count([])
