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

from evenhand.analysis.comparison import compare
from evenhand.errors import BadInput
from evenhand.runs.folder import StoredRun
from evenhand.web.listing import stamp
from evenhand.web.stored import Page, stored

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


def page(runs: Sequence[StoredRun]) -> tuple[str, str]:
    """The page of one or more runs, with a link back to the list, and its content security policy.

    The page can reach nothing, not even this server. It is sandboxed in an origin of its own, since its text comes from
    runs that others may have made.
    """
    made = (len(runs) == 1 and stored(runs[0])) or _page(
        tuple(run.path for run in runs), tuple(stamp(run.path) for run in runs)
    )
    return sandboxed(made)


def sandboxed(made: Page) -> tuple[str, str]:
    """A page with a link back to the list, and its content security policy."""
    policy = f"{made.policy}; frame-ancestors 'none'; sandbox allow-scripts allow-downloads allow-modals"
    return BODY.sub(lambda body: body[0] + BACK, made.html, count=1), policy


def prepare() -> None:
    """Import what makes pages, so that the first page need not wait for it."""
    import evenhand.report.page.runs  # noqa: F401


def compared(before: StoredRun, after: StoredRun) -> dict[tuple[str, str], list[Moved]]:
    """The groups before and after, by dataset and measure."""
    frame = _changed(before.path, after.path, stamp(before.path), stamp(after.path))
    return {(str(d), str(m)): list(_moved(part)) for (d, m), part in frame.groupby(["dataset", "measure"], sort=False)}


def _moved(part: pd.DataFrame) -> Iterator[Moved]:
    scale = float(np.nanmax([*part[["change", "low", "high"]].abs().to_numpy().flat, 0.0])) or 1.0
    columns = [name for name in Moved.__slots__ if name != "scale"]
    for row in part[columns].to_dict("records"):
        known: dict[str, Any] = {str(name): value for name, value in row.items()}
        yield Moved(**known, scale=scale)


@lru_cache(maxsize=KEPT)
def _page(paths: tuple[Path, ...], stamps: tuple[int, ...]) -> Page:
    from evenhand.report.page.runs import page, policy  # drawing takes seconds to import

    return Page(page([StoredRun.load(path) for path in paths]), policy())


@lru_cache(maxsize=KEPT)
def _changed(before: Path, after: Path, *stamps: int) -> pd.DataFrame:
    made = compare([StoredRun.load(before), StoredRun.load(after)])
    if made.shared:
        raise BadInput("These runs are of different samples. Compare the items that both have with: evenhand compare.")
    return made.frame[made.frame["needed"] > 0]  # values that mix stereotype and default get no verdict
