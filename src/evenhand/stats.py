"""Statistics that know about clusters. Every random one takes a generator."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

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
AT_ONCE = 2**22
"""Coins in memory: a hundred thousand clusters would take gigabytes for all draws together."""


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
    return float(low), float(high)


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
    whole = sums.sum()
    hits = 0
    for coins in _coins(draws, len(sums), rng):
        hits += int(np.count_nonzero(np.abs(2 * (coins @ sums) - whole) >= abs(whole) * (1 - 1e-12)))
    return float((1 + hits) / (1 + draws))


def _coins(draws: int, n: int, rng: np.random.Generator) -> Iterator[Floats]:
    """So many draws of n fair coins, 0 or 1, as many at a time as memory is good for."""
    at_once = max(1, AT_ONCE // n)
    for start in range(0, draws, at_once):
        rows = min(at_once, draws - start)
        bits = np.frombuffer(rng.bytes(rows * -(-n // 8)), dtype=np.uint8).reshape(rows, -1)
        yield np.unpackbits(bits, axis=1, count=n).astype(np.float64)


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


def detectable_within(low: float, high: float, g: int, *, level: float = 0.95, power: float = 0.8) -> float:
    """The same, from an interval of g clusters: its half width x (1 + t(power; g - 1) / t(1 - alpha / 2; g - 1)).

    For intervals that are more than a mean over clusters: two sets of clusters that cross, sets that count alike.
    """
    if g < 2:
        return math.nan
    return float((high - low) / 2 * (1 + stats.t.ppf(power, g - 1) / stats.t.ppf((1 + level) / 2, g - 1)))


def interval_test(value: float, low: float, high: float, g: int, *, level: float = 0.95) -> float:
    """Two-sided p of a value against 0 that goes with its interval: below 1 - level where the interval leaves out 0.

    t = value / standard error with g - 1 degrees of freedom, the error from the end of the interval that is nearer
    to 0. For values of crossed clusters, of which no signs can be flipped. NaN without an interval.
    """
    if g < 2 or math.isnan(low) or math.isnan(high):
        return math.nan
    if value == 0:
        return 1.0
    error = value - low if value > 0 else high - value
    if error <= 0:
        return 0.0
    return float(2 * stats.t.sf(abs(value) / error * stats.t.ppf((1 + level) / 2, g - 1), g - 1))


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
    """Pearson's r or Spearman's rho, with an interval from eight points on.

    NaN where either side does not vary: no correlation is not one of 0.
    """
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(math.nan, math.nan, math.nan, math.nan, len(x))
    test = stats.pearsonr if kind == "pearson" else stats.spearmanr
    found = test(x, y)
    low, high = math.nan, math.nan
    if (n := len(x)) >= FEW:  # of fewer points no interval would stay between -1 and 1
        drawn = rng.integers(n, size=(DRAWS, n))
        a, b = x[drawn], y[drawn]  # (draws, n)
        if kind == "spearman":
            a, b = stats.rankdata(a, axis=1), stats.rankdata(b, axis=1)
        low, high = percentiles(_row_correlations(a, b), n, 0.95)
    return Correlation(float(found.statistic), low, high, float(found.pvalue), len(x))


def _row_correlations(a: Floats, b: Floats) -> Floats:
    """Pearson's r of each row of `a` with the same row of `b`; NaN where one does not vary."""
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    spread = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    found: Floats = np.divide((a * b).sum(axis=1), spread, out=np.full(len(a), np.nan), where=spread > 1e-12)
    return found


@dataclass(frozen=True, slots=True)
class Line:
    """y = intercept + slope x, by least squares, and Pearson's r; intervals at 95 % from resampling points."""

    slope: float
    slope_low: float
    slope_high: float
    intercept: float
    r: float
    r_low: float
    r_high: float
    n: int


def fitted(x: Floats, y: Floats, rng: np.random.Generator) -> Line:
    """The line through the points; NaN where x does not vary."""
    n = len(x)
    if np.ptp(x) == 0:
        nan = math.nan
        return Line(nan, nan, nan, nan, nan, nan, nan, n)
    found = stats.linregress(x, y)
    drawn = rng.integers(n, size=(DRAWS, n))
    a, b = x[drawn], y[drawn]  # (draws, n)
    centred = a - a.mean(axis=1, keepdims=True)
    spread = (centred**2).sum(axis=1)
    slopes: Floats = np.divide((centred * b).sum(axis=1), spread, out=np.full(DRAWS, np.nan), where=spread > 1e-12)
    slope = percentiles(slopes, n, 0.95)
    r = percentiles(_row_correlations(a, b), n, 0.95)
    return Line(float(found.slope), *slope, float(found.intercept), float(found.rvalue), *r, n)


def ratio_of_spreads(x: Floats, y: Floats, rng: np.random.Generator) -> tuple[float, float, float]:
    """Standard deviation of y over that of x, and its interval from resampling pairs; NaN where x does not vary."""
    if np.ptp(x) == 0:
        return math.nan, math.nan, math.nan
    drawn = rng.integers(len(x), size=(DRAWS, len(x)))
    below = x[drawn].std(axis=1)
    draws: Floats = np.divide(y[drawn].std(axis=1), below, out=np.full(DRAWS, np.nan), where=below > 1e-12)
    return float(y.std() / x.std()), *percentiles(draws, len(x), 0.95)


def _sums(values: Floats, clusters: Sequence[str]) -> Floats:
    _, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    return np.bincount(index, weights=values).astype(np.float64) if len(values) else np.array([], dtype=np.float64)
