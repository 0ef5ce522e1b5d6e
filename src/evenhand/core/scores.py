"""Scores of items, values made of them, and results, which hold both."""

import math
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from evenhand.core.items import Groups
from evenhand.errors import BadInput
from evenhand.stats.estimate import Estimate
from evenhand.stats.intervals import Floats, constant, proportion_interval
from evenhand.stats.mean_intervals import IntervalAndTest, fewest, mean_test
from evenhand.stats.resampling import Resampled, by_calls, by_totals
from evenhand.stats.significance import interval_test, sign_flip_test
from evenhand.stats.verdict import adjust

Judged = Literal["all", "within", "none"]
ROUNDING = 1e-3
"""How far a value may be beyond the bounds of its measure."""


@dataclass(frozen=True, slots=True)
class Score:
    """One item's score; NaN, with the reason as `note`, where it has none."""

    id: str
    value: float
    groups: Groups = field(default_factory=dict)
    note: str = ""
    prior: float = math.nan
    """What the measure compares the item with, for words about its score: a measure's `prior`."""


@dataclass(frozen=True, slots=True)
class Value(Estimate):
    """The value of the scores of `groups` ({} means all); with `contrast` or `estimand`, a row of core.estimands."""

    groups: Groups = field(default_factory=dict)
    contrast: str = ""
    estimand: str = ""
    narrow_low: float = math.nan
    narrow_high: float = math.nan
    """The interval for the same templates and words, where the row's own covers others."""
    prior: float = math.nan
    """The mean log odds of the woman's word against the man's without the attribute."""


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of one model by one measure on one dataset, and their values.

    `frame` and `values` are tables of both; `evenhand.from_scores(result.frame, ...)` makes a run of it.
    """

    model: str
    fingerprint: str
    dataset: str
    measure: str
    version: int
    neutral: float
    scores: tuple[Score, ...]
    estimates: tuple[Value, ...]
    """The value of all scores first, then by group."""
    rows: tuple[Value, ...] = ()
    """Stereotype and default, where the dataset has kinds; women minus men, where it has partners: core.estimands."""

    @property
    def value(self) -> float:
        """The value over all items."""
        return self.estimates[0].value

    @property
    def values(self) -> pd.DataFrame:
        """One row for each value, stereotype and default first; a column for each group, empty in rows of all items."""
        rows = ({**asdict(found), **found.groups} for found in (*self.rows, *self.estimates))
        return pd.DataFrame(rows).drop(columns="groups")

    @property
    def contrasts(self) -> tuple[Value, ...]:
        """The rows that are mean differences between partners."""
        return tuple(row for row in self.rows if row.contrast)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each item: id, score, note, and a column for each group."""
        return pd.DataFrame({"id": s.id, "score": s.value, "note": s.note, **s.groups} for s in self.scores)

    @property
    def unscored(self) -> Counter[str]:
        """How many items have no score, by reason."""
        return Counter(s.note for s in self.scores if math.isnan(s.value))


Summarise = Callable[[Sequence[Score]], float]


def mean(scores: Sequence[Score]) -> float:
    """The mean score; NaN when there is none, since 0 would read as "unbiased"."""
    return math.fsum(s.value for s in scores) / len(scores) if scores else math.nan


def mean_size(scores: Sequence[Score]) -> float:
    """The mean of the scores' absolute values; NaN when there is none."""
    return math.fsum(abs(s.value) for s in scores) / len(scores) if scores else math.nan


def share(scores: Sequence[Score]) -> float:
    """The mean of scores that are 1, 0 or, for a tie, 0.5; NaN when there is none."""
    return mean(scores)


def macro_mean(scores: Sequence[Score], by: str) -> float:
    """The mean of the means of the sets that group `by` makes."""
    parts = _parts(scores, (by,))
    return math.fsum(mean(part) for part in parts.values()) / len(parts) if parts else math.nan


@runtime_checkable
class OfSets(Protocol):
    """A summary that needs scores of all sets that group `by` makes; without them it is NaN."""

    @property
    def by(self) -> str:
        """The group."""

    def __call__(self, scores: Sequence[Score]) -> float:
        """The value of these scores."""

    def missing(self, scores: Sequence[Score]) -> list[str]:
        """The sets without scores."""


@dataclass(frozen=True, slots=True)
class MacroMean:
    """The mean of the means of the sets that group `by` makes; NaN where one of `sets` is missing.

    Each set has the same weight, however many items it has. The value of a single set is `within`.
    """

    by: str
    sets: tuple[str, ...]
    within: Summarise = mean

    def __call__(self, scores: Sequence[Score]) -> float:
        return math.nan if self.missing(scores) else macro_mean(scores, self.by)

    def missing(self, scores: Sequence[Score]) -> list[str]:
        there = {_label(score, self.by) for score in scores}
        return [name for name in self.sets if name not in there]


FAST: dict[Summarise, Callable[[Floats], Floats]] = {mean: np.asarray, mean_size: np.abs, share: np.asarray}
"""Summaries that are means of something: their intervals need no call for each bootstrap sample."""


class OfTotals(ABC):
    """A summary that is a function of totals over the scores, so that a sample of them needs no call of its own."""

    why_none = ""
    """Why scores may have no value, in words."""

    @abstractmethod
    def totals(self, scores: Sequence[Score]) -> Floats:
        """What each score adds to the totals: one row per score."""

    @abstractmethod
    def of(self, totals: Floats) -> Floats:
        """The value for each row of totals; NaN where it has none."""

    def __call__(self, scores: Sequence[Score]) -> float:
        return float(self.of(self.totals(scores).sum(axis=0)[np.newaxis])[0]) if scores else math.nan


def resampled(summarise: Summarise, runs: Sequence[Sequence[Score]], clusters: Sequence[str]) -> Resampled:
    """A summary of scores in clusters, ready to be resampled; of several runs, with the clusters of each in order."""
    names = [f"{number}\0{cluster}" for number, _ in enumerate(runs) for cluster in clusters]
    if isinstance(summarise, OfTotals):
        return by_totals(np.concatenate([summarise.totals(scores) for scores in runs]), names, summarise.of)
    everything = [score for scores in runs for score in scores]
    return by_calls(lambda indices: summarise([everything[i] for i in indices]), names)


def inside(summarise: Summarise, groups: Collection[str]) -> Summarise:
    """The summary of scores that share the labels of `groups`: a mean over sets is plain within one of them."""
    return getattr(summarise, "within", summarise) if getattr(summarise, "by", None) in groups else summarise


def summarised(
    scores: Sequence[Score],
    summarise: Summarise,
    *,
    by: Sequence[str] = (),
    within: str = "",
    cluster: str = "",
    crossed: str = "",
    bounds: tuple[float, float] = (-math.inf, math.inf),
    neutral: float = math.nan,
    judged: Judged = "all",
    seed: int = 0,
) -> Iterator[Value]:
    """The value of all scores, then of each combination of the groups `by`, each with its interval.

    `within` names a group that divides these further; their values follow. `cluster` names the group whose members are
    resampled whole, `crossed` a second one; without it, items are resampled. Each interval has its own random
    generator, so that it never depends on what else was measured; none goes beyond `bounds`.

    Each value is tested against `neutral`, unless that is an end of the bounds: a value that can only be on one side of
    it says nothing by being there. `judged` says whether all are tested, those `within` alone, or none. p is adjusted
    over the value of all scores and those of the groups `by`; for those within, separately.
    """
    at = neutral if bounds[0] < neutral < bounds[1] and judged != "none" else math.nan
    design = _Design(summarise, cluster, crossed, bounds, at, seed)
    levels = [tuple(by)] if by else []
    families: list[list[Value]] = [[_value({}, scores, design)]]
    for level in [*levels, *([(*by, within)] if within else [])]:
        part_design = replace(design, summarise=inside(summarise, level))
        if level not in levels:
            families.append([])
        for labels, part in _parts(scores, level).items():
            families[-1].append(_value(dict(zip(level, labels, strict=True)), part, part_design))
    for number, family in enumerate(families):
        one_way = not crossed or (number > 0 and within == crossed)  # a single profession has templates alone
        if math.isnan(at) or (judged == "within" and number == 0):
            yield from (replace(found, p=math.nan) for found in family)
        else:
            yield from adjust(family, crossed=not one_way)


@dataclass(frozen=True, slots=True)
class _Design:
    summarise: Summarise
    cluster: str
    crossed: str
    bounds: tuple[float, float]
    neutral: float
    seed: int


def _value(groups: Groups, scores: Sequence[Score], design: _Design) -> Value:
    scored = [s for s in scores if not math.isnan(s.value)]
    if not scored:
        return Value(math.nan, unscored=len(scores), groups=groups)
    if isinstance(design.summarise, OfSets) and (missing := design.summarise.missing(scored)):
        note = f"no scored items of {design.summarise.by} {', '.join(missing)}"
        return Value(math.nan, n=len(scored), unscored=len(scores) - len(scored), note=note, groups=groups)
    values = np.array([s.value for s in scored])
    clusters = [_label(s, design.cluster) if design.cluster else s.id for s in scored]
    crossed = [[_label(s, design.crossed) for s in scored]] if design.crossed else []
    found = IntervalAndTest(math.nan, math.nan, math.nan)
    labels = design.summarise is share or isinstance(design.summarise, MacroMean)
    if not constant(values) or (labels and values[0] in (0.0, 1.0)):  # labels may agree; likelihoods never do
        found = _interval_and_test(scored, values, clusters, crossed, design, generator(design.seed, groups))
    least, most = design.bounds
    whole = design.summarise(scored)
    value, low, high = (min(max(number, least), most) for number in (whole, found.low, found.high))
    if abs(whole - value) > ROUNDING:
        note = f"{whole:g} is beyond the measure's bounds, {least:g} and {most:g}"
        return Value(math.nan, n=len(scored), unscored=len(scores) - len(scored), note=note, groups=groups)
    note = getattr(design.summarise, "why_none", "") if math.isnan(value) else ""
    counts, g = (len(scored), len(scores) - len(scored)), fewest(clusters, crossed)
    return Value(value, low, high, *counts, note, p=found.p, clusters=g, freedom=found.freedom, groups=groups)


def _interval_and_test(
    scored: Sequence[Score],
    values: Floats,
    clusters: Sequence[str],
    crossed: Sequence[Sequence[str]],
    design: _Design,
    rng: np.random.Generator,
) -> IntervalAndTest:
    neutral, unit = design.neutral, design.bounds == (0.0, 1.0)
    if isinstance(design.summarise, MacroMean):
        sets = [_label(s, design.summarise.by) for s in scored]
        return mean_test(values, clusters, rng, crossed=crossed, sets=sets, unit=unit, neutral=neutral)
    if design.summarise is share and (not design.cluster or _all_or_none(values, clusters)):
        low, high = proportion_interval(float(values.mean()) * (n := len(set(clusters))), n)
        p = math.nan if math.isnan(neutral) else sign_flip_test(values - neutral, clusters, rng)
        return IntervalAndTest(low, high, p)
    if design.summarise in FAST:
        means = FAST[design.summarise](values)
        return mean_test(means, clusters, rng, crossed=crossed, unit=unit, neutral=neutral)

    found = resampled(design.summarise, [scored], clusters)
    (low, high), freedom = found.interval(rng), found.clusters - 1
    return IntervalAndTest(
        low, high, interval_test(found.value - neutral, low - neutral, high - neutral, freedom), freedom
    )


def _all_or_none(values: Floats, clusters: Sequence[str]) -> bool:
    """Whether several clusters agree on 0 or 1, so that there is no spread to resample."""
    return len(set(clusters)) > 1 and float(np.ptp(values)) == 0 and values[0] in (0.0, 1.0)


def generator(seed: int, groups: Groups) -> np.random.Generator:
    """The random generator for the interval of one group of scores: the same wherever that group is shown."""
    return np.random.default_rng([seed, zlib.crc32(repr(sorted(groups.items())).encode())])


def _parts(scores: Sequence[Score], by: Sequence[str]) -> dict[tuple[str, ...], list[Score]]:
    parts: dict[tuple[str, ...], list[Score]] = {}
    for score in scores:
        parts.setdefault(tuple(_label(score, name) for name in by), []).append(score)
    return dict(sorted(parts.items()))


def _label(score: Score, group: str) -> str:
    if group not in score.groups:
        raise BadInput(f"Item '{score.id}' has no group '{group}'. It has: {', '.join(score.groups) or 'none'}.")
    return score.groups[group]
