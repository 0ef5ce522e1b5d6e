"""The runs and corpora under a folder. The list is quick: it reads only run.json, and numbers in the background."""

import asyncio
import hashlib
import logging
import math
import os
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from evenhand.core.files import from_json, public_path, read_parsed, real_path
from evenhand.errors import EvenhandError, NewerRun, RunError
from evenhand.gate.verdict import Verdict
from evenhand.runs.files import GATE, VOUCHED
from evenhand.runs.folder import ANSWERS, StoredRun
from evenhand.runs.record import RunRecord, read_record
from evenhand.stats.estimate import Estimate

log = logging.getLogger(__name__)

DEEPEST = 6
"""The most levels of folders that are searched; studies keep runs four levels down."""
MOST = 20_000
"""The most folders that are searched; somebody may serve a home folder."""
LARGEST = 20_000_000
"""The most bytes of a run.json; that of the longest suite has 10,000."""
SHOWN = 60
"""The most runs of a list whose numbers are shown; of other runs, only their pages show them."""
READ = 50_000_000
"""The most bytes of the results of a run whose numbers are read for the list."""
PATIENCE = 0.4
"""Seconds that the list waits for numbers; later numbers are shown when the list is loaded again."""
RUN_FILES = ("run.json", ANSWERS)
"""Files that only run folders have."""
CORPUS = "corpus.json"
"""The file of `evenhand corpus --out`."""
RECORD = "debias.json"
"""A file that pages read from the folder above two runs."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A run as the list shows it. If the run cannot be opened, `why` is the reason."""

    id: str
    folder: str
    state: Literal["finished", "unfinished", "damaged", "newer"]
    started: str
    record: RunRecord | None = None
    why: str = ""
    path: Path = Path()
    stamp: int = 0
    """A number that changes when the results or the gate's verdict change: see `stamp`."""

    @property
    def model(self) -> str:
        return self.record.model if self.record else ""

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(task.dataset for task in self.record.tasks)) if self.record else []

    def matches(self, words: str) -> bool:
        """Whether each of the words occurs in the run's model, folder, datasets, date or state."""
        text = " ".join((self.model, self.folder, self.state, self.started, *self.datasets)).casefold()
        return all(word in text for word in words.casefold().split())


class Runs:
    """The runs under `folder`; nothing outside the folder is read."""

    def __init__(self, folder: Path) -> None:
        self.folder = public_path(folder)
        self.root = real_path(folder)

    def all(self) -> list[Listed]:
        return sorted((self._list_run(folder) for folder in self.folders()), key=lambda run: run.started, reverse=True)

    def open(self, id: str) -> StoredRun | None:
        """The run of this id, or None. Raises RunError if the run is unfinished, damaged or newer."""
        if (folder := self.find(id)) is None:
            return None
        listed = self._list_run(folder)
        if listed.state != "finished":
            raise RunError(listed.why)
        return StoredRun.load(folder)

    def find(self, id: str, files: Collection[str] = RUN_FILES) -> Path | None:
        return next((folder for folder in self.folders(files) if self.id(folder) == id), None)

    def folders(self, files: Collection[str] = RUN_FILES) -> Iterator[Path]:
        """The folders with one of these files. Links are not followed: they may lead elsewhere, or in circles."""
        waiting = deque([(self.root, 0)])
        searched = 0
        while waiting and searched < MOST:
            folder, depth = waiting.popleft()
            searched += 1
            try:
                with os.scandir(folder) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name)
            except OSError:  # not readable, or deleted meanwhile
                continue
            if {entry.name for entry in entries} & set(files):
                yield folder
            if depth < DEEPEST:
                below = (e for e in entries if e.is_dir(follow_symlinks=False) and not e.name.startswith("."))
                waiting.extend((Path(entry.path), depth + 1) for entry in below)

    def id(self, folder: Path) -> str:
        """An id that stays the same when the server is restarted, and does not show the path."""
        return hashlib.sha256(os.fsencode(folder.relative_to(self.root))).hexdigest()[:16]

    def name(self, folder: Path) -> str:
        """The path of a folder, relative to the served one."""
        shown = os.fsencode(folder.relative_to(self.root)).decode("utf-8", "replace")
        return self.root.name if shown == "." else shown

    def _list_run(self, folder: Path) -> Listed:
        known: dict[str, Any] = {"id": self.id(folder), "folder": self.name(folder), "started": ""}
        try:
            known["started"] = datetime.fromtimestamp(folder.stat().st_mtime, UTC).isoformat(timespec="seconds")
            self.check(folder)
            if not (folder / "run.json").exists():
                working = (folder / ".lock").exists()
                why = "The audit is running, or was killed." if working else "The audit was stopped before its end."
                return Listed(**known, state="unfinished", why=f"{why} Resume it with the same command.")
            record = _read_record(folder)
            of_run = {"started": record.started[:25], "record": record, "stamp": stamp(folder)}
            return Listed(**known | of_run, state="finished", path=folder)
        except (RunError, OSError, RecursionError) as error:
            state: Any = "newer" if isinstance(error, NewerRun) else "damaged"
            return Listed(**known, state=state, why=self.public_message(error))

    def check(self, folder: Path) -> None:
        """Raise RunError if a file that a page may read is a link out of the served folder, a pipe or a device."""
        above = [path for path in folder.parents if path.is_relative_to(self.root)]
        for path in (*folder.iterdir(), *(path / RECORD for path in above if (path / RECORD).is_symlink())):
            if path.is_symlink() and not real_path(path).is_relative_to(self.root):
                raise RunError(f"{path.name} is a link to a place outside the served folder. Replace it with a copy.")
            if not (path.is_file() or path.is_dir()) and os.path.lexists(path):  # a temporary file may be gone
                raise RunError(f"{path.name} is not a file, and was not written by an audit. Remove or replace it.")

    def public_message(self, error: Exception) -> str:
        """The message of an error, with the served folder named as it was given to the server."""
        return str(error).replace(str(self.root), self.folder)


def two_latest(runs: Sequence[Listed]) -> list[str]:
    """The ids of the two latest runs whose common tasks are alike, or else of the two latest; the earlier run first."""
    tasks = {run.id: run.record.tasks if run.record else () for run in runs}
    ways = {id: {t.name: (t.identity, t.partial and t.draw) for t in run_tasks} for id, run_tasks in tasks.items()}
    for (after, later), (before, earlier) in combinations(ways.items(), 2):
        both = set(later) & set(earlier)
        if both and all(later[name] == earlier[name] for name in both):
            return [before, after]
    return [run.id for run in reversed(runs[:2])] or ["", ""]


def stamp(folder: Path) -> int:
    """A number that changes when the run's results or the gate's verdict change: the latest time of their files."""
    return max(path.stat().st_mtime_ns for name in ("run.json", GATE) if (path := folder / name).exists())


def _read_record(folder: Path) -> RunRecord:
    """The record of a run. Result files are not read; RunError if one is missing or empty."""
    if (folder / "run.json").stat().st_size > LARGEST:
        raise RunError(f"run.json has more than {LARGEST:,} bytes, which no audit writes. Remove or replace it.")
    record = read_record(folder)
    if record is None or not all(Path(name).name == name for name in record.sha256):
        raise RunError("run.json does not list the files of its results. Run the audit again.")
    results = [folder / name for name in VOUCHED if name in record.sha256]
    if lost := [path.name for path in results if not (path.is_file() and path.stat().st_size)]:
        raise RunError(f"{', '.join(lost)}: missing or empty. Repair the run with: evenhand rescore {folder}")
    return record


class Headlines:
    """The headlines of listed runs, each cached until its run changes."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._reading = lru_cache(maxsize=10 * SHOWN)(lambda folder, stamp: pool.submit(read_headlines, folder))

    async def ready(self, runs: Sequence[Listed]) -> dict[str, dict[str, Any] | None]:
        """The headlines of the first SHOWN finished runs, by id; None if they are still being read."""
        finished = [run for run in runs if run.state == "finished"][:SHOWN]
        reading = {run.id: self._reading(run.path, run.stamp) for run in finished}
        if reading:
            await asyncio.wait(map(asyncio.wrap_future, reading.values()), timeout=PATIENCE)
        return {id: headlines.result() if headlines.done() else None for id, headlines in reading.items()}


def read_headlines(folder: Path) -> dict[str, Any]:
    """The headlines of a run: the sentence `lead`, the `lines` of its headline numbers, and the `gate`'s verdict.

    A line has the mark, the dataset in words, the value, the interval and the verdict as texts: the lines of a page
    would keep the run in memory.
    """
    from evenhand.show.page.readings import dataset  # drawing takes seconds to import
    from evenhand.show.page.section import measured_tasks
    from evenhand.show.page.short import lead, summary

    try:
        if sum((folder / name).stat().st_size for name in VOUCHED if (folder / name).exists()) > READ:
            return {"lead": "Too large to be read for the list: see its page."}
        run = StoredRun.load(folder)
        lines_of_run = summary(measured_tasks(run))
        gate = Verdict.load(folder).verdict if (folder / GATE).exists() else ""
    except EvenhandError:
        return {"lead": "Its results cannot be read: open it for the reason."}
    except Exception:
        log.exception(f"The results in '{folder}' could not be read for the list.")
        return {"lead": "Its results cannot be read."}
    lines: dict[str, tuple[str, ...]] = {}
    for section, line in sorted(lines_of_run, key=lambda pair: (not pair[1].main, pair[1].verdicts[0].tone != "leans")):
        name, number, verdict = dataset(section.dataset), line.numbers[0], line.verdicts[0]
        name = f"{name}, {line.label}" if line.label else name
        lines.setdefault(section.dataset, (verdict.mark, name, number.text, number.brackets, verdict.short))
    return {"lead": lead(lines_of_run), "lines": list(lines.values()), "gate": gate}


def list_corpora(runs: Runs) -> list[dict[str, Any]]:
    """The folders of corpora under the served folder as the list shows them, the latest first.

    A folder has the `lines` of its corpora, or `why` it cannot be read.
    """
    listed = ({"counted": "", "why": ""} | _list_corpus_folder(folder, runs) for folder in runs.folders({CORPUS}))
    return sorted(listed, key=lambda corpora: corpora["counted"], reverse=True)


def _list_corpus_folder(folder: Path, runs: Runs) -> dict[str, Any]:
    known = {"id": runs.id(folder), "folder": runs.name(folder)}
    try:
        runs.check(folder)
        data = read_parsed(folder / CORPUS, from_json)
        lines = [_corpus_line(name, corpus) for name, corpus in data["corpora"].items()]
        return known | {"counted": str(data["counted"])[:10], "lines": lines}
    except RunError as error:
        return known | {"why": runs.public_message(error)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return known | {"why": f"{CORPUS} cannot be read. Count the corpus again."}


def _corpus_line(name: str, corpus: dict[str, Any]) -> dict[str, Any]:
    """A corpus: its name, how large it is, and the share of women among its gendered words."""
    from evenhand.show.corpus import lean, percent  # slow to import

    share, low, high = (
        math.nan if corpus[key] is None else corpus[key] for key in ("share", "share_low", "share_high")
    )
    if not isinstance(corpus["documents"], int):
        raise TypeError("documents")
    known = {"name": str(name), "documents": corpus["documents"]}
    return known | {"share": percent(Estimate(share, low, high)), "verdict": lean(str(corpus["verdict"]))}
