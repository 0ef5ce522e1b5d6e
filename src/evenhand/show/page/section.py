"""The results of one measure on one dataset in one or more runs: the contents of its section of the page."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd

from evenhand.analysis.comparison import comparable_tasks, side_by_side
from evenhand.analysis.reference import meta_evaluation, reference_texts
from evenhand.core.dataset import Kinds, without_direction
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import Number, Row, judged_group, missing_row
from evenhand.runs.values import rows_from
from evenhand.show.page import examples, readings
from evenhand.show.page.changes import Move
from evenhand.show.page.provenance import judged_rows
from evenhand.show.page.readings import IntervalScale, MeasureWords, WordedVerdict, domain, strip, verdict
from evenhand.stats.verdict import MOST_UNSCORED

LEVELS = ("fine", "not tested", "careful", "unfit")
"""The doctor's verdicts, from good to bad; and "not tested": the measure was never tried on models of known bias."""
UNSCORED = {"careful": 0.01, "unfit": MOST_UNSCORED}
"""The smallest share of unscored items with which a value gets this level."""
FEW, FEW_BY_T = 8, 5
"""With fewer clusters an interval is unreliable. FEW_BY_T is for stereotype and default: their t test needs fewer."""


@dataclass(frozen=True)
class Reason:
    """One reason to trust a value, or not to."""

    level: str
    says: str


@dataclass(frozen=True)
class Trust:
    """The worst of the reasons, and all of them."""

    reasons: tuple[Reason, ...]

    @property
    def level(self) -> str:
        return max((reason.level for reason in self.reasons), key=LEVELS.index, default="fine")

    @property
    def why(self) -> str:
        """The first of the worst reasons; empty where all is fine."""
        return "" if self.level == "fine" else next(r.says for r in self.reasons if r.level == self.level).rstrip(".")


UNTRIED = Reason("not tested", "nobody has tried this number on models whose bias is known")


def _reasons(run: StoredRun, reading: MeasureWords, number: Row) -> Iterator[Reason]:
    """The reasons for and against one value."""
    task, audit = number.task, number.audit
    items = number.n + number.unscored
    share = number.unscored / items if items else 1.0
    level = "unfit" if share >= UNSCORED["unfit"] else "careful" if share >= UNSCORED["careful"] else "fine"
    missing = f"{number.unscored:,} of {items:,} items ({share:.0%}) could not be scored"
    yield Reason(level, missing if number.unscored else "every item could be scored")
    if task.partial:
        yield Reason("careful", f"a sample of at most {task.limit:,} items, not all of them")
    if not number.spans:
        yield Reason("unfit", "there is no interval")
    elif number.clusters < max(FEW_BY_T if number.estimand or task.genders else FEW, number.needed):
        ways = [task.cluster or "item", *([task.crossed] if task.crossed else []), *(task.kinds or Kinds("")).samples]
        clusters = f"{ways[0]}s" if len(ways) == 1 else f"different values of {' or '.join(ways)}"
        yield Reason("careful", f"the interval rests on only {number.clusters} {clusters}")
    if reading.kind in ("lean", "errors") or number.estimand or number.contrast:
        known = meta_evaluation(run.record, task, number.estimand)
        yield Reason("fine" if known.orders else "careful", str(known)) if known else UNTRIED
    yield from _precision_reasons(number)
    if imported := audit.imported:
        yield Reason("careful", f"imported from {imported.file}: computed elsewhere, the model was not checked")
    for finding in audit.doctor:
        if finding.verdict != "fine" and finding.about(task.dataset):
            yield Reason(finding.verdict, f"doctor, {finding.check}: {finding.says}")
    if task.flaws:
        yield Reason("fine", f"known flaws of the sentences: {task.flaws}")


def _precision_reasons(number: Row) -> Iterator[Reason]:
    """What half precision changed, if the run was measured in it."""
    audit = number.audit
    for deviation in audit.precision.deviations if audit.precision else ():
        if (deviation.dataset, deviation.measure) == number.task.name:
            dtype = audit.loaded["dtype"]
            says = f"computed in {dtype}: on {deviation.items} items the mean is {deviation.shift:+.4f} from float32"
            doubtful = ", ".join(deviation.doubtful)
            yield Reason("careful", f"{says}, which may decide for: {doubtful}") if doubtful else Reason("fine", says)


ROWS = 400
"""The most rows of a table; results.json has all of them."""


@dataclass(frozen=True)
class TableRow:
    """A row of a table: the labels of a group in words, and the number of each run.

    A stereotype or a default has its own reading: the two kinds differ by twice the stereotype.
    """

    labels: tuple[str, ...]
    numbers: tuple[Number, ...]
    move: Move | None = None
    reading: MeasureWords | None = None


@dataclass(frozen=True)
class ValueTable:
    """Values by group: `names` are the groups that have a column, `left_out` is the number of rows that do not fit."""

    caption: str
    names: tuple[str, ...]
    rows: tuple[TableRow, ...]
    reading: MeasureWords
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


def table(caption: str, groups: Sequence[str], rows: Sequence[TableRow], reading: MeasureWords) -> ValueTable:
    """A table of as many rows as fit. A group with a single label is in the caption, not in a column."""
    labels = [{row.labels[place] for row in rows} - {"all"} for place in range(len(groups))]
    shown = [place for place, seen in enumerate(labels) if len(seen) != 1] or [0]
    alone = [
        _shared_label(groups[place], min(seen), reading) for place, seen in enumerate(labels) if place not in shown
    ]
    names = tuple(groups[place] for place in shown)
    cut = tuple(
        TableRow(tuple(readings.group(groups[place], row.labels[place]) for place in shown), row.numbers, row.move)
        for row in rows[:ROWS]
    )
    return ValueTable(", ".join(filter(None, [caption, *alone])), names, cut, reading, max(0, len(rows) - ROWS))


def _shared_label(group: str, label: str, reading: MeasureWords) -> str:
    """The one label that all rows share, for the caption; `better` is omitted where values get no verdict."""
    if group == "better":
        return f"{label} is better" if reading.judged else ""
    return f"{readings.group_name(group)}: {readings.group(group, label)}"


def by_sample(task: TaskRecord, runs: Sequence[pd.DataFrame], reading: MeasureWords) -> Iterator[ValueTable]:
    """Stereotype and default by each group in `kinds.samples`, such as template and person, from the runs' scores."""
    for name in task.kinds.samples if task.kinds else ():
        rows: dict[tuple[str, str], list[Number]] = {}
        for place, scores in enumerate(runs):
            for label, part in scores.groupby(name):
                for value in rows_from(part, task):
                    if value.estimand and not value.groups:
                        key = (_sample_name(name, str(label), part), value.estimand)
                        cells = rows.setdefault(key, [Number(math.nan)] * len(runs))
                        cells[place] = Number(value.value, value.low, value.high, value.n, value.unscored)
        shown = tuple(
            TableRow(labels, tuple(numbers), reading=readings.reading(task, estimand=labels[1]))
            for labels, numbers in rows.items()
        )
        caption = f"Stereotype and default by {readings.group_name(name)}; intervals are over the rest"
        yield ValueTable(caption, (name, "row"), shown, reading)


def _sample_name(name: str, label: str, part: pd.DataFrame) -> str:
    """A template by its number, a slot by its person words."""
    words = dict.fromkeys(part["person"]) if name == "slot" and "person" in part else ()
    return " / ".join(words) or label


AGREEING = (
    "Each profession agrees with its person word in gender here, so grammar alone can explain these differences. "
    "The option forms=crossed tells grammar and bias apart."
)
PART = (
    "A preference for one gender is part of these numbers, since the file does not say whom each stereotype is about. "
    "A column `about`, with women or men, tells the two apart."
)


@dataclass(frozen=True)
class ScorecardLine:
    """A line of the scorecard: one number for each run, on its scale, with its verdict."""

    label: str
    reading: MeasureWords
    numbers: tuple[Row, ...]
    verdicts: tuple[WordedVerdict, ...]
    strip: IntervalScale
    trust: Trust
    main: bool = True
    """Whether this is one of the numbers that the first line of the page is about."""
    move: Move | None = None
    marks: tuple[str, ...] = ()
    """For each of many runs: best, worst, or nothing where that could be chance."""
    known: tuple[str, ...] = ()
    """The published values of well-known models, in words."""


class Measured:
    """The results of one task in one or more runs that were measured in the same way."""

    def __init__(
        self,
        runs: Sequence[StoredRun],
        names: Sequence[str],
        task: TaskRecord,
        moves: Mapping[tuple[str, ...], Move] | None = None,
    ) -> None:
        self.runs, self.names, self.task, self._moves = runs, names, task, moves or {}
        self.dataset, self.measure = task.name
        self.key = task.name
        self.by = list(task.by)
        self.paired = bool(self.by) and task.by_gender and all(run.contrasts_of(*task.name) for run in runs)
        self.agreeing = task.partners is not None and task.partners.agreeing
        kind = "mixed" if without_direction(self.scores[0], task.better) else "grammar" if self.agreeing else ""
        self.values = readings.reading(task, kind=kind)
        self.reading: MeasureWords = self._reading("", contrast=True) if self.paired else self.values
        self.language = task.language

    def _reading(self, estimand: str, *, contrast: bool = False) -> MeasureWords:
        """How to read one kind of row: stereotype, default, women minus men, or the measure's own value."""
        if not (estimand or contrast):
            return self.values
        kind = "grammar" if contrast and self.agreeing else ""
        return readings.reading(self.task, estimand=estimand, contrast=contrast, kind=kind)

    @cached_property
    def scores(self) -> list[pd.DataFrame]:
        return [run.scores_of(self.dataset, self.measure) for run in self.runs]

    @cached_property
    def pairs(self) -> list[pd.DataFrame]:
        partners = self.task.partners
        return [partners.pairs(scores) for scores in self.scores] if partners else []

    @cached_property
    def _rows(self) -> list[tuple[Row, ...]]:
        runs = [{row.key: row for row in run.rows if row.task.name == self.key} for run in self.runs]
        known = {key: row for rows in reversed(runs) for key, row in rows.items()}
        keys = dict.fromkeys([*(key for rows in runs for key in rows), ()])
        both = list(zip(runs, self.runs, strict=True))
        return [
            tuple(rows.get(key) or missing_row(run.record, self.task, known.get(key)) for rows, run in both)
            for key in keys
        ]

    @cached_property
    def _judged_rows(self) -> list[tuple[Row, ...]]:
        """Stereotype, default and women minus men."""
        return [rows for rows in self._rows if rows[0].judged]

    @cached_property
    def _all(self) -> tuple[Row, ...]:
        return next(rows for rows in self._rows if not rows[0].key)

    @property
    def neutral(self) -> float:
        return self._all[0].neutral

    @cached_property
    def lines(self) -> list[ScorecardLine]:
        """The lines of the scorecard: stereotype, default, and women minus men by group; or else that of all items."""
        shown = [rows for rows in self._rows if rows[0].main or rows[0].contrast]
        return [self._line(rows) for rows in shown or [self._all]]

    def lines_of(self, labels: Collection[str]) -> list[ScorecardLine]:
        """The lines of the groups with these labels, without parts within groups; without labels, the main lines."""
        if not labels:
            return [line for line in self.lines if line.main]
        chosen = []
        for rows in sorted(self._rows, key=lambda rows: not rows[0].judged):
            if not rows[0].part and set(rows[0].groups.values()) & set(labels):
                line = self._line(rows)
                chosen.append(replace(line, label=f"women minus men, {line.label}") if rows[0].contrast else line)
        return chosen

    def published_lines(self, labels: Collection[str]) -> list[ScorecardLine]:
        """The lines of the measure's own value, as papers report it: of all items, or of the groups with these labels.

        A dataset about several kinds of bias has the value of its items about gender.
        """
        own = [rows for rows in self._rows if not rows[0].judged and not rows[0].part]
        whole, named = judged_group(self.task), set(labels)
        chosen = [r for r in own if (named & set(r[0].groups.values()) if named else r[0].groups == whole)]
        return [self._line(rows) for rows in chosen]

    def _line(self, numbers: tuple[Row, ...]) -> ScorecardLine:
        row = numbers[0]
        reading = self._reading(row.estimand, contrast=bool(row.contrast))
        alike = [n for rows in self._judged_rows for n in rows if bool(n.contrast) == bool(row.contrast)]
        between = domain([*numbers, *alike], reading.scale, row.neutral)
        bounds = [judged_rows(run, self.dataset).get((row.name, row.label), "") for run in self.runs]
        of_all = [float(s[reading.among].mean()) if reading.among in s else math.nan for s in self.scores]
        verdicts = tuple(
            verdict(n, reading, bound, share) for n, bound, share in zip(numbers, bounds, of_all, strict=True)
        )
        shown = "; ".join(
            f"{name + ': ' if len(self.runs) > 1 else ''}{n.text}, interval {n.brackets}"
            for name, n in zip(self.names, numbers, strict=True)
        )
        ends = f"from {between[0]:g} ({reading.ends[0]}) to {between[1]:g} ({reading.ends[1]})"
        drawn = strip(numbers, reading.ends, between, f"{shown}, on a scale {ends}", verdicts)
        each = [Trust(tuple(_reasons(run, self.values, n))) for run, n in zip(self.runs, numbers, strict=True)]
        trusted = max(each, key=lambda trust: LEVELS.index(trust.level))
        published = not row.estimand and (not row.contrast or self.paired)
        label = ", ".join(row.groups.values())
        known = reference_texts(self.runs[0].record, self.task, label, contrast=self.paired) if published else []
        marks, words = self._marks.get(row.label, ()), readings.words_of(row)
        return ScorecardLine(
            words, reading, numbers, verdicts, drawn, trusted, row.main, self._move(row), marks, tuple(known)
        )

    @cached_property
    def _marks(self) -> dict[str, tuple[str, ...]]:
        """The marks of three or more runs by label: "best", "worst" or empty; none if the measure ranks no models."""
        if len(self.runs) < 3 or self.key not in comparable_tasks(self.runs[0]):
            return {}
        rows = side_by_side(self.runs, self.dataset, self.measure)
        shown = rows if self._judged_rows or judged_group(self.task) else rows[rows["total"]]
        return {str(label): tuple(part["mark"]) for label, part in shown.groupby(rows.columns[0], sort=False)}

    def _move(self, row: Row) -> Move | None:
        return self._moves.get((row.dataset, row.name, row.label))

    @cached_property
    def tables(self) -> list[ValueTable]:
        """Stereotype and default of all items and by group, if the dataset has them; then the measure's own values."""
        rows = []
        for numbers in self._judged_rows:
            row = numbers[0]
            reading = readings.reading(self.task, estimand=row.estimand) if row.estimand else None
            rows.append(TableRow((readings.words_of(row) or "all",), numbers, self._move(row), reading))
        both = any(numbers[0].estimand for numbers in self._judged_rows)
        caption = "Stereotype and default" if both else "Women minus men, partner by partner"
        first = [ValueTable(caption, ("row",), tuple(rows), self.reading)] if rows else []
        return [*first, *self._own_values, *(by_sample(self.task, self.scores, self.reading) if both else ())]

    @cached_property
    def _own_values(self) -> list[ValueTable]:
        """The measure's values by group: all items first, then each group, then the labels within groups."""
        within = self.task.within
        levels: dict[tuple[str, ...], list[TableRow]] = {}
        for numbers in (rows for rows in self._rows if not rows[0].judged):
            row = numbers[0]
            move = None if self.paired or row.part else self._move(row)
            levels.setdefault(tuple(row.groups), []).append(TableRow(tuple(row.groups.values()), numbers, move))
        whole = levels.pop((), [])
        groups = next((names for names in levels if within not in names or not within), tuple(self.by) or ("items",))
        first = [TableRow(("all",) * len(groups), row.numbers, row.move) for row in whole] + levels.pop(groups, [])
        caption = ("Values by group" if self._judged_rows else "By group") if self.by else "All items"
        return [
            table(caption, groups, first, self.values),
            *(
                table(f"By {readings.group_name(names[-1])}", names, rows, self.values)
                for names, rows in levels.items()
            ),
        ]

    @property
    def values_by_group(self) -> ValueTable:
        """The table that starts with the value of all items."""
        return self._own_values[0]

    @cached_property
    def strongest(self) -> list[tuple[str, list[examples.ShownItem], list[examples.ShownItem]]]:
        """For each run: its name, and its strongest items below and above neutral."""
        neutral = 0.0 if self.paired else self.neutral
        return [
            (name, *examples.strongest(rows, neutral, self.reading, self.by))
            for name, rows in zip(self.names, self.items, strict=True)
        ]

    @cached_property
    def example(self) -> examples.ShownItem | None:
        value = float(self.items[0]["score"].mean()) if len(self.items[0]) else math.nan
        return examples.example(self.items[0], value, self.dataset, self.reading, self.by)

    @cached_property
    def items(self) -> list[pd.DataFrame]:
        """The items of each run, or its pairs of partners, with their texts."""
        both = self.pairs if self.paired else [None] * len(self.runs)
        return [examples.with_texts(run, self.task, self.reading, p) for run, p in zip(self.runs, both, strict=True)]

    @property
    def caveat(self) -> str:
        unknown = self.task.dataset_builder == "pairs" and self.task.favours == "stereotype" and not self.task.kinds
        return AGREEING if self.agreeing else PART if unknown else ""

    @property
    def item_groups(self) -> list[str]:
        """The names of the groups that an item, or a pair of partners, belongs to."""
        return [name for name in self.by if name in self.items[0]]

    @property
    def signed(self) -> bool:
        return any(len(rows) and rows["score"].min() < 0 for rows in self.items)

    @property
    def has_texts(self) -> bool:
        return bool((self.runs[0].items["dataset"] == self.dataset).any())

    @property
    def unscored(self) -> list[tuple[str, str, int]]:
        key = f"{self.dataset}/{self.measure}"
        return [
            (name, reason, n)
            for name, run in zip(self.names, self.runs, strict=True)
            for reason, n in run.record.unscored.get(key, {}).items()
        ]

    @property
    def leaning(self) -> list[str]:
        """The groups of the last run that lean if all items together do not; for knowledge, the groups that lack it."""
        if self._judged_rows:
            last = [rows[-1] for rows in self._judged_rows]
            flat = {row.estimand for row in last if row.estimand and not row.groups and not row.leans}
            rows = [row for row in last if row.groups and row.estimand in flat and row.leans]
            return [f"{readings.words_of(row)}: {verdict(row, self._reading(row.estimand)).short}" for row in rows]
        knowledge = self.values.kind == "knowledge"
        if not (knowledge or (self.values.kind == "lean" and self._all[-1].verdict.side == 0)):
            return []
        sides = [(row.labels, row.numbers[-1].verdict.side) for row in self.values_by_group.rows[1:]]
        shown = [(labels, side) for labels, side in sides if side < 0 or (side and not knowledge)]
        return [f"{', '.join(filter(None, labels))}: {self.values.leans[side > 0]}" for labels, side in shown]


def measured_tasks(run: StoredRun) -> list[Measured]:
    """The results of each task of one run."""
    return [Measured([run], [run.record.model], task) for task in run.record.tasks]
