"""One measure on one dataset, of one or more runs: all that its section of the page shows."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd

from evenhand.analysis import paired
from evenhand.analysis.change import FEMALE_MALE
from evenhand.analysis.ranking import comparable, side_by_side
from evenhand.analysis.reference import compared
from evenhand.core.contrasts import pairs
from evenhand.report.page import examples, readings
from evenhand.report.page.changes import Move
from evenhand.report.page.numbers import Number, number
from evenhand.report.page.provenance import judged_rows
from evenhand.report.page.readings import DIFFERENCE, Reading, Verdict, verdict
from evenhand.report.page.scale import IntervalScale, domain, strip
from evenhand.report.page.trust import LEVELS, Trust, trust
from evenhand.report.page.value_tables import Key, Table, TableRow, by_sample, table
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import judged_group
from evenhand.runs.values import mixed

NOTHING = Number(math.nan)
PART = (
    "A preference for one gender is part of these numbers, since the file does not say whom each stereotype is about. "
    "A column `about`, with women or men, tells the two apart."
)


@dataclass(frozen=True)
class Line:
    """A line of the scorecard: one number for each run, on its scale, with its verdict."""

    label: str
    reading: Reading
    numbers: tuple[Number, ...]
    verdicts: tuple[Verdict, ...]
    strip: IntervalScale
    trust: Trust
    main: bool = True
    """Whether it is one of the numbers that the first line is about."""
    move: Move | None = None
    marks: tuple[str, ...] = ()
    """For each of many runs: best, worst, or nothing where that could be chance."""
    known: tuple[str, ...] = ()
    """What well-known models score, in words."""


class Measured:
    """The results of one task in runs that have measured the same."""

    def __init__(
        self, runs: Sequence[StoredRun], names: Sequence[str], task: TaskRecord, moves: Mapping[tuple[str, ...], Move]
    ) -> None:
        self.runs, self.names, self.task, self._moves = runs, names, task, moves
        self.dataset, self.measure = task.name
        self.key = task.name
        self.by = list(task.by)
        self.paired = bool(self.by) and task.by_gender and all(run.contrasts_of(*task.name) for run in runs)
        self.agreeing = task.partners is not None and task.partners.agreeing
        kind = "mixed" if mixed(self.scores[0], task) else "grammar" if self.agreeing else ""
        self.values = readings.reading(task.measure, dataset=task.dataset, unknown=readings.own(task), kind=kind)
        self.reading: Reading = self._reading("", contrast=True) if self.paired else self.values
        self.language = task.language

    def _reading(self, estimand: str, *, contrast: bool = False) -> Reading:
        """How to read one kind of row: stereotype, default, women minus men, or the measure's own value."""
        if contrast:
            name = f"{self.measure}{FEMALE_MALE}"
            kind, usual = "grammar" if self.agreeing else "", readings.reading(DIFFERENCE, dataset=self.dataset)
            return readings.reading(name, dataset=self.dataset, unknown=usual, kind=kind)
        if not estimand:
            return self.values
        return readings.reading(self.measure, estimand=estimand, dataset=self.dataset, unknown=readings.own(self.task))

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
        return [{tuple(row.groups.items()): number(row) for row in rows} for rows in found]

    @cached_property
    def _rows(self) -> dict[Key, tuple[Number, ...]]:
        """Stereotype, default and women minus men: by what a row is of, a number for each run."""
        found: dict[Key, list[Number]] = {}
        for place, run in enumerate(self.runs):
            for row in run.rows_of(*self.key):
                key = Key(row.estimand, row.contrast, tuple(row.groups.items()))
                found.setdefault(key, [NOTHING] * len(self.runs))[place] = number(row)
        return {key: tuple(numbers) for key, numbers in found.items()}

    @property
    def neutral(self) -> float:
        """The value that means "no bias"; NaN where there is none."""
        return self._all[0].neutral

    @property
    def _all(self) -> tuple[Number, ...]:
        return tuple(found.get((), NOTHING) for found in self._results)

    @cached_property
    def lines(self) -> list[Line]:
        """The lines of the scorecard: stereotype, default, and women minus men by group; or else the value of all."""
        shown = [key for key in self._rows if key.main or key.contrast]
        if not shown:
            mine = tuple(judged_group(self.task).items())
            whole = mine if all(mine in found for found in self._results) else ()
            return [self._line(Key("", "", whole), tuple(found.get(whole, NOTHING) for found in self._results))]
        return [self._line(key, self._rows[key]) for key in shown]

    def lines_of(self, labels: Collection[str]) -> list[Line]:
        """The lines of the groups with these labels, but for parts within them; the main lines if there are none."""
        if not labels:
            return [line for line in self.lines if line.main]
        own = {Key("", "", of): tuple(n.get(of, NOTHING) for n in self._results) for of in self._results[0]}
        found = []
        for key, numbers in (self._rows | own).items():
            if self.task.within not in dict(key.groups) and {label for _, label in key.groups} & set(labels):
                line = self._line(key, numbers)
                found.append(replace(line, label=f"women minus men, {line.label}") if key.contrast else line)
        return found

    def _line(self, key: Key, numbers: tuple[Number, ...]) -> Line:
        reading = self._reading(key.estimand, contrast=bool(key.contrast))
        alike = [n for other, of in self._rows.items() for n in of if bool(other.contrast) == bool(key.contrast)]
        between = domain([*numbers, *alike], reading.scale, numbers[0].neutral)
        name = self.measure + (FEMALE_MALE if key.contrast else "")
        bounds = [judged_rows(run, self.dataset).get((name, key.label), "") for run in self.runs]
        told = tuple(verdict(number, reading, bound) for number, bound in zip(numbers, bounds, strict=True))
        shown = "; ".join(
            f"{name + ': ' if len(self.runs) > 1 else ''}{n.text}, interval {n.brackets}"
            for name, n in zip(self.names, numbers, strict=True)
        )
        ends = f"from {between[0]:g} ({reading.ends[0]}) to {between[1]:g} ({reading.ends[1]})"
        drawn = strip(numbers, reading.ends, between, f"{shown}, on a scale {ends}", told)
        both = zip(self.runs, numbers, strict=True)
        each = [trust(run, self.task, self.values, n, key.estimand) for run, n in both]
        trusted = max(each, key=lambda found: LEVELS.index(found.level))
        label = ", ".join(label for _, label in key.groups)
        mine = not key.estimand and (not key.contrast or self.paired)
        known = compared(self.runs[0].record, self.task, label, contrast=self.paired) if mine else []
        marks = self._marks.get(key.label, ())
        main = key.main or not any(other.main for other in self._rows)
        return Line(key.words, reading, numbers, told, drawn, trusted, main, self._move(key), marks, tuple(known))

    @cached_property
    def _marks(self) -> dict[str, tuple[str, ...]]:
        """By label, which of many runs is best and which worst, by the measures that models can be ranked by."""
        if len(self.runs) < 3 or self.key not in comparable(self.runs[0]):
            return {}
        rows = side_by_side(self.runs, self.dataset, self.measure)
        shown = rows if self._rows or judged_group(self.task) else rows[rows["total"]]
        return {str(label): tuple(part["mark"]) for label, part in shown.groupby(rows.columns[0], sort=False)}

    def _move(self, key: Key) -> Move | None:
        return self._moves.get((self.dataset, self.measure + (FEMALE_MALE if key.contrast else ""), key.label))

    @cached_property
    def tables(self) -> list[Table]:
        """Stereotype and default, of all items and by group, where they are told apart; the measure's own values."""
        rows = [TableRow((key.words or "all",), numbers, self._move(key)) for key, numbers in self._rows.items()]
        both = any(key.estimand for key in self._rows)
        caption = "Stereotype and default" if both else "Women minus men, partner by partner"
        first = [Table(caption, ("row",), tuple(rows), self.reading)] if rows else []
        return [*first, *self._own_values, *(by_sample(self.task, self.scores, self.reading) if both else ())]

    @cached_property
    def _own_values(self) -> list[Table]:
        """The measure's own values by group, all items first; then what lies within groups."""
        within = self.task.within
        levels: dict[tuple[str, ...], list[TableRow]] = {}
        for of in dict.fromkeys(of for found in self._results for of in found):
            numbers = tuple(found.get(of, NOTHING) for found in self._results)
            names, labels = tuple(name for name, _ in of), tuple(label for _, label in of)
            move = None if self.paired or (within and within in names) else self._move(Key("", "", of))
            levels.setdefault(names, []).append(TableRow(labels, numbers, move))
        whole = levels.pop((), [])
        groups = next((names for names in levels if within not in names or not within), tuple(self.by) or ("items",))
        first = [TableRow(("all",) * len(groups), row.numbers, row.move) for row in whole] + levels.pop(groups, [])
        caption = ("Values by group" if self._rows else "By group") if self.by else "All items"
        return [
            table(caption, groups, first, self.values),
            *(
                table(f"By {readings.group_name(names[-1])}", names, rows, self.values)
                for names, rows in levels.items()
            ),
        ]

    @property
    def values_by_group(self) -> Table:
        """The table that starts with the value of all items."""
        return self._own_values[0]

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
        unknown = self.task.dataset_builder == "pairs" and self.task.favours == "stereotype" and not self.task.kinds
        return paired.AGREEING if self.agreeing else PART if unknown else ""

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
        if self._rows:
            flat = {key.estimand for key, of in self._rows.items() if key.main and not of[-1].verdict.side}
            rows = [(key, of[-1]) for key, of in self._rows.items() if key.groups and key.estimand in flat]
            told = [(key.words, verdict(n, self._reading(key.estimand))) for key, n in rows if n.verdict.side]
            return [f"{label}: {found.short}" for label, found in told]
        knowledge = self.values.kind == "knowledge"
        if not (knowledge or (self.values.kind == "lean" and self._all[-1].verdict.side == 0)):
            return []
        sides = [(row.labels, row.numbers[-1].verdict.side) for row in self.values_by_group.rows[1:]]
        found = [(labels, side) for labels, side in sides if side < 0 or (side and not knowledge)]
        return [f"{', '.join(filter(None, labels))}: {self.values.leans[side > 0]}" for labels, side in found]
