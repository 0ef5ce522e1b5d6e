"""One door to all formats: what holds for each of them."""

import re
from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput, RunError
from evenhand.cli.app import app, main
from evenhand.cli.terminal import run as run_command
from evenhand.formats import FORMATS
from helpers.written_runs import HOSTILE, Made

VALUED = sorted(set(FORMATS) - {"bibtex"})


@pytest.mark.parametrize("to", sorted(FORMATS))
def test_the_same_run_gives_the_same_text_on_paper_and_on_screen(
    made: Made, to: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made()
    text = evenhand.export(run, to)
    assert evenhand.export(str(run.path), to, out=tmp_path) == text
    assert (tmp_path / FORMATS[to].file).read_text(encoding="utf-8") == text
    assert run_command(app, ["export", str(run.path), "--as", to]) == 0
    assert capsys.readouterr().out == text


@pytest.mark.parametrize("to", VALUED)
def test_a_value_goes_with_its_interval_n_unscored_version_and_fingerprint(made: Made, to: str) -> None:
    text = evenhand.export(made(), to)
    for number in ("0.25", "0.125", "0.5", "3", "f" * 12):
        assert number in text
    assert re.search(r"version\W+2|,2,", text)
    assert "0.75" not in text  # it has no interval


@pytest.mark.parametrize("to", VALUED)
def test_no_value_never_becomes_a_number(made: Made, to: str) -> None:
    male = [line for line in evenhand.export(made(), to).splitlines() if "male" in line and "female" not in line]
    if to in ("eval-results", "every-eval-ever"):
        assert not male  # these formats need a number, so there is no entry
    else:
        assert male
        assert not any("0.0" in line.replace(",0.0,", "") for line in male)  # but for the neutral value in csv


@pytest.mark.parametrize("to", sorted(FORMATS))
def test_partial_runs_say_so(made: Made, to: str) -> None:
    said = re.compile(r'partial"?: "?a sample of at most 60 items|,yes,60', re.I)
    assert not said.search(evenhand.export(made(), to))
    assert said.search(evenhand.export(made(partial=True, limit=60), to))


def test_unknown_formats_and_options_get_a_suggestion(made: Made) -> None:
    with pytest.raises(BadInput, match="'latex'"):
        evenhand.export(made(), "latx")
    with pytest.raises(BadInput, match="'scores'"):
        evenhand.export(made(), "csv", score=True)
    with pytest.raises(BadInput, match="option .*'latex'"):
        evenhand.export(made(), "latex", scores=True)


def test_formats_of_one_run_refuse_two(made: Made) -> None:
    with pytest.raises(BadInput, match="Got 2.*bibtex, csv, latex"):
        evenhand.export([made(), made()], "model-card")
    with pytest.raises(BadInput, match="nothing"):
        evenhand.export([], "csv")


def test_a_file_that_is_in_the_way_stays(made: Made, tmp_path: Path) -> None:
    file = tmp_path / "card"
    file.write_text("mine")
    with pytest.raises(RunError, match="folder"):
        evenhand.export(made(), "eval-results", out=file)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("to", sorted(FORMATS))
def test_a_file_that_exists_is_replaced_only_if_forced(
    made: Made, to: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, file = made(), tmp_path / FORMATS[to].file
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    with pytest.raises(SystemExit, match="2"):
        main(["export", str(run.path), "--as", to, "--out", str(tmp_path)])
    assert "exists already. Choose another --out, or replace it: --force." in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert run_command(app, ["export", str(run.path), "--as", to, "--out", str(tmp_path), "--force"]) == 0
    assert file.read_text() == evenhand.export(run, to)


@pytest.mark.parametrize("to", sorted(FORMATS))
def test_hostile_names_break_no_format(made: Made, to: str) -> None:
    assert evenhand.export(made(model=HOSTILE, dataset=HOSTILE, label=HOSTILE + "\n"), to)
