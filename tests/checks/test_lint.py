"""The linter as people call it: our own pairs break no rule, released ones do, and it says which."""

import json
import random
import shlex
import tracemalloc
from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput, datasets
from evenhand.checks.fit import flaw_warnings
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command

LEAKS = {
    "en": {"pronoun": 60, "another person": 80},
    "ja": {"another person": 20},
    "zh": {"another person": 60, "twice": 160},
}


def write(folder: Path, *rows: str) -> Path:
    """A file of pairs."""
    file = folder / "pairs.csv"
    file.write_text("\n".join(["stereotype,counterpart", *rows, ""]))
    return file


def test_our_own_pairs_are_clean() -> None:
    found = evenhand.lint("tgb")
    assert (found.pairs, found.clean, found.faults) == (300, 300, [])


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_our_own_pairs_for_inference_leak_nothing(language: str) -> None:
    found = evenhand.lint(f"nli-{language}", model=None)
    assert (found.clean, found.pairs) == (1440, 1440)


def test_crows_pairs_are_not_clean(data: Path) -> None:
    """What docs/measures/likelihood-difference.md reports."""
    found = evenhand.lint("crows-pairs")
    assert (found.pairs, found.clean) == (262, 87)
    assert found.failing["other change"] == 121
    assert found.failing["left behind"] == 40


@pytest.mark.parametrize(("language", "clean"), [("en", 5280), ("ja", 5400), ("zh", 5100)])
def test_the_released_pairs_for_inference_leak(language: str, clean: int, data: Path) -> None:
    found = evenhand.lint(f"nli-coal-{language}", model=None)
    assert {rule: n for rule, n in found.failing.items() if n} == LEAKS[language]
    assert found.clean == clean


def test_the_command_ends_with_1_where_there_are_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text('a,b\n"He left.","She left."\n"He  left.","She  left."\n')
    columns = ["--stereotype", "a", "--counterpart", "b", "--model", "none"]
    assert run_command(app, ["datasets", "lint", str(file), *columns, "--out", str(tmp_path / "faults.tsv")]) == 1
    assert "Clean pairs: 1 of 2." in capsys.readouterr().out
    assert "spacing" in (tmp_path / "faults.tsv").read_text()
    (tmp_path / "faults.tsv").write_text("mine")
    again = ["datasets", "lint", str(file), *columns, "--out", str(tmp_path / "faults.tsv")]
    assert run_command(app, again) == 2
    assert (tmp_path / "faults.tsv").read_text() == "mine"
    assert run_command(app, [*again, "--force"]) == 1
    capsys.readouterr()
    assert run_command(app, ["datasets", "lint", str(file), *columns, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["failing"]["spacing"] == 1
    file.write_text('a,b\n"He left.","She left."\n')
    assert run_command(app, ["datasets", "lint", str(file), *columns]) == 0


def test_pieces_are_counted_by_the_model_or_left_unchecked(tmp_path: Path) -> None:
    file = write(tmp_path, "He is a widower.,She is a widow.", "The king left.,The queen left.")
    without, counted = evenhand.lint(file, model=None), evenhand.lint(file)
    assert (without.unchecked, without.failing["pieces"]) == (("pieces",), 0)
    assert (counted.unchecked, counted.failing["pieces"]) == ((), 1)


def test_each_fault_has_a_line_without_breaks(tmp_path: Path) -> None:
    frame = evenhand.lint(write(tmp_path, '"He \n left.","Nobody\t stayed here."'), model=None).frame
    assert frame[["rule", "what"]].to_numpy().tolist() == [["unrelated", "He left. | Nobody stayed here."]]


def test_a_file_named_as_a_dataset_is_the_one_that_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "He left.,She left.").rename(tmp_path / "tgb")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="tgb"):  # no format of ours, but no longer our 300 pairs
        evenhand.lint("tgb", model=None)


def test_a_dataset_without_pairs_cannot_be_linted() -> None:
    with pytest.raises(BadInput, match="Only sentence pairs"):
        evenhand.lint("becpro-en", model=None)


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no rows"):
        evenhand.lint(write(tmp_path), model=None)


def test_a_pair_takes_little_memory(tmp_path: Path) -> None:
    """About a kilobyte: it is kept by hashes alone. With its words in the place of hashes it would take four."""
    rng, n = random.Random(0), 2_000
    vocabulary = [f"word{i}" for i in range(2000)]
    rest = [f"{' '.join(rng.choices(vocabulary, k=9))} {i}" for i in range(n)]
    file = write(tmp_path, *(f"He {words}.,She {words}." for words in rest))
    tracemalloc.start()
    try:
        found = evenhand.lint(file, model=None)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (found.pairs, found.clean) == (n, n)
    assert peak / n < 2_000  # bytes


def test_the_advice_of_an_audit_is_a_command_that_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own pairs.csv"
    file.write_text("bad,good\nHe left home early.,She left the office late.\nHe sang.,She sang.\n")
    pairs = datasets.load("pairs", file=str(file), stereotype="bad", counterpart="good")
    (said,) = flaw_warnings(pairs)
    command = said.partition("Look at them with: evenhand ")[2]
    given = [str(file) if part.endswith(".csv") else part for part in shlex.split(command)]
    assert given[-4:] == ["--stereotype", "bad", "--counterpart", "good"]
    assert run_command(app, [*given, "--model", "none"]) == 1
    assert "office" in capsys.readouterr().out
