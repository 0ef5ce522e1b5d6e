"""The effect size between two sets: its interval, and a permutation test over partitions of their units."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.intervals import DRAWS, Floats, in_chunks, quantile

EXACT = 200_000
"""With at most this many partitions, all are tried."""
SAMPLED = 99_999
"""The number of random partitions if there are more."""
NEARLY_ALL = 1 - 1e-6
"""Draws are clipped to this share of the largest possible effect size, where atanh is infinite."""


@dataclass(frozen=True)
class TwoSets:
    """Units, such as words, that belong to set X or to Y, each with count, sum and sum of squares of its scores.

    The effect size is d = (mean of X - mean of Y) / standard deviation of all scores, n - 1 in its denominator
    (Caliskan et al. 2017). It lies between -`largest` and `largest`, which is about 2 for sets of equal size.
    """

    totals: Floats
    """One row for each unit: count, sum, sum of squares."""
    first: Sequence[bool]
    """Whether the unit is in X."""
    names: Sequence[str]
    """The names of the units; a unit of several tests has the same name in all."""

    @cached_property
    def sides(self) -> tuple[Floats, Floats]:
        first = np.asarray(self.first)
        return self.totals[first], self.totals[~first]

    @property
    def largest(self) -> float:
        x, y = (float(side[:, 0].sum()) for side in self.sides)
        return math.sqrt((x + y) * (x + y - 1) / (x * y))

    def bootstrap_effects(self, rng: np.random.Generator, draws: int) -> Floats:
        """The effect sizes of bootstrap samples, in which the units of X and of Y are resampled separately."""
        x, y = (side[rng.integers(len(side), size=(draws, len(side)))].sum(axis=1) for side in self.sides)
        return effect_sizes(x, y)

    def weighted_effects(self, weights: Floats) -> Floats:
        """The effect size for each row of weights of units; within a set, weights are scaled to a mean of 1."""
        first = np.asarray(self.first)
        sides = (weights[:, first], weights[:, ~first])
        x, y = (
            w * (w.shape[1] / w.sum(axis=1, keepdims=True)) @ side for w, side in zip(sides, self.sides, strict=True)
        )
        return effect_sizes(x, y)

    def partition_effects(self, chosen: NDArray[np.bool_]) -> Floats:
        """The effect size of each partition: a row of `chosen` says which units are in its first set."""
        n, total, squares = self.totals.sum(axis=0)
        size, x = (chosen @ self.totals[:, :2]).T
        spread = math.sqrt((squares - total**2 / n) / (n - 1))  # the same for every partition
        effects: Floats = (x / size - (total - x) / (n - size)) / spread
        return effects

    def all_partitions(self) -> NDArray[np.bool_]:
        """All partitions of the units into two sets of the sizes of X and Y."""
        places = np.array(list(combinations(range(len(self.totals)), len(self.sides[0]))))
        chosen = np.zeros((len(places), len(self.totals)), dtype=bool)
        np.put_along_axis(chosen, places, True, axis=1)
        return chosen

    def lowest_partitions(self, numbers: NDArray[np.uint16]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """A partition for each row of random numbers, by the lowest numbers, and whether no tie makes it ambiguous."""
        k = len(self.sides[0])
        # As 32 bits: numpy sorts 16 bits fast only with AVX-512 VBMI2; on other processors of its kind that is slower.
        last, following = np.sort(numbers.astype(np.uint32), axis=1)[:, k - 1 : k + 1].astype(np.uint16).T
        return numbers <= last[:, np.newaxis], last < following

    @property
    def partitions(self) -> int:
        return math.comb(len(self.totals), len(self.sides[0]))


def effect_sizes(x: Floats, y: Floats) -> Floats:
    """d for each row of totals (count, sum, sum of squares) of X and Y; NaN if a set is empty or nothing varies."""
    (n_x, s_x, q_x), (n_y, s_y, q_y) = np.moveaxis(x, -1, 0), np.moveaxis(y, -1, 0)
    n, s, q = n_x + n_y, s_x + s_y, q_x + q_y
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = (q - s**2 / n) / (n - 1)
        varies = variance > 1e-12 * q / n  # by more than rounding
        return np.where(varies, (s_x / n_x - s_y / n_y) / np.sqrt(np.where(varies, variance, np.nan)), np.nan)


def mean_effect_interval(tests: Sequence[TwoSets], value: float, rng: np.random.Generator) -> tuple[float, float]:
    """The 95 % interval of the mean effect size of some tests, from bootstrap samples of their units.

    An effect size is bounded, and bootstrap percentiles cover its true value too rarely: with eight words a set, 89 %
    of the time for a large effect. So the interval is z plus or minus t standard errors, for z = atanh(d / largest), as
    in Fisher's z of a correlation. It covers 94 to 97 %, for sets of 8 to 20 words and effects from 0 to 1.4.
    """
    largest = float(np.mean([test.largest for test in tests]))
    units = min(len(side) for test in tests for side in test.sides)
    if len(tests) == 1:
        drawn = tests[0].bootstrap_effects(rng, DRAWS)
    else:  # a word has one weight in all tests, from a gamma distribution that gives means their sampling variance
        columns = _columns(tests)
        weights = rng.gamma(1 - 1 / units, size=(DRAWS, 1 + max(map(max, columns))))
        drawn = np.mean(
            [test.weighted_effects(weights[:, units]) for test, units in zip(tests, columns, strict=True)], axis=0
        )
    drawn, middle = (np.arctanh(np.clip(d / largest, -NEARLY_ALL, NEARLY_ALL)) for d in (drawn, np.array(value)))
    reach = quantile(0.975, units - 1) * float(np.nanstd(drawn, ddof=1))
    low, high = np.tanh([middle - reach, middle + reach]) * largest
    return float(low), float(high)


def partition_test(
    tests: Sequence[TwoSets], rng: np.random.Generator, *, one_sided: bool = False, draws: int = SAMPLED
) -> float:
    """p of the mean effect size of some tests: the share of partitions of their units with one at least as large.

    All partitions of a single test are tried if there are at most 200,000; otherwise `draws` random ones, and p =
    (1 + hits) / (1 + draws), never 0 (Phipson and Smyth 2010). Equal effect sizes are hits. p is two-sided or, as
    published, `one_sided`: for a value at least as far above 0.

    The units with the lowest random numbers are the first set. A unit of several tests has the same number in all, so
    that tests of the same words do not count as independent. Numbers have 16 bits, which are drawn fastest; draws with
    a tie are excluded, so that all partitions are equally likely.
    """
    value = float(np.mean([effect_sizes(*(side.sum(axis=0) for side in test.sides)) for test in tests]))
    exact = len(tests) == 1 and tests[0].partitions <= EXACT
    if exact:
        parts = [tests[0].partition_effects(tests[0].all_partitions())]
    else:
        columns, parts = _columns(tests), []
        units = 1 + max(map(max, columns))
        for rows in in_chunks(draws, units):
            bits = rng.bit_generator.random_raw(-(-len(rows) * units // 4))  # each gives four numbers
            numbers = bits.view(np.uint16)[: len(rows) * units].reshape(len(rows), units)
            by_test = [numbers if len(tests) == 1 else numbers.take(places, axis=1) for places in columns]
            drawn = [test.lowest_partitions(lots) for test, lots in zip(tests, by_test, strict=True)]
            fair = np.logical_and.reduce([untied for _, untied in drawn])
            each = [test.partition_effects(chosen[fair]) for test, (chosen, _) in zip(tests, drawn, strict=True)]
            parts.append(np.mean(each, axis=0))
    effects = np.concatenate(parts) if one_sided else np.abs(np.concatenate(parts))
    hits = int(np.count_nonzero(effects >= (value if one_sided else abs(value)) - 1e-9))
    return max(1, hits) / len(effects) if exact else (1 + hits) / (1 + len(effects))


def _columns(tests: Sequence[TwoSets]) -> list[list[int]]:
    """For each test, the columns of its units in a table of all units."""
    places: dict[str, int] = {}
    return [[places.setdefault(name, len(places)) for name in test.names] for test in tests]
