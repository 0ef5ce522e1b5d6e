"""The rows of a run, each a number with its verdict: reports, exports and gates are made of them. And their words."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from evenhand import measures
from evenhand.core.dataset import base_name
from evenhand.runs.record import AuditRecord, RunRecord, TaskRecord
from evenhand.runs.values import ValueRecord
from evenhand.stats.estimate import Estimate
from evenhand.stats.verdict import Lean, decide, size

FEMALE_MALE = ", female - male"
"""What policies and tables add to the name of a measure whose female and male items are compared as pairs."""
NO_ESTIMATE, UNTESTED = Estimate(math.nan), Lean(0, "untested")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Estimate):
    """An estimate, the value that means "no bias", and how it is printed."""

    neutral: float = 0.0
    """NaN where there is none."""
    form: str = "+.3f"
    narrow: Estimate = NO_ESTIMATE
    """The value with the interval in these sentences, where its own covers others."""
    verdict: Lean = UNTESTED

    @property
    def text(self) -> str:
        """The value; a dash where there is none."""
        return self.number(self.form)

    @property
    def brackets(self) -> str:
        """Low and high in brackets; a dash where there is no interval."""
        return self.interval(self.form)


class OfTask:
    """The dataset and the measure of a row, of one run or of two."""

    __slots__ = ()
    task: TaskRecord
    contrast: str

    @property
    def dataset(self) -> str:
        return self.task.dataset

    @property
    def measure(self) -> str:
        return self.task.measure

    @property
    def name(self) -> str:
        """The measure, as policies and tables name it."""
        return self.measure + (FEMALE_MALE if self.contrast else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(OfTask, Number):
    """A number of a run: of all items, or of those with the labels `groups`. NaN means no number.

    With `contrast`, the mean difference between partners ("female - male"); n counts pairs, and neutral is 0. With
    `estimand`, stereotype or default: core.estimands.
    """

    task: TaskRecord
    audit: AuditRecord = field(repr=False)
    model: str
    fingerprint: str
    groups: Mapping[str, str]
    contrast: str
    estimand: str
    prior: float
    """See core.scores.Value."""
    main: bool
    """Whether its task is judged by it."""
    judging: Callable[[str], TaskRecord] = field(repr=False, compare=False)
    """Gives the task that a dataset of the run is judged by: it takes the scores to know that."""

    @property
    def headline(self) -> bool:
        """Whether its dataset is judged by it: a main row of the measure of the lowest rank."""
        return self.main and self.judging(self.dataset).name == self.task.name

    @property
    def judged(self) -> bool:
        """Whether it is a stereotype, a default or a contrast, and not a value as the measure defines it."""
        return bool(self.contrast or self.estimand)

    @property
    def part(self) -> bool:
        """Whether it is the value of a part within a group, such as one profession."""
        return bool(self.task.within) and self.task.within in self.groups

    @property
    def unfit(self) -> bool:
        return self.audit.unfit_for(self.task)

    @property
    def leans(self) -> bool:
        return self.verdict.side != 0

    @property
    def size(self) -> str:
        """How large the lean is: stats.verdict.size; empty where it does not lean."""
        return size(self, self.neutral, self.task.unit) if self.leans else ""

    @property
    def label(self) -> str:
        """What it is called among the rows of its task."""
        return row_label(self.groups, self.estimand)

    @property
    def of(self) -> str:
        """The items it is about, in words."""
        labels = ", ".join(f"{group} {label}" for group, label in self.groups.items())
        return ", ".join(filter(None, (self.estimand, self.contrast, labels))) or "all items"

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """What tells it apart from the other rows of its task."""
        more = {"contrast": self.contrast, "estimand": self.estimand}
        return (*self.groups.items(), *((name, kind) for name, kind in more.items() if kind))


def missing_row(record: RunRecord, task: TaskRecord, like: Row | None = None) -> Row:
    """A row without a value, for a run that lacks it: `like` that of another run, else of all items."""
    known: dict[str, Any] = {"groups": {}, "contrast": "", "estimand": "", "neutral": 0.0, "form": "+.3f", "main": True}
    known |= {name: getattr(like, name) for name in known} if like else {}
    known |= {"model": record.model, "fingerprint": record.fingerprint, "audit": record.audit_of(task)}
    verdict = decide(NO_ESTIMATE)
    return Row(value=math.nan, **known, task=task, prior=math.nan, verdict=verdict, judging=lambda _: task)


def number_form(task: TaskRecord, neutral: float, compared: str) -> str:
    """The format of a value: with its sign where it can be negative, as what is `compared` always can."""
    return "+.3f" if neutral == 0 and (task.signed or compared) else ".3f"


def row_label(groups: Mapping[str, str], estimand: str = "") -> str:
    """What a row is called: its labels and what is estimated; "all" for a value of all items."""
    return ", ".join(filter(None, (*groups.values(), estimand))) or "all"


def make_rows(values: Sequence[ValueRecord], record: RunRecord, judging: Callable[[str], TaskRecord]) -> Iterator[Row]:
    """The rows of a run from its results.json and its record."""
    for task in record.tasks:
        of_task = [value for value in values if value.task == task.name]
        audit, main = record.audit_of(task), _main_values(of_task, task)
        for value in of_task:
            estimate, neutral = value.estimate, math.nan if value.neutral is None else value.neutral
            low, high = (math.nan if end is None else end for end in (value.narrow_low, value.narrow_high))
            yield Row(
                **asdict(estimate),
                **{name: getattr(value, name) for name in ("model", "fingerprint", "groups", "contrast", "estimand")},
                task=task,
                audit=audit,
                neutral=neutral,
                form=number_form(task, neutral, value.contrast or value.estimand),
                narrow=replace(estimate, low=low, high=high),
                prior=math.nan if value.prior is None else value.prior,
                verdict=decide(estimate, neutral, unfit=audit.unfit_for(task)),
                main=value in main,
                judging=judging,
            )


def headline(rows: Sequence[Row]) -> Row:
    """The one number among a dataset's headline rows: the first.

    Where they are differences between women and men by group: the farthest from neutral, those that lean first.
    """

    def far(row: Row) -> tuple[bool, float]:
        return row.leans, abs(row.value - (0.0 if math.isnan(row.neutral) else row.neutral)) if row.known else -1.0

    return max(rows, key=far) if rows[0].contrast else rows[0]


def judged_group(task: TaskRecord) -> dict[str, str]:
    """The group that a task is judged by: of a dataset about several kinds of bias, the part about gender."""
    return {"bias_type": "gender"} if task.by == ("bias_type",) else {}


def _main_values(values: Sequence[ValueRecord], task: TaskRecord) -> list[ValueRecord]:
    """What a task is judged by: stereotype and default of all items, the headline first.

    Where there is no stereotype to tell from a default: women minus men by group, or else the value of all items,
    or of those about gender.
    """
    estimands = [value for value in values if value.estimand and not value.groups]
    contrasts = [value for value in values if value.contrast]
    unjudged = [value for value in values if not value.contrast and not value.estimand]
    whole = [v for v in unjudged if v.groups == judged_group(task)] or [v for v in unjudged if not v.groups]
    return estimands or contrasts or whole


def measure_words(task: TaskRecord) -> Mapping[str, Any]:
    """The words for the measure of a task: those beside its code, or else what the run says of it."""
    kind = {"higher": "quality", "none": "level"}.get(task.better, "lean")
    recorded = {"title": task.title or task.measure, "asks": task.asks or task.reading, "kind": kind}
    return recorded | {"leans": task.leans, "unit": task.unit} | measures.words_of(task.measure)


def dataset_words(name: str) -> Mapping[str, Any]:
    """The words for a dataset, whatever its options; empty for a user's own."""
    return _words().get(base_name(name), {})


def cited_with_datasets() -> dict[str, tuple[str, ...]]:
    """The works to cite, by dataset."""
    return {name: tuple(words["cites"]) for name, words in _words().items() if "cites" in words}


def _words() -> dict[str, dict[str, Any]]:
    from evenhand import datasets  # imported late: it loads every builder

    return datasets.words()
