"""`evenhand datasets`."""

from pathlib import Path

import pytest

from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command


def test_an_export_replaces_a_file_only_if_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["datasets", "export", "tgb", "--out", str(tmp_path / "tgb.tsv")]
    (tmp_path / "tgb.tsv").write_text("mine")
    assert run_command(app, command) == 2
    assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "tgb.tsv").read_text() == "mine"
    assert run_command(app, [*command, "--force"]) == 0
    assert len((tmp_path / "tgb.tsv").read_text().splitlines()) == 301


def test_tabs_and_line_breaks_are_shown_as_spaces_and_not_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text('id,stereotype,counterpart\n"a\tb","He is\nhere.","She is here."\n')
    option = ["--option", f"file={pairs}"]
    assert run_command(app, ["datasets", "show", "pairs", *option]) == 0
    assert "a b\tHe is here.\tShe is here." in capsys.readouterr().out
    assert run_command(app, ["datasets", "export", "pairs", *option, "--out", str(tmp_path / "out.tsv")]) == 2
    assert "cannot have tabs or line breaks in its fields" in capsys.readouterr().err
    assert not (tmp_path / "out.tsv").exists()
