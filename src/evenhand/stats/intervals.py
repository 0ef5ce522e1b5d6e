"""Intervals over clusters, of means and of any summary. What draws random numbers takes a generator."""

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
DRAWS = 10_000
FEW, MANY = 8, 2_000
"""With 8 to 2,000 clusters, intervals are bootstrap intervals: see `clustered_interval`."""
AT_ONCE = 2**22
"""The most numbers in memory at once: all draws over a hundred thousand clusters would take gigabytes."""


def quantile(q: float, freedom: float) -> float:
    """The q quantile of the t distribution, without scipy.stats, whose import takes a second."""
    return float(special.stdtrit(freedom, q))


def tail(t: float, freedom: float) -> float:
    """The probability of a value above t in the t distribution."""
    return float(special.stdtr(freedom, -t))


def clustered_interval(
    values: Floats, clusters: Sequence[str], rng: np.random.Generator, *, level: float = 0.95
) -> tuple[float, float]:
    """An interval of the mean over clusters of items, since items made from one word are not independent.

    With 8 to 2,000 clusters it is a bootstrap over whole clusters: percentiles at Hesterberg's expanded levels, alpha'
    = Phi(-sqrt(g / (g - 1)) t(alpha / 2; g - 1)) for g clusters (2015, The American Statistician 69:371-386), since
    plain percentiles are too narrow with few clusters, such as the twenty of a profession group. With fewer clusters a
    bootstrap has too few distinct samples, and with more it is not needed: the interval is the value plus or minus
    t(alpha / 2; g - 1) standard errors, from leaving out one cluster at a time (the jackknife). Both ends are NaN with
    fewer than two clusters. `Resampled` has the same interval for other summaries.
    """
    g, index = number_clusters(clusters)
    if g < 2:
        return math.nan, math.nan
    sums, sizes = np.bincount(index, weights=values, minlength=g), np.bincount(index, minlength=g)
    if FEW <= g <= MANY:
        drawn = rng.integers(g, size=(DRAWS, g))
        n = g * sizes[0] if (sizes == sizes[0]).all() else sizes[drawn].sum(axis=1)
        return percentiles(sums[drawn].sum(axis=1) / n, g, level)
    return jackknife(float(sums.sum() / sizes.sum()), (sums.sum() - sums) / (sizes.sum() - sizes), level)


def jackknife(value: float, without: Floats, level: float = 0.95) -> tuple[float, float]:
    """The jackknife interval of a value: `without` has the value without each cluster. See `clustered_interval`."""
    g = len(without)
    error = math.sqrt((g - 1) / g * float(((without - without.mean()) ** 2).sum()))
    if g < FEW and error == 0:  # a few clusters that agree do not prove that all would
        return math.nan, math.nan
    reach = quantile((1 + level) / 2, g - 1) * error
    return value - reach, value + reach


def proportion_interval(count: float, n: int) -> tuple[float, float]:
    """Wilson's (1927) 95 % interval of a share, which lies within 0 and 1 and has a width even if all agree."""
    share, z = count / n, -float(special.ndtri(0.025))
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return min(middle - reach, share), max(middle + reach, share)  # rounding must not exclude a share of 0 or 1


def agreed_interval(value: float, n: int, *, signed: bool = False) -> tuple[float, float]:
    """Wilson's interval of a share of n clusters that all have the same value, 0 or 1: a bootstrap gives none.

    With `signed`, the value is a difference of two shares, which may also be -1, and 0 has a width on both sides.
    """
    low, high = proportion_interval(abs(value) * n, n)
    if not signed:
        return low, high
    return (-high, high) if value == 0 else (low, high) if value > 0 else (-high, -low)


def is_constant(values: Floats) -> bool:
    """Whether there are several values, all equal up to rounding, so that they have no spread."""
    return len(values) > 1 and float(np.ptp(values)) <= 1e-12 * float(np.abs(values).max())


def number_clusters(clusters: Sequence[str]) -> tuple[int, Indices]:
    """The number of clusters, and the index of each item's cluster."""
    names, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    return len(names), index


def in_chunks(n: int, wide: int) -> Iterator[range]:
    """Split range(n) into ranges of rows that fit into memory, each row of `wide` numbers."""
    at_once = max(1, AT_ONCE // wide)
    return (range(start, min(start + at_once, n)) for start in range(0, n, at_once))


def percentiles(draws: Floats, g: int, level: float) -> tuple[float, float]:
    """The interval of bootstrap draws over g clusters, at the levels of `clustered_interval`; NaN if all draws are."""
    if np.isnan(draws).all():
        return math.nan, math.nan
    tail = special.ndtr(-math.sqrt(g / (g - 1)) * quantile((1 + level) / 2, g - 1))
    low, high = np.nanquantile(draws, [tail, 1 - tail])
    return float(low), float(high)


CALLS = 1_000
"""The number of draws for a summary that must be called for each draw."""


def generator(seed: int, groups: Mapping[str, str]) -> np.random.Generator:
    """The random generator for the interval of one group of scores: the same wherever the group is shown."""
    return np.random.default_rng([seed, zlib.crc32(repr(sorted(groups.items())).encode())])


@dataclass(frozen=True, slots=True)
class Resampled:
    """A summary as a function of how often each cluster counts: `values` takes rows of such counts."""

    clusters: int
    values: Callable[[Floats], Floats]
    draws: int = DRAWS

    @property
    def value(self) -> float:
        return float(self.values(np.ones((1, self.clusters)))[0])

    def interval(self, rng: np.random.Generator) -> tuple[float, float]:
        """The interval over clusters, by the method of `clustered_interval`."""
        g = self.clusters
        if g < 2:
            return math.nan, math.nan
        if FEW <= g <= MANY:
            chunks = in_chunks(self.draws, g)
            draws = np.concatenate([self.values(_counts(rng.integers(g, size=(len(rows), g)))) for rows in chunks])
            (low, high), value = percentiles(draws, g, 0.95), self.value
            return min(low, value), max(high, value)  # draws of a skewed summary may all be on one side of its value
        without = [self.values(1 - np.eye(len(rows), g, rows.start)) for rows in in_chunks(g, g)]
        return jackknife(self.value, np.concatenate(without))


@dataclass(frozen=True, slots=True)
class Paired:
    """A summary before and after. `both` takes the counts of clusters before, then those of the same clusters after."""

    both: Resampled

    @property
    def before(self) -> Resampled:
        return self._resample(lambda counts: self._values(counts, 0 * counts))

    @property
    def after(self) -> Resampled:
        return self._resample(lambda counts: self._values(0 * counts, counts))

    @property
    def difference(self) -> Resampled:
        """After - before: each draw has the same clusters before and after."""
        return self._resample(lambda counts: self.after.values(counts) - self.before.values(counts))

    @property
    def middle(self) -> Resampled:
        """The mean of before and after."""
        return self._resample(lambda counts: (self.after.values(counts) + self.before.values(counts)) / 2)

    def swap_test(self, rng: np.random.Generator) -> float:
        """Two-sided p of the difference when before and after are swapped in whole clusters at random.

        Under the hypothesis that before and after are exchangeable, swapping changes nothing. p = (1 + hits) / (1 +
        draws), never 0 (Phipson and Smyth 2010); NaN if there is no difference to test, or most swaps have no value.
        """
        whole, g = self.difference.value, self.difference.clusters
        if math.isnan(whole):
            return math.nan
        hits, known = 1, 1
        for rows in in_chunks(self.both.draws, g):
            swapped = rng.integers(2, size=(len(rows), g)).astype(np.float64)
            differences = self._values(swapped, 1 - swapped) - self._values(1 - swapped, swapped)
            known += int(np.count_nonzero(~np.isnan(differences)))
            hits += int(np.count_nonzero(np.abs(differences) >= abs(whole) * (1 - 1e-12)))
        return hits / known if known > self.both.draws / 2 else math.nan

    def _resample(self, values: Callable[[Floats], Floats]) -> Resampled:
        return Resampled(self.both.clusters // 2, values, self.both.draws)

    def _values(self, before: Floats, after: Floats) -> Floats:
        return self.both.values(np.concatenate([before, after], axis=1))


def by_totals(parts: Floats, clusters: Sequence[str], statistic: Callable[[Floats], Floats]) -> Resampled:
    """A summary that is a `statistic` of totals: `parts` has what each score adds to the totals, one row per score."""
    g, index = number_clusters(clusters)
    sums = np.zeros((g, parts.shape[1]))
    np.add.at(sums, index, parts)
    return Resampled(g, lambda counts: np.zeros(len(counts)) + statistic(counts @ sums))  # fails unless it is one each


def by_calls(summary: Callable[[Indices], float], clusters: Sequence[str]) -> Resampled:
    """A summary that must be called, with the indices of the scores in a sample."""
    g, index = number_clusters(clusters)
    members = np.split(np.argsort(index, kind="stable"), np.cumsum(np.bincount(index, minlength=g))[:-1])

    def value(counts: Floats) -> float:
        drawn = np.repeat(np.arange(g), counts.astype(int))
        return summary(np.concatenate([members[c] for c in drawn])) if len(drawn) else math.nan

    return Resampled(g, lambda rows: np.array([value(row) for row in rows]), CALLS)


def _counts(drawn: Indices) -> Floats:
    """How often each cluster occurs in each row of drawn clusters."""
    rows, g = drawn.shape
    flat = (drawn + np.arange(rows)[:, np.newaxis] * g).ravel()
    return np.bincount(flat, minlength=rows * g).reshape(rows, g).astype(np.float64)
