"""Statistics that know about clusters. Every random one takes a generator."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
DRAWS = 10_000
SLOW_DRAWS = 2_000
"""For a summary that must be called for each draw."""


def clustered_interval(
    values: Floats,
    clusters: Sequence[str],
    rng: np.random.Generator,
    *,
    summary: Callable[[Indices], float] | None = None,
    level: float = 0.95,
) -> tuple[float, float]:
    """A bootstrap interval that resamples whole clusters: items made from one word stand or fall together.

    Percentile interval at Hesterberg's expanded levels, alpha' = Phi(-sqrt(g / (g - 1)) t(alpha / 2; g - 1)) for
    g clusters (2015, The American Statistician 69:371-386): plain percentiles are too narrow when clusters are
    few, and a profession group has twenty. `summary` gives the value of the items with these indices and defaults
    to their mean, which is had from cluster sums. Both ends NaN with fewer than two clusters.
    """
    names, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    g = len(names)
    if g < 2:
        return float("nan"), float("nan")
    drawn = rng.integers(g, size=(DRAWS if summary is None else SLOW_DRAWS, g))
    if summary is None:
        sums = np.bincount(index, weights=values, minlength=g)
        sizes = np.bincount(index, minlength=g)
        draws = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    else:
        members = [np.flatnonzero(index == c) for c in range(g)]
        draws = np.array([summary(np.concatenate([members[c] for c in row])) for row in drawn])
    tail = stats.norm.cdf(-np.sqrt(g / (g - 1)) * stats.t.ppf((1 + level) / 2, g - 1))
    low, high = np.nanquantile(draws, [tail, 1 - tail])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class SignedRank:
    """Wilcoxon's signed-rank test of paired differences.

    `w` is the sum of the ranks of the positive differences (R's V; SciPy's two-sided statistic is another one), `z` its
    distance from the mean n (n + 1) / 4 in standard deviations, corrected for ties. `p` is two-sided. Zero differences
    are left out.
    """

    w: float
    z: float
    p: float
    n: int

    @property
    def r(self) -> float:
        """Effect size z / sqrt(N), N observations in n pairs, hence 2 n (Rosenthal 1991). Positive: differences are."""
        return self.z / math.sqrt(2 * self.n) if self.n else math.nan

    @property
    def r_as_printed(self) -> float:
        """The same as R users print it after Field et al. (2012), from qnorm(p / 2): always negative."""
        return -abs(self.r)


def signed_rank(differences: Floats) -> SignedRank:
    """The signed-rank test of these differences against a median of 0."""
    differences = differences[differences != 0]
    n = len(differences)
    if n == 0:
        return SignedRank(0.0, math.nan, 1.0, 0)
    ranks = stats.rankdata(np.abs(differences))
    w = float(ranks[differences > 0].sum())
    _, ties = np.unique(ranks, return_counts=True)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48
    p = float(stats.wilcoxon(differences).pvalue)
    return SignedRank(w, signed_rank_z(w, n, variance), p, n)


def signed_rank_z(w: float, n: int, variance: float | None = None) -> float:
    """From a sum of positive ranks over n pairs to z; without a variance, that of ranks without ties."""
    variance = n * (n + 1) * (2 * n + 1) / 24 if variance is None else variance
    return float((w - n * (n + 1) / 4) / math.sqrt(variance)) if variance else math.nan


def sign_flip_test(
    differences: Floats, clusters: Sequence[str], rng: np.random.Generator, *, draws: int = 9999
) -> float:
    """Two-sided p of the mean difference when the sign of each cluster's differences is a coin's.

    A permutation test: under the hypothesis that the two members of a pair are exchangeable, swapping them in a whole
    cluster changes nothing. p = (1 + hits) / (1 + draws), never 0 (Phipson and Smyth 2010). NaN with no cluster.
    """
    sums = _sums(differences, clusters)
    if not len(sums):
        return math.nan
    signs = rng.choice((-1.0, 1.0), size=(draws, len(sums)))
    hits = np.count_nonzero(np.abs(signs @ sums) >= abs(sums.sum()) * (1 - 1e-12))
    return float((1 + hits) / (1 + draws))


def detectable(differences: Floats, clusters: Sequence[str], *, level: float = 0.95, power: float = 0.8) -> float:
    """The smallest mean difference that data like these would show as different from 0, four times in five.

    (t(1 - alpha / 2; g - 1) + t(power; g - 1)) x clustered standard error, g clusters. NaN with fewer than two.
    """
    sums = _sums(differences, clusters)
    g = len(sums)
    if g < 2:
        return math.nan
    sizes = _sums(np.ones_like(differences), clusters)
    residuals = sums - sizes * differences.mean()
    error = math.sqrt(g / (g - 1) * float((residuals**2).sum())) / len(differences)
    return float((stats.t.ppf((1 + level) / 2, g - 1) + stats.t.ppf(power, g - 1)) * error)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's (1979) adjustment of several p-values."""
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(ps, method="holm")[1]] if len(ps) else []


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation with its bootstrap interval, two-sided p and number of points."""

    value: float
    low: float
    high: float
    p: float
    n: int


def correlation(x: Floats, y: Floats, rng: np.random.Generator, *, kind: Literal["pearson", "spearman"]) -> Correlation:
    """Pearson's r or Spearman's rho; NaN where either side does not vary: no correlation is not one of 0."""
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(math.nan, math.nan, math.nan, math.nan, len(x))
    test = stats.pearsonr if kind == "pearson" else stats.spearmanr
    found = test(x, y)
    if kind == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)

    def of(indices: Indices) -> float:
        a, b = x[indices], y[indices]
        return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) and np.ptp(b) else math.nan

    low, high = clustered_interval(x, [str(i) for i in range(len(x))], rng, summary=of)
    return Correlation(float(found.statistic), low, high, float(found.pvalue), len(x))


def _sums(values: Floats, clusters: Sequence[str]) -> Floats:
    _, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    return np.bincount(index, weights=values).astype(np.float64) if len(values) else np.array([], dtype=np.float64)
