"""Correlations, fitted lines and ratios of spreads of two quantities, with intervals from resampling points."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.stats.estimate import Estimate
from evenhand.stats.intervals import DRAWS, FEW, Floats, Indices, percentiles, tail


def correlate(x: Floats, y: Floats, rng: np.random.Generator, *, kind: Literal["pearson", "spearman"]) -> Estimate:
    """Pearson's r or Spearman's rho with its two-sided p, and a bootstrap interval for eight points or more.

    NaN if x or y is constant: the correlation is then undefined, not 0.
    """
    if len(x) < 3 or not (np.ptp(x) > 0 and np.ptp(y) > 0):
        return Estimate(math.nan, n=len(x))
    n, low, high = len(x), math.nan, math.nan
    transform = ranks if kind == "spearman" else np.take
    (r,) = _row_correlations(transform(x, np.arange(n)[None]), transform(y, np.arange(n)[None]))
    p = 2 * tail(abs(r) * math.sqrt((n - 2) / (1 - r**2)), n - 2) if r**2 < 1 else 0.0 * abs(r)
    if n >= FEW:  # with fewer points no interval would stay between -1 and 1
        drawn = rng.integers(n, size=(DRAWS, n))
        low, high = percentiles(_row_correlations(transform(x, drawn), transform(y, drawn)), n, 0.95)
    return Estimate(float(r), low, high, n, p=float(p))


def ranks(values: Floats, drawn: Indices) -> Floats:
    """Ranks of values[drawn] within each row, from 1; ties share their mean.

    It counts each distinct value instead of sorting each row, so that a bootstrap takes a fifth of the time.
    """
    distinct, index = np.unique(values, return_inverse=True)
    chosen, n = index[drawn], len(distinct)
    cells = chosen + n * np.arange(len(drawn))[:, np.newaxis]
    counts = np.bincount(cells.ravel(), minlength=n * len(drawn)).reshape(-1, n)
    return np.take_along_axis(np.cumsum(counts, axis=1) - (counts - 1) / 2, chosen, axis=1)


def _row_correlations(a: Floats, b: Floats) -> Floats:
    """Pearson's r of each row of `a` with the same row of `b`; NaN if one of them is constant."""
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    spread = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    r: Floats = np.divide((a * b).sum(axis=1), spread, out=np.full(len(a), np.nan), where=spread > 1e-12)
    return r


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


def fit_line(x: Floats, y: Floats, rng: np.random.Generator) -> Line:
    """The line through the points; NaN if x is constant."""
    n = len(x)
    if np.ptp(x) == 0:
        return Line(math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, n)
    (r,) = _row_correlations(x[None], y[None])
    fitted_slope, intercept = np.polyfit(x, y, 1)
    drawn = rng.integers(n, size=(DRAWS, n))
    a, b = x[drawn], y[drawn]  # (draws, n)
    centred = a - a.mean(axis=1, keepdims=True)
    spread = (centred**2).sum(axis=1)
    slopes: Floats = np.divide((centred * b).sum(axis=1), spread, out=np.full(DRAWS, np.nan), where=spread > 1e-12)
    slope = percentiles(slopes, n, 0.95)
    ends = percentiles(_row_correlations(a, b), n, 0.95)
    return Line(float(fitted_slope), *slope, float(intercept), float(r), *ends, n)


def ratio_of_spreads(x: Floats, y: Floats, rng: np.random.Generator) -> tuple[float, float, float]:
    """Standard deviation of y over that of x, and its interval from resampling pairs; NaN if x is constant."""
    if np.ptp(x) == 0:
        return math.nan, math.nan, math.nan
    drawn = rng.integers(len(x), size=(DRAWS, len(x)))
    below = x[drawn].std(axis=1)
    draws: Floats = np.divide(y[drawn].std(axis=1), below, out=np.full(DRAWS, np.nan), where=below > 1e-12)
    return float(y.std() / x.std()), *percentiles(draws, len(x), 0.95)
