"""Interval and test of a mean whose items belong to two sets of clusters, or to sets that count equally."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.stats.estimate import Estimate
from evenhand.stats.intervals import Floats, Indices, agreed_interval, clustered_interval, constant, numbered
from evenhand.stats.significance import interval_test, sign_flip_test
from evenhand.stats.student import quantile


def mean_interval(values: Floats, clusters: Sequence[str], rng: np.random.Generator, **how: Any) -> tuple[float, float]:
    """The interval of `mean_test` alone."""
    return mean_test(values, clusters, rng, neutral=math.nan, **how)[:2]


def mean_test(
    values: Floats,
    clusters: Sequence[str],
    rng: np.random.Generator,
    *,
    crossed: Sequence[str] | None = None,
    sets: Sequence[str] | None = None,
    unit: bool = False,
    neutral: float = 0.0,
) -> tuple[float, float, float]:
    """Interval and p of the mean of `values`, or, with `sets`, of the mean over sets of each set's mean.

    With neither `crossed` nor `sets`: `intervals.clustered_interval`, and a sign-flip test. Otherwise value +- t
    standard errors, where the error comes from what each item adds to the value, (x - mean of its set) / (items of its
    set x number of sets), summed by cluster. `crossed` is a second way to cluster the same items (each profession in
    each template), and both are samples: the variance is V(clusters) + V(crossed) - V(both at once), and at least
    either of the first two (Cameron, Gelbach and Miller 2011, Journal of Business & Economic Statistics 29:238-249). t
    has Satterthwaite's (1946) degrees of freedom; with two clusters on a side, one. Clusters that are in the same sets
    are a stratum, whose size was chosen: variances are within strata.

    `unit` values lie between 0 and 1: the interval is computed for the logit, and stays in between. A set whose values
    are all 0, or all 1 (or all -1, without `unit`), has no spread: Wilson's interval over its clusters stands in for
    it, joined to the rest as root of the sum of squares. NaN where a stratum of `clusters` is a single one.
    """
    g, index = numbered(clusters)
    if crossed is not None:
        h, other = numbered(crossed)
        cells = len(set(zip(index.tolist(), other.tolist(), strict=True)))
        if h < 2 or g == h == cells:
            crossed = None
        elif g < 2 and sets is None:
            clusters, crossed = crossed, None
    if crossed is None and sets is None:
        return *clustered_interval(values, clusters, rng), sign_flip_test(values - neutral, clusters, rng)
    _, which = numbered(sets if sets is not None else [""] * len(values))
    value, parts = _contributions(values, which)
    error = _error(parts, which, clusters, crossed)
    none = error.variance <= (1e-12 * np.abs(values).max()) ** 2  # but for rounding
    if math.isnan(error.variance) or (none and sets is None):  # a few that agree do not prove it of all
        return math.nan, math.nan, math.nan
    half = 0.0 if none else quantile(0.975, error.freedom) * math.sqrt(error.variance)
    low, high = _logit_ends(value, half) if unit and 0 < value < 1 else (value - half, value + half)
    if sets is not None:
        low, high = _widened(values, which, index, (value, low, high), unit)
    return low, high, interval_test(value - neutral, low - neutral, high - neutral, error.freedom)


def mean_estimate(values: Floats, clusters: Sequence[str], rng: np.random.Generator, **how: Any) -> Estimate:
    """The mean with the interval and p of `mean_test`, not yet adjusted; without a value where there are none.

    Values that are all the same have no interval, unless they are of `sets`: of labels, which may well agree.
    """
    if not len(values):
        return Estimate(math.nan)
    g = fewest(clusters, how.get("crossed"))
    if constant(values) and how.get("sets") is None:
        return Estimate(float(values.mean()), n=len(values), clusters=g)
    low, high, p = mean_test(values, clusters, rng, **how)
    return Estimate(float(values.mean()), low, high, len(values), p=p, clusters=g)


def fewest(clusters: Sequence[str], crossed: Sequence[str] | None) -> int:
    """How many clusters there are; where two sets cross, on the smaller side, unless that is a single one."""
    sizes = [len(set(side)) for side in (clusters, crossed) if side is not None]
    return min([size for size in sizes if size > 1], default=1)


def _contributions(values: Floats, which: Indices) -> tuple[float, Floats]:
    """The mean of the sets' means, and what each item adds to its difference from the truth."""
    sizes = np.bincount(which)
    means = np.bincount(which, weights=values) / sizes
    return float(means.mean()), (values - means[which]) / (sizes[which] * len(sizes))


@dataclass(frozen=True)
class _Error:
    """A variance with its degrees of freedom."""

    variance: float
    freedom: float


def _error(parts: Floats, which: Indices, clusters: Sequence[str], crossed: Sequence[str] | None) -> _Error:
    one, fewest = _side(parts, which, clusters)
    if math.isnan(one.variance):
        return one
    if crossed is None:
        return _Error(one.variance, 1.0 if fewest < 3 else one.freedom)
    other, fewest_crossed = _side(parts, which, crossed)
    if math.isnan(other.variance):
        return _Error(one.variance, 1.0 if fewest < 3 else one.freedom)
    both, _ = _side(parts, which, [f"{a}\0{b}" for a, b in zip(clusters, crossed, strict=True)])
    within = 0.0 if math.isnan(both.variance) else both.variance
    variance = max(one.variance + other.variance - within, one.variance, other.variance)
    if variance == 0:
        return _Error(0.0, 1.0)
    used = [side for side in (one, other, both) if side.variance > 0]
    freedom = variance**2 / math.fsum(side.variance**2 / side.freedom for side in used)
    return _Error(variance, 1.0 if min(fewest, fewest_crossed) < 3 else freedom)


def _side(parts: Floats, which: Indices, clusters: Sequence[str]) -> tuple[_Error, int]:
    """The variance over one way to cluster the items, stratum by stratum, and the size of the smallest stratum."""
    size, index = numbered(clusters)
    member = np.zeros((size, which.max() + 1), dtype=bool)
    member[index, which] = True
    _, strata = np.unique(member, axis=0, return_inverse=True)
    sums = np.bincount(index, weights=parts, minlength=size)
    counts = np.bincount(strata)
    if counts.min() < 2:
        return _Error(math.nan, math.nan), int(counts.min())
    centred = sums - (np.bincount(strata, weights=sums) / counts)[strata]
    variances = counts / (counts - 1) * np.bincount(strata, weights=centred**2)
    variance = float(variances.sum())
    freedom = variance**2 / float((variances**2 / (counts - 1)).sum()) if variance else 1.0
    return _Error(variance, freedom), int(counts.min())


def _logit_ends(value: float, half: float) -> tuple[float, float]:
    middle, reach = math.log(value / (1 - value)), half / (value * (1 - value))
    with np.errstate(over="ignore"):  # with hardly any degrees of freedom, the end is 0
        return float(1 / (1 + np.exp(reach - middle))), float(1 / (1 + np.exp(-reach - middle)))


def _widened(
    values: Floats, which: Indices, index: Indices, found: tuple[float, float, float], unit: bool
) -> tuple[float, float]:
    """The interval with what sets add that have no spread because all their values are 0, or 1."""
    value, low, high = found
    below, above = value - low, high - value
    sets = which.max() + 1
    for s in range(sets):
        part = values[which == s]
        if np.ptp(part) == 0 and part[0] in ((0.0, 1.0) if unit else (-1.0, 0.0, 1.0)):
            least, most = agreed_interval(part[0], len(np.unique(index[which == s])), signed=not unit)
            below = math.hypot(below, (part[0] - least) / sets)
            above = math.hypot(above, (most - part[0]) / sets)
    return value - below, value + above
