"""The files of a run are replaced together, whenever the process is killed."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from evenhand import Run
from evenhand.errors import RunError
from evenhand.runs.files import NEXT
from helpers.written_runs import make


class Killed(BaseException):
    pass


STEPS = [(Path, "replace"), (Path, "unlink"), (Path, "mkdir"), (shutil, "rmtree")]


def killed(moment: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Write another run to the folder, and end at this step of all that change files; False if there are fewer."""
    left = moment

    def counted(method: Any) -> Any:
        def step(*given: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed
            return method(*given, **named) if left > 0 else None  # the dead clean nothing up

        return step

    with monkeypatch.context() as patch:
        for owner, name in STEPS:
            patch.setattr(owner, name, counted(getattr(owner, name)))
        try:
            make(path, "new")
        except Killed:
            return True
    return False


def test_a_process_killed_at_any_write_leaves_the_old_run_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for moment in range(1, 60):
        path = tmp_path / f"run-{moment}"
        make(path, "old")
        (path / "gate.json").write_text("{}")
        if not killed(moment, path, monkeypatch):
            break
        there = Run.load(path)
        seen.append(there.record.model)
        assert {row["model"] for row in there.results} == {there.record.model}
        assert len(there.scores) == 2
        assert (path / "gate.json").exists() == (there.record.model == "old")
        make(path, "again")
        assert Run.load(path).record.model == "again"
        assert not [file.name for file in path.iterdir() if file.name.startswith(".")]
    assert seen == sorted(seen, reverse=True)
    assert seen.count("new") >= 8
    assert seen.count("old") >= 8


def test_a_full_disk_leaves_the_old_run_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "old")
    files = sorted(path.name for path in tmp_path.iterdir())

    def full(*_: Any) -> None:
        raise RunError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("evenhand.runs.record.RunRecord.write", full)
        with pytest.raises(RunError, match="No space"):
            make(tmp_path, "new")
    assert Run.load(tmp_path).record.model == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == files


def test_what_a_running_process_writes_is_left_to_it(tmp_path: Path) -> None:
    make(tmp_path / "run", "old")
    make(tmp_path / "other", "new")
    shutil.copytree(tmp_path / "other", tmp_path / "run" / NEXT)
    with FileLock(tmp_path / "run" / ".lock"):
        assert Run.load(tmp_path / "run").record.model == "old"
    assert Run.load(tmp_path / "run").record.model == "new"
    assert not (tmp_path / "run" / NEXT).exists()


def test_a_link_is_not_taken_for_files_of_the_run(tmp_path: Path) -> None:
    make(tmp_path / "run", "old")
    make(tmp_path / "other", "new")
    (tmp_path / "run" / NEXT).symlink_to(tmp_path / "other")
    assert Run.load(tmp_path / "run").record.model == "old"
    assert (tmp_path / "other" / "run.json").exists()
