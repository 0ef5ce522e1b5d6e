"""The changes between two runs, of two models or of one before and after a debiasing, compared item by item."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from evenhand.analysis.two_runs import Difference, Means, Summaries, Values
from evenhand.core.dataset import CALLS_FOR, Design
from evenhand.core.estimands import ItemRow, SummaryRow, rows
from evenhand.core.measure import Traits, summarising, summary_of
from evenhand.core.scores import OfMeans, Summary, generator
from evenhand.errors import BadInput
from evenhand.measures import MEASURES, load
from evenhand.runs.comparable import in_common, of_two_kinds, same_task, shared_ids
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import OfTask, number_form, row_label
from evenhand.stats.estimate import Estimate, cut_ends
from evenhand.stats.significance import detectable, holm
from evenhand.stats.verdict import change_side, clusters_needed

COLUMNS = (
    *("dataset", "measure", "group", "estimand", "before", "after", "change", "low", "high", "p", "p_holm"),
    *("detectable", "n", "left_out", "clusters", "needed", "neutral"),
    *("worse", "worse_low", "worse_high", "worse_p", "worse_p_holm", "moved"),
)
ONE_TRAINING = "One training of each was compared, not the recipe: another training by the same recipe may differ."
"""The caution that every comparison of runs has, unless `has_no_training`."""
SIDES = {"she": -1.0, "he": 1.0}
"""The side of neutral on which P(he) - P(she) should be, by the pronoun that a word calls for."""


def has_no_training(runs: Sequence[StoredRun]) -> bool:
    """Whether no training lies between the runs: a wrapper changes answers, or one model was asked in several ways."""
    of_one_model = len(runs) > 1 == len({run.record.weights for run in runs})
    return of_one_model or any("mitigation" in audit.loaded for run in runs for audit in run.record.audits)


@dataclass(frozen=True, kw_only=True)
class Named:
    """The labels, estimand and contrast that identify a row of two runs, and its family."""

    groups: Mapping[str, str]
    estimand: str = ""
    contrast: str = ""
    family: str = ""
    """p is adjusted over the rows of a family. Empty if the row gets no verdict, such as one that mixes estimands."""

    @property
    def group(self) -> str:
        """The name of the row. Rows of the measure's own values keep labels that are empty."""
        if self.estimand or self.contrast:
            return row_label(self.groups, self.estimand)
        return ", ".join(self.groups.values()) if self.groups else "all"


@dataclass(frozen=True, kw_only=True)
class Change(OfTask, Named, Difference):
    """A row of two runs: the difference, and the results that depend on its family."""

    task: TaskRecord = field(repr=False)
    contrast: str = ""
    crossed: bool = False
    """Whether p is that of a t test."""
    unfit: bool = False
    """Whether one of the models is unfit to be measured, or one is causal and the other is not."""
    p_holm: float = math.nan
    worse_p_holm: float = math.nan
    detectable: float = math.nan
    needed: int = 0
    start: str = ""
    end: str = ""
    """The names of the two runs, if more than two runs are compared."""

    @property
    def spec(self) -> str:
        """The format specification of the values."""
        return number_form(self.task, self.neutral, self.contrast or self.estimand)

    @property
    def difference(self) -> Estimate:
        return Estimate(self.change, self.low, self.high)

    @property
    def moved(self) -> str:
        """The change of the distance in words; empty if no change is shown, or the models allow no verdict."""
        ends = (self.worse_low, self.worse_high, self.worse_p_holm)
        direction = change_side(*ends, self.clusters, self.needed, unfit=self.unfit or not self.family)
        return f"{'towards' if direction < 0 else 'away from'} {self.goal}" if direction else ""

    @property
    def way(self) -> str:
        """What the row shows by the rule of stats.verdict, in a word.

        gained (nearer to where it should be), lost (farther), changed (but not shown to be nearer or farther), few (too
        few words to tell), same (no change shown), or unjudged (the row gets no verdict).
        """
        if self.moved:
            return "gained" if self.moved.startswith("towards") else "lost"
        if not self.needed:
            return "unjudged"
        if self.clusters < self.needed:
            return "few"
        return "changed" if change_side(self.low, self.high, self.p_holm, self.clusters, self.needed) else "same"


def changes(before: StoredRun, after: StoredRun) -> list[Change]:
    """The change of each value that both runs have.

    Where stereotype and default can be told apart, each is a row (`estimand`), and the measure's own values get no
    verdict. `change` = after - before, item by item (of GEST in logarithms), with an interval over the same clusters as
    those of the values. `p_holm` is adjusted over a family: stereotype and default of all items, or the rows below
    them; without these, all rows of the dataset and measure. `detectable` is the smallest change that such data would
    show in four cases of five. `left_out` counts items that one of the runs could not score. Runs of different samples
    are compared by the items that both have.

    `worse` is the growth of the distance from `neutral`, with its interval and p; it is below 0 if the distance shrank.
    For words that call for one gender, it is the distance from what they call for. `moved` says in words that the
    distance changed, if the interval of `worse` excludes 0 and its adjusted p is below .05.
    """
    tasks = in_common([before, after])
    return adjust_families([row for task in tasks for row in differences(before, after, *task) if row.n])


def changes_frame(rows: Sequence[Change], **more: str) -> pd.DataFrame:
    """The changes as a table with the columns `COLUMNS`.

    `more` puts columns before them: the name of the column, and the attribute of a change that it holds.
    """
    columns = more | {name: "name" if name == "measure" else name for name in COLUMNS}
    return pd.DataFrame([[getattr(row, name) for name in columns.values()] for row in rows], columns=list(columns))


def adjust_families(
    rows: Sequence[Change], family: Callable[[Change], object] = lambda row: (row.dataset, row.family)
) -> list[Change]:
    """The rows of comparisons, with the fields that depend on families: adjusted p, `needed` and `detectable`."""
    adjusted, families = list(rows), dict[object, list[int]]()
    for place, row in enumerate(rows):
        if row.family:
            families.setdefault(family(row), []).append(place)
    for places in families.values():
        ps, worse = (holm([getattr(rows[place], name) for place in places]) for name in ("p", "worse_p"))
        n = max(1, sum(not math.isnan(p) for p in ps))
        needed = clusters_needed(n, crossed=any(rows[place].crossed for place in places))
        for place, p, worse_p in zip(places, ps, worse, strict=True):
            row = rows[place]
            least = detectable(row.low, row.high, row.freedom, row.clusters, rows=n)
            adjusted[place] = replace(row, p_holm=p, worse_p_holm=worse_p, needed=needed, detectable=least)
    adjusted = [cut_ends(row, -row.width, row.width, "low", "high") for row in adjusted]
    most = [row.farthest if row.goal == "neutral" else row.width for row in adjusted]
    return [cut_ends(row, -end, end, "worse_low", "worse_high") for row, end in zip(adjusted, most, strict=True)]


def differences(
    before: StoredRun, after: StoredRun, dataset: str, measure: str, *, judged: bool = False
) -> Iterator[Change]:
    """The rows of `changes` for one dataset and measure, before `adjust_families`; for `judged` see `compare`."""
    task = same_task([before, after], dataset, measure, shared=True)
    if measure not in MEASURES:
        raise BadInput(
            f"Unknown measure '{measure}': its scores cannot be summarised. If the measure is your own, load its "
            "`plugin`, or call evenhand.measures.add with its class."
        )
    same = before.record.fingerprint == after.record.fingerprint
    scores = [run.scores_of(dataset, measure) for run in (before, after)]
    if (shared := shared_ids(before, after, dataset, measure)) is not None:
        scores = [frame[frame["id"].astype(str).isin(shared)] for frame in scores]
    unfit = of_two_kinds([before, after]) or any(
        dataset in run.unmeasured or run.record.audit_of(run.task(dataset, measure)).objection(task)
        for run in (before, after)
    )
    with summarising(MEASURES[measure]):
        found = list(two_values(scores[0], scores[1], task, judged=judged))
        compared = [vars(row.values.difference(row.rng, same, judged=judged)) for row in found]
    for row, difference in zip(found, compared, strict=True):
        named = {part.name: getattr(row, part.name) for part in fields(Named)}
        without_p = {} if row.family else {"p": math.nan}
        yield Change(**difference | named | without_p, task=task, crossed=row.crossed, unfit=unfit)


@dataclass(frozen=True, kw_only=True)
class TwoValues(Named):
    """A row of two runs before they are compared, with its scores in both."""

    values: Values
    rng: np.random.Generator

    @property
    def crossed(self) -> bool:
        return isinstance(self.values, Means) and bool(self.values.crossed or self.estimand or self.contrast)


def two_values(
    before: pd.DataFrame, after: pd.DataFrame, task: TaskRecord, *, judged: bool = False
) -> Iterator[TwoValues]:
    """The rows of a task from the scores of two runs: stereotype, default, contrasts; then the measure's own values.

    The own values are omitted if women and men have separate ones, whose difference is a contrast; with `judged`, also
    if they get no verdict.
    """
    measure = load(task.measure, **task.measure_options)
    name = task.family or task.measure
    agreeing = task.partners is not None and task.partners.agreeing
    task_rows = list(rows(before, Design.of(task), measure, after=after))
    for row in task_rows:
        rng = generator(task.seed, {**row.groups, "estimand": row.estimand, "gender": row.contrast})
        unjudged = agreeing or (isinstance(row, SummaryRow) and math.isnan(row.neutral))
        family = "" if unjudged else f"{name}, {'all items' if row.main else 'rows'}"
        named: dict[str, Any] = {"groups": row.groups, "estimand": row.estimand, "contrast": row.contrast}
        values = _two_summaries(row.items, task, row.summary) if isinstance(row, SummaryRow) else _row_means(row)
        yield TwoValues(**named, values=values, rng=rng, family=family)
    mixes = any(row.main for row in task_rows)
    if task.by_gender or (mixes and judged):
        return
    joined = before.merge(after[["id", "score"]], on="id", suffixes=("", "_after"), validate="one_to_one")
    by = list(task.by)
    for labels, part in [((), joined), *(joined.groupby(by) if by else ())]:
        groups = dict(zip(by, map(str, labels), strict=False))
        rng = generator(task.seed, {"change": ", ".join(groups.values()) if groups else "all"})
        yield TwoValues(groups=groups, values=_item_scores(part, task, groups), rng=rng, family="" if mixes else name)


def _row_means(row: ItemRow) -> Means:
    """The scores of a row in both runs; ratios as logarithms."""
    clusters, crossed, _ = row.clusterings
    factor = row.scale.factor(row.estimand)
    before, after = (row.scale.neutral + factor * (row.values(name) - row.scale.neutral) for name in ("d", "d_after"))
    towards = (row.scale.neutral, 0.0)
    return Means(before, after, clusters, *towards, crossed=crossed, sets=row.sets, unit=row.scale.unit)


def _item_scores(joined: pd.DataFrame, task: TaskRecord, groups: Collection[str]) -> Values:
    """The values of these items in two runs; the items share the labels of `groups`."""
    measure = load(task.measure, **task.measure_options)
    summary = summary_of(measure).inside(groups)
    if not isinstance(summary, OfMeans):
        return _two_summaries(joined, task, summary)
    before, after = (joined[name].to_numpy(dtype=float) for name in ("score", "score_after"))
    clusters = joined[task.cluster or "id"].astype(str).tolist()
    towards = (measure.neutral, _better_direction(task, joined))
    return Means(
        summary.numbers(before),
        summary.numbers(after),
        clusters,
        *towards,
        crossed=[joined[task.crossed].astype(str).tolist()] if task.crossed else [],
        sets=joined[summary.by].astype(str).tolist() if summary.by else None,
        every=summary.sets,
        shares=summary.shares,
        unit=Traits.of(measure).bounds == (0.0, 1.0),
    )


def _two_summaries(joined: pd.DataFrame, task: TaskRecord, summary: Summary) -> Summaries:
    neutral = MEASURES[task.measure].neutral
    before, after = (joined[name].to_numpy(dtype=float) for name in ("score", "score_after"))
    clusters = joined[task.cluster or "id"].astype(str).tolist()
    labels: Any = joined.drop(columns=["id", "score", "score_after"]).astype(str).to_dict("records")
    return Summaries(before, after, clusters, neutral, _better_direction(task, joined), summary=summary, groups=labels)


def _better_direction(task: TaskRecord, part: pd.DataFrame) -> float:
    """The direction in which values of these items are better: see Values.better."""
    if task.better == "higher":
        return 1.0
    directions = {SIDES.get(word, 0.0) for word in part[CALLS_FOR]} if CALLS_FOR in part else {0.0}
    return directions.pop() if len(directions) == 1 else math.nan
