"""Two sets compared by an effect size: its interval, and the test over the ways to divide the same units in two."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.intervals import DRAWS, Floats, in_chunks, quantile

EXACT = 200_000
"""Partitions up to which all are tried."""
SAMPLED = 99_999
"""Partitions that are drawn of more."""
NEARLY_ALL = 1 - 1e-6
"""Of the largest possible effect size: a draw whose sets do not vary has no larger one."""


@dataclass(frozen=True)
class TwoSets:
    """Units, such as words, that belong to set X or to Y, each with the count, the sum and the squares of its scores.

    The effect size is d = (mean of X - mean of Y) / standard deviation of all scores, n - 1 in its denominator
    (Caliskan et al. 2017). It is within +- `largest`, 2 or nearly so for sets of equal size.
    """

    totals: Floats
    """One row for each unit: count, sum, sum of squares."""
    first: Sequence[bool]
    """Whether the unit is in X."""

    @cached_property
    def sides(self) -> tuple[Floats, Floats]:
        first = np.asarray(self.first)
        return self.totals[first], self.totals[~first]

    @property
    def largest(self) -> float:
        x, y = (float(side[:, 0].sum()) for side in self.sides)
        return math.sqrt((x + y) * (x + y - 1) / (x * y))

    def resampled(self, rng: np.random.Generator, draws: int) -> Floats:
        """The effect size of bootstrap samples, for which units are drawn from X and from Y apart."""
        x, y = (side[rng.integers(len(side), size=(draws, len(side)))].sum(axis=1) for side in self.sides)
        return effect_sizes(x, y)

    def partitioned(self, rng: np.random.Generator | None, draws: int) -> Floats:
        """The effect sizes of random partitions into sets of as many units as X and Y have; of all without rng."""
        chosen = self._all() if rng is None else self._drawn(rng, draws)
        n, total, squares = self.totals.sum(axis=0)
        size, x = (chosen @ self.totals[:, :2]).T
        spread = math.sqrt((squares - total**2 / n) / (n - 1))  # the same for every partition
        effects: Floats = (x / size - (total - x) / (n - size)) / spread
        return effects

    def _all(self) -> NDArray[np.bool_]:
        places = np.array(list(combinations(range(len(self.totals)), len(self.sides[0]))))
        chosen = np.zeros((len(places), len(self.totals)), dtype=bool)
        np.put_along_axis(chosen, places, True, axis=1)
        return chosen

    def _drawn(self, rng: np.random.Generator, draws: int) -> NDArray[np.bool_]:
        """The units with the lowest of random numbers. These are of 16 bits, which are sorted fastest.

        A draw that has the last one twice is left out, which leaves all partitions equally likely.
        """
        k = len(self.sides[0])
        numbers = rng.integers(2**16, size=(draws, len(self.totals)), dtype=np.uint16)
        last, following = np.sort(numbers, axis=1)[:, k - 1 : k + 1].T
        chosen: NDArray[np.bool_] = (numbers <= last[:, np.newaxis])[last < following]
        return chosen

    @property
    def partitions(self) -> int:
        return math.comb(len(self.totals), len(self.sides[0]))


def effect_sizes(x: Floats, y: Floats) -> Floats:
    """d for each row of totals of X and of Y, count, sum, sum of squares; NaN where one is empty or nothing varies."""
    (n_x, s_x, q_x), (n_y, s_y, q_y) = np.moveaxis(x, -1, 0), np.moveaxis(y, -1, 0)
    n, s, q = n_x + n_y, s_x + s_y, q_x + q_y
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = (q - s**2 / n) / (n - 1)
        varies = variance > 1e-12 * q / n  # but for rounding
        return np.where(varies, (s_x / n_x - s_y / n_y) / np.sqrt(np.where(varies, variance, np.nan)), np.nan)


def mean_effect_interval(tests: Sequence[TwoSets], value: float, rng: np.random.Generator) -> tuple[float, float]:
    """The 95 % interval of the mean effect size of some tests, from bootstrap samples of their units.

    An effect size has bounds, and bootstrap percentiles of eight words a set cover its true value too seldom: 89 of 100
    times for a large effect. So the standard error is that of atanh(d / largest), which Fisher's z of a correlation is,
    and the interval is +- t of it: 94 to 97 of 100, for sets of 8 to 20 words and effects from 0 to 1.4.
    """
    largest = float(np.mean([test.largest for test in tests]))
    units = min(len(side) for test in tests for side in test.sides)
    drawn = np.mean([test.resampled(rng, DRAWS) for test in tests], axis=0)
    drawn, middle = (np.arctanh(np.clip(d / largest, -NEARLY_ALL, NEARLY_ALL)) for d in (drawn, np.array(value)))
    reach = quantile(0.975, units - 1) * float(np.nanstd(drawn, ddof=1))
    low, high = np.tanh([middle - reach, middle + reach]) * largest
    return float(low), float(high)


def partition_test(
    tests: Sequence[TwoSets], rng: np.random.Generator, *, one_sided: bool = False, draws: int = SAMPLED
) -> float:
    """p of the mean effect size of some tests: the share of partitions of their units with one at least as large.

    All partitions are tried where there are at most 200,000; else `draws` of them, and p = (1 + hits) / (1 + draws),
    never 0 (Phipson and Smyth 2010). Ties count. Two-sided, or, as published, `one_sided`: at least as far above 0.
    """
    value = float(np.mean([effect_sizes(*(side.sum(axis=0) for side in test.sides)) for test in tests]))
    exact = len(tests) == 1 and tests[0].partitions <= EXACT
    if exact:
        parts = [tests[0].partitioned(None, 0)]
    else:
        chunks = in_chunks(draws, max(len(test.totals) for test in tests))
        parts = [_mean([test.partitioned(rng, len(rows)) for test in tests]) for rows in chunks]
    effects = np.concatenate(parts) if one_sided else np.abs(np.concatenate(parts))
    hits = int(np.count_nonzero(effects >= (value if one_sided else abs(value)) - 1e-9))
    return hits / len(effects) if exact else (1 + hits) / (1 + len(effects))


def _mean(effects: Sequence[Floats]) -> Floats:
    """The mean over tests, of as many draws as each of them has."""
    mean: Floats = np.mean([some[: min(map(len, effects))] for some in effects], axis=0)
    return mean
