"""The mean of the means of several sets, with an interval that keeps the sets as they were chosen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evenhand.stats.intervals import (
    DRAWS,
    FEW,
    FEW_CROSSED,
    MANY,
    Floats,
    Indices,
    agreed_interval,
    numbered,
    percentiles,
)


def macro_interval(
    values: Floats,
    sets: Sequence[str],
    clusters: Sequence[str],
    rng: np.random.Generator,
    *,
    crossed: Sequence[str] | None = None,
    signed: bool = False,
    level: float = 0.95,
) -> tuple[float, float]:
    """An interval for the mean over sets of each set's mean; clusters are resampled whole, within strata.

    A cluster may lie in several sets (an occupation in pro and anti), and then goes with all of its items. Clusters
    that have the same sets are a stratum, whose size is the design's, not chance's: so many are drawn from it again.
    With `crossed`, a second set of clusters of the same items, both are drawn (Owen's pigeonhole bootstrap, 2007).
    Levels are expanded as in `stats.clustered_interval`, for the size of the smallest stratum, which errs to the wide
    side. Where a stratum is too small for a bootstrap, or there are very many clusters: jackknife within strata,
    variances of both sides added, t. Both ends NaN where a stratum of `clusters` is a single one.

    A set whose values are all 0 or all 1 has no spread to resample. Wilson's interval over its clusters stands in for
    it, joined to the rest as root of the sum of squares. `signed` values are differences of shares, from -1 to 1.
    """
    _, which = numbered(sets)
    sides = [_Side.of(clusters, which)]
    if crossed is not None:
        other = _Side.of(crossed, which)
        cells = len(set(zip(sides[0].index.tolist(), other.index.tolist(), strict=True)))
        if other.smallest > 1 and not sides[0].size == other.size == cells:
            sides.append(other)
    fewest = min(side.smallest for side in sides)
    if fewest < 2:
        return math.nan, math.nan
    tables = _Tables(values, which, sides)
    if fewest < (FEW if len(sides) == 1 else FEW_CROSSED) or (len(sides) == 1 and sides[0].size > MANY):
        value, error = tables.value([np.ones((1, side.size)) for side in sides])[0], tables.jackknife()
        t = float(stats.t.ppf((1 + level) / 2, fewest - 1))
        low, high = value - t * error, value + t * error
    else:
        low, high = percentiles(tables.value([side.draws(rng) for side in sides]), fewest, level)
    return _widened(values, which, sides[0].index, low, high, signed)


@dataclass(frozen=True)
class _Side:
    """One way to cluster the items: how many clusters, each item's, and the clusters of each stratum."""

    size: int
    index: Indices
    strata: list[Indices]

    @classmethod
    def of(cls, clusters: Sequence[str], which: Indices) -> "_Side":
        size, index = numbered(clusters)
        member = np.zeros((size, which.max() + 1), dtype=bool)
        member[index, which] = True
        _, stratum = np.unique(member, axis=0, return_inverse=True)
        return cls(size, index, [np.flatnonzero(stratum == s) for s in range(stratum.max() + 1)])

    @property
    def smallest(self) -> int:
        return min(len(stratum) for stratum in self.strata)

    def draws(self, rng: np.random.Generator) -> Floats:
        """How often each cluster is in each bootstrap sample."""
        drawn = np.zeros((DRAWS, self.size))
        for stratum in self.strata:
            n = len(stratum)
            drawn[:, stratum] = rng.multinomial(n, np.full(n, 1 / n), size=DRAWS)
        return drawn

    def left_out(self) -> Floats:
        """All clusters but one, each in turn."""
        return 1 - np.eye(self.size)


class _Tables:
    """Sums and sizes by set and cluster, enough for the value of any resample."""

    def __init__(self, values: Floats, which: Indices, sides: Sequence[_Side]) -> None:
        self.sides = sides
        shape = (which.max() + 1, *(side.size for side in sides))
        self.sums, self.sizes = np.zeros(shape), np.zeros(shape)
        at = (which, *(side.index for side in sides))
        np.add.at(self.sums, at, values)
        np.add.at(self.sizes, at, 1)

    def value(self, drawn: Sequence[Floats]) -> Floats:
        """The value of each resample, given how often it has each cluster of each side; NaN where it lacks a set."""
        means = []
        for sums, sizes in zip(self.sums, self.sizes, strict=True):
            total, weight = (self._weighted(table, drawn) for table in (sums, sizes))
            means.append(np.divide(total, weight, out=np.full(len(total), np.nan), where=weight > 0))
        return np.asarray(np.mean(means, axis=0))

    def jackknife(self) -> float:
        """The standard error from leaving out one cluster at a time within its stratum, both sides added."""
        variance = 0.0
        for number, side in enumerate(self.sides):
            drawn = [np.ones((side.size, other.size)) for other in self.sides]
            drawn[number] = side.left_out()
            without = self.value(drawn)
            for stratum in side.strata:
                n = len(stratum)
                variance += (n - 1) / n * float(((without[stratum] - without[stratum].mean()) ** 2).sum())
        return math.sqrt(variance)

    @staticmethod
    def _weighted(table: Floats, drawn: Sequence[Floats]) -> Floats:
        first = drawn[0] @ table
        return np.asarray(first if len(drawn) == 1 else (first * drawn[1]).sum(axis=1))


def _widened(
    values: Floats, which: Indices, index: Indices, low: float, high: float, signed: bool
) -> tuple[float, float]:
    """The interval with what sets add that have no spread because all their values are 0, or 1."""
    parts = [values[which == s] for s in range(which.max() + 1)]
    value = float(np.mean([part.mean() for part in parts]))
    below, above = value - low, high - value
    for s, part in enumerate(parts):
        if np.ptp(part) == 0 and part[0] in ((-1.0, 0.0, 1.0) if signed else (0.0, 1.0)):
            least, most = agreed_interval(part[0], len(np.unique(index[which == s])), signed=signed)
            below = math.hypot(below, (part[0] - least) / len(parts))
            above = math.hypot(above, (most - part[0]) / len(parts))
    return value - below, value + above
