"""Stereotype and default: the two numbers that verdicts on gender rest on, whatever the measure.

d is a score as women minus men. For two partners it is the woman's score minus the man's, for pronouns she minus he,
and for a sentence that carries a stereotype its distance from neutral, with the sign reversed if the sentence is about
men. k is the item's kind, the gender that a stereotype gives to it: female for a job that mostly women hold.

    stereotype = (mean of d where k is female - mean of d where k is male) / 2
    default    = (mean of d where k is female + mean of d where k is male) / 2

Each kind counts once, however many items it has, and variances are within kinds, so that a default is not noise in the
stereotype. A value pooled over items confounds stereotype and default if the kinds are of unequal size.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenhand.core.dataset import Design, Estimand, Kinds
from evenhand.core.foreign import foreign
from evenhand.core.items import Groups
from evenhand.core.measure import Traits, summary_of
from evenhand.core.scores import Judged, Score, Summary, Value, generator, value_of
from evenhand.stats.estimate import cut_ends, reach
from evenhand.stats.intervals import Floats
from evenhand.stats.mean_intervals import FEWEST_SAMPLED, fewest_clusters, mean_estimate, mean_interval
from evenhand.stats.ratios import Misread, allow_for_misreading, mean_of_ratios
from evenhand.stats.verdict import adjust

SIGN = {"female": 1.0, "male": -1.0}
BEYOND = 500.0
"""The logarithm of a ratio that no value can have."""


@dataclass(frozen=True)
class ItemRow:
    """A row that is a mean of d: its items, the scale of d, and which row it is.

    `items` has d and k of each item or pair and, if two runs are compared, `d_after`.
    """

    items: pd.DataFrame = field(repr=False)
    scale: "Scale"
    estimand: Estimand | Literal[""] = ""
    groups: Groups = field(default_factory=dict)
    contrast: str = ""

    @property
    def main(self) -> bool:
        """Whether the row is stereotype or default of all items: such rows are a family of their own."""
        return bool(self.estimand and not self.groups)

    @property
    def most_clusters(self) -> int:
        """How many clusters the row has if every item has a score; none if a kind has only one."""
        clusters, crossed, _ = self.clusterings
        return fewest_clusters(clusters, crossed, self.sets) if self.complete else 0

    def values(self, column: str = "d") -> Floats:
        """The numbers whose mean is the row: d on the measure's scale; for a stereotype, -d if k is male."""
        d = self.items[column].where(self.has_score)
        if self.scale.weight:  # numbers whose mean over items is the mean of the clusters' ratios
            weight, members = self.items[self.scale.weight + column.removeprefix("d")], self.clusterings[0]
            d = d.copy()
            for name in dict.fromkeys(self.sets):
                within = self.has_score & (np.array(self.sets) == name)
                if within.any():
                    numbers = d[within].to_numpy(float), weight[within].fillna(1.0).to_numpy(float)
                    d[within] = mean_of_ratios(*numbers, list(compress(members, within)))
        if self.scale.each:  # numbers whose mean over items is the mean over the members of that group
            kind, member = self.items["k"], [self.items["k"], self.items[self.scale.each]]
            of_member, n = d.groupby(member).transform("mean"), d.groupby(member).transform("count")
            counted = self.items.assign(m=of_member).drop_duplicates(["k", self.scale.each]).groupby("k")["m"]
            weight = d.groupby(kind).transform("count") / (n * kind.map(counted.count()))
            d = kind.map(counted.mean()) + (d - of_member) * weight
        turns = self.estimand == "stereotype" and self.scale.turns
        sign = np.array([SIGN.get(kind, math.nan) for kind in self.items["k"].tolist()]) if turns else 1.0
        return self.scale.neutral + d.to_numpy(dtype=np.float64) * sign

    @cached_property
    def has_score(self) -> NDArray[np.bool_]:
        """Which items have d; in both runs, if two are compared."""
        return ~np.isnan(sum(self.items[name].to_numpy(np.float64) for name in ("d", "d_after") if name in self.items))

    @cached_property
    def sets(self) -> list[str]:
        """The set of each item: its kind if both kinds count equally; otherwise all items are in one set."""
        kinds = self.items["k"].tolist()
        return kinds if self.estimand and self.scale.turns and "" not in kinds else [""] * len(kinds)

    @property
    def complete(self) -> bool:
        """Whether there are several words of each kind: one word, or one kind, says nothing about others."""
        row = self if self.has_score.all() else replace(self, items=self.items[self.has_score])
        clusters, crossed, _ = row.clusterings
        sizes = [Counter(kind for kind, _ in set(zip(row.sets, way, strict=True))) for way in (clusters, *crossed)]
        n = 1 if set(row.sets) <= {""} else 2
        return all(len(counts) == n and (n == 1 or min(counts.values()) > 1) for counts in sizes)

    @cached_property
    def clusterings(self) -> tuple[list[str], list[list[str]], bool]:
        """The clusters of items, further clusterings, and whether the row then speaks for other sentences, too."""
        scale, items = self.scale, self.items
        wider = all(items[group].nunique() >= FEWEST_SAMPLED for group in scale.samples)
        crossed = [] if scale.crossed in ("", *self.groups) else [scale.crossed]  # a row of one form has no other
        names = [*crossed, *(scale.samples if wider else ())]
        clusters = items[scale.cluster or "id"].astype(str).tolist()
        return clusters, [items[name].astype(str).tolist() for name in names], bool(scale.samples) and wider

    def estimate(self, seed: int, priors: Mapping[str, float]) -> Value:
        """The value with interval and p; without these if a kind has only one word, and NaN if it has none."""
        items, unscored = self.items.dropna(subset="d"), int(self.items["d"].isna().sum())
        row, scale = replace(self, items=items), self.scale
        named: dict[str, Any] = {"groups": self.groups, "contrast": self.contrast, "estimand": self.estimand}
        values, sets = row.values(), row.sets
        if not row.complete:
            means = pd.Series(values).groupby(sets).mean()
            of_both = len(means) == len(SIGN) or set(sets) == {""}
            value, note = (float(means.mean()), "") if of_both else (math.nan, "no scored items of one of the kinds")
            value = scale.shown(value, self.estimand)
            return Value(value, n=len(items), unscored=unscored, note=note, **named).check()
        clusters, crossed, wider = row.clusterings
        labels = {**self.groups, "estimand": self.estimand, "gender": self.contrast}
        options: dict[str, Any] = {"sets": sets, "unit": scale.unit}
        rng, neutral = generator(seed, labels), scale.neutral
        estimate = mean_estimate(values, clusters, rng, crossed=crossed, neutral=neutral, **options)
        narrow = mean_interval(values, clusters, generator(seed, labels), **options) if wider else (math.nan, math.nan)
        if any(n for _, n in scale.misread) and not math.isnan(estimate.low):
            contrast = self.estimand == "stereotype"
            estimate = allow_for_misreading(estimate, neutral, scale.misread, contrast=contrast)
        prior = math.nan
        if priors and self.contrast:
            prior = float((items["id_female"].map(priors) - items["id_male"].map(priors)).mean())
        value = scale.shown(estimate.value, self.estimand)
        low, high = sorted(scale.shown(end, self.estimand) for end in (estimate.low, estimate.high))
        narrow_low, narrow_high = sorted(scale.shown(end, self.estimand) for end in narrow)
        known = asdict(replace(estimate, value=value, low=low, high=high, unscored=unscored)) | named
        return Value(**known, narrow_low=narrow_low, narrow_high=narrow_high, prior=prior).check()


@dataclass(frozen=True)
class SummaryRow:
    """A row that is a summary of scores and not a mean of d, such as the effect size of a stereotype."""

    items: pd.DataFrame = field(repr=False)
    """With columns id, score, one for each group and, if two runs are compared, `score_after`."""
    design: Design
    summary: Summary
    estimand: Estimand
    neutral: float
    """NaN if the row is not judged."""
    groups: Groups = field(default_factory=dict)
    contrast: str = ""

    @property
    def main(self) -> bool:
        return not self.groups

    def estimate(self, seed: int, priors: Mapping[str, float]) -> Value:
        """The value of the row with its interval and, if the row is judged, its test."""
        scores = scores_in(self.items)
        value = value_of(self.groups, scores, self.summary, self.design, neutral=self.neutral, seed=seed)
        return replace(value, estimand=self.estimand)


def scores_in(table: pd.DataFrame) -> list[Score]:
    """The scores of a table with columns id, score and one for each group."""
    groups = [str(column) for column in table.columns if column not in ("id", "score", "score_after")]
    return [
        Score(str(row["id"]), float(row["score"]), {group: row[group] for group in groups})
        for row in table.to_dict("records")
    ]


@dataclass(frozen=True, slots=True)
class Scale:
    """How d is shown and clustered, for all rows of a task."""

    cluster: str = ""
    crossed: str = ""
    samples: tuple[str, ...] = ()
    each: str = ""
    neutral: float = 0.0
    unit: bool = False
    """Whether values lie between 0 and 1."""
    reach: float = math.inf
    """How far from neutral a value can be."""
    ratio: bool = False
    """Whether d is a log ratio: a stereotype s is shown as exp(2 s), a default d as exp(-d), men against women."""
    weight: str = ""
    """The column with the weights of items within their cluster: `Traits.weight`."""
    misread: Misread = ()
    turns: bool = True
    """Whether a stereotype reverses the sign of d if k is male; not if the items compare no genders."""

    def factor(self, estimand: str) -> float:
        """The factor from an estimand to the logarithm of the ratio that is shown; 1 if the scale is no ratio."""
        return {"stereotype": 2.0, "default": -1.0}.get(estimand, 1.0) if self.ratio else 1.0

    def shown(self, d: float, estimand: str) -> float:
        """A number on the scale of d as the row shows it; of a ratio that no value can have, another one of them."""
        return math.exp(min(self.factor(estimand) * d, BEYOND)) if self.ratio and estimand else d


def rows(
    scores: pd.DataFrame, design: Design, measure: Any, after: pd.DataFrame | None = None
) -> Iterator[ItemRow | SummaryRow]:
    """The rows of a task: stereotype and default of all items, then of groups; with partners, also d by kind.

    `scores` has columns id, score and one for each group; `after` has the same of another run, whose d is `d_after`.
    """
    kinds, partners, favours = design.kinds, design.partners, Traits.of(measure).favours
    if kinds is not None and (estimands := summary_of(measure).estimands(kinds)):
        if after is not None:
            scores = scores.merge(after[["id", "score"]], on="id", suffixes=("", "_after"))
        by = list(design.by)
        for labels, part in [((), scores), *(scores.groupby(by) if by else ())]:
            groups = dict(zip(by, map(str, labels), strict=False))
            for number, (estimand, summary) in enumerate(estimands.items()):
                neutral = math.nan if number else measure.neutral
                yield SummaryRow(part, design, summary, estimand, neutral, groups)
        return
    if favours == "none" or (kinds is None and partners is None) or (not partners and favours in ("item", "other")):
        return
    made_of = {kinds.group, *(label[0] for label in (kinds.turned, kinds.only) if label)} if kinds else set()
    if not made_of <= set(scores):
        return  # scores of an older version, which lack the group
    scale = _scale(design, measure)
    items = _items_with_d(scores, design, measure)
    if after is not None:
        ids = [column for column in items if str(column).startswith("id")]
        columns = [*ids, "d", *([scale.weight] if scale.weight else [])]
        items = items.merge(_items_with_d(after, design, measure)[columns], on=ids, suffixes=("", "_after"))
    counted = items
    if kinds is not None and kinds.genders:
        group, wanted = kinds.only or ("", "")
        counted = items[items[group] == wanted] if group else items
        yield from _stereotype_and_default(counted, scale, kinds, {})
        apart = made_of | {kinds.each, "gender"} | ({partners.group, *partners.differ} if partners else set())
        category = next((name for name in design.by if name in items and name not in apart), "")
        control = items[items[group] != wanted].groupby(group) if group else ()
        for name, parts in ((category, counted.groupby(category) if category else ()), (group, control)):
            for label, part in parts:
                below = _stereotype_and_default(part, scale, kinds, {name: str(label)})
                yield from (row for row in below if row.complete)
    if partners is not None:
        level = kinds.group if kinds else next((name for name in design.by if name != partners.group), "")
        for label, part in items.groupby(level) if level else [("all", items)]:
            yield ItemRow(part, scale, "", {level: str(label)} if level else {}, partners.contrast)
    elif kinds is not None and favours == "stereotype":  # no genders are compared: scores as they are
        of_no_kind = counted["k"].eq("") if kinds.genders else counted["k"].ne("")
        for label, part in counted[of_no_kind].groupby(kinds.group):
            yield ItemRow(part, replace(scale, turns=False), "stereotype", {kinds.group: str(label)})


def estimates(
    scores: pd.DataFrame, design: Design, measure: Any, *, seed: int = 0, priors: Mapping[str, float] | None = None
) -> list[Value]:
    """The values of `rows` with intervals and tests; p is adjusted over rows of all items, and separately over others.

    `priors` has the measure's `prior` of each item, by id.
    """
    listed, scale = list(rows(scores, design, measure)), _scale(design, measure)
    ends = scale.neutral - scale.reach, scale.neutral + scale.reach, "low", "high", "narrow_low", "narrow_high"
    values = [(row.main, row.estimate(seed, priors or {})) for row in listed]
    families = [[value for main, value in values if main is first] for first in (True, False)]
    if design.partners is not None and design.partners.agreeing:
        return [cut_ends(value, *ends) for family in families for value in family]
    adjusted = [cut_ends(value, *ends) for family in families for value in adjust(family, crossed=True)]
    unjudged = {row.estimand for row in listed if isinstance(row, SummaryRow) and math.isnan(row.neutral)}
    return [replace(value, needed=0) if value.estimand in unjudged else value for value in adjusted]


def judged_values(values: Sequence[Value], design: Design, measure: Any) -> Judged:
    """Which of a measure's own values get a verdict: none that mixes stereotype with default, or grammar with bias."""
    if design.partners is not None and design.partners.agreeing:
        return "none"
    if not any(value.estimand and not value.groups for value in values):
        return "all"
    return "within" if Traits.of(measure).favours == "men" else "none"


def _stereotype_and_default(items: pd.DataFrame, scale: Scale, kinds: Kinds, groups: Groups) -> Iterator[ItemRow]:
    """Stereotype and default of these items; a default that is the headline also counts items without a kind."""
    of_kind = items[items["k"] != ""]
    if groups and of_kind.empty and scale.weight:  # prompts that name nothing with a kind
        yield ItemRow(items, scale, "default", groups)
        return
    if kinds.headline == "default":
        yield ItemRow(items.assign(k=""), scale, "default", groups)
    if kinds.female and kinds.male:
        yield ItemRow(of_kind, scale, "stereotype", groups)
        if kinds.headline != "default":
            yield ItemRow(of_kind, scale, "default", groups)


def _items_with_d(scores: pd.DataFrame, design: Design, measure: Any) -> pd.DataFrame:
    """d and kind of each item, or of each pair of partners, without items that the measure does not count."""
    kinds, traits = design.kinds, Traits.of(measure)
    favours, weight = traits.favours, traits.weight
    if weight and weight not in scores:  # no item has an answer
        scores = scores.assign(**{weight: math.nan})
    if (counts := getattr(measure, "counts", None)) is not None:
        with foreign(f"The measure '{measure.name}' failed in `counts`", measure):
            scores = scores[counts(scores)]
    if design.partners is not None:
        items = design.partners.pairs(scores)
        d = items["difference"] * (-1.0 if favours == "other" else 1.0)
        items = items.assign(d=d, id=items[f"id_{design.partners.one}"])
    else:
        items = scores.assign(d=scores["score"] - (0.0 if traits.unit == "ratio" else measure.neutral))
    items = items.assign(k=kinds.of(items) if kinds else "")
    if favours == "men":
        return items.assign(d=-items["d"])
    if favours == "stereotype" and kinds and kinds.genders and design.partners is None:
        return items.assign(d=items["d"] * [SIGN.get(kind, 1.0) for kind in items["k"]])
    return items


def _scale(design: Design, measure: Any) -> Scale:
    kinds, traits = design.kinds or Kinds(""), Traits.of(measure)
    ratio = traits.unit == "ratio"
    of_differences = design.partners is not None or ratio
    neutral, unit = (0.0, False) if of_differences else (measure.neutral, traits.bounds == (0.0, 1.0))
    clustering = design.cluster, design.crossed, kinds.samples, kinds.each
    far = math.inf if ratio else reach(traits.bounds, neutral, partners=design.partners is not None)
    return Scale(*clustering, neutral, unit, far, ratio, traits.weight, traits.misread, kinds.genders)
