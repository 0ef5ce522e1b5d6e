"""Shares of texts: means of ratios whose items have different weights, and texts that are misread."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evenhand.stats.estimate import Estimate
from evenhand.stats.intervals import Floats, numbered
from evenhand.stats.significance import interval_test

Misread = tuple[tuple[int, int], tuple[int, int]]
"""How many women are taken for men, of how many; and men for women."""


def mean_of_ratios(values: Floats, weights: Floats, members: Sequence[str]) -> Floats:
    """Numbers whose mean is the mean over members of sum(weight x value) / sum(weight).

    Each number is the mean plus what its item adds to it, to first order: N / P ((m_p - m) / n_p + w / W_p (x - m_p)),
    of N items and P members, the p-th of which has n_p items, weights of W_p and the ratio m_p. So the variance of
    their mean over clusters is that of the infinitesimal jackknife (Jaeckel 1972; Efron 1982, chapter 6).
    """
    count, which = numbered(members)
    sizes, totals = np.bincount(which, minlength=count), np.bincount(which, weights=weights, minlength=count)
    ratios = np.bincount(which, weights=weights * values, minlength=count) / totals
    mean = float(ratios.mean())
    between = (ratios - mean) / sizes
    within = weights / totals[which] * (values - ratios[which])
    found: Floats = mean + len(values) / count * (between[which] + within)
    return found


def allow_for_misreading(found: Estimate, neutral: float, misread: Misread, *, contrast: bool) -> Estimate:
    """The estimate with an interval that covers the value without misread texts, too, and the p that goes with it.

    With a share a of women taken for men, and b of men taken for women, d is seen as (1 - a - b) d + (b - a) / 2
    (Rogan and Gladen 1978); in a `contrast` of two sets of texts the last term cancels out. a and b are known from some
    texts alone: their errors are added to the sampling error as independent ones.
    """
    rates = [((x + 0.5) / (n + 1), n) for x, n in misread]
    (a, _), (b, _) = rates
    share = 0.5 + found.value - neutral  # women can be misread only where there are women
    parts = (abs(found.value - neutral),) * 2 if contrast else (share, 1 - share)
    error = 1.96 * math.sqrt(math.fsum(of**2 * p * (1 - p) / n for of, (p, n) in zip(parts, rates, strict=True)))
    shift = 0.0 if contrast else (b - a) / 2
    middle = neutral + (found.value - neutral - shift) / (1 - a - b)
    reach = [math.hypot(end - found.value, error) / (1 - a - b) for end in (found.low, found.high)]
    low, high = max(0.0, min(found.low, middle - reach[0])), min(1.0, max(found.high, middle + reach[1]))
    p = interval_test(found.value - neutral, low - neutral, high - neutral, found.freedom)
    return replace(found, low=low, high=high, p=p)
