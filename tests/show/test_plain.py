"""What `print` shows of a run, a comparison and a verdict."""

from pathlib import Path

import pytest

import evenhand
from evenhand import Gate, Rule, Run
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from helpers.written_runs import make


def words(text: str) -> list[str]:
    return text.split()


def test_print_shows_what_the_commands_print(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    audited = Run.load(stored / "better")
    folder = str(audited.path)
    assert run_command(app, ["show", folder]) == 0
    shown = capsys.readouterr().out
    assert "prefers the stereotypes" in shown
    assert words(str(audited).replace("`", "")) == words(shown)  # which has flags in place of parameters
    assert repr(audited) == f"Run(path={audited.path!r})"

    assert run_command(app, ["compare", folder, folder]) == 0
    assert words(str(evenhand.compare(audited, audited))) == words(capsys.readouterr().out)

    (tmp_path / "policy.toml").write_text('[[rule]]\nmeasure = "likelihood-lean"\ngroup = "jobs"\nwithin = 9\n')
    run_command(app, ["gate", folder, "--policy", str(tmp_path / "policy.toml")])
    printed = capsys.readouterr().out
    assert "within 9 of 0" in printed
    assert words(str(Gate.load(tmp_path / "policy.toml").judge(audited))) == words(printed)


def test_control_characters_of_a_run_do_not_reach_the_terminal(tmp_path: Path) -> None:
    run = make(tmp_path / "run", model="red\x1b[31m")
    assert "red\ufffd[31m" in str(run)
    assert "red\ufffd[31m" in str(Gate([Rule(measure="likelihood-lean", within=9)]).judge(run))
