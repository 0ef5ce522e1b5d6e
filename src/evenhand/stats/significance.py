"""Tests that know about clusters, and the smallest difference that they would have shown."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.stats.intervals import Floats, numbered
from evenhand.stats.student import quantile, tail

MOST_COINS = 2**28
"""Coins to toss for one test: with very many clusters fewer draws do."""
AT_ONCE = 2**22
"""Coins in memory: a hundred thousand clusters would take gigabytes for all draws together."""


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
    from scipy import stats  # a second

    ranks = stats.rankdata(np.abs(differences))
    w = float(ranks[differences > 0].sum())
    _, ties = np.unique(ranks, return_counts=True)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48
    p = float(stats.wilcoxon(differences).pvalue)
    return SignedRank(w, signed_rank_z(w, n, variance), p, n)


def signed_rank_z(w: float, n: int, variance: float | None = None) -> float:
    """The z of a sum of positive ranks over n pairs; the default variance is that of ranks without ties."""
    variance = n * (n + 1) * (2 * n + 1) / 24 if variance is None else variance
    return float((w - n * (n + 1) / 4) / math.sqrt(variance)) if variance else math.nan


def sign_flip_test(
    differences: Floats, clusters: Sequence[str], rng: np.random.Generator, *, draws: int = 99_999
) -> float:
    """Two-sided p of the mean difference when the sign of each cluster is flipped at random.

    A permutation test: under the hypothesis that the two members of a pair are exchangeable, swapping them in a whole
    cluster changes nothing. With few clusters all signs are tried, and p is exact; otherwise p = (1 + hits) / (1 +
    draws), never 0 (Phipson and Smyth 2010). NaN with no cluster, or where a difference is not a number.
    """
    n, index = numbered(clusters)
    sums = np.bincount(index, weights=differences)
    if not n or not np.isfinite(sums).all():
        return math.nan
    whole = sums.sum()
    draws = min(draws, max(9_999, MOST_COINS // n))
    exact = 2**n <= draws
    hits = 0
    for coins in [_all_signs(n)] if exact else _coins(draws, n, rng):
        hits += int(np.count_nonzero(np.abs(2 * (coins @ sums) - whole) >= abs(whole) * (1 - 1e-12)))
    return float(hits / 2**n if exact else (1 + hits) / (1 + draws))


def _all_signs(n: int) -> Floats:
    """Every row of n zeros and ones."""
    return (np.arange(2**n)[:, np.newaxis] >> np.arange(n) & 1).astype(np.float64)


def _coins(draws: int, n: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Draws of n fair coins, 0 or 1, in chunks that fit into memory."""
    at_once = max(1, AT_ONCE // n)
    for start in range(0, draws, at_once):
        rows = min(at_once, draws - start)
        bits = np.frombuffer(rng.bytes(rows * -(-n // 8)), dtype=np.uint8).reshape(rows, -1)
        yield np.unpackbits(bits, axis=1, count=n).astype(np.float64)


def detectable(low: float, high: float, g: int, *, rows: int = 1, power: float = 0.8) -> float:
    """The smallest distance from neutral that data like these would show, four times in five.

    From a 95 % interval over g clusters: (t(1 - .025 / rows; g - 1) + t(power; g - 1)) standard errors, where one is
    the half width over t(.975; g - 1). `rows` is the size of the family that p is adjusted over, here by Bonferroni,
    so that the number errs to the large side. NaN with fewer than two clusters.
    """
    if g < 2:
        return math.nan
    error = (high - low) / 2 / quantile(0.975, g - 1)
    return (quantile(1 - 0.025 / rows, g - 1) + quantile(power, g - 1)) * error


def interval_test(value: float, low: float, high: float, freedom: float) -> float:
    """Two-sided p of a value against 0 that goes with its 95 % interval: below .05 where the interval leaves out 0.

    t = value / standard error with these degrees of freedom, the error from the end of the interval that is nearer
    to 0. For values that are not means over clusters, or of crossed clusters, where no signs can be flipped. NaN where
    there is no interval, or one of no width.
    """
    error = value - low if value > 0 else high - value
    if math.isnan(error) or math.isnan(freedom) or freedom <= 0 or error <= 1e-12 * abs(value):
        return math.nan
    return 2 * tail(abs(value) / error * quantile(0.975, freedom), freedom)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's (1979) adjustment of several p-values: the k-th smallest of n times n - k + 1, none below the one before.

    As by statsmodels, to the last bit; that one also collects garbage, which took most of the time of a comparison.
    """
    order = np.argsort(ps)
    found = np.empty(len(order))
    found[order] = np.minimum(np.maximum.accumulate(np.sort(ps) * np.arange(len(order), 0, -1)), 1)
    return [float(p) for p in found]
