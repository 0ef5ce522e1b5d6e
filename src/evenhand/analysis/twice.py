"""Items that were scored twice: both values, their difference, its interval and test, and which way it went."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from evenhand.stats.intervals import Floats, agreed_interval, clustered_interval
from evenhand.stats.macro_means import macro_interval
from evenhand.stats.significance import detectable_within, interval_test, sign_flip_test

NUMBERS = ("before", "after", "change", "low", "high", "p", "detectable", "worse", "worse_low", "worse_high")


@dataclass(frozen=True)
class Twice:
    """What a value is the mean of, before and after, for some of the items; NaN where one of both has no score."""

    before: Floats
    after: Floats
    clusters: Sequence[str]
    crossed: Sequence[str] | None
    sets: Sequence[str] | None
    """The sets that count alike, however large; without, each item counts alike."""
    every: Sequence[str]
    """The sets that must all be there for a value."""
    shares: bool
    neutral: float
    better: float
    """1 where higher is better, -1 where lower is, 0 where nearer to neutral is, NaN where one cannot say."""

    def row(self, rng: np.random.Generator, same: bool) -> dict[str, Any]:
        """Both values, their difference and what follows; `same`: of the same model, so that no difference is none."""
        scored = ~np.isnan(self.before - self.after)
        counts = {"n": int(scored.sum()), "left_out": int((~scored).sum()), "neutral": self.neutral}
        both = self._of(scored)
        if not counts["n"] or set(self.every) - set(both.sets or ()):
            return dict.fromkeys(NUMBERS, math.nan) | counts | {"moved": ""}
        before, after = both._mean(both.before), both._mean(both.after)
        difference = both.after - both.before
        if same and not difference.any():
            low, high, p = 0.0, 0.0, 1.0
        else:
            low, high = both._interval(difference, rng)
            p = both._p(difference, low, high, rng)
        worse = both._worse(before, after, low, high, rng)
        least = detectable_within(low, high, both._fewest())
        numbers = (before, after, after - before, low, high, p, least, *worse)
        return dict(zip(NUMBERS, numbers, strict=True)) | counts | {"moved": self._moved(*worse[1:])}

    def _of(self, which: Any) -> "Twice":
        def chosen(labels: Sequence[str] | None) -> list[str] | None:
            return None if labels is None else np.asarray(labels, dtype=str)[which].tolist()

        return replace(
            self,
            before=self.before[which],
            after=self.after[which],
            clusters=chosen(self.clusters) or [],
            crossed=chosen(self.crossed),
            sets=chosen(self.sets),
        )

    def _weights(self) -> Floats:
        """Of mean 1, so that each set counts alike."""
        if self.sets is None:
            return np.ones(len(self.before))
        sets = pd.Series(self.sets)
        return np.asarray(len(sets) / (sets.nunique() * sets.map(sets.value_counts())), dtype=np.float64)

    def _mean(self, values: Floats) -> float:
        return float((values * self._weights()).mean())

    def _fewest(self) -> int:
        sizes = [len(set(side)) for side in (self.clusters, self.crossed) if side is not None]
        return min([size for size in sizes if size > 1], default=1)

    def _interval(self, values: Floats, rng: np.random.Generator, *, signed: bool = True) -> tuple[float, float]:
        if self.sets is not None:
            return macro_interval(values, self.sets, self.clusters, rng, crossed=self.crossed, signed=signed)
        n = len(set(self.clusters))
        if signed and self.shares and n > 1 and np.ptp(values) == 0 and abs(values[0]) in (0.0, 1.0):
            return agreed_interval(float(values[0]), n, signed=True)
        return clustered_interval(values, self.clusters, rng, crossed=self.crossed)

    def _p(self, difference: Floats, low: float, high: float, rng: np.random.Generator) -> float:
        if self.crossed is not None:
            return interval_test(self._mean(difference), low, high, self._fewest())
        return sign_flip_test(difference * self._weights(), self.clusters, rng)

    def _worse(
        self, before: float, after: float, low: float, high: float, rng: np.random.Generator
    ) -> tuple[float, float, float]:
        """How much farther from where it should be, and the interval of that.

        With c = after - before and u = before + after - 2 neutral, the distance |after - neutral| grows by sign(u c)
        min(|u|, |c|). Both have intervals, and the interval is all that they allow: which side of neutral a value is on
        is as uncertain as the value.
        """
        if math.isnan(self.better) or math.isnan(self.neutral):
            return math.nan, math.nan, math.nan
        if self.better:
            ends = sorted((-self.better * low, -self.better * high))
            return -self.better * (after - before), ends[0], ends[1]
        least, most = self._interval((self.before + self.after) / 2, rng, signed=False)
        ends = [_farther(2 * (middle - self.neutral), end) for middle in (least, most) for end in (low, high)]
        whole = _farther(before + after - 2 * self.neutral, after - before)
        return whole, float(np.min(ends)), float(np.max(ends))

    def _moved(self, low: float, high: float) -> str:
        goal = "what is right" if self.better else "neutral"
        return f"towards {goal}" if high < 0 else f"away from {goal}" if low > 0 else ""


def _farther(total: float, difference: float) -> float:
    """|a| - |b|, from a + b and a - b."""
    if difference == 0 or total == 0:
        return 0.0
    if math.isnan(total) or math.isnan(difference):
        return math.nan
    return min(abs(total), abs(difference)) * (1 if (total > 0) == (difference > 0) else -1)
