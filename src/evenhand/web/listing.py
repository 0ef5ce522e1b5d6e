"""The runs under a folder, by run.json alone: however large they are, the list opens at once."""

import hashlib
import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from evenhand.errors import NewerRun, RunError
from evenhand.runs.folder import ANSWERS, VOUCHED, Run
from evenhand.runs.record import read_record

DEEPEST = 6
"""Levels below the folder: studies keep runs four down."""
MOST = 20_000
"""Folders looked into; somebody may serve a home folder."""
LARGEST = 20_000_000
"""Bytes of a run.json; that of the longest suite has 10,000."""

RECORD = "debias.json"
"""What a page reads from a folder that two runs are in."""

State = Literal["finished", "unfinished", "damaged", "newer"]


@dataclass(frozen=True, slots=True)
class Listed:
    """A run as the list shows it; `why` says what is wrong with one that cannot be opened."""

    id: str
    folder: str
    state: State
    started: str
    model: str = ""
    datasets: tuple[str, ...] = ()
    sample: int | None = None
    why: str = ""

    def has(self, words: str) -> bool:
        """Does it have each of the words: in its model, folder, datasets, date or state?"""
        text = " ".join((self.model, self.folder, self.state, self.started, *self.datasets)).casefold()
        return all(word in text for word in words.casefold().split())


class Runs:
    """The runs under `folder`; nothing outside of it is read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder.resolve()

    def all(self) -> list[Listed]:
        """Every run, the latest first."""
        return sorted((self._listed(folder) for folder in self._folders()), key=lambda run: run.started, reverse=True)

    def open(self, id: str) -> Run | None:
        """The run of this id, None if there is none; an error, in the words of the list, if it cannot be opened."""
        folder = next((folder for folder in self._folders() if self._id(folder) == id), None)
        if folder is None:
            return None
        listed = self._listed(folder)
        if listed.state != "finished":
            raise RunError(listed.why)
        try:
            return Run.load(folder)
        except RunError as error:
            raise RunError(self.worded(error)) from error

    def _folders(self) -> Iterator[Path]:
        """Those with a run, finished or not. Links are not followed: none leads out, none goes in circles."""
        waiting = deque([(self.root, 0)])
        looked = 0
        while waiting and looked < MOST:
            folder, depth = waiting.popleft()
            looked += 1
            try:
                with os.scandir(folder) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError:  # not ours to read, or gone by now
                continue
            if {entry.name for entry in entries} & {"run.json", ANSWERS}:
                yield folder
            if depth < DEEPEST:
                below = (e for e in entries if e.is_dir(follow_symlinks=False) and not e.name.startswith("."))
                waiting.extend((Path(entry.path), depth + 1) for entry in below)

    def _id(self, folder: Path) -> str:
        """The same whenever the server is started, and no path."""
        return hashlib.sha256(os.fsencode(folder.relative_to(self.root))).hexdigest()[:16]

    def _listed(self, folder: Path) -> Listed:
        shown = os.fsencode(folder.relative_to(self.root)).decode("utf-8", "replace")
        known: dict[str, Any] = {
            "id": self._id(folder),
            "folder": self.root.name if shown == "." else shown,
            "started": "",
        }
        try:
            known["started"] = datetime.fromtimestamp(folder.stat().st_mtime, UTC).isoformat(timespec="seconds")
            self._check(folder)
            if not (folder / "run.json").exists():
                working = (folder / ".lock").exists()
                why = "The audit is at work, or was killed." if working else "The audit was stopped before its end."
                why += " The same command again goes on."
                return Listed(**known, state="unfinished", why=why)
            return Listed(**known | _about(folder), state="finished")
        except NewerRun as error:
            return Listed(**known, state="newer", why=self.worded(error))
        except (RunError, OSError, RecursionError) as error:
            return Listed(**known, state="damaged", why=self.worded(error))

    def _check(self, folder: Path) -> None:
        """Whatever a page may read is in the folder that is served: no link out, no pipe that would never end."""
        above = [path for path in folder.parents if path.is_relative_to(self.root)]
        for path in (*folder.iterdir(), *(path / RECORD for path in above if (path / RECORD).is_symlink())):
            if path.is_symlink() and not path.resolve().is_relative_to(self.root):
                raise RunError(f"{path.name} is a link that leads out of the folder that is served.")
            if not (path.is_file() or path.is_dir()) and os.path.lexists(path):  # a file of the moment may be gone
                raise RunError(f"{path.name} is no file. An audit did not leave it here.")

    def worded(self, error: Exception) -> str:
        """What went wrong, with paths as whoever started the server would write them."""
        return str(error).replace(str(self.root), str(self.folder))


def _about(folder: Path) -> dict[str, Any]:
    """What run.json says that the list shows, if it is as an audit writes it."""
    if (folder / "run.json").stat().st_size > LARGEST:
        raise RunError(f"run.json has more than {LARGEST:,} bytes. An audit did not write it.")
    record = read_record(folder)
    if record is None or not all(Path(name).name == name for name in record.sha256):
        raise RunError("run.json does not say which results it vouches for. Run the audit again.")
    if lost := [name for name in VOUCHED if name in record.sha256 and not _size(folder / name)]:
        raise RunError(f"{', '.join(lost)}: missing or empty. Put it right with: evenhand rescore {folder}")
    return {
        "started": record.started[:25],
        "model": record.model,
        "datasets": tuple(dict.fromkeys(task.dataset for task in record.tasks)),
        "sample": record.limit,
    }


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
