"""The headline numbers and verdicts of runs, for the list: read in the background, since each takes a moment."""

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import EvenhandError
from evenhand.gate.verdict import Verdict
from evenhand.runs.folder import Run
from evenhand.runs.staging import GATE, VOUCHED
from evenhand.web.listing import Listed

log = logging.getLogger(__name__)

MOST = 60
"""Runs of a list whose numbers are shown; the pages of the others have theirs."""
LARGEST = 50_000_000
"""Bytes of the results of a run whose numbers are read for the list."""
PATIENCE = 0.4
"""Seconds that the list waits for numbers; those that come later are shown when it is loaded again."""


@dataclass(frozen=True, slots=True)
class Line:
    """The number that a dataset is judged by, in words."""

    dataset: str
    value: str
    interval: str
    mark: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Headlines:
    """What a run comes to: a sentence, a line for each dataset, and the gate's verdict if there is one."""

    lead: str
    lines: tuple[Line, ...] = ()
    gate: str = ""


class HeadlinesOf:
    """The headlines of the runs of a list, kept until a run changes."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._found: dict[tuple[Path, int], Future[Headlines]] = {}

    async def ready(self, runs: Sequence[Listed]) -> dict[str, Headlines | None]:
        """The headlines of finished runs by id, None while they are being read."""
        wanted = {run.id: (run.path, run.stamp) for run in [run for run in runs if run.state == "finished"][:MOST]}
        for key in wanted.values():
            if key not in self._found:
                self._found[key] = self._pool.submit(read, key[0])
        for key in [key for key in self._found if len(self._found) > 10 * MOST and key not in wanted.values()]:
            self._found.pop(key).cancel()
        waiting = [asyncio.wrap_future(self._found[key]) for key in wanted.values()]
        if waiting:
            await asyncio.wait(waiting, timeout=PATIENCE)
        return {
            id: self._found[key].result() if key in self._found and self._found[key].done() else None
            for id, key in wanted.items()
        }


def read(folder: Path) -> Headlines:
    """The headlines of the run in a folder, or why there are none."""
    from evenhand.report.page.readings import dataset  # drawing takes seconds to import
    from evenhand.report.page.section import Measured
    from evenhand.report.page.short import lead, summary

    try:
        if sum((folder / name).stat().st_size for name in VOUCHED if (folder / name).exists()) > LARGEST:
            return Headlines("Too large to be read for the list: see its page.")
        run = Run.load(folder)
        found = summary([Measured([run], [run.record.model], task, {}) for task in run.record.tasks])
        gate = Verdict.load(folder).verdict if (folder / GATE).exists() else ""
    except EvenhandError:
        return Headlines("Its results cannot be read: open it for the reason.")
    except Exception:
        log.exception(f"The results in '{folder}' could not be read for the list.")
        return Headlines("Its results cannot be read.")
    lines: dict[str, Line] = {}
    for section, line in sorted(found, key=lambda one: (not one[1].main, one[1].verdicts[0].tone != "leans")):
        number, verdict = line.numbers[0], line.verdicts[0]
        label = f"{dataset(section.dataset)}, {line.label}" if line.label else dataset(section.dataset)
        lines.setdefault(section.dataset, Line(label, number.text, number.brackets, verdict.mark, verdict.short))
    return Headlines(lead(found), tuple(lines.values()), gate)
