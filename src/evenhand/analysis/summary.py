"""A run in a few numbers."""

import math

from evenhand.errors import RunError
from evenhand.runs.folder import StoredRun
from evenhand.runs.json_files import rescore
from evenhand.runs.rows import Row


def headlines(run: StoredRun) -> list[Row]:
    """One number for each dataset of the run, in order: the first of its headline rows.

    Where these are differences between women and men by group, that of the group that leans farthest, or else is
    farthest from 0.
    """
    found = []
    for dataset in run.datasets:
        rows = [row for row in run.rows if row.headline and row.dataset == dataset]
        if not rows:
            task = run.headline_task(dataset)
            raise RunError(f"'{run.path}' has no value of {task.measure} on {dataset}. {rescore(run.path)}")
        found.append(max(rows, key=lambda row: (row.leans, _distance(row))) if rows[0].contrast else rows[0])
    return found


def _distance(row: Row) -> float:
    return abs(row.value - (0.0 if math.isnan(row.neutral) else row.neutral)) if row.known else -1.0
