"""Intervals that know about clusters. Every random one takes a generator."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
DRAWS = 10_000
FEW, MANY = 8, 2_000
"""With 8 to 2,000 clusters a bootstrap is worth its time."""
AT_ONCE = 2**22
"""Numbers in memory at once: a hundred thousand clusters would take gigabytes for all draws together."""


def quantile(q: float, freedom: float) -> float:
    """The value below which a share q of the t distribution lies, without scipy.stats, whose import takes a second."""
    return float(special.stdtrit(freedom, q))


def tail(t: float, freedom: float) -> float:
    """The probability of a value above t."""
    return float(special.stdtr(freedom, -t))


def clustered_interval(
    values: Floats, clusters: Sequence[str], rng: np.random.Generator, *, level: float = 0.95
) -> tuple[float, float]:
    """An interval of the mean whose units are clusters, since items made from one word are not independent.

    With 8 to 2,000 clusters, a bootstrap over whole clusters: percentiles at Hesterberg's expanded levels, alpha' =
    Phi(-sqrt(g / (g - 1)) t(alpha / 2; g - 1)) for g clusters (2015, The American Statistician 69:371-386), since plain
    percentiles are too narrow when clusters are few, and a profession group has twenty. With fewer a bootstrap has too
    few samples to draw from, with more it has no need of them: value +- t(alpha / 2; g - 1) standard errors, these from
    leaving out one cluster at a time (the jackknife). Both ends NaN with fewer than two clusters. Other
    summaries have the same interval: `resampling.Resampled`.
    """
    g, index = numbered(clusters)
    if g < 2:
        return math.nan, math.nan
    sums, sizes = np.bincount(index, weights=values, minlength=g), np.bincount(index, minlength=g)
    if FEW <= g <= MANY:
        drawn = rng.integers(g, size=(DRAWS, g))
        n = g * sizes[0] if (sizes == sizes[0]).all() else sizes[drawn].sum(axis=1)
        return percentiles(sums[drawn].sum(axis=1) / n, g, level)
    return jackknife(float(sums.sum() / sizes.sum()), (sums.sum() - sums) / (sizes.sum() - sizes), level)


def jackknife(value: float, without: Floats, level: float = 0.95) -> tuple[float, float]:
    """The interval of a value from those that leave out one cluster each: see `clustered_interval`."""
    g = len(without)
    error = math.sqrt((g - 1) / g * float(((without - without.mean()) ** 2).sum()))
    if g < FEW and error == 0:  # a few that agree do not prove that all would
        return math.nan, math.nan
    reach = quantile((1 + level) / 2, g - 1) * error
    return value - reach, value + reach


def proportion_interval(count: float, n: int) -> tuple[float, float]:
    """Wilson's interval of a share (1927), 95 %: within 0 and 1, and of some width even where all agree."""
    share, z = count / n, -float(special.ndtri(0.025))
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return min(middle - reach, share), max(middle + reach, share)  # at 0 and 1 by more than rounding


def agreed_interval(value: float, n: int, *, signed: bool = False) -> tuple[float, float]:
    """The interval of a share of n clusters that all have the same value, 0 or 1: Wilson's, since a bootstrap has none.

    With `signed`, of a difference of two shares, which may be -1 too: 0 then has a width on both sides.
    """
    low, high = proportion_interval(abs(value) * n, n)
    if not signed:
        return low, high
    return (-high, high) if value == 0 else (low, high) if value > 0 else (-high, -low)


def constant(values: Floats) -> bool:
    """Whether there are several values, all equal up to rounding, so that they have no spread."""
    return len(values) > 1 and float(np.ptp(values)) <= 1e-12 * float(np.abs(values).max())


def numbered(clusters: Sequence[str]) -> tuple[int, Indices]:
    """How many clusters there are, and the number of each item's cluster."""
    names, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    return len(names), index


def in_chunks(n: int, wide: int) -> Iterator[range]:
    """The numbers from 0 to n in ranges, such that rows of `wide` numbers for a range fit into memory."""
    at_once = max(1, AT_ONCE // wide)
    return (range(start, min(start + at_once, n)) for start in range(0, n, at_once))


def percentiles(draws: Floats, g: int, level: float) -> tuple[float, float]:
    """The interval of bootstrap draws over g units, at expanded levels; NaN where all are."""
    if np.isnan(draws).all():
        return math.nan, math.nan
    tail = special.ndtr(-math.sqrt(g / (g - 1)) * quantile((1 + level) / 2, g - 1))
    low, high = np.nanquantile(draws, [tail, 1 - tail])
    return float(low), float(high)
