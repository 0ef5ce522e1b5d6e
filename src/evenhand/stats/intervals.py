"""Intervals that know about clusters. Every random one takes a generator."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
DRAWS = 10_000
SLOW_DRAWS = 1_000
"""For a summary that must be called for each draw."""
FEW, MANY = 8, 2_000
"""With this many clusters a bootstrap is worth its while."""
FEW_CROSSED = 5
"""The same where two sets of clusters cross, which makes for more different samples."""


def clustered_interval(
    values: Floats,
    clusters: Sequence[str],
    rng: np.random.Generator,
    *,
    crossed: Sequence[str] | None = None,
    summary: Callable[[Indices], float] | None = None,
    level: float = 0.95,
) -> tuple[float, float]:
    """An interval that takes clusters for the units: items made from one word stand or fall together.

    With 8 to 2,000 clusters, a bootstrap over whole clusters: percentiles at Hesterberg's expanded levels, alpha' =
    Phi(-sqrt(g / (g - 1)) t(alpha / 2; g - 1)) for g clusters (2015, The American Statistician 69:371-386), since plain
    percentiles are too narrow when clusters are few, and a profession group has twenty. With fewer a bootstrap has too
    few samples to draw from, with more it has no need of them: value +- t(alpha / 2; g - 1) standard errors, these from
    leaving out one cluster at a time (the jackknife). `summary` gives the value of the items with these indices and
    defaults to their mean. Both ends NaN with fewer than two clusters.

    With `crossed`, a second set of clusters of the same items (each profession in each template), the mean's interval
    takes both for samples: see `_crossed_interval`.
    """
    g, index = numbered(clusters)
    if crossed is not None and summary is None:
        h, other = numbered(crossed)
        if g > 1 and h > 1 and not (g == h == len(set(zip(index.tolist(), other.tolist(), strict=True)))):
            return _crossed_interval(values, (g, index), (h, other), rng, level)
        g, index = (g, index) if g > 1 else (h, other)
    if g < 2:
        return math.nan, math.nan
    if not FEW <= g <= MANY:
        value, error = _jackknife(values, index, g, summary)
        if g < FEW and error == 0:  # a few that agree are no proof that all would
            return math.nan, math.nan
        t = float(stats.t.ppf((1 + level) / 2, g - 1))
        return value - t * error, value + t * error
    return percentiles(_draws(values, index, g, rng, summary), g, level)


def proportion_interval(count: float, n: int) -> tuple[float, float]:
    """Wilson's interval of a share (1927), 95 %: within 0 and 1, and of some width even where all agree."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(count, n, method="wilson")
    return min(float(low), count / n), max(float(high), count / n)  # at 0 and 1 by more than rounding


def agreed_interval(value: float, n: int, *, signed: bool = False) -> tuple[float, float]:
    """The interval of a share of n clusters that all have the same value, 0 or 1: Wilson's, since a bootstrap has none.

    With `signed`, of a difference of two shares, which may be -1 too: 0 then has a width on both sides.
    """
    low, high = proportion_interval(abs(value) * n, n)
    if not signed:
        return low, high
    return (-high, high) if value == 0 else (low, high) if value > 0 else (-high, -low)


def _crossed_interval(
    values: Floats, one: tuple[int, Indices], other: tuple[int, Indices], rng: np.random.Generator, level: float
) -> tuple[float, float]:
    """The mean's interval where both sets of clusters are samples of what might have been taken.

    With 5 clusters or more on both sides, Owen's pigeonhole bootstrap (2007, Annals of Applied Statistics 1:386-411):
    draw clusters on each side, an item counts as often as both of its clusters together were drawn. It errs to the
    wide side. With fewer on one, the jackknife variances of the two are added, and t has Satterthwaite's degrees of
    freedom (1946) for that sum; seen to cover 93 to 98 % with 2 to 4 clusters on one side.
    """
    (g, rows), (h, columns) = one, other
    fewest = min(g, h)
    if fewest < FEW_CROSSED:
        (value, error), (_, beside) = _jackknife(values, rows, g, None), _jackknife(values, columns, h, None)
        whole = math.hypot(error, beside)
        if whole == 0:
            return math.nan, math.nan
        freedom = whole**4 / (error**4 / (g - 1) + beside**4 / (h - 1))
        t = float(stats.t.ppf((1 + level) / 2, freedom))
        return value - t * whole, value + t * whole
    sums, sizes = np.zeros((g, h)), np.zeros((g, h))
    np.add.at(sums, (rows, columns), values)
    np.add.at(sizes, (rows, columns), 1)
    drawn = [rng.multinomial(n, np.full(n, 1 / n), size=DRAWS).astype(np.float64) for n in (g, h)]  # (draws, n)
    total, weight = (((drawn[0] @ table) * drawn[1]).sum(axis=1) for table in (sums, sizes))
    draws: Floats = np.divide(total, weight, out=np.full(DRAWS, np.nan), where=weight > 0)
    return percentiles(draws, fewest, level)


def numbered(clusters: Sequence[str]) -> tuple[int, Indices]:
    """How many clusters there are, and the number of each item's."""
    names, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    return len(names), index


def percentiles(draws: Floats, g: int, level: float) -> tuple[float, float]:
    """The interval of bootstrap draws over g units, at expanded levels."""
    tail = stats.norm.cdf(-math.sqrt(g / (g - 1)) * stats.t.ppf((1 + level) / 2, g - 1))
    low, high = np.nanquantile(draws, [tail, 1 - tail])
    return float(low), float(high)


def _draws(
    values: Floats, index: Indices, g: int, rng: np.random.Generator, summary: Callable[[Indices], float] | None
) -> Floats:
    """The values of bootstrap samples of clusters."""
    if summary is None:
        sums, sizes = np.bincount(index, weights=values, minlength=g), np.bincount(index, minlength=g)
        drawn = rng.integers(g, size=(DRAWS, g))
        return np.asarray(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    members = _members(index, g)
    drawn = rng.integers(g, size=(SLOW_DRAWS, g))
    return np.array([summary(np.concatenate([members[c] for c in row])) for row in drawn])


def _jackknife(
    values: Floats, index: Indices, g: int, summary: Callable[[Indices], float] | None
) -> tuple[float, float]:
    """The value, and its standard error from leaving out one cluster at a time."""
    if summary is None:
        sums, sizes = np.bincount(index, weights=values, minlength=g), np.bincount(index, minlength=g)
        value = float(sums.sum() / sizes.sum())
        without = (sums.sum() - sums) / (sizes.sum() - sizes)
    else:
        everything = np.arange(len(values))
        value = summary(everything)
        without = np.array([summary(np.delete(everything, members)) for members in _members(index, g)])
    return value, math.sqrt((g - 1) / g * float(((without - without.mean()) ** 2).sum()))


def _members(index: Indices, g: int) -> list[Indices]:
    """The items of each cluster."""
    return np.split(np.argsort(index, kind="stable"), np.cumsum(np.bincount(index, minlength=g))[:-1])
