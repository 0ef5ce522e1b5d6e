"""A run in a few numbers: for each dataset, the rows that it is judged by."""

import math

from evenhand.core.measure import LAST
from evenhand.errors import RunError
from evenhand.runs.folder import StoredRun
from evenhand.runs.json_files import rescore
from evenhand.runs.record import TaskRecord
from evenhand.runs.values import ValueRecord, mixed
from evenhand.stats.verdict import decide


def headlines(run: StoredRun) -> list[ValueRecord]:
    """One number for each dataset of the run, in order: the first of its main rows.

    Where these are differences between women and men by group, that of the group that leans farthest, or else is
    farthest from 0.
    """
    found = []
    for task in (chief(run, dataset) for dataset in run.datasets):
        rows = main_rows(run, task)
        if not rows:
            raise RunError(f"'{run.path}' has no value of {task.measure} on {task.dataset}. {rescore(run.path)}")
        farthest = max(rows, key=lambda row: (lean(run, row) in ("above", "below"), _distance(row)))
        found.append(farthest if rows[0].contrast else rows[0])
    return found


def lean(run: StoredRun, row: ValueRecord) -> str:
    """Which side of neutral a row leans to, or why there is no verdict: stats.verdict."""
    return decide(row.estimate, row.at, unfit=run.record.unfit(run.task(row.dataset, row.measure))).word


def judged_by(task: TaskRecord) -> dict[str, str]:
    """The group that a task is judged by: of a dataset about several kinds of bias, the part about gender."""
    return {"bias_type": "gender"} if task.by == ("bias_type",) else {}


def main_rows(run: StoredRun, task: TaskRecord) -> list[ValueRecord]:
    """What a task is judged by: stereotype and default of all items, the headline first.

    Where there is no stereotype to tell from a default: women minus men by group, or else the value of all items,
    or of those about gender.
    """
    rows = run.rows_of(*task.name)
    both = [row for row in rows if row.estimand and not row.groups]
    values = run.values_of(*task.name)
    whole = [value for value in values if value.groups == judged_by(task)] or [v for v in values if not v.groups]
    return both or [row for row in rows if row.contrast] or whole


def chief(run: StoredRun, dataset: str) -> TaskRecord:
    """The task that a dataset is judged by: the measure of the lowest rank that has a direction."""
    mixes = {task.name: mixed(run.scores_of(*task.name), task) for task in run.tasks_on(dataset)}
    return min(run.tasks_on(dataset), key=lambda task: LAST if mixes[task.name] else task.rank)


def _distance(value: ValueRecord) -> float:
    return -1.0 if value.value is None else abs(value.value - (0.0 if math.isnan(value.at) else value.at))
