"""One measure on one dataset, of one or more runs: all that its section of the page shows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import pandas as pd

from evenhand.analysis import paired
from evenhand.analysis.nli_labels import CONTRASTS, contrasts
from evenhand.analysis.ranking import comparable, side_by_side
from evenhand.analysis.reference import compared
from evenhand.core.contrasts import pairs
from evenhand.report.page import examples, readings
from evenhand.report.page.changes import Move
from evenhand.report.page.numbers import Number, number
from evenhand.report.page.readings import DIFFERENCE, LABELS, Reading, Verdict, verdict
from evenhand.report.page.scale import IntervalScale, domain, strip
from evenhand.report.page.trust import LEVELS, Trust, trust
from evenhand.runs.folder import Run
from evenhand.runs.record import TaskRecord
from evenhand.runs.values import mixed

ROWS = 400
"""Rows of a table; beyond, results.json has them."""


@dataclass(frozen=True)
class Line:
    """A line of the scorecard: one number for each run, on its scale, with its verdict."""

    label: str
    reading: Reading
    numbers: tuple[Number, ...]
    verdicts: tuple[Verdict, ...]
    strip: IntervalScale
    trust: Trust
    move: Move | None = None
    marks: tuple[str, ...] = ()
    """For each of many runs: best, worst, or nothing where that could be chance."""
    known: tuple[str, ...] = ()
    """What well-known models score, in words."""


@dataclass(frozen=True)
class Row:
    """A row of a table: the labels of a group, in words, and for each run its number."""

    labels: tuple[str, ...]
    numbers: tuple[Number, ...]
    move: Move | None = None


@dataclass(frozen=True)
class Table:
    """Values by group: what the groups are called, their names, and the rows; `left_out` rows did not fit."""

    caption: str
    names: tuple[str, ...]
    rows: tuple[Row, ...]
    reading: Reading
    left_out: int = 0

    @property
    def groups(self) -> list[str]:
        """The heads of the columns of labels."""
        return [readings.group_name(name) for name in self.names]

    @property
    def percents(self) -> bool:
        """Whether its values can be told as percentages."""
        return bool(self.reading.in_percent(0.0))

    @property
    def moved(self) -> bool:
        """Whether any row has a change."""
        return any(row.move for row in self.rows)


class Measured:
    """The results of one task in runs that have measured the same."""

    def __init__(
        self, runs: Sequence[Run], names: Sequence[str], task: TaskRecord, moves: Mapping[tuple[str, ...], Move]
    ) -> None:
        self.runs, self.names, self.task, self._moves = runs, names, task, moves
        self.dataset, self.measure = task.name
        self.key = task.name
        self.by = list(task.by)
        self.paired = bool(self.by) and task.genders and all(self._has_pairs(run) for run in runs)
        of_both = mixed(self.scores[0], task)
        self.values = readings.reading(task.measure, unknown=readings.own(task), mixed=of_both)
        self.reading: Reading = readings.reading(DIFFERENCE) if self.paired else self.values
        self.language = task.language

    def _has_pairs(self, run: Run) -> bool:
        return any(row.n for row in run.contrasts_of(*self.key))

    @cached_property
    def scores(self) -> list[pd.DataFrame]:
        """The scores of each run, without the groups of other datasets."""
        return [run.scores_of(self.dataset, self.measure) for run in self.runs]

    @cached_property
    def pairs(self) -> list[pd.DataFrame]:
        """Partners, female and male, of each run."""
        partners = self.task.partners
        return [pairs(scores, partners) for scores in self.scores] if partners else []

    @cached_property
    def _results(self) -> list[dict[tuple[tuple[str, str], ...], Number]]:
        found = [run.values_of(self.dataset, self.measure) for run in self.runs]
        return [
            {tuple(row.groups.items()): number(row, self.task, run.record) for row in rows}
            for run, rows in zip(self.runs, found, strict=True)
        ]

    @property
    def neutral(self) -> float:
        """The value that means "no bias"; NaN where there is none."""
        return self._all[0].neutral

    @property
    def _all(self) -> tuple[Number, ...]:
        """The value of all items, of each run."""
        return tuple(found.get((), Number(math.nan)) for found in self._results)

    @cached_property
    def lines(self) -> list[Line]:
        """The lines of the scorecard: the value of all items; for associations, female minus male by group.

        Below NLI-CoAL, how often the labels differ between the sets: what a classifier is judged by.
        """
        if self.paired:
            rows = self._differences
            between = domain([n for _, numbers in rows for n in numbers], self.reading.scale, 0.0)
            return [self._line(label, numbers, self.reading, between) for label, numbers in rows]
        lines = [self._line("", self._all, self.values, domain(self._all, self.values.scale, self.neutral))]
        if self.measure == "nli-coal":
            found = [contrasts(run, self.dataset) for run in self.runs]
            reading = readings.reading(LABELS)
            for name in CONTRASTS if all(found) else ():
                numbers = tuple(
                    Number(**asdict(labels[name]), unfit=run.record.unfit(self.task))
                    for run, labels in zip(self.runs, found, strict=True)
                )
                lines.append(self._line(name, numbers, reading, domain(numbers, reading.scale, 0.0)))
        return lines

    def _line(self, label: str, numbers: tuple[Number, ...], reading: Reading, between: tuple[float, float]) -> Line:
        told = tuple(verdict(number, reading) for number in numbers)
        shown = "; ".join(
            f"{name + ': ' if len(self.runs) > 1 else ''}{n.text}, interval {n.brackets}"
            for name, n in zip(self.names, numbers, strict=True)
        )
        ends = f"from {between[0]:g} ({reading.ends[0]}) to {between[1]:g} ({reading.ends[1]})"
        drawn = strip(numbers, reading.ends, between, f"{shown}, on a scale {ends}", [v.tone for v in told])
        in_words = readings.group(self.by[0], label) if label else ""
        each = [trust(run, self.task, self.values, n) for run, n in zip(self.runs, numbers, strict=True)]
        trusted = max(each, key=lambda found: LEVELS.index(found.level))
        marks = self._marks.get(label or "all", ()) if reading in (self.reading, self.values) else ()
        known = compared(self.runs[0].record, self.task, label, contrast=self.paired) if label in self._groups else []
        move = self._move(label or "all")
        return Line(in_words, reading, numbers, told, drawn, trusted, move, marks, tuple(known))

    @property
    def _groups(self) -> list[str]:
        """The labels of lines that are of the measure itself."""
        return [label for label, _ in self._differences] if self.paired else [""]

    @cached_property
    def _marks(self) -> dict[str, tuple[str, ...]]:
        """By label, which of many runs is best and which worst, by the measures that models can be ranked by."""
        if len(self.runs) < 3 or self.key not in comparable(self.runs[0]):
            return {}
        rows = side_by_side(self.runs, self.dataset, self.measure)
        shown = rows if self.paired else rows[rows["total"]]
        return {str(label): tuple(part["mark"]) for label, part in shown.groupby(rows.columns[0], sort=False)}

    @cached_property
    def _differences(self) -> list[tuple[str, tuple[Number, ...]]]:
        """Female minus male by the first group: label, and a number for each run."""
        found: dict[str, list[Number]] = {}
        for place, run in enumerate(self.runs):
            for row in run.contrasts_of(*self.key):
                label = ", ".join(row.groups.values()) or "all"
                mine = found.setdefault(label, [Number(math.nan)] * len(self.runs))
                mine[place] = Number(**asdict(row.estimate), unfit=run.record.unfit(self.task))
        return [(label, tuple(numbers)) for label, numbers in found.items()]

    def _move(self, group: str) -> Move | None:
        return self._moves.get((self.dataset, DIFFERENCE if self.paired else self.measure, group))

    @cached_property
    def tables(self) -> list[Table]:
        """The values by group, all items first; then what lies within groups."""
        within = self.task.within
        levels: dict[tuple[str, ...], list[Row]] = {}
        for key in dict.fromkeys(key for found in self._results for key in found):
            numbers = tuple(found.get(key, Number(math.nan)) for found in self._results)
            names, labels = tuple(name for name, _ in key), tuple(label for _, label in key)
            move = None if self.paired or (within and within in names) else self._move(", ".join(labels) or "all")
            levels.setdefault(names, []).append(Row(labels, numbers, move))
        whole = levels.pop((), [])
        groups = next((names for names in levels if within not in names or not within), tuple(self.by) or ("items",))
        first = [Row(("all",) * len(groups), row.numbers, row.move) for row in whole] + levels.pop(groups, [])
        caption = ("Values by group" if self.paired else "By group") if self.by else "All items"
        values = [_table(caption, groups, first, self.values)]
        values += [
            _table(f"By {readings.group_name(names[-1])}", names, rows, self.values) for names, rows in levels.items()
        ]
        if not self.paired:
            return values
        by = self.by[0]
        rows = tuple(
            Row((readings.group(by, label),), numbers, self._move(label)) for label, numbers in self._differences
        )
        return [Table("Women minus men, partner by partner", (by,), rows, self.reading), *values]

    @property
    def values_by_group(self) -> Table:
        """The table that starts with the value of all items."""
        return self.tables[1 if self.paired else 0]

    @cached_property
    def strongest(self) -> list[tuple[str, list[examples.Shown], list[examples.Shown]]]:
        """For each run: its name, and its strongest items below and above neutral."""
        neutral = 0.0 if self.paired else self.neutral
        return [
            (name, *examples.strongest(rows, neutral, self.reading, self.by))
            for name, rows in zip(self.names, self.items, strict=True)
        ]

    @cached_property
    def example(self) -> examples.Shown | None:
        """A typical item of the first run."""
        value = float(self.items[0]["score"].mean()) if len(self.items[0]) else math.nan
        return examples.example(self.items[0], value, self.dataset, self.reading, self.by)

    @cached_property
    def items(self) -> list[pd.DataFrame]:
        """The items of each run, or its pairs of partners, with their texts."""
        both = self.pairs if self.paired else [None] * len(self.runs)
        return [examples.scored(run, self.task, self.reading, p) for run, p in zip(self.runs, both, strict=True)]

    @property
    def caveat(self) -> str:
        """A warning that comes before the verdicts."""
        return paired.AGREEING if self.paired and paired.agreeing(self.scores[0]) else ""

    @property
    def item_groups(self) -> list[str]:
        """The names of the groups that an item, or a pair of partners, belongs to."""
        return [name for name in self.by if name in self.items[0]]

    @property
    def signed(self) -> bool:
        """Whether scores can be negative."""
        return any(len(rows) and rows["score"].min() < 0 for rows in self.items)

    @property
    def has_texts(self) -> bool:
        """Whether the first run has the texts of its items."""
        return bool((self.runs[0].items["dataset"] == self.dataset).any())

    @property
    def unscored(self) -> list[tuple[str, str, int]]:
        """Why items have no score: run, reason, how many."""
        key = f"{self.dataset}/{self.measure}"
        return [
            (name, reason, n)
            for name, run in zip(self.names, self.runs, strict=True)
            for reason, n in run.record.unscored.get(key, {}).items()
        ]

    @property
    def leaning(self) -> list[str]:
        """The groups of the last run that lean, where all items together do not; for knowledge, those that lack it."""
        knowledge = self.values.kind == "knowledge"
        if self.paired or not (knowledge or (self.values.kind == "lean" and self._all[-1].verdict.side == 0)):
            return []
        sides = [(row.labels, row.numbers[-1].verdict.side) for row in self.values_by_group.rows[1:]]
        told = [(labels, side) for labels, side in sides if side < 0 or (side and not knowledge)]
        return [f"{', '.join(filter(None, labels))}: {self.values.leans[side > 0]}" for labels, side in told]


def _table(caption: str, groups: Sequence[str], rows: Sequence[Row], reading: Reading) -> Table:
    """A table of as many rows as fit; a group with one label alone is in the caption, not in a column."""
    labels = [{row.labels[place] for row in rows} - {"all"} for place in range(len(groups))]
    shown = [place for place, found in enumerate(labels) if len(found) != 1] or [0]
    alone = [_alone(groups[place], min(found), reading) for place, found in enumerate(labels) if place not in shown]
    names = tuple(groups[place] for place in shown)
    cut = tuple(
        Row(tuple(readings.group(groups[place], row.labels[place]) for place in shown), row.numbers, row.move)
        for row in rows[:ROWS]
    )
    return Table(", ".join(filter(None, [caption, *alone])), names, cut, reading, max(0, len(rows) - ROWS))


def _alone(group: str, label: str, reading: Reading) -> str:
    """The one label that all rows share; which values are better is not said of a level."""
    if group == "better":
        return f"{label} is better" if reading.judged else ""
    return f"{readings.group_name(group)}: {readings.group(group, label)}"
