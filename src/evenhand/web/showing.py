"""The page of a run and the comparison of two, as the server shows them."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand.runs.folder import Run
from evenhand.runs.staging import GATE

KEPT = 8
"""Pages and comparisons kept in memory, since they take seconds to make."""
BODY = re.compile(r"<body[^>]*>", re.I)
BACK = '<nav aria-label="Server"><a href="/">← All runs</a></nav>'


@dataclass(frozen=True, slots=True)
class Moved:
    """A group before and after, and the scale of the drawing of its change, from 0 to 100 with no change at 50."""

    group: str
    before: float
    after: float
    change: float
    low: float
    high: float
    p_holm: float
    moved: str
    """towards neutral, away from it, or empty: the one rule of stats.verdict."""
    scale: float

    def at(self, value: float) -> float:
        """The position of a value in the drawing."""
        return 50.0 if math.isnan(value) else 50 + 45 * value / self.scale


def page(runs: Sequence[Run]) -> str:
    """The page of one or more runs, with a link back to the list."""
    made = _page(tuple(run.path for run in runs), tuple(_stamp(run) for run in runs))
    return BODY.sub(lambda body: body[0] + BACK, made, count=1)


def policy() -> str:
    """The content security policy of that page: it can reach nothing, not even this server.

    It is sandboxed in an origin of its own, since its text comes from runs that others may have made.
    """
    from evenhand.report.page import policy

    return f"{policy()}; frame-ancestors 'none'; sandbox allow-scripts allow-downloads allow-modals"


def compared(before: Run, after: Run) -> dict[tuple[str, str], list[Moved]]:
    """The groups before and after, by dataset and measure."""
    frame = _changed(before.path, after.path, _stamp(before), _stamp(after))
    return {(str(d), str(m)): list(_moved(part)) for (d, m), part in frame.groupby(["dataset", "measure"], sort=False)}


def _moved(part: pd.DataFrame) -> Iterator[Moved]:
    scale = float(np.nanmax([*part[["change", "low", "high"]].abs().to_numpy().flat, 0.0])) or 1.0
    columns = [name for name in Moved.__slots__ if name != "scale"]
    for row in part[columns].to_dict("records"):
        known: dict[str, Any] = {str(name): value for name, value in row.items()}
        yield Moved(**known, scale=scale)


def _stamp(run: Run) -> int:
    """A number that changes with the results and with the gate's verdict."""
    return max(path.stat().st_mtime_ns for name in ("run.json", GATE) if (path := run.path / name).exists())


@lru_cache(maxsize=KEPT)
def _page(paths: tuple[Path, ...], stamps: tuple[int, ...]) -> str:
    from evenhand.report.page import page  # drawing takes seconds to import

    return page([Run.load(path) for path in paths])


@lru_cache(maxsize=KEPT)
def _changed(before: Path, after: Path, *stamps: int) -> pd.DataFrame:
    from evenhand.analysis.comparison import compare  # scipy takes a second

    return compare(Run.load(before), Run.load(after)).frame
