"""Tables of values on the page, and what their rows are called."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import Number
from evenhand.runs.values import rows_from
from evenhand.show.page import readings
from evenhand.show.page.changes import Move
from evenhand.show.page.readings import Reading

ROWS = 400
"""Rows of a table; beyond, results.json has them."""


@dataclass(frozen=True)
class TableRow:
    """A row of a table: the labels of a group, in words, and for each run its number.

    A stereotype or a default has its own reading: the two kinds differ by twice the stereotype.
    """

    labels: tuple[str, ...]
    numbers: tuple[Number, ...]
    move: Move | None = None
    reading: Reading | None = None


@dataclass(frozen=True)
class Table:
    """Values by group: what the groups are called, their names, and the rows; `left_out` rows did not fit."""

    caption: str
    names: tuple[str, ...]
    rows: tuple[TableRow, ...]
    reading: Reading
    left_out: int = 0

    @property
    def groups(self) -> list[str]:
        return [readings.group_name(name) for name in self.names]

    @property
    def percents(self) -> bool:
        return bool(self.reading.in_percent(0.0))

    @property
    def moved(self) -> bool:
        return any(row.move for row in self.rows)


def table(caption: str, groups: Sequence[str], rows: Sequence[TableRow], reading: Reading) -> Table:
    """A table of as many rows as fit; a group with one label alone is in the caption, not in a column."""
    labels = [{row.labels[place] for row in rows} - {"all"} for place in range(len(groups))]
    shown = [place for place, found in enumerate(labels) if len(found) != 1] or [0]
    alone = [
        _shared_label(groups[place], min(found), reading) for place, found in enumerate(labels) if place not in shown
    ]
    names = tuple(groups[place] for place in shown)
    cut = tuple(
        TableRow(tuple(readings.group(groups[place], row.labels[place]) for place in shown), row.numbers, row.move)
        for row in rows[:ROWS]
    )
    return Table(", ".join(filter(None, [caption, *alone])), names, cut, reading, max(0, len(rows) - ROWS))


def _shared_label(group: str, label: str, reading: Reading) -> str:
    """The one label that all rows share, for the caption; `better` is omitted where values get no verdict."""
    if group == "better":
        return f"{label} is better" if reading.judged else ""
    return f"{readings.group_name(group)}: {readings.group(group, label)}"


def by_sample(task: TaskRecord, runs: Sequence[pd.DataFrame], reading: Reading) -> Iterator[Table]:
    """Stereotype and default by each group that is a sample, by template and by person word, from scores of runs."""
    for name in task.kinds.samples if task.kinds else ():
        rows: dict[tuple[str, str], list[Number]] = {}
        for place, scores in enumerate(runs):
            for label, part in scores.groupby(name):
                for value in rows_from(part, task):
                    if value.estimand and not value.groups:
                        key = (_sample_name(name, str(label), part), value.estimand)
                        mine = rows.setdefault(key, [Number(math.nan)] * len(runs))
                        mine[place] = Number(value.value, value.low, value.high, value.n, value.unscored)
        found = tuple(
            TableRow(labels, tuple(numbers), reading=readings.reading(task, estimand=labels[1]))
            for labels, numbers in rows.items()
        )
        caption = f"Stereotype and default by {readings.group_name(name)}; intervals are over the rest"
        yield Table(caption, (name, "row"), found, reading)


def _sample_name(name: str, label: str, part: pd.DataFrame) -> str:
    """A template by its number, a slot by its person words."""
    words = dict.fromkeys(part["person"]) if name == "slot" and "person" in part else ()
    return " / ".join(words) or label
