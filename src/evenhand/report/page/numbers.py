"""One number as the page shows it: value, interval, how many items, and in which form."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.report.tables import UNSIGNED

NONE = "–"


@dataclass(frozen=True)
class Number:
    """A value with its interval; NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    unscored: int = 0
    neutral: float = 0.0
    signed: bool = True
    note: str = ""

    @property
    def known(self) -> bool:
        """Is there a value?"""
        return not math.isnan(self.value)

    @property
    def spans(self) -> bool:
        """Is there an interval?"""
        return not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def shown(self) -> str:
        """The value; a dash where there is none."""
        return self._form(self.value)

    @property
    def interval(self) -> str:
        """Low and high in brackets; a dash where there is no interval."""
        return f"[{self._form(self.low)}, {self._form(self.high)}]" if self.spans else NONE

    @property
    def side(self) -> int:
        """-1 or 1 where the whole interval lies below or above the neutral value, 0 where that cannot be said."""
        if not self.spans or math.isnan(self.neutral):
            return 0
        return int(self.low > self.neutral) - int(self.high < self.neutral)

    def _form(self, value: float) -> str:
        return NONE if math.isnan(value) else format(value, "+.3f" if self.signed else ".3f")


def number(row: Mapping[str, Any]) -> Number:
    """A row of results.json as a number, signed where it can be of either sign."""
    value, low, high, neutral = (
        math.nan if row[name] is None else float(row[name]) for name in ("value", "low", "high", "neutral")
    )
    signed = neutral == 0 and row["measure"] not in UNSIGNED
    return Number(value, low, high, int(row["n"]), int(row["unscored"]), neutral, signed, str(row.get("note", "")))


def probability(p: float) -> str:
    """A p as people write it."""
    if math.isnan(p):
        return NONE
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)
