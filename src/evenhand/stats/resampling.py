"""Intervals and tests of any summary of clustered scores, not only of means."""

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.stats.intervals import DRAWS, FEW, MANY, Floats, Indices, in_chunks, jackknife, numbered, percentiles

CALLS = 1_000
"""Draws for a summary that must be called for each of them."""


def generator(seed: int, groups: Mapping[str, str]) -> np.random.Generator:
    """The random generator for the interval of one group of scores: the same wherever that group is shown."""
    return np.random.default_rng([seed, zlib.crc32(repr(sorted(groups.items())).encode())])


@dataclass(frozen=True, slots=True)
class Resampled:
    """A summary as a function of how often each cluster counts: `values` takes rows of such counts."""

    clusters: int
    values: Callable[[Floats], Floats]
    draws: int = DRAWS

    @property
    def value(self) -> float:
        return float(self.values(np.ones((1, self.clusters)))[0])

    def interval(self, rng: np.random.Generator) -> tuple[float, float]:
        """The interval whose units are clusters, by the method of `intervals.clustered_interval`."""
        g = self.clusters
        if g < 2:
            return math.nan, math.nan
        if FEW <= g <= MANY:
            some = in_chunks(self.draws, g)
            found = np.concatenate([self.values(_counts(rng.integers(g, size=(len(rows), g)))) for rows in some])
            return (math.nan, math.nan) if np.isnan(found).all() else percentiles(found, g, 0.95)
        without = [self.values(1 - np.eye(len(rows), g, rows.start)) for rows in in_chunks(g, g)]
        return jackknife(self.value, np.concatenate(without))


@dataclass(frozen=True, slots=True)
class Paired:
    """The same summary before and after; `both` counts the clusters before, then the same clusters after."""

    both: Resampled

    @property
    def before(self) -> Resampled:
        return self._of(lambda counts: self._two(counts, 0 * counts))

    @property
    def after(self) -> Resampled:
        return self._of(lambda counts: self._two(0 * counts, counts))

    @property
    def difference(self) -> Resampled:
        """After - before: each draw has the same clusters of both."""
        return self._of(lambda counts: self.after.values(counts) - self.before.values(counts))

    @property
    def middle(self) -> Resampled:
        """The mean of both."""
        return self._of(lambda counts: (self.after.values(counts) + self.before.values(counts)) / 2)

    def swap_test(self, rng: np.random.Generator) -> float:
        """Two-sided p of the difference when before and after are swapped in whole clusters at random.

        Under the hypothesis that the two are exchangeable, that changes nothing. p = (1 + hits) / (1 + draws), never 0
        (Phipson and Smyth 2010); NaN where there is no difference to test, or most swaps have no value.
        """
        whole, g = self.difference.value, self.difference.clusters
        if math.isnan(whole):
            return math.nan
        hits, known = 1, 1
        for rows in in_chunks(self.both.draws, g):
            swapped = rng.integers(2, size=(len(rows), g)).astype(np.float64)
            found = self._two(swapped, 1 - swapped) - self._two(1 - swapped, swapped)
            known += int(np.count_nonzero(~np.isnan(found)))
            hits += int(np.count_nonzero(np.abs(found) >= abs(whole) * (1 - 1e-12)))
        return hits / known if known > self.both.draws / 2 else math.nan

    def _of(self, values: Callable[[Floats], Floats]) -> Resampled:
        return Resampled(self.both.clusters // 2, values, self.both.draws)

    def _two(self, before: Floats, after: Floats) -> Floats:
        return self.both.values(np.concatenate([before, after], axis=1))


def by_totals(parts: Floats, clusters: Sequence[str], of: Callable[[Floats], Floats]) -> Resampled:
    """A summary that is a function `of` totals: `parts` has what each score adds to them, one row per score."""
    g, index = numbered(clusters)
    sums = np.zeros((g, parts.shape[1]))
    np.add.at(sums, index, parts)
    return Resampled(g, lambda counts: of(counts @ sums))


def by_calls(summary: Callable[[Indices], float], clusters: Sequence[str]) -> Resampled:
    """A summary that must be called with the indices of the scores in a sample."""
    g, index = numbered(clusters)
    members = np.split(np.argsort(index, kind="stable"), np.cumsum(np.bincount(index, minlength=g))[:-1])

    def value(counts: Floats) -> float:
        drawn = np.repeat(np.arange(g), counts.astype(int))
        return summary(np.concatenate([members[c] for c in drawn])) if len(drawn) else math.nan

    return Resampled(g, lambda rows: np.array([value(row) for row in rows]), CALLS)


def _counts(drawn: Indices) -> Floats:
    """How often each cluster is in each row of drawn clusters."""
    rows, g = drawn.shape
    flat = (drawn + np.arange(rows)[:, np.newaxis] * g).ravel()
    return np.bincount(flat, minlength=rows * g).reshape(rows, g).astype(np.float64)
