"""Interval and test of a mean whose items are clustered in several ways, or belong to sets that count equally."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.estimate import Estimate
from evenhand.stats.intervals import (
    Floats,
    Indices,
    agreed_interval,
    clustered_interval,
    is_constant,
    number_clusters,
    quantile,
)
from evenhand.stats.significance import interval_test, sign_flip_test

FEW_VALUES = 5
"""The most distinct values of answers yes, no and tie, or of their differences; more values are on a scale."""

FEWEST_SAMPLED = 3
"""The fewest templates, or words, that count as a sample: two say nothing about other templates or words."""


class IntervalAndTest(NamedTuple):
    """The ends of a 95 % interval, p, and the degrees of freedom of the t that both rest on, NaN for other tests."""

    low: float
    high: float
    p: float
    freedom: float = math.nan


def mean_interval(values: Floats, clusters: Sequence[str], rng: np.random.Generator, **how: Any) -> tuple[float, float]:
    """The interval of `mean_test` alone."""
    return mean_test(values, clusters, rng, neutral=math.nan, **how)[:2]


def mean_test(
    values: Floats,
    clusters: Sequence[str],
    rng: np.random.Generator,
    *,
    crossed: Sequence[Sequence[str]] = (),
    sets: Sequence[str] | None = None,
    unit: bool = False,
    neutral: float = 0.0,
) -> IntervalAndTest:
    """Interval and p of the mean of `values`, or, with `sets`, of the mean over sets of each set's mean.

    With neither `crossed` nor `sets` they are those of `clustered_interval` and a sign-flip test. Otherwise the
    interval is the estimate plus or minus t standard errors. Each item contributes (x - mean of its set) / (items of
    its set x number of sets); contributions are summed within clusters. `crossed` has further clusterings of the same
    items (each profession in each template with each word), all of them samples: the variance is the sum over single
    clusterings, minus the variances over each two at once, plus that over three at once, and at least that of any
    single clustering (Cameron, Gelbach and Miller 2011, Journal of Business & Economic Statistics 29:238-249; see
    `_cell_variance` for what differs). t has Satterthwaite's (1946) degrees of freedom, and one degree if a clustering
    has only two clusters. Clusters with items in the same sets are a stratum, whose size was chosen: variances are
    within strata.

    With `unit`, values lie between 0 and 1: the interval is computed for the logit, and stays between 0 and 1. A set
    whose values are all 0, or all 1 (or all -1, without `unit`), has no spread: its clusters add the reach of Wilson's
    interval, as the root of the sum of squares. NaN if a set has only one of `clusters`.
    """
    g, index = number_clusters(clusters)
    crossed = [way for way in crossed if _is_other_clustering(clusters, way)]
    if crossed and g < 2 and sets is None:
        clusters, *crossed = crossed
    if not crossed and sets is None:
        return IntervalAndTest(
            *clustered_interval(values, clusters, rng), sign_flip_test(values - neutral, clusters, rng)
        )
    _, set_index = number_clusters(sets if sets is not None else [""] * len(values))
    value, parts = _contributions(values, set_index)
    error = _multiway_variance(parts, set_index, clusters, crossed)
    none = error.variance <= (1e-12 * np.abs(values).max()) ** 2  # up to rounding
    if math.isnan(error.variance) or (none and sets is None):  # a few that agree do not prove that all would
        return IntervalAndTest(math.nan, math.nan, math.nan)
    half = 0.0 if none else quantile(0.975, error.freedom) * math.sqrt(error.variance)
    low, high = _logit_ends(value, half) if unit and 0 < value < 1 else (value - half, value + half)
    if sets is not None:
        low, high = _widen(values, set_index, index, (value, low, high), unit)
    p = interval_test(value - neutral, low - neutral, high - neutral, error.freedom)
    return IntervalAndTest(low, high, p, error.freedom)


def mean_estimate(values: Floats, clusters: Sequence[str], rng: np.random.Generator, **how: Any) -> Estimate:
    """The mean with the interval and unadjusted p of `mean_test`; NaN without values.

    Equal values have no interval, unless there are `sets`: their values are labels, which may well agree.
    """
    if not len(values):
        return Estimate(math.nan)
    sets: Sequence[str] | None = how.get("sets")
    g = fewest_clusters(clusters, how.get("crossed", ()), sets)
    value = float(values.mean()) if sets is None else _contributions(values, number_clusters(sets)[1])[0]
    if is_constant(values) and sets is None:
        return Estimate(value, n=len(values), clusters=g)
    return Estimate(value, n=len(values), clusters=g, **mean_test(values, clusters, rng, **how)._asdict())


def fewest_clusters(
    clusters: Sequence[str], crossed: Sequence[Sequence[str]] = (), sets: Sequence[str] | None = None
) -> int:
    """The clusters of the smallest set, in the clustering with the fewest of them, but more than one; else 1."""
    labels = sets if sets is not None else [""] * len(clusters)
    sizes = [
        min(Counter(name for name, _ in set(zip(labels, way, strict=True))).values(), default=1)
        for way in (clusters, *crossed)
    ]
    return min([size for size in sizes if size > 1], default=1)


def _is_other_clustering(clusters: Sequence[str], way: Sequence[str]) -> bool:
    """Whether the second clustering has several clusters, and is not the first one by another name."""
    sizes = len(set(clusters)), len(set(way))
    return sizes[1] > 1 and not sizes[0] == sizes[1] == len(set(zip(clusters, way, strict=True)))


def _contributions(values: Floats, set_index: Indices) -> tuple[float, Floats]:
    """The mean of the sets' means, and the contribution of each item to its error."""
    sizes = np.bincount(set_index)
    means = np.bincount(set_index, weights=values) / sizes
    return float(means.mean()), (values - means[set_index]) / (sizes[set_index] * len(sizes))


@dataclass(frozen=True)
class _VarianceEstimate:
    """A variance with its degrees of freedom, and how many clusters the smallest set has."""

    variance: float
    freedom: float
    fewest: int = 2


def _multiway_variance(
    parts: Floats, set_index: Indices, clusters: Sequence[str], crossed: Sequence[Sequence[str]]
) -> _VarianceEstimate:
    ways = [(way, _cluster_variance(parts, set_index, way)) for _, way in map(number_clusters, (clusters, *crossed))]
    if math.isnan((first := ways[0][1]).variance):
        return first
    ways = [(way, estimate) for way, estimate in ways if not math.isnan(estimate.variance)]
    single = [estimate for _, estimate in ways]
    variance, used = math.fsum(estimate.variance for estimate in single), [*single]
    for size in range(2, len(ways) + 1):
        for chosen in combinations([way for way, _ in ways], size):
            used.append(_cell_variance(parts, set_index, chosen))
            variance += used[-1].variance * (1 if size % 2 else -1)
    variance = max(variance, *(estimate.variance for estimate in single))
    if not variance:
        return _VarianceEstimate(0.0, 1.0)
    freedom = 1 / math.fsum((part.variance / variance) ** 2 / part.freedom for part in used if part.variance)
    return _VarianceEstimate(variance, 1.0 if min(part.fewest for part in single) < 3 else max(freedom, 1.0))


def _cluster_variance(parts: Floats, set_index: Indices, index: Indices) -> _VarianceEstimate:
    """The variance over one clustering of the items, by leaving out one cluster at a time, stratum by stratum.

    So large clusters count by their leverage. The degrees of freedom are the effective number of clusters, by the
    spread of their squared weights (Carter, Schnepel and Steigerwald 2017, Review of Economics and Statistics
    99:698-709), less one for each stratum. NaN if a set has a single cluster.
    """
    member, strata = _strata(index, set_index)
    fewest = int(member.sum(axis=0).min())
    if fewest < 2:
        return _VarianceEstimate(math.nan, math.nan, fewest)
    both = _joint_labels(index, set_index)
    size = np.bincount(set_index)
    sums = np.bincount(index, weights=parts / (1 - np.bincount(both)[both] / size[set_index]))
    counts = np.bincount(strata)
    centred = sums - (np.bincount(strata, weights=sums) / counts * (counts > 1))[strata]  # but not a lone cluster
    variances = np.maximum(counts - 1, 1) / counts * np.bincount(strata, weights=centred**2)
    weights = np.bincount(index, weights=1 / (size * len(size))[set_index]) ** 2
    alike = np.bincount(strata, weights=weights) ** 2 / np.bincount(strata, weights=weights**2)
    return _pool_variances(variances, np.maximum(alike - 1, 1), fewest)


def _cell_variance(parts: Floats, set_index: Indices, ways: Sequence[Indices]) -> _VarianceEstimate:
    """The variance over the cells that several clusterings make, without what each of these explains by itself.

    Otherwise a share 1 / templates of the variance between words would be subtracted with that between cells. If that
    used up more than half of the cells, as with a word in ten of a hundred templates, nothing is removed.
    """
    cells = _joint_labels(*ways)
    _, strata = _strata(cells, set_index)
    counts, of_item, rest = np.bincount(strata), strata[cells], parts.copy()
    used = np.ones(len(counts))
    for way in ways:
        used += [len(np.unique(way[of_item == stratum])) - 1 for stratum in range(len(counts))]
        both = _joint_labels(set_index, way)
        rest -= (np.bincount(both, weights=parts) / np.bincount(both))[both]
    if (2 * used > counts).any():
        used, rest = np.ones(len(counts)), parts
    squares = np.bincount(strata, weights=np.bincount(cells, weights=rest) ** 2)
    return _pool_variances(counts / np.maximum(counts - used, 1) * squares, np.maximum(counts - used, 1))


def _joint_labels(*indices: Indices) -> Indices:
    """A code for the combination of labels that each item has."""
    codes = np.ravel_multi_index(indices, [int(index.max()) + 1 for index in indices])
    return np.unique(codes, return_inverse=True)[1]


def _strata(index: Indices, set_index: Indices) -> tuple[NDArray[np.bool_], Indices]:
    """Which sets each cluster has items in, and the index of its stratum: clusters with items in the same sets."""
    member = np.zeros((index.max() + 1, set_index.max() + 1), dtype=bool)
    member[index, set_index] = True
    _, strata = np.unique(member, axis=0, return_inverse=True)
    return member, strata


def _pool_variances(variances: Floats, freedoms: Floats, fewest: int = 2) -> _VarianceEstimate:
    """The sum of independent variances, with Satterthwaite's degrees of freedom."""
    whole = float(variances.sum())
    freedom = 1 / float(((variances / whole) ** 2 / freedoms).sum()) if whole else 1.0
    return _VarianceEstimate(whole, freedom, fewest)


def _logit_ends(value: float, half: float) -> tuple[float, float]:
    middle, reach = math.log(value / (1 - value)), half / (value * (1 - value))
    with np.errstate(over="ignore"):  # with few degrees of freedom the lower end can be 0
        return float(1 / (1 + np.exp(reach - middle))), float(1 / (1 + np.exp(-reach - middle)))


def _widen(
    values: Floats, set_index: Indices, index: Indices, ends: tuple[float, float, float], unit: bool
) -> tuple[float, float]:
    """Widen the interval (value, low, high) for sets without spread, whose values are all 0, or all 1."""
    value, low, high = ends
    below, above = value - low, high - value
    sets = set_index.max() + 1
    for s in range(sets if len(np.unique(values)) <= FEW_VALUES else 0):
        part = values[set_index == s]
        if np.ptp(part) == 0 and part[0] in ((0.0, 1.0) if unit else (-1.0, 0.0, 1.0)):
            least, most = agreed_interval(part[0], len(np.unique(index[set_index == s])), signed=not unit)
            below = math.hypot(below, (part[0] - least) / sets)
            above = math.hypot(above, (most - part[0]) / sets)
    return value - below, value + above
