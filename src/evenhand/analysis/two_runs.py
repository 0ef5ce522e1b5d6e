"""The value of the same items in two runs: its difference, and whether it came nearer to where it should be."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, Self

import numpy as np

from evenhand.core.scores import Score, Summary
from evenhand.stats.intervals import Floats, Paired, agreed_interval, number_clusters
from evenhand.stats.mean_intervals import IntervalAndTest, fewest_clusters, mean_test
from evenhand.stats.significance import interval_test, sign_flip_test
from evenhand.stats.verdict import ALPHA


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Both values, their difference with interval and p, and how much farther from its goal the second one is."""

    n: int
    left_out: int
    clusters: int
    neutral: float
    goal: str
    """Where the value should be, in words."""
    before: float = math.nan
    after: float = math.nan
    change: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    freedom: float = math.nan
    worse: float = math.nan
    worse_low: float = math.nan
    worse_high: float = math.nan
    worse_p: float = math.nan


@dataclass(frozen=True)
class Values(ABC):
    """The scores of the same items in two runs, `before` and `after`; NaN if a run has no score of the item."""

    before: Floats
    after: Floats
    clusters: Sequence[str]
    neutral: float
    better: float
    """1 if higher is better, -1 if lower is better, 0 if nearer to neutral is better, NaN if items differ in this."""
    crossed: Sequence[Sequence[str]] = field(default=(), kw_only=True)
    sets: Sequence[str] | None = field(default=None, kw_only=True)
    """The set of each item. Sets of any size count equally; without sets, each item counts equally."""

    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """The value before and after; NaN where there is none."""

    @abstractmethod
    def change(self, rng: np.random.Generator) -> IntervalAndTest:
        """The interval of after - before, and the p of its test."""

    @abstractmethod
    def middle(self, rng: np.random.Generator) -> IntervalAndTest:
        """The interval of (before + after) / 2, and the p of its test against neutral."""

    def part(self, selected: Any) -> Self:
        sets = None if self.sets is None else list(compress(self.sets, selected))
        clusters, *crossed = (list(compress(way, selected)) for way in (self.clusters, *self.crossed))
        ends = {"before": self.before[selected], "after": self.after[selected]}
        return replace(self, **ends, clusters=clusters, crossed=crossed, sets=sets)

    def missing_scores(self, scored: Any) -> str:
        """The scores that a value lacks if only those of this mask are known, in words; empty if it lacks none."""
        return ""

    @property
    def distance(self) -> float:
        """How far the value of the first run is from where it should be."""
        value = self.ends()[0]
        return -self.better * value if self.better else abs(value - self.neutral)

    def difference(self, rng: np.random.Generator, same: bool, *, judged: bool = False) -> Difference:
        """Compare the two values. With `same`, both are of the same model, so that a difference of 0 is exact.

        With `judged`, the growth of the distance is not computed if no verdict can rest on it.
        """
        scored = ~np.isnan(self.before - self.after)
        both = self if scored.all() else self.part(scored)
        goal = "what is right" if self.better else "neutral"
        n, left_out = int(scored.sum()), int((~scored).sum())
        clusters = fewest_clusters(both.clusters, both.crossed, both.sets)
        none = Difference(n=n, left_out=left_out, clusters=clusters, neutral=self.neutral, goal=goal)
        before, after = both.ends() if n and not self.missing_scores(scored) else (math.nan, math.nan)
        if math.isnan(after - before):
            return none
        exact = same and not (both.after - both.before).any()
        change = IntervalAndTest(0.0, 0.0, 1.0) if exact else both.change(rng)
        worse, worse_low, worse_high, worse_p = both._worse((before, after), change, rng, judged)
        known = replace(none, before=before, after=after, change=after - before, **change._asdict())
        return replace(known, worse=worse, worse_low=worse_low, worse_high=worse_high, worse_p=worse_p)

    def _worse(
        self, ends: tuple[float, float], change: IntervalAndTest, rng: np.random.Generator, judged: bool
    ) -> tuple[float, float, float, float]:
        """The growth of the distance from where the value should be, with its interval and p.

        With c = after - before and u = before + after - 2 neutral, the distance |after - neutral| grows by sign(u c)
        min(|u|, |c|). The interval of the growth holds every growth that the intervals of c and u allow, since the side
        of neutral that a value is on is as uncertain as the value. The distance changes only if neither c nor u is 0,
        so p is the larger of their two p (an intersection-union test; Berger 1982, Technometrics 24:295-300).
        """
        (before, after), (low, high, p, _) = ends, change
        if self.better in (1.0, -1.0):
            least, most = sorted((-self.better * low, -self.better * high))
            return -self.better * (after - before), least, most, p
        if math.isnan(self.better) or math.isnan(self.neutral):
            return math.nan, math.nan, math.nan, math.nan
        if judged and p >= ALPHA:  # the larger of both p is not below ALPHA either
            return math.nan, math.nan, math.nan, p
        least, most, p_middle, _ = self.middle(rng)
        corners = [
            _difference_of_sizes(2 * (where - self.neutral), end) for where in (least, most) for end in (low, high)
        ]
        whole = _difference_of_sizes(before + after - 2 * self.neutral, after - before)
        return whole, float(np.min(corners)), float(np.max(corners)), float(np.maximum(p, p_middle))


@dataclass(frozen=True, kw_only=True)
class Means(Values):
    """Values that are means of the numbers `before` and `after`."""

    every: Sequence[str] = ()
    """The sets that must all have items for a value."""
    shares: bool = False
    """Whether the value is the share of items that score 1."""
    unit: bool = False
    """Whether values lie between 0 and 1."""

    def ends(self) -> tuple[float, float]:
        if set(self.every) - set(self.sets or ()):
            return math.nan, math.nan
        weights = self._weights()
        return float((self.before * weights).mean()), float((self.after * weights).mean())

    def change(self, rng: np.random.Generator) -> IntervalAndTest:
        """The interval of the mean, and a test that flips the signs of whole clusters; a t test if clusters cross."""
        return self._interval_and_test(self.after - self.before, rng)

    def middle(self, rng: np.random.Generator) -> IntervalAndTest:
        return self._interval_and_test((self.before + self.after) / 2, rng, self.neutral, signed=False)

    def _weights(self) -> Floats:
        """The weight of each item, with mean 1, so that each set counts equally."""
        if self.sets is None:
            return np.ones(len(self.before))
        n, numbers = number_clusters(self.sets)
        return len(numbers) / (n * np.bincount(numbers)[numbers])

    def _interval_and_test(
        self, values: Floats, rng: np.random.Generator, neutral: float = 0.0, *, signed: bool = True
    ) -> IntervalAndTest:
        """Interval and p of the mean of these values, which are differences if `signed`."""
        n = len(set(self.clusters))
        if self.sets is None and self.shares and n > 1 and np.ptp(values) == 0 and abs(values[0]) in (0.0, 1.0):
            ends = agreed_interval(float(values[0]), n, signed=signed)
            return IntervalAndTest(*ends, sign_flip_test(values - neutral, self.clusters, rng))
        unit = self.unit and not signed
        return mean_test(values, self.clusters, rng, crossed=self.crossed, sets=self.sets, unit=unit, neutral=neutral)


@dataclass(frozen=True, kw_only=True)
class Summaries(Values):
    """Values by any summary, with a bootstrap of both runs together and a test that swaps clusters between them."""

    summary: Summary
    groups: Sequence[Mapping[str, str]]
    """The groups of each item."""

    def ends(self) -> tuple[float, float]:
        return self.summary(self._scores(self.before)), self.summary(self._scores(self.after))

    def change(self, rng: np.random.Generator) -> IntervalAndTest:
        """A bootstrap over clusters, and a test that swaps whole clusters between the runs."""
        paired = self._pairs()
        return IntervalAndTest(*paired.difference.interval(rng), paired.swap_test(rng))

    def middle(self, rng: np.random.Generator) -> IntervalAndTest:
        """A bootstrap over clusters, and the p that follows from its interval."""
        middle = self._pairs().middle
        low, high = (end - self.neutral for end in middle.interval(rng))
        p = interval_test(middle.value - self.neutral, low, high, middle.clusters - 1)
        return IntervalAndTest(low + self.neutral, high + self.neutral, p)

    def part(self, selected: Any) -> Self:
        return replace(super().part(selected), groups=list(compress(self.groups, selected)))

    def missing_scores(self, scored: Any) -> str:
        return self.summary.lacks(self._scores(np.where(scored, 0.0, math.nan)))

    def _scores(self, values: Floats) -> list[Score]:
        return [Score(str(i), float(v), groups) for i, (v, groups) in enumerate(zip(values, self.groups, strict=True))]

    def _pairs(self) -> Paired:
        runs = [self._scores(values) for values in (self.before, self.after)]
        return Paired(self.summary.resampling(runs, self.clusters))


def _difference_of_sizes(total: float, difference: float) -> float:
    """|a| - |b|, from a + b and a - b."""
    if difference == 0 or total == 0:
        return 0.0
    if math.isnan(total) or math.isnan(difference):
        return math.nan
    return min(abs(total), abs(difference)) * (1 if (total > 0) == (difference > 0) else -1)
