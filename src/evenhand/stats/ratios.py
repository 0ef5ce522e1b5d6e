"""Shares of texts: means of ratios over items of different weights, and intervals that allow for misread texts."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evenhand.stats.estimate import Estimate
from evenhand.stats.intervals import Floats, number_clusters
from evenhand.stats.significance import interval_test

Misread = tuple[tuple[int, int], ...]
"""Texts misread, of how many: about women as men; about men as women; about neither or both, but counted."""


def mean_of_ratios(values: Floats, weights: Floats, members: Sequence[str]) -> Floats:
    """Numbers whose mean is the mean over members of sum(weight x value) / sum(weight).

    Each number is the mean plus what its item adds to it, to first order: N / P ((m_p - m) / n_p + w / W_p (x - m_p)),
    for N items and P members, of which the p-th has n_p items, a sum of weights W_p and the ratio m_p. So the variance
    of their mean over clusters is that of the infinitesimal jackknife (Jaeckel 1972; Efron 1982, chapter 6).
    """
    count, which = number_clusters(members)
    sizes, totals = np.bincount(which, minlength=count), np.bincount(which, weights=weights, minlength=count)
    ratios = np.bincount(which, weights=weights * values, minlength=count) / totals
    mean = float(ratios.mean())
    between = (ratios - mean) / sizes
    within = weights / totals[which] * (values - ratios[which])
    numbers: Floats = mean + len(values) / count * (between[which] + within)
    return numbers


def allow_for_misreading(estimate: Estimate, neutral: float, misread: Misread, *, contrast: bool) -> Estimate:
    """The estimate with an interval that covers the value without misread texts, too, and the p that goes with it.

    Let a be the share of texts about women that are read as about men, b the share of texts about men read as about
    women, and c the share of counted texts about neither or both. Then d is observed as (1 - c) ((1 - a - b) d +
    (b - a) / 2) (Rogan and Gladen 1978), if texts about neither or both are counted for women about as often as for
    men; in a `contrast` of two sets of texts the term with b - a cancels out. All three are estimated from a few texts:
    their errors are added to the sampling error as independent errors.
    """
    rates = [((x + 0.5) / (n + 1), n) for x, n in misread]
    a, b, c = (*(p for p, _ in rates), 0.0)[:3]
    d = estimate.value - neutral
    parts = (d, d, d) if contrast else (0.5 + d, 0.5 - d, d)  # women can be misread only where there are women
    either = 0.0 if contrast or not c else c / 2 / math.sqrt(misread[2][0] + 1)
    known = math.fsum(part**2 * p * (1 - p) / n for part, (p, n) in zip(parts, rates, strict=False))
    error, slope = 1.96 * math.hypot(math.sqrt(known), either), (1 - a - b) * (1 - c)
    middle = neutral + (d - (0.0 if contrast else (1 - c) * (b - a) / 2)) / slope
    reach = [math.hypot(end - estimate.value, error) / slope for end in (estimate.low, estimate.high)]
    low, high = max(0.0, min(estimate.low, middle - reach[0])), min(1.0, max(estimate.high, middle + reach[1]))
    p = interval_test(estimate.value - neutral, low - neutral, high - neutral, estimate.freedom)
    return replace(estimate, low=low, high=high, p=p)
