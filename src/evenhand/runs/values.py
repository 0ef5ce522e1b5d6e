"""The values of a run: the rows of results.json, and how they are computed from the scores."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

import pandas as pd
from pydantic import TypeAdapter

from evenhand.core.dataset import Design, without_direction
from evenhand.core.estimands import estimates, judged_values, scores_in
from evenhand.core.measure import Traits, summarising, summary_of
from evenhand.core.scores import Judged, Value, group_values
from evenhand.measures import MEASURES, load
from evenhand.runs.record import Finite, TaskRecord
from evenhand.stats.estimate import Estimate
from evenhand.stats.verdict import TESTS, adjust


@dataclass(frozen=True, slots=True)
class ValueRecord:
    """A value of results.json, of all items or of those with the labels `groups`; None if there is none.

    With `contrast`, it is the mean difference between partners ("female - male"), n counts pairs, and neutral is 0.
    With `estimand`, it is the stereotype or the default: see core.estimands.
    """

    model: str
    fingerprint: str
    dataset: str
    measure: str
    version: int
    groups: Mapping[str, str]
    value: Finite | None
    low: Finite | None
    high: Finite | None
    n: int
    unscored: int
    neutral: Finite | None
    note: str = ""
    p: Finite | None = None
    p_holm: Finite | None = None
    clusters: int = 0
    freedom: Finite | None = None
    needed: int = 0
    detectable: Finite | None = None
    """`p` to `detectable` are those of stats.estimate.Estimate; runs of 0.1.0 have none of them on disk."""
    contrast: str = ""
    estimand: Literal["", "stereotype", "default"] = ""
    narrow_low: Finite | None = None
    narrow_high: Finite | None = None
    prior: Finite | None = None
    """`contrast` to `prior` are those of core.scores.Value."""
    dataset_version: int = 0
    partial: bool = False
    """Whether only a sample of the items was measured."""

    def __post_init__(self) -> None:
        low, high = (math.nan if end is None else end for end in (self.narrow_low, self.narrow_high))
        if fault := self.estimate.fault or replace(self.estimate, low=low, high=high).fault:
            raise ValueError(fault)

    @property
    def task(self) -> tuple[str, str]:
        return self.dataset, self.measure

    @property
    def estimate(self) -> Estimate:
        known: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(Estimate)}
        return Estimate(**known | {name: math.nan for name, number in known.items() if number is None})

    def row(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value or name != "note"}


VALUES = TypeAdapter(list[ValueRecord])


def value_record(value: Value, model: str, fingerprint: str, neutral: float, task: TaskRecord) -> ValueRecord:
    """A value as a row of results.json. `neutral` is the measure's; a difference of women and men is neutral at 0."""
    known: dict[str, Any] = {f.name: _nan_to_none(getattr(value, f.name)) for f in fields(Value)}
    known["groups"] = {name: str(label) for name, label in value.groups.items()}
    known |= {"dataset_version": task.dataset_version, "partial": task.partial}
    known["neutral"] = 0.0 if value.contrast or (value.estimand and task.genders) else _nan_to_none(neutral)
    return ValueRecord(model, fingerprint, *task.name, task.measure_version, **known)


def values_from(scores: pd.DataFrame, task: TaskRecord, judged: Judged | None = None) -> list[Value]:
    """The values of all items and of each group, as an audit computes them; with `judged`, also of parts of groups."""
    within = task.within if judged is not None and task.within in scores else ""
    measure = load(task.measure, **task.measure_options)
    bounds, neutral = Traits.of(measure).bounds, measure.neutral
    tested: dict[str, Any] = {"bounds": bounds, "neutral": neutral, "judged": judged or "none"}
    design = replace(Design.of(task), within=within)
    with summarising(measure):
        return list(group_values(scores_in(scores), summary_of(measure), design, seed=task.seed, **tested))


def rows_from(scores: pd.DataFrame, task: TaskRecord) -> list[Value]:
    """Stereotype, default and contrasts of a task, as an audit computes them; empty if its measure is unknown."""
    if task.measure not in MEASURES:
        return []
    with summarising(MEASURES[task.measure]):
        return estimates(scores, Design.of(task), load(task.measure, **task.measure_options), seed=task.seed)


def complete_values(
    values: Sequence[ValueRecord], scores: pd.DataFrame, task: TaskRecord, model: str, fingerprint: str
) -> list[ValueRecord]:
    """The values of a run that an older version wrote, with the tests and rows that its scores give."""
    known = MEASURES.get(task.measure)
    if known is None:
        return list(values)
    values = [value for value in values if not value.contrast]
    rows = rows_from(scores, task)
    if known.version == task.measure_version:
        judged = "none" if without_direction(scores, task.better) else judged_values(rows, Design.of(task), known)
        computed = {tuple(sorted(v.groups.items())): v for v in values_from(scores, task, judged)}
        # Runs of 0.1.0, which have no clusters on disk, have other intervals, too.
        same = ("low", "high", *TESTS) if not any(value.clusters for value in values) else TESTS
        values = [
            replace(value, **{name: _nan_to_none(getattr(again, name)) for name in same})
            if (again := computed.get(tuple(sorted(value.groups.items()))))
            else replace(value, p=None, p_holm=None, needed=0)
            for value in values
        ]
    return [*values, *(value_record(value, model, fingerprint, known.neutral, task) for value in rows)]


def with_families(rows: Sequence[ValueRecord], tasks: Sequence[TaskRecord]) -> list[ValueRecord]:
    """The rows, with p adjusted over families that several measures share, such as the labels of a classifier."""
    shared = {task.name: (task.dataset, task.family) for task in tasks if task.family}
    families: dict[object, list[int]] = {}
    for place, row in enumerate(rows):
        if (row.contrast or row.estimand) and (key := shared.get(row.task)):
            families.setdefault((key, bool(row.estimand and not row.groups)), []).append(place)
    adjusted = list(rows)
    for places in families.values():
        for place, estimate in zip(places, adjust([rows[p].estimate for p in places], crossed=True), strict=True):
            adjusted[place] = replace(rows[place], **{name: _nan_to_none(getattr(estimate, name)) for name in TESTS})
    return adjusted


def _nan_to_none(value: Any) -> Any:
    """The value, or None for NaN, which JSON does not have."""
    return None if isinstance(value, float) and math.isnan(value) else value
