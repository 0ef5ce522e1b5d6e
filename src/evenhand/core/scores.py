"""Scores of items, values and results; and `Summary`, which turns scores into a value: a measure's `summarise`."""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenhand.core.dataset import Design, Estimand, Kinds
from evenhand.core.foreign import number
from evenhand.core.items import Groups
from evenhand.errors import BadInput
from evenhand.stats.estimate import TOO_LARGE, Estimate, cut_ends
from evenhand.stats.intervals import Floats, Resampled, by_calls, by_totals, is_constant, proportion_interval
from evenhand.stats.intervals import generator as generator
from evenhand.stats.mean_intervals import IntervalAndTest, fewest_clusters, mean_test
from evenhand.stats.significance import interval_test, sign_flip_test
from evenhand.stats.verdict import adjust


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one item; NaN, with the reason as `note`, if it has none."""

    id: str
    value: float
    groups: Groups = field(default_factory=dict)
    note: str = ""
    prior: float = math.nan
    """The measure's `prior` for the item, with which the page explains its score."""
    kept: Mapping[str, Any] = field(default_factory=dict)
    """What the measure's `keep` gives for the item: see `Traits.weight`."""


@dataclass(frozen=True, slots=True)
class Value(Estimate):
    """The value of the scores of `groups` ({} means all); with `contrast` or `estimand`, a row of core.estimands."""

    groups: Groups = field(default_factory=dict)
    contrast: str = ""
    estimand: str = ""
    narrow_low: float = math.nan
    narrow_high: float = math.nan
    """The interval for these templates and words alone, if that of the row covers other ones, too."""
    prior: float = math.nan
    """The mean log odds of the woman's word against the man's without the attribute."""

    def check(self) -> "Value":
        """The value, without its numbers if one is too large. Raise an error if they contradict one another."""
        if (fault := self.fault) not in ("", TOO_LARGE):
            raise BadInput(f"{fault}.")
        which: dict[str, Any] = {"groups": self.groups, "contrast": self.contrast, "estimand": self.estimand}
        return Value(math.nan, n=self.n, unscored=self.unscored, note=fault, **which) if fault else self


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of one model by one measure on one dataset, and their values.

    `frame` is a table of the scores, `values` of the values. `evenhand.from_scores(result.frame, ...)` makes a run.
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
    """Stereotype and default if the dataset has kinds; women minus men if it has partners: core.estimands."""

    @property
    def value(self) -> float:
        """The value over all items."""
        return self.estimates[0].value

    @property
    def values(self) -> pd.DataFrame:
        """One row for each value, stereotype and default first; a column for each group, empty in rows of all items."""
        rows = ({**asdict(value), **value.groups} for value in (*self.rows, *self.estimates))
        return pd.DataFrame(rows).drop(columns="groups")

    @property
    def contrasts(self) -> tuple[Value, ...]:
        """The rows that are mean differences between partners."""
        return tuple(row for row in self.rows if row.contrast)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each item: id, score, note, and columns for its groups and for what the measure keeps."""
        return pd.DataFrame({"id": s.id, "score": s.value, "note": s.note, **s.groups, **s.kept} for s in self.scores)

    @property
    def unscored(self) -> Counter[str]:
        """How many items have no score, by reason."""
        return Counter(s.note for s in self.scores if math.isnan(s.value))


Judged = Literal["all", "within", "none"]
NO_VALUE = "its measure gives these scores no value"
ROUNDING = 1e-3
"""How far rounding may push a value beyond the bounds of its measure."""
WHOLE = Design()
"""Items that belong to no groups, and vary independently."""
Summarise = Callable[[Sequence[Score]], float]


@dataclass(frozen=True)
class Sample:
    """Scores, none of them NaN, with what their interval and test depend on."""

    scores: Sequence[Score]
    clusters: Sequence[str]
    """The cluster of each score; its id if items are not clustered."""
    rng: np.random.Generator
    crossed: Sequence[Sequence[str]] = ()
    """Further ways to cluster the same scores."""
    neutral: float = math.nan
    """What the value is tested against; NaN if no test is wanted."""
    unit: bool = False
    """Whether values lie between 0 and 1."""
    clustered: bool = True

    @property
    def values(self) -> Floats:
        return np.array([score.value for score in self.scores])

    def mean_test(self, numbers: Floats, sets: Sequence[str] | None = None) -> IntervalAndTest:
        """Interval and test of the mean of `numbers`, one for each score: stats.mean_intervals."""
        options: dict[str, Any] = {"crossed": self.crossed, "unit": self.unit, "neutral": self.neutral}
        return mean_test(numbers, self.clusters, self.rng, sets=sets, **options)


class Summary(ABC):
    """Turns scores into a value with an interval and a test. A measure may define its own."""

    why_none: ClassVar[str] = ""
    """The reason, in words, why scores may have no value."""
    labels: ClassVar[bool] = False
    """Whether scores may all be 0, or all 1, as labels may. Equal likelihoods are a sign of a fault: no interval."""

    @abstractmethod
    def __call__(self, scores: Sequence[Score]) -> float:
        """The value of these scores; NaN if there is none, since 0 would read as "unbiased"."""

    def interval_and_test(self, sample: Sample) -> IntervalAndTest:
        """The 95 % interval of the value by resampling clusters, and the p against `sample.neutral` that agrees."""
        resampled, neutral = self.resampling([sample.scores], sample.clusters), sample.neutral
        (low, high), freedom = resampled.interval(sample.rng), resampled.clusters - 1
        p = interval_test(resampled.value - neutral, low - neutral, high - neutral, freedom)
        return IntervalAndTest(low, high, p, freedom)

    def resampling(self, runs: Sequence[Sequence[Score]], clusters: Sequence[str]) -> Resampled:
        """The value as a function of how often each cluster counts. Several runs have separate clusters."""
        everything = [score for scores in runs for score in scores]
        return by_calls(lambda indices: self([everything[i] for i in indices]), _clusters_of_runs(runs, clusters))

    def inside(self, groups: Collection[str]) -> "Summary":
        """The summary to use for scores that have the same labels in `groups`."""
        return self

    def lacks(self, scores: Sequence[Score]) -> str:
        """Which scores a value needs but lacks, in words; empty if it lacks none.

        `scores` has a score for each item, of which some may be NaN.
        """
        return ""

    def estimands(self, kinds: Kinds) -> Mapping[Estimand, "Summary"]:
        """The summaries for stereotype and default if these are not means of d; only the first one is judged."""
        return {}


@dataclass(frozen=True)
class Called(Summary):
    """A plain function from scores to a value, which is called for each bootstrap sample."""

    function: Summarise

    def __call__(self, scores: Sequence[Score]) -> float:
        return number(self.function(scores))


class OfMeans(Summary):
    """A value that is a mean of numbers, so that interval and test need no call for each bootstrap sample."""

    by: str = ""
    sets: tuple[str, ...] = ()
    """The labels of the group `by`: each is a set that counts equally, and none may be missing."""
    shares: bool = False
    """Whether the value is the share of items that score 1."""

    def numbers(self, values: Floats) -> Floats:
        """The numbers whose mean is the value."""
        return values

    def mean_of(self, scores: Sequence[Score]) -> float:
        numbers = self.numbers(np.array([score.value for score in scores]))
        return math.fsum(numbers.tolist()) / len(scores) if scores else math.nan


@dataclass(frozen=True)
class Mean(OfMeans):
    """The mean score."""

    def __call__(self, scores: Sequence[Score]) -> float:
        if not isinstance(scores, Sequence):
            raise BadInput(f"mean: `scores` must be a list of scores. Got {scores!r}.")
        return self.mean_of(scores)

    def interval_and_test(self, sample: Sample) -> IntervalAndTest:
        """A bootstrap over clusters and a sign-flip test; for crossed clusters, t."""
        return sample.mean_test(self.numbers(sample.values))


@dataclass(frozen=True)
class MeanSize(Mean):
    """The mean of the scores' absolute values."""

    def numbers(self, values: Floats) -> Floats:
        return np.abs(values)


@dataclass(frozen=True)
class Share(Mean):
    """The mean of scores that are 1, 0 or, for a tie, 0.5."""

    labels: ClassVar[bool] = True
    shares: ClassVar[bool] = True  # type: ignore[misc]

    def interval_and_test(self, sample: Sample) -> IntervalAndTest:
        """Wilson's interval if items are not clustered, or all clusters agree; otherwise that of a mean."""
        values, clusters, neutral = sample.values, sample.clusters, sample.neutral
        n, agree = len(set(clusters)), float(np.ptp(values)) == 0 and values[0] in (0.0, 1.0)
        if sample.clustered and not (n > 1 and agree):
            return super().interval_and_test(sample)
        low, high = proportion_interval(float(values.mean()) * n, n)
        p = math.nan if math.isnan(neutral) else sign_flip_test(values - neutral, clusters, sample.rng)
        return IntervalAndTest(low, high, p)


mean = Mean()
"""The mean score: how most measures summarise."""
mean_size, share = MeanSize(), Share()


@dataclass(frozen=True)
class MacroMean(OfMeans):
    """The mean of the means of several sets, the labels of the group `by`; NaN if one of `sets` has no scores.

    Each set has the same weight, however many items it has. `within` summarises a single set.
    """

    by: str
    sets: tuple[str, ...]
    within: Mean = field(default=mean)

    labels: ClassVar[bool] = True

    def __call__(self, scores: Sequence[Score]) -> float:
        parts = [self.mean_of(part) for part in _scores_by_labels(scores, (self.by,)).values()]
        return math.fsum(parts) / len(parts) if parts and not self.lacks(scores) else math.nan

    @property
    def shares(self) -> bool:  # type: ignore[override]
        return self.within.shares

    def numbers(self, values: Floats) -> Floats:
        return self.within.numbers(values)

    def interval_and_test(self, sample: Sample) -> IntervalAndTest:
        """The t interval of a mean over sets, and its p."""
        return sample.mean_test(self.numbers(sample.values), [label_of(score, self.by) for score in sample.scores])

    def inside(self, groups: Collection[str]) -> Summary:
        return self.within if self.by in groups else self

    def lacks(self, scores: Sequence[Score]) -> str:
        return lacking_sets(scores, self.by, self.sets)


class OfTotals(Summary):
    """A value that is a function of totals over the scores, so that bootstrap samples need no calls of their own."""

    @abstractmethod
    def totals(self, scores: Sequence[Score]) -> Floats:
        """What each score adds to the totals, one row per score."""

    @abstractmethod
    def of(self, totals: Floats) -> Floats:
        """The value for each row of totals; NaN if it has none."""

    def __call__(self, scores: Sequence[Score]) -> float:
        return float(self.of(self.totals(scores).sum(axis=0)[np.newaxis])[0]) if scores else math.nan

    def resampling(self, runs: Sequence[Sequence[Score]], clusters: Sequence[str]) -> Resampled:
        parts = np.concatenate([self.totals(scores) for scores in runs])
        return by_totals(parts, _clusters_of_runs(runs, clusters), self.of)


def lacking_sets(scores: Sequence[Score], by: str, sets: Sequence[str]) -> str:
    """The sets of the group `by` that have no scores, in words; empty if all have some."""
    scored = {label_of(score, by) for score in scores if not math.isnan(score.value)}
    missing = [name for name in sets if name not in scored]
    return f"no scored items of {by} {', '.join(missing)}" if missing else ""


def group_values(
    scores: Sequence[Score],
    summarise: Summarise,
    design: Design = WHOLE,
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    neutral: float = math.nan,
    judged: Judged = "all",
    seed: int = 0,
) -> Iterator[Value]:
    """The value of all scores, then of each combination of the groups `design.by`, each with its interval.

    The group `design.within` divides these further, and values of its labels follow. Intervals resample the clusters of
    `design.cluster` whole, and those of `design.crossed`; without clusters, they resample items. Each interval has its
    own random generator, so that it never depends on what else was measured, and is clipped to `bounds`.

    Each value is tested against `neutral`, unless that is an end of the bounds: if a value can only be on one side of
    neutral, being there says nothing. `judged` says which values are tested: all, only those `within`, or none. p is
    adjusted over the value of all scores and those of the groups `by`, and separately over the values `within`.
    """
    neutral = neutral if bounds[0] < neutral < bounds[1] and judged != "none" else math.nan
    summary = summarise if isinstance(summarise, Summary) else Called(summarise)
    options: dict[str, Any] = {"bounds": bounds, "neutral": neutral, "seed": seed}
    by, within, crossed = tuple(design.by), design.within, design.crossed
    families: list[list[Value]] = [[value_of({}, scores, summary, design, **options)]]
    for level in [*([by] if by else []), *([(*by, within)] if within else [])]:
        inside = summary.inside(level)
        if level != by:
            families.append([])
        for labels, part in _scores_by_labels(scores, level).items():
            families[-1].append(value_of(dict(zip(level, labels, strict=True)), part, inside, design, **options))
    for place, family in enumerate(families):
        one_way = not crossed or (place > 0 and within == crossed)  # in one profession, only templates vary
        if math.isnan(neutral) or (judged == "within" and place == 0):
            family = [replace(value, p=math.nan) for value in family]
        else:
            family = adjust(family, crossed=not one_way)
        yield from (cut_ends(value, *bounds, "low", "high") for value in family)


def value_of(
    groups: Groups,
    scores: Sequence[Score],
    summary: Summary,
    design: Design,
    *,
    neutral: float,
    seed: int,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Value:
    """The value of scores that share these groups, with its interval and p; p is NaN if `neutral` is.

    The random generator is seeded by `seed` and the groups.
    """
    scored = [s for s in scores if not math.isnan(s.value)]
    if not scored:
        return Value(math.nan, unscored=len(scores), groups=groups)
    least, most = bounds
    counts = (len(scored), len(scores) - len(scored))
    if why := summary.lacks(scores):
        return Value(math.nan, math.nan, math.nan, *counts, why, groups=groups)
    clusters, crossed = clusterings(scored, design)
    unit, rng = bounds == (0.0, 1.0), generator(seed, groups)
    sample = Sample(scored, clusters, rng, crossed, neutral, unit, clustered=bool(design.cluster))
    test = IntervalAndTest(math.nan, math.nan, math.nan)
    if not is_constant(sample.values) or (summary.labels and scored[0].value in (0.0, 1.0)):
        test = IntervalAndTest(*summary.interval_and_test(sample))  # a user's summary may return a plain tuple
    whole = summary(scored)
    value = min(max(whole, least), most)
    if abs(whole - value) > ROUNDING:
        note = f"{whole:g} is beyond the measure's bounds, {least:g} and {most:g}"
        return Value(math.nan, math.nan, math.nan, *counts, note, groups=groups)
    g = fewest_clusters(clusters, crossed)
    if math.isnan(value):
        return Value(math.nan, math.nan, math.nan, *counts, summary.why_none or NO_VALUE, clusters=g, groups=groups)
    found = Value(value, *test[:2], *counts, p=test.p, clusters=g, freedom=test.freedom, groups=groups)
    cut = cut_ends(found, least, most, "low", "high").check()
    return found if cut.known else cut  # `adjust` judges the whole interval


def clusterings(scores: Sequence[Score], design: Design) -> tuple[list[str], list[list[str]]]:
    """The cluster of each score, its id if items are not clustered; and the further ways to cluster them."""
    clusters = [label_of(s, design.cluster) if design.cluster else s.id for s in scores]
    return clusters, [[label_of(s, design.crossed) for s in scores]] if design.crossed else []


def _clusters_of_runs(runs: Sequence[Sequence[Score]], clusters: Sequence[str]) -> list[str]:
    """The clusters of several runs in one list, each named after its run."""
    return [f"{place}\0{cluster}" for place, _ in enumerate(runs) for cluster in clusters]


def _scores_by_labels(scores: Sequence[Score], by: Sequence[str]) -> dict[tuple[str, ...], list[Score]]:
    parts: dict[tuple[str, ...], list[Score]] = {}
    for score in scores:
        parts.setdefault(tuple(label_of(score, name) for name in by), []).append(score)
    return dict(sorted(parts.items()))


def label_of(score: Score, group: str) -> str:
    """The label of a score's item in a group. Raises BadInput if it has none."""
    if group not in score.groups:
        raise BadInput(f"Item '{score.id}' has no group '{group}'. It has: {', '.join(score.groups) or 'none'}.")
    return score.groups[group]
