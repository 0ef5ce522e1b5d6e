"""Tests over clusters, and the smallest difference that they would detect."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from evenhand.stats.correlation import ranks
from evenhand.stats.intervals import Floats, in_chunks, number_clusters, quantile, tail

MOST_SIGNS = 2**28
"""The most random signs for one test: with very many clusters, fewer draws do."""
HUGE = 1_000
"""Beyond this t only its denominator matters; SciPy's search for the noncentrality does not end beyond 1e6."""
EXACT = 50
"""Up to this many differences, SciPy gives an exact p of the signed-rank test."""
FEW_PATTERNS = 12
"""If p below .05 leaves room for fewer sign patterns than this, flipping signs detects less than t does."""


@dataclass(frozen=True, slots=True)
class SignedRank:
    """Wilcoxon's signed-rank test of paired differences.

    `w` is the sum of the ranks of the positive differences (R's V; SciPy's two-sided statistic is another one), `z` its
    distance from the mean n (n + 1) / 4 in standard deviations, corrected for ties. `p` is two-sided. Zero differences
    are excluded.
    """

    w: float
    z: float
    p: float
    n: int

    @property
    def r(self) -> float:
        """The effect size z / sqrt(N), where n pairs have N = 2 n observations (Rosenthal 1991); positive if z is."""
        return self.z / math.sqrt(2 * self.n) if self.n else math.nan

    @property
    def r_as_printed(self) -> float:
        """-|r|, as R users print r after Field et al. (2012): from qnorm(p / 2), so always negative."""
        return -abs(self.r)


def signed_rank(differences: Floats) -> SignedRank:
    """The signed-rank test of these differences against a median of 0."""
    differences = differences[differences != 0]
    n = len(differences)
    if n == 0 or np.isnan(differences).any():
        return SignedRank(0.0, math.nan, math.nan if n else 1.0, n)
    (ranked,) = ranks(np.abs(differences), np.arange(n)[np.newaxis])
    w = float(ranked[differences > 0].sum())
    _, ties = np.unique(ranked, return_counts=True)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48
    z = signed_rank_z(w, n, variance)
    if n > EXACT:
        return SignedRank(w, z, float(2 * special.ndtr(-abs(z))), n)
    from scipy.stats import wilcoxon  # its import takes a second

    return SignedRank(w, z, float(wilcoxon(differences).pvalue), n)


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
    draws), never 0 (Phipson and Smyth 2010). NaN without clusters, or if a difference is not finite.
    """
    n, index = number_clusters(clusters)
    sums = np.bincount(index, weights=differences).astype(np.float64)
    if not n or not np.isfinite(sums).all():
        return math.nan
    total = sums.sum()
    draws = min(draws, max(9_999, MOST_SIGNS // n))
    exact = 2**n <= draws
    hits = 0
    for positive in [_all_signs(n) @ sums] if exact else _positive_sums(draws, sums, rng):
        hits += int(np.count_nonzero(np.abs(2 * positive - total) >= abs(total) * (1 - 1e-12)))
    return float(hits / 2**n if exact else (1 + hits) / (1 + draws))


def pairing_test(nearness: Floats, rng: np.random.Generator, *, draws: int = 39_999) -> float:
    """p of the trace, how near each row is to the column of its number, among random choices of a column for each row.

    p = (1 + hits) / (1 + draws), as in `sign_flip_test`. Ties are hits.
    """
    rows = np.arange(len(nearness))
    drawn = np.argsort(rng.random((draws, nearness.shape[1])), axis=1)[:, : len(rows)]
    sums = nearness[rows, drawn].sum(axis=1)
    return float(1 + np.count_nonzero(sums >= np.trace(nearness) - 1e-9)) / (1 + draws)


def _all_signs(n: int) -> Floats:
    """All patterns of n signs, one row each: 1 for plus, 0 for minus."""
    return (np.arange(2**n)[:, np.newaxis] >> np.arange(n) & 1).astype(np.float64)


def _positive_sums(draws: int, sums: Floats, rng: np.random.Generator) -> Iterator[Floats]:
    """Sums over the clusters with a positive random sign, in chunks that fit into memory; a byte has eight signs."""
    wide = -(-len(sums) // 8)
    by_byte = np.pad(sums, (0, 8 * wide - len(sums))).reshape(wide, 8)[:, ::-1] @ _all_signs(8).T
    for rows in in_chunks(draws, len(sums)):
        signs = np.frombuffer(rng.bytes(len(rows) * wide), dtype=np.uint8).reshape(-1, wide)
        yield sum(table[column] for table, column in zip(by_byte, signs.T, strict=True))


def detectable(low: float, high: float, freedom: float, clusters: int, *, rows: int = 1) -> float:
    """The smallest distance from neutral that data like these would show with a power of 80 %.

    `low` and `high` are a 95 % interval; a `freedom` of NaN means that signs of clusters were flipped, and counts as
    clusters - 1. The standard error is half the width of the interval over t(.975). The distance in standard errors is
    the noncentrality at which t exceeds t(1 - .025 / rows) with a probability of 80 %. `rows` is the size of the family
    that p is adjusted over, here by Bonferroni, so the distance is rather too large. NaN with fewer clusters than a
    verdict needs.
    """
    flipped, freedom = math.isnan(freedom), clusters - 1 if math.isnan(freedom) else freedom
    patterns = math.floor(2 ** (clusters - 1) * 0.05 / rows) if flipped and clusters < 64 else FEW_PATTERNS
    if not (freedom > 0 and patterns):
        return math.nan
    error = (high - low) / 2 / quantile(0.975, freedom)
    if patterns < FEW_PATTERNS:
        return error * math.sqrt(clusters) * _detectable_by_flips(clusters, patterns)
    least = quantile(1 - 0.025 / rows, freedom)
    if least > HUGE:
        return error * least * math.sqrt(special.chdtri(freedom, 0.2) / freedom)
    return error * float(special.nctdtrinc(freedom, 0.2, least))


@cache
def _detectable_by_flips(clusters: int, patterns: int) -> float:
    """The mean, in standard deviations of normal clusters, at which sign flips show a lean with a power of 80 %.

    p is small enough if at most `patterns` sign patterns, with the observed one, have a sum as large as the observed
    one. For a mean d and noise z this means that fewer than `patterns` non-empty sets of clusters have mean(z) <= -d,
    so each draw of z gives a least d. Only sets of the eight lowest clusters are tried: hardly any other set has one of
    the lowest means.
    """
    noise = np.sort(np.random.default_rng(0).normal(size=(10_000, clusters)), axis=1)[:, :8]
    chosen = _all_signs(noise.shape[1])[1:]
    means = noise @ (chosen / chosen.sum(axis=1, keepdims=True)).T
    return float(np.quantile(-np.partition(means, patterns - 1, axis=1)[:, patterns - 1], 0.8))


def interval_test(value: float, low: float, high: float, freedom: float) -> float:
    """Two-sided p of a value against 0 that goes with its 95 % interval: below .05 if the interval excludes 0.

    t = value / standard error with these degrees of freedom; the error follows from the end of the interval nearer to
    0. For values without clusters whose signs can be flipped: those that are not means, and those of crossed clusters.
    NaN without an interval, or if it has no width.
    """
    error = value - low if value > 0 else high - value
    if math.isnan(error) or math.isnan(freedom) or freedom <= 0 or error <= 1e-12 * abs(value):
        return math.nan
    return 2 * tail(abs(value) / error * quantile(0.975, freedom), freedom)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's (1979) adjustment of n p-values: the k-th smallest times n - k + 1, or the one before if that is larger.

    NaN stays NaN, and does not count. Equal to statsmodels' to the last bit, but without its garbage collection, which
    took most of the time of a comparison.
    """
    raw = np.asarray(ps, dtype=np.float64)
    order = np.argsort(raw)[: np.count_nonzero(~np.isnan(raw))]
    adjusted = np.full(len(raw), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(raw[order] * np.arange(len(order), 0, -1)), 1)
    return [float(p) for p in adjusted]
