"""From before to after: how each value moved, and whether that is nearer to neutral."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from evenhand.report.cells import UNSIGNED
from evenhand.report.page.numbers import Number, probability

SURE = 0.05


@dataclass(frozen=True)
class Move:
    """A change with its interval, its p, adjusted by Holm over all of them, and which way it went."""

    dataset: str
    measure: str
    group: str
    before: Number
    after: Number
    change: Number
    p: float
    p_holm: float
    way: str
    """gained, lost, changed (a level that moved), or same (no change shown)."""

    @property
    def short(self) -> str:
        """What happened, in a few words."""
        if self.way == "same":
            return "no change shown"
        if self.measure == "gender-agreement":
            return "knows more than before" if self.way == "gained" else "knows less than before"
        if self.way == "changed":
            return "rose" if self.change.value > 0 else "fell"
        return "nearer to neutral" if self.way == "gained" else "farther from neutral"

    @property
    def says(self) -> str:
        """The same with its ground."""
        return f"{self.short}: the interval {'includes' if self.way == 'same' else 'leaves out'} 0"

    @property
    def sure(self) -> bool:
        """Is it beyond chance among all comparisons, too?"""
        return self.p_holm < SURE

    @property
    def chance(self) -> str:
        """The p over all comparisons, where a change is shown at all."""
        return "" if self.way == "same" or math.isnan(self.p_holm) else f"{probability(self.p_holm)}, adjusted"


def moves(changes: pd.DataFrame, neutral: Mapping[tuple[str, str], float]) -> dict[tuple[str, ...], Move]:
    """The rows of analysis.change.changed by dataset, measure and group.

    `neutral` has the neutral value of each dataset and measure; NaN where nearer and farther have no meaning.
    """
    found: dict[tuple[str, ...], Move] = {}
    for row in changes.to_dict("records"):
        key = (str(row["dataset"]), str(row["measure"]), str(row["group"]))
        change = Number(float(row["change"]), float(row["low"]), float(row["high"]))
        zero = neutral.get(key[:2], math.nan)
        signed = zero != 0.5 and key[1] not in UNSIGNED
        before, after = (Number(float(row[name]), neutral=zero, signed=signed) for name in ("before", "after"))
        way = _way(key[1], before.value, after.value, change, zero)
        found[key] = Move(*key, before, after, change, float(row["p"]), float(row["p_holm"]), way)
    return found


def _way(measure: str, before: float, after: float, change: Number, neutral: float) -> str:
    if change.side == 0:
        return "same"
    if measure == "gender-agreement":
        return "gained" if change.side > 0 else "lost"
    if math.isnan(neutral):
        return "changed"
    return "gained" if abs(after - neutral) < abs(before - neutral) else "lost"
