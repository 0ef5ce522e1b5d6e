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
