"""A disk that is full, from whichever write on: a sentence and exit code 2, and what was there stays."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evenhand import Run
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from helpers.audited_runs import audited, pairs
from helpers.fuzzing import contents
from helpers.kills import leftovers, watched

MOST = 40
"""Writes of a command: more than these have."""


class Full:
    """A disk with room for so many files and folders; then nothing can be made, or brought to the disk."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.was_full = False

    def take(self, *_: object) -> None:
        """Take a place, or fail."""
        self.room -= 1
        if self.room < 0:
            self.was_full = True
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @contextmanager
    def mounted(self, folder: Path) -> Iterator[None]:
        """Make the folder one on this disk."""
        with pytest.MonkeyPatch.context() as patch, watched(folder, self.take, ("os.mkdir",)):
            patch.setattr("os.fsync", self.take)
            yield


@pytest.mark.usefixtures("without_pages")
@pytest.mark.parametrize("more", [(), ("--fresh", "--yes")])
def test_an_import(tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]) -> None:
    """Into a new folder; or in the place of a run that was measured, which stays."""
    out = tmp_path / "runs"
    out.mkdir()
    scores, file = tmp_path / "scores.txt", pairs(tmp_path, 4)
    scores.write_text("1\n-2\n3\n1\n")
    if more:
        audited(tmp_path, "plain", 0.5, file)
    before = contents(out)
    line = ["import", str(scores), "--dataset", "pairs", "--measure", "likelihood-lean", "--name", "plain", *more]
    for room in range(MOST):
        disk = Full(room)
        with disk.mounted(out):
            code = run_command(app, [*line, "--option", f"file={file}", "--out", str(out)])
        said = capsys.readouterr().err
        if not disk.was_full:
            break
        assert code == 2, said
        assert "No space left on device" in said.splitlines()[-1]
        assert contents(out) == before
        assert leftovers(out) == []
    assert 8 <= room < MOST - 1
    assert code == 0
    assert Run.load(out / "plain").record.audits[0].imported


def test_counting_a_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Over an earlier count, which stays; what was counted until then is kept for the same command."""
    old, new, out = tmp_path / "old.txt", tmp_path / "new.txt", tmp_path / "out"
    old.write_text("She is a nurse.\n\nHe is not.\n")
    new.write_text("He is a nurse, and she is.\n\nShe is here.\n")
    assert run_command(app, ["corpus", str(old), "--out", str(out)]) == 0
    before = contents(out)
    page = str(out / "report.html")
    for room in range(MOST):
        disk = Full(room)
        with disk.mounted(out):
            code = run_command(app, ["corpus", str(new), "--out", str(out), "--force"])
        said = capsys.readouterr().err
        if not disk.was_full:
            break
        assert code == 2, said
        assert "No space left on device" in said.splitlines()[-1]
        now = {path: digest for path, digest in contents(out).items() if ".counting-" not in path}
        assert now == before | {page: now[page]}  # the page is replaced first
    assert 6 <= room < MOST - 1
    assert code == 0
    assert leftovers(out) == []
