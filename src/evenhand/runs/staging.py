"""The files of a run are replaced together: all of them or none, whenever the process is killed.

New files are written to a folder within the run's. Once its run.json is there, they count: they are moved to their
places, by the process that wrote them or, if that was killed, by the next one that reads or writes the run.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evenhand.core.files import prepare

NEXT = ".next"
VOUCHED = ("results.json", "scores.parquet", "items.parquet")
"""Files whose hashes are in run.json; older runs have fewer."""
GATE = "gate.json"
PAGE = "report.html"


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A folder to write the files of the run to, run.json last; at the end they replace the old ones."""
    staged = path / NEXT
    shutil.rmtree(staged, ignore_errors=True)
    try:
        prepare(staged)
        yield staged
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    _move(path)
    shutil.rmtree(staged, ignore_errors=True)


def recover(path: Path) -> None:
    """Finish the replacement that a killed process began; do nothing while that process still runs."""
    staged = path / NEXT
    if staged.is_symlink() or not (staged / "run.json").is_file():
        return
    from filelock import FileLock, Timeout  # imported late: most reads do not need it

    with suppress(OSError, Timeout, NotImplementedError), FileLock(path / ".lock", timeout=0):
        _move(path)
        shutil.rmtree(staged, ignore_errors=True)
        (path / ".lock").unlink(missing_ok=True)


def _move(path: Path) -> None:
    for stale in (GATE, PAGE):  # they are about the old results
        (path / stale).unlink(missing_ok=True)
    for name in (*VOUCHED, "run.json"):
        with suppress(FileNotFoundError):  # moved before the process was killed
            (path / NEXT / name).replace(path / name)
