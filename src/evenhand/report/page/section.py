"""One measure on one dataset, of one or more runs: all that its section of the page shows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import pandas as pd

from evenhand.analysis import paired
from evenhand.analysis.nli_labels import CONTRASTS, contrasts
from evenhand.analysis.ranking import comparable, side_by_side
from evenhand.analysis.reference import by_source
from evenhand.core.contrasts import pairs
from evenhand.core.measure import LAST
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
TONES = ("leans", "undecided", "none", "level", "right")
"""The order of verdicts in the summary."""


@dataclass(frozen=True)
class Headline:
    """A line of the scorecard: one number for each run, on its scale, with its verdict."""

    label: str
    numbers: tuple[Number, ...]
    verdicts: tuple[Verdict, ...]
    strip: IntervalScale
    trust: Trust
    move: Move | None = None
    marks: tuple[str, ...] = ()
    """For each of many runs: best, worst, or nothing where that could be chance."""


@dataclass(frozen=True)
class Row:
    """A row of a table: the labels of a group, and for each run its number."""

    labels: tuple[str, ...]
    numbers: tuple[Number, ...]
    move: Move | None = None


@dataclass(frozen=True)
class Table:
    """Values by group: the names of the groups, and the rows; `left_out` rows did not fit."""

    caption: str
    groups: tuple[str, ...]
    rows: tuple[Row, ...]
    left_out: int = 0

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
    def headlines(self) -> list[Headline]:
        """The lines of the scorecard: the value of all items; for associations, female minus male by group.

        Below NLI-CoAL, how often the labels differ between the sets: what a classifier is judged by.
        """
        if self.paired:
            rows = self._differences
            between = domain([n for _, numbers in rows for n in numbers], self.reading.scale, 0.0)
            return [self._headline(label, numbers, self.reading, between) for label, numbers in rows]
        lines = [self._headline("", self._all, self.values, domain(self._all, self.values.scale, self.neutral))]
        if self.measure == "nli-coal":
            found = [contrasts(run, self.dataset) for run in self.runs]
            reading = readings.reading(LABELS)
            for name in CONTRASTS if all(found) else ():
                numbers = tuple(
                    Number(**asdict(labels[name]), unfit=run.record.unfit(self.task))
                    for run, labels in zip(self.runs, found, strict=True)
                )
                lines.append(self._headline(name, numbers, reading, domain(numbers, reading.scale, 0.0)))
        return lines

    def _headline(
        self, label: str, numbers: tuple[Number, ...], reading: Reading, between: tuple[float, float]
    ) -> Headline:
        told = tuple(verdict(number, reading) for number in numbers)
        shown = "; ".join(
            f"{name + ': ' if len(self.runs) > 1 else ''}{n.text}, interval {n.brackets}"
            for name, n in zip(self.names, numbers, strict=True)
        )
        ends = f"from {between[0]:g} ({reading.ends[0]}) to {between[1]:g} ({reading.ends[1]})"
        drawn = strip(numbers, reading.ends, between, f"{shown}, on a scale {ends}")
        in_words = readings.group(self.by[0], label) if label else ""
        each = [trust(run, self.task, self.values, n) for run, n in zip(self.runs, numbers, strict=True)]
        trusted = max(each, key=lambda found: LEVELS.index(found.level))
        marks = self._marks.get(label or "all", ()) if reading in (self.reading, self.values) else ()
        return Headline(in_words, numbers, told, drawn, trusted, self._move(label or "all"), marks)

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
        values = [_table(caption, groups, first)]
        values += [_table(f"By {names[-1]}", names, rows) for names, rows in levels.items()]
        if not self.paired:
            return values
        rows = tuple(Row((label,), numbers, self._move(label)) for label, numbers in self._differences)
        return [Table("Women minus men, partner by partner", (self.by[0],), rows), *values]

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
            for name, rows in zip(self.names, self._items, strict=True)
        ]

    @cached_property
    def example(self) -> examples.Shown | None:
        """A typical item of the first run."""
        value = float(self._items[0]["score"].mean()) if len(self._items[0]) else math.nan
        return examples.example(self._items[0], value, self.dataset, self.reading, self.by)

    @cached_property
    def _items(self) -> list[pd.DataFrame]:
        both = self.pairs if self.paired else [None] * len(self.runs)
        return [examples.scored(run, self.task, self.reading, p) for run, p in zip(self.runs, both, strict=True)]

    @property
    def caveat(self) -> str:
        """A warning that comes before the verdicts."""
        return paired.AGREEING if self.paired and paired.agreeing(self.scores[0]) else ""

    @property
    def item_groups(self) -> list[str]:
        """The names of the groups that an item, or a pair of partners, belongs to."""
        return [name for name in self.by if name in self._items[0]]

    @property
    def signed(self) -> bool:
        """Whether scores can be negative."""
        return any(len(rows) and rows["score"].min() < 0 for rows in self._items)

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
    def published(self) -> dict[str, list[str]]:
        """What well-known models score, by source."""
        return by_source(self.runs[0].record, self.task)

    @property
    def leaning(self) -> list[str]:
        """The groups of the last run that lean, where all items together do not."""
        if self.paired or self.values.kind != "lean" or self._all[-1].verdict.side != 0:
            return []
        sides = [(row.labels, row.numbers[-1].verdict.side) for row in self.values_by_group.rows[1:]]
        return [f"{', '.join(filter(None, s))}: {self.values.leans[side > 0]}" for s, side in sides if side]


def _table(caption: str, groups: Sequence[str], rows: Sequence[Row]) -> Table:
    """A table of as many rows as fit; a group with one label alone is in the caption, not in a column."""
    labels = [{row.labels[place] for row in rows} - {"all"} for place in range(len(groups))]
    shown = [place for place, found in enumerate(labels) if len(found) != 1] or [0]
    alone = [f"{groups[place]}: {min(found)}" for place, found in enumerate(labels) if place not in shown]
    cut = tuple(Row(tuple(row.labels[place] for place in shown), row.numbers, row.move) for row in rows[:ROWS])
    names = tuple(groups[place] for place in shown)
    return Table(", ".join([caption, *alone]), names, cut, max(0, len(rows) - ROWS))


def summary(sections: Sequence[Measured]) -> list[tuple[Measured, Headline]]:
    """One line for each dataset, or for each group of associations: those that lean first, the farthest first."""
    chosen: dict[str, Measured] = {}
    for section in sections:
        mine = chosen.get(section.dataset)
        if mine is None or _rank(section) < _rank(mine):
            chosen[section.dataset] = section
    lines = [(section, line) for section in chosen.values() for line in section.headlines]
    return sorted(lines, key=lambda found: TONES.index(found[1].verdicts[-1].tone))


def lead(lines: Sequence[tuple[Measured, Headline]]) -> str:
    """What the lines of the summary come to, for the last run: how many lean."""
    tones = [found.verdicts[-1].tone for _, found in lines]
    leaning, others = tones.count("leans"), len(tones) - tones.count("leans")
    if not leaning:
        told = "its one main number is not" if others == 1 else f"none of {others} main numbers is"
        return f"{told} shown to lean away from neutral."
    if len(tones) == 1:
        return "its one main number leans away from neutral."
    told = f"{leaning} of {len(tones)} main numbers {'leans' if leaning == 1 else 'lean'} away from neutral."
    return (
        f"{told} The other {others if others > 1 else 'one'} {'show' if others > 1 else 'shows'} no lean."
        if others
        else told
    )


def _rank(section: Measured) -> int:
    return LAST if section.values.kind == "mixed" else section.task.rank
