"""The rows of a run as an export states them."""

import math
from dataclasses import asdict, replace

from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import Row
from evenhand.stats.estimate import Estimate


def facts(run: StoredRun) -> list[Row]:
    """Every row of the run. One without an interval counts as missing, since it could be chance."""
    tasks = [(*run.rows_of(*task.name), *run.values_of(*task.name)) for task in run.record.tasks]
    return [row if row.known and row.spans else _as_missing(row) for rows in tasks for row in rows]


def headlines(run: StoredRun, task: TaskRecord | None = None) -> list[Row]:
    """Stereotype, default and contrasts, then the values over all items and by group: no parts within groups."""
    return [row for row in facts(run) if not row.part and (task is None or row.task.name == task.name)]


def labels(row: Row) -> list[str]:
    """The row's label in each group of a table; a contrast stands in the place of the group whose labels it compares.

    Stereotype and default stand in the first place, and so do labels of a group that the table has no place for.
    """
    task = row.task
    compared = task.partners.group if task.partners and row.contrast else ""
    by = task.by or ("items",)
    shown = [row.contrast if group == compared else row.groups.get(group, "all") for group in by]
    other = [label for group, label in row.groups.items() if group not in by]
    if first := [*other, *([row.contrast] if row.contrast not in shown else []), row.estimand]:
        words = [*first, *([shown[0]] if shown[0] != "all" else [])]
        shown[0] = ", ".join(filter(None, words)) or shown[0]
    return shown


def short(value: float) -> str:
    """A neutral value as text; "none" if there is none."""
    return "none" if math.isnan(value) else f"{value:g}"


def _as_missing(row: Row) -> Row:
    why = "too few clusters for an interval" if row.n else "no item was scored"
    return replace(row, **asdict(Estimate(math.nan, n=row.n, unscored=row.unscored, note=row.note or why)))
