"""Comparisons of several runs: each with the first, item by item; and all side by side, ranked by distance."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd

from evenhand.analysis.change import Change, TwoValues, adjust_families, changes_frame, differences, two_values
from evenhand.core.measure import summarising
from evenhand.core.scores import generator
from evenhand.core.shown import Shown
from evenhand.measures import MEASURES
from evenhand.runs.comparable import distinct_names, in_common, of_two_kinds, same_task, shared_ids, task_names
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import row_label
from evenhand.runs.values import rows_from, values_from
from evenhand.stats.verdict import change_side, clusters_needed


@dataclass(frozen=True)
class Comparison(Shown):
    """The changes from a baseline to other runs."""

    runs: tuple[StoredRun, ...]
    """The baseline first."""
    rows: tuple[Change, ...] = field(repr=False)
    """A row for each value of each run but the first; `end` is the run's name, `before` the baseline's value."""

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows as a table: `run`, then analysis.change.COLUMNS."""
        return changes_frame(self.rows, run="end")

    @property
    def names(self) -> list[str]:
        return distinct_names(self.runs)

    @property
    def left_out(self) -> list[dict[str, Any]]:
        """Dataset and measure of each task that some runs lack, and the names of the runs that have it (`only_in`)."""
        having = {name: task_names(run) for name, run in zip(self.names, self.runs, strict=True)}
        tasks = dict.fromkeys(task for tasks in having.values() for task in tasks)
        return [
            {"dataset": task[0], "measure": task[1], "only_in": [name for name in having if task in having[name]]}
            for task in tasks
            if not all(task in tasks for tasks in having.values())
        ]

    @property
    def unmeasured(self) -> list[str]:
        """A sentence for each run that could not be measured on all that is compared: why, and what to try."""
        compared, both = {row.dataset for row in self.rows}, zip(self.names, self.runs, strict=True)
        return [f"{name} {could_not}" for name, run in both if (could_not := run.could_not(compared))]

    @property
    def shared(self) -> dict[str, int]:
        """The number of items that are compared, for each dataset of which the runs have different samples."""
        counts: dict[str, int] = {}
        for run in self.runs[1:]:
            for task in in_common([self.runs[0], run]):
                if (ids := shared_ids(self.runs[0], run, *task)) is not None:
                    counts[task[0]] = min(len(ids), counts.get(task[0], len(ids)))
        return counts

    @property
    def of_another_kind(self) -> list[str]:
        """The names of causal models if others are not causal: for the two, a measure is not the same quantity."""
        if not of_two_kinds(self.runs):
            return []
        return [name for name, run in zip(self.names, self.runs, strict=True) if run.record.causal]

    def to_json(self) -> str:
        """The comparison as JSON; a missing number is null."""
        runs = [
            {"run": name, "path": str(run.path)}
            | {key: getattr(run.record, key) for key in ("model", "fingerprint", "partial")}
            for name, run in zip(self.names, self.runs, strict=True)
        ]
        rows = self.frame.astype(object).where(self.frame.notna(), None).to_dict("records")
        data = {"baseline": runs[0], "runs": runs[1:], "left_out": self.left_out}
        data |= {"of_another_kind": self.of_another_kind, "shared": self.shared, "rows": rows}
        return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """The rows as csv, with all digits; the baseline's name and the fingerprints are columns."""
        prints = {name: run.record.fingerprint for name, run in zip(self.names, self.runs, strict=True)}
        frame = self.frame.assign(fingerprint=self.frame["run"].map(prints))
        frame = frame.assign(baseline=self.names[0], baseline_fingerprint=prints[self.names[0]])
        return str(frame.to_csv(index=False, lineterminator="\n"))


def compare(runs: Sequence[StoredRun], *, judged: bool = False) -> Comparison:
    """Compare runs with the first one: see `evenhand.compare`."""
    baseline, names = runs[0], distinct_names(runs)
    rows = [
        replace(row, end=name)
        for name, run in zip(names[1:], runs[1:], strict=True)
        for task in in_common([baseline, run])
        for row in differences(baseline, run, *task, judged=judged)
    ]
    return Comparison(tuple(runs), tuple(adjust_families(rows)))


def comparable_tasks(run: StoredRun) -> list[tuple[str, str]]:
    """Each dataset of a run with its headline measure, by which models are compared; no unknown measures."""
    return [task.name for dataset in run.datasets if (task := run.headline_task(dataset)).measure in MEASURES]


def side_by_side(runs: Sequence[StoredRun], dataset: str, measure: str) -> pd.DataFrame:
    """A row for each value and model: labels, `model`, `value`, `low`, `high`, `n`, `mark`, `total` (of all items).

    Where stereotype and default can be told apart, the column `row` names the two, and rows of women minus men by
    group follow, if women and men are partners. `mark` is "best" if the model is shown to be nearer to the neutral
    value than every other model (for words that call for one gender: farther from it, on the right side), "worst" if
    it is shown to be farther than every other, and otherwise empty. Each of these comparisons must pass the rule of
    stats.verdict, with p adjusted over all comparisons of the table (Bonferroni). Items that one of the models could
    not score are excluded for all. If a model is unfit, or was not examined, this is its mark, and no model is ranked.
    Causal models are not ranked among others, since a measure is another quantity for them.
    """
    task = same_task(runs, dataset, measure)
    frames = [run.scores_of(dataset, measure) for run in runs]
    ids = set.intersection(*(set(frame.dropna(subset="score")["id"]) for frame in frames))
    frames = [frame[frame["id"].isin(ids)] for frame in frames]
    values = [rows_from(frame, task) or values_from(frame, task) for frame in frames]
    has_estimands = any(value.estimand for value in values[0])
    audits = [run.record.audit_of(run.task(dataset, measure)) for run in runs]
    unfit = [
        audit.objection(task) or ("unfit" if dataset in run.unmeasured else "")
        for run, audit in zip(runs, audits, strict=True)
    ]
    ranked = not of_two_kinds(runs) and not any(unfit)
    with summarising(MEASURES[measure]):
        marks = _marks(frames, task, len(values[0])) if ranked else {}
    rows: list[dict[str, object]] = []
    for number, value in enumerate(values[0]):
        label = row_label(value.groups, value.estimand)
        by = value.groups if value.contrast else task.by
        labels = {"row": label} if has_estimands else {group: value.groups.get(group, "all") for group in by}
        for name, of_run, mark in zip(distinct_names(runs), values, marks.get(label, unfit), strict=True):
            numbers = {key: getattr(of_run[number], key) for key in ("value", "low", "high", "n")}
            total = not value.groups and not value.contrast
            rows.append({**(labels or {"items": "all"}), "model": name, **numbers, "mark": mark, "total": total})
    return pd.DataFrame(rows)


def _marks(frames: list[pd.DataFrame], task: TaskRecord, rows: int) -> dict[str, list[str]]:
    """The marks of the models by label: see `side_by_side`. `rows` is the number of values that the table compares."""
    if frames[0].empty:
        return {}

    @cache
    def judged_rows(one: int, other: int) -> dict[str, TwoValues]:
        return {row.group: row for row in two_values(frames[one], frames[other], task) if row.family}

    comparisons = rows * (len(frames) - 1)

    def farther(label: str, one: int, other: int) -> bool:
        """Whether the model `other` is shown to be farther from where it should be than the model `one`."""
        row = judged_rows(one, other)[label]
        difference = row.values.difference(generator(task.seed, {"models": "side by side"}), same=False)
        needed = clusters_needed(comparisons, crossed=row.crossed)
        ends, p = (difference.worse_low, difference.worse_high), difference.worse_p * comparisons
        return change_side(*ends, p, difference.clusters, needed) > 0

    marks = {}
    for label in judged_rows(0, 0):
        distances = [judged_rows(number, number)[label].values.distance for number in range(len(frames))]
        marks[label] = of_models = [""] * len(frames)
        if np.isnan(distances).any():
            continue
        best, worst = int(np.argmin(distances)), int(np.argmax(distances))
        others = [number for number in range(len(frames)) if number not in (best, worst)]
        if best != worst and farther(label, best, worst):
            of_models[best] = "best" if all(farther(label, best, other) for other in others) else ""
            of_models[worst] = "worst" if all(farther(label, other, worst) for other in others) else ""
    return marks
