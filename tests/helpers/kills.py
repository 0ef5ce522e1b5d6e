"""Every state in which a kill can leave a folder: a copy of it at each write.

A killed process cleans nothing up: what is on the disk just before a write is what a kill at that moment leaves. Writes
are seen by Python's audit events (files opened for writing, renamed, deleted, given other permissions; folders made)
and by SQLite's trace of commits.
"""

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.files import write_whole
from evenhand.runs.folder import StoredRun
from helpers.fuzzing import contents

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = ("os.rename", "os.remove", "os.chmod", "os.mkdir", "os.rmdir", "os.truncate")
CONNECT = sqlite3.connect


class _Watch:
    """The one audit hook of this process, which cannot be taken away, and what it calls now."""

    folder = ""
    changes: tuple[str, ...] = CHANGES
    at_write: Callable[[str], object] | None = None
    hooked = False

    def __call__(self, event: str, given: tuple[Any, ...]) -> None:
        if event in self.changes or (event == "open" and given[2] & WRITING):
            self.write(given[0])

    def connect(self, path: Path, **how: Any) -> sqlite3.Connection:
        store: sqlite3.Connection = CONNECT(path, **how)
        store.set_trace_callback(lambda statement: self.write(path) if statement == "COMMIT" else None)
        return store

    def write(self, path: object) -> None:
        at_write = self.at_write
        if at_write is None or not isinstance(path, str | os.PathLike):
            return
        self.at_write = None  # what it does itself is none of the writes
        try:
            inside = os.path.relpath(os.path.realpath(path), self.folder)
            if not inside.startswith(".."):
                at_write(inside)
        finally:
            self.at_write = at_write


_WATCH = _Watch()


@contextmanager
def watched(folder: Path, at_write: Callable[[str], object], changes: tuple[str, ...] = CHANGES) -> Iterator[None]:
    """Call `at_write` before every write of this process in the folder, with the path from there.

    Files that are opened for writing are always among them, `changes` are the events besides.
    """
    if not _WATCH.hooked:
        sys.addaudithook(_WATCH)
        _WATCH.hooked = True
    _WATCH.folder, _WATCH.changes, _WATCH.at_write = os.path.realpath(folder), changes, at_write
    sqlite3.connect = _WATCH.connect  # type: ignore[assignment]
    try:
        yield
    finally:
        sqlite3.connect, _WATCH.at_write = CONNECT, None


@contextmanager
def quick(drawing: float = 0) -> Iterator[None]:
    """Runs get a page that says only which results and verdicts it is of; and models are not looked over.

    A page takes `drawing` seconds, in which a process can be killed.
    """

    def write(runs: Sequence[StoredRun], path: Path) -> None:
        shown = [run.path / name for run in runs for name in ("results.json", "gate.json")]
        time.sleep(drawing)
        page = repr([hashlib.sha256(file.read_bytes()).hexdigest() for file in shown if file.exists()]).encode()
        write_whole(path, lambda file: file.write(page))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenhand.show.page.runs.write", write)
        patch.setattr("evenhand.auditing.measuring.preflight", lambda *_: ())
        yield


def states(work: Callable[[Path], object], whole: Path, copies: Path, only: Callable[[str], bool] = bool) -> list[Path]:
    """Do the work in the folder `whole`; copies of it as a kill at each write would leave it, each state once.

    `only` chooses writes by their paths from the folder.
    """
    found: dict[str, Path] = {}

    def copy(path: str) -> None:
        state = repr(sorted((path.removeprefix(str(whole)), digest) for path, digest in contents(whole).items()))
        if only(path) and state not in found:
            found[state] = Path(shutil.copytree(whole, copies / str(len(found)) / whole.name))

    whole.mkdir(parents=True, exist_ok=True)
    with watched(whole, copy):
        work(whole)
    return list(found.values())


def leftovers(folder: Path) -> list[str]:
    """The hidden files in a folder, and what SQLite keeps while it writes: a command that ended has none."""
    return [str(path) for path in folder.rglob("*") if path.name.startswith(".") or path.name.endswith("-journal")]


def results(folder: Path) -> dict[str, Any]:
    """What must be the same: the bytes of all files, the rows of kept answers, and run.json without times."""
    found: dict[str, Any] = {
        path.removeprefix(str(folder)): digest
        for path, digest in contents(folder).items()
        if Path(path).name not in ("run.json", "answers.sqlite")
    }
    for path in folder.rglob("answers.sqlite"):
        with closing(sqlite3.connect(path)) as store:
            for table in ("answers", "batches"):
                found[f"{path.relative_to(folder)} {table}"] = store.execute(f"SELECT * FROM {table}").fetchall()
    for path in folder.rglob("run.json"):
        record = json.loads(path.read_text())
        for audit in record["audits"]:
            for timed in ("started", "seconds", "work", "rescored"):
                audit.pop(timed, None)
        found[str(path.relative_to(folder))] = record
    return found


KILLED = """
import os, signal, sys
from pathlib import Path
from evenhand.cli.app import app
from evenhand.cli.terminal import run
from helpers.kills import watched
seen = []
def at_write(path):
    if sys.argv[1] in path:
        seen.append(path)
    if len(seen) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
with watched(Path(sys.argv[2]), at_write):
    run(app, sys.argv[3:])
"""


def kill(folder: Path, name: str, *command: str | Path) -> None:
    """Run a command in a process of its own, which is killed when it has written a file of that name in the folder.

    It is opened, and then given its permissions: at that moment it is full, and not yet in its place.
    """
    paths = [str(Path(__file__).parents[1]), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, name, str(folder), *map(str, command)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert done.returncode == -signal.SIGKILL, (done.returncode, done.stderr[-2000:])
