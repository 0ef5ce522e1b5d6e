"""`evenhand runs`: the list with headline numbers, and removal."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command


@pytest.fixture
def folder(stored: Path, tmp_path: Path) -> Path:
    """A run of sentences, one of pairs, and one that was stopped."""
    out = tmp_path / "runs"
    shutil.copytree(stored / "emotions", out / "lean")
    shutil.copytree(stored / "level", out / "flat")
    (out / "stopped").mkdir()
    (out / "stopped" / "answers.sqlite").touch()
    return out


def listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert run_command(app, ["runs", str(folder), "--json"]) == 0
    return {Path(row["run"]).name: row for row in json.loads(capsys.readouterr().out)}


def test_each_run_has_a_number_for_each_dataset(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = listed(folder, capsys)
    assert set(found) == {"lean", "flat", "stopped"}
    assert found["stopped"]["state"] == "unfinished"
    (one,) = found["lean"]["results"]
    assert (one["dataset"], one["estimand"], one["of"]) == ("emotions-en", "stereotype", "stereotype")
    (other,) = found["flat"]["results"]
    assert (other["measure"], other["of"]) == ("stereotype-share", "all")
    assert run_command(app, ["runs", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert f"{one['value']:+.3f}" in shown
    assert f" {other['value']:.3f} [" in shown  # a share has no sign
    assert "unfinished" in shown


def test_a_run_without_values_is_damaged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = folder / "flat"
    (run / "results.json").write_text("[]")
    record = json.loads((run / "run.json").read_text())
    record["sha256"]["results.json"] = hashlib.sha256(b"[]").hexdigest()
    (run / "run.json").write_text(json.dumps(record))
    found = listed(folder, capsys)["flat"]
    assert found["state"] == "damaged"
    assert "has no value of stereotype-share" in found["why"]


def test_a_run_is_removed_and_nothing_else(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "flat" / "notes.txt").write_text("mine")
    assert run_command(app, ["runs", str(folder), "--remove", "flat"]) == 2
    assert "Add --yes" in capsys.readouterr().err
    assert run_command(app, ["runs", str(folder), "--remove", "flat", "--yes"]) == 0
    assert "notes.txt" in capsys.readouterr().out
    assert [path.name for path in (folder / "flat").iterdir()] == ["notes.txt"]
    assert run_command(app, ["runs", str(folder), "--remove", "lean", "--yes"]) == 0
    assert not (folder / "lean").exists()
    assert set(listed(folder, capsys)) == {"stopped"}


def test_what_is_no_run_is_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["runs", str(tmp_path / "none")], ["runs", str(folder), "--remove", "..", "--yes"]):
        assert run_command(app, command) == 2
    assert "is not a run in" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert run_command(app, ["runs", str(tmp_path / "empty")]) == 0
    assert "There are no runs" in capsys.readouterr().out
