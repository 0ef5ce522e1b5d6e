"""The values of a run: the rows of results.json, and how they follow from the scores."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import TypeAdapter

from evenhand.core.contrasts import contrasts, has_contrast, pairs
from evenhand.core.measure import Traits
from evenhand.core.scores import Result, Score, Value, summarised
from evenhand.measures import MEASURES, load
from evenhand.runs.json_files import checked, read_json, rescore
from evenhand.runs.origin import Finite
from evenhand.runs.record import TaskRecord
from evenhand.stats.estimate import Estimate
from evenhand.stats.verdict import TESTS


@dataclass(frozen=True, slots=True)
class ValueRecord:
    """A value of results.json: of all items, or of those with the labels `groups`. None means no number.

    With `contrast`, the mean difference between partners ("female - male"); n counts pairs, and neutral is 0.
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
    needed: int = 0
    detectable: Finite | None = None
    """See stats.estimate.Estimate, as the four above; runs of 0.1.0 have none of them on disk."""
    contrast: str = ""
    dataset_version: int = 0
    partial: bool = False
    """Whether it is of a sample of the items."""

    @property
    def estimate(self) -> Estimate:
        """The value with its interval and its test."""
        known: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(Estimate)}
        return Estimate(**known | {name: math.nan for name, number in known.items() if number is None})

    @property
    def at(self) -> float:
        """The neutral value; NaN where there is none."""
        return math.nan if self.neutral is None else self.neutral

    def row(self) -> dict[str, Any]:
        """The value as results.json has it."""
        row = asdict(self)
        return row if self.note else {name: row[name] for name in row if name != "note"}


VALUES = TypeAdapter(list[ValueRecord])


def read_values(path: Path) -> list[ValueRecord]:
    """The values in this folder's results.json."""
    file, advice = path / "results.json", rescore(path)
    return checked(VALUES, read_json(file, advice), file, advice)


def records_of(result: Result, task: TaskRecord) -> list[ValueRecord]:
    """The values of a result as results.json has them: of all items, by group, then contrasts."""
    values = (*result.estimates, *result.contrasts)
    return [recorded(value, result.model, result.fingerprint, result.neutral, task) for value in values]


def recorded(value: Value, model: str, fingerprint: str, neutral: float, task: TaskRecord) -> ValueRecord:
    """A value as results.json has it; `neutral` is that of the measure, a contrast's is 0."""
    told: dict[str, Any] = {f.name: _number(getattr(value, f.name)) for f in fields(Estimate)}
    told |= {"groups": {name: str(label) for name, label in value.groups.items()}, "contrast": value.contrast}
    told |= {"dataset_version": task.dataset_version, "partial": task.partial}
    told["neutral"] = 0.0 if value.contrast else _number(neutral)
    return ValueRecord(model, fingerprint, *task.name, task.measure_version, **told)


def values_from(scores: pd.DataFrame, task: TaskRecord, *, tests: bool = False) -> list[Value]:
    """The values of all items and of each group, as an audit computes them; with `tests`, of parts within too."""
    within = task.within if tests and task.within in scores else ""
    groups = [column for column in scores.columns if column not in ("id", "score")]
    rows = [
        Score(str(row["id"]), float(row["score"]), {group: row[group] for group in groups})
        for row in scores.to_dict("records")
    ]
    how = load(task.measure, **task.measure_options)
    design: dict[str, Any] = {"by": task.by, "within": within, "cluster": task.cluster, "crossed": task.crossed}
    bounds, neutral = Traits.of(how).bounds, how.neutral if tests else math.nan
    whole = mixed(scores, task)
    return list(summarised(rows, how.summarise, bounds=bounds, neutral=neutral, mixed=whole, seed=task.seed, **design))


def mixed(scores: pd.DataFrame, task: TaskRecord) -> bool:
    """Whether some of the words call for he and others for she, so that the value of all of them has no direction."""
    return task.better == "closer" and "calls_for" in scores and bool(scores["calls_for"].nunique() > 1)


def contrasts_from(scores: pd.DataFrame, task: TaskRecord) -> list[Value]:
    """The contrasts of a task, as an audit computes them."""
    known = MEASURES.get(task.measure)
    if task.partners is None or known is None or not has_contrast(known.summarise, task.partners):
        return []
    design: dict[str, Any] = {"by": task.by, "cluster": task.cluster, "crossed": task.crossed, "seed": task.seed}
    return contrasts(pairs(scores, task.partners), task.partners, **design)


def with_tests(values: Sequence[ValueRecord], scores: pd.DataFrame, task: TaskRecord) -> list[ValueRecord]:
    """The values of a run made before values were tested, with the intervals and tests that its scores give."""
    known = MEASURES.get(task.measure)
    if known is None or known.version != task.measure_version:
        return list(values)
    again = {tuple(sorted(v.groups.items())): v for v in values_from(scores, task, tests=True)}
    return [
        replace(value, **{name: _number(getattr(found, name)) for name in ("low", "high", *TESTS)})
        if (found := again.get(tuple(sorted(value.groups.items()))))
        else value
        for value in values
    ]


def _number(value: Any) -> Any:
    """The value, or None for NaN, which JSON does not have."""
    return None if isinstance(value, float) and math.isnan(value) else value
