"""Rows of a run, each a number with its verdict, for reports, exports and gates; words for measures and datasets."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from evenhand import measures
from evenhand.core.dataset import base_name
from evenhand.core.model import NOT_EXAMINED
from evenhand.runs.record import AuditRecord, RunRecord, TaskRecord
from evenhand.runs.values import ValueRecord
from evenhand.stats.estimate import Estimate, reach
from evenhand.stats.verdict import MOST_UNSCORED, Lean, decide, size

FEMALE_MALE = ", female - male"
"""The suffix that policies and tables add to a measure's name for its mean difference over pairs, female - male."""
UNEXAMINED = f"{NOT_EXAMINED.says} {NOT_EXAMINED.do}"
NO_ESTIMATE, UNTESTED = Estimate(math.nan), Lean(0, "untested")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Estimate):
    """An estimate, the value that means "no bias", and how it is printed."""

    neutral: float = 0.0
    """NaN if the measure has no neutral value."""
    spec: str = "+.3f"
    """The format specification of its numbers."""
    narrow: Estimate = NO_ESTIMATE
    """The value with its interval for these templates and words alone, if `low` and `high` also cover others."""
    verdict: Lean = UNTESTED

    @property
    def text(self) -> str:
        """The value; a dash where there is none."""
        return self.number(self.spec)

    @property
    def brackets(self) -> str:
        """Low and high in brackets; a dash where there is no interval."""
        return self.interval(self.spec)


class OfTask:
    """The dataset and the measure of a row; the base of rows of one run and of rows that compare two."""

    __slots__ = ()
    task: TaskRecord
    contrast: str
    estimand: str
    neutral: float

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

    @property
    def farthest(self) -> float:
        """How far from neutral the row can be."""
        whole = bool(self.contrast or (self.estimand and self.task.partners))
        return reach(self.task.bounds, self.neutral, partners=whole)

    @property
    def width(self) -> float:
        """How far apart two values of the row can be."""
        judged = self.contrast or self.estimand
        return 2 * self.farthest if judged else reach(self.task.bounds, self.neutral, partners=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(OfTask, Number):
    """A value of a run, of all items or of those with the labels `groups`; NaN if there is none.

    With `contrast`, it is the mean difference between partners ("female - male"), n counts pairs, and neutral is 0.
    With `estimand`, it is the stereotype or the default: see core.estimands.
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
    """Whether the task is judged by this row."""
    judging: Callable[[str], TaskRecord] = field(repr=False, compare=False)
    """`StoredRun.headline_task`, which is called only when needed, since it reads the scores."""

    @property
    def headline(self) -> bool:
        """Whether the dataset is judged by this row: a main row of its headline task."""
        return self.main and self.judging(self.dataset).name == self.task.name

    @property
    def judged(self) -> bool:
        """Whether this is a stereotype, a default or a contrast, and not a value as the measure defines it."""
        return bool(self.contrast or self.estimand)

    @property
    def part(self) -> bool:
        """Whether this is the value of a part within a group, such as one profession."""
        return bool(self.task.within) and self.task.within in self.groups

    @property
    def unmeasured(self) -> str:
        """Why the model could not be measured here, or why nothing is judged, and what to try; empty otherwise."""
        unfit = (each for each in self.audit.doctor if each.verdict == "unfit" and each.about(self.dataset))
        if finding := next(unfit, None):
            return f"{finding.says} {finding.do}"
        if not self.audit.examined:
            return UNEXAMINED
        share = self.unscored / (self.n + self.unscored or 1)
        if self.task.better != "closer" or share < MOST_UNSCORED:
            return ""
        reasons = self.audit.unscored.get("/".join(self.task.name)) or {"no reason is recorded": 1}
        why = max(reasons, key=lambda reason: reasons[reason])
        advice = "Import all of them" if self.audit.imported else "Ask in another way, or choose another dataset"
        return f"{self.unscored:,} of {self.n + self.unscored:,} items have no score ({why}). {advice}."

    @property
    def leans(self) -> bool:
        return self.verdict.side != 0

    @property
    def size(self) -> str:
        """The size of the lean in a word (stats.verdict.size); empty if the value does not lean."""
        return size(self, self.neutral, self.task.unit) if self.leans else ""

    @property
    def label(self) -> str:
        """The name of the row among the rows of its task."""
        return row_label(self.groups, self.estimand)

    @property
    def of(self) -> str:
        """The estimand or contrast and the items of the row, in words."""
        labels = ", ".join(f"{group} {label}" for group, label in self.groups.items())
        return ", ".join(filter(None, (self.estimand, self.contrast, labels))) or "all items"

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """The labels, contrast and estimand that identify the row among the rows of its task."""
        more = {"contrast": self.contrast, "estimand": self.estimand}
        return (*self.groups.items(), *((name, kind) for name, kind in more.items() if kind))


def missing_row(record: RunRecord, task: TaskRecord, like: Row | None = None) -> Row:
    """A row without a value, for a run that lacks the row `like` of another run; by default a row of all items."""
    known: dict[str, Any] = {"groups": {}, "contrast": "", "estimand": "", "neutral": 0.0, "spec": "+.3f", "main": True}
    known |= {name: getattr(like, name) for name in known} if like else {}
    known |= {"model": record.model, "fingerprint": record.fingerprint, "audit": record.audit_of(task)}
    verdict = decide(NO_ESTIMATE)
    return Row(value=math.nan, **known, task=task, prior=math.nan, verdict=verdict, judging=lambda _: task)


def number_form(task: TaskRecord, neutral: float, compared: str) -> str:
    """The format of a value, signed if neutral is 0 and it can be negative, as `compared` values always can."""
    return "+.3f" if neutral == 0 and (task.signed or compared) else ".3f"


def row_label(groups: Mapping[str, str], estimand: str = "") -> str:
    """The name of a row: its labels and its estimand; "all" for the measure's value of all items."""
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
                spec=number_form(task, neutral, value.contrast or value.estimand),
                narrow=replace(estimate, low=low, high=high),
                prior=math.nan if value.prior is None else value.prior,
                verdict=decide(estimate, neutral, objection=audit.objection(task)),
                main=value in main,
                judging=judging,
            )


def unmeasured(rows: Sequence[Row]) -> dict[str, str]:
    """Why datasets could not be measured, and what to try: those none of whose headline rows could be."""
    headlines = [row for row in rows if row.headline]
    could = {row.dataset for row in headlines if not row.unmeasured}
    return {row.dataset: row.unmeasured for row in headlines if row.dataset not in could}


def unmeasured_in_words(rows: Sequence[Row]) -> str:
    """What could not be measured, why, and what to try, as the end of a sentence; empty if all could be.

    The controls of choices and other measures of what a model should do are no measures of bias.
    """
    whys, titles = unmeasured(rows), dict[str, list[str]]()
    for dataset, why in whys.items():
        titles.setdefault(why, []).append(str(dataset_words(dataset).get("title", dataset)))
    some = any(row.dataset not in whys for row in rows if row.headline and row.task.better == "closer")
    parts = ((f" on {', '.join(names)}" if some else "", why) for why, names in titles.items())
    return " ".join(
        f"{'has no verdict' if why == UNEXAMINED else 'could not be measured'}{where}. {why}" for where, why in parts
    ).rstrip()


def headline(rows: Sequence[Row]) -> Row:
    """The row that stands for a dataset, of its headline rows: the first one.

    Of differences between women and men by group, it is the one farthest from neutral among those that lean, if any do.
    """

    def distance(row: Row) -> tuple[bool, float]:
        return row.leans, abs(row.value - (0.0 if math.isnan(row.neutral) else row.neutral)) if row.known else -1.0

    return max(rows, key=distance) if rows[0].contrast else rows[0]


def judged_group(task: TaskRecord) -> dict[str, str]:
    """The group that a task is judged by: the items about gender, if the dataset is about several kinds of bias."""
    return {"bias_type": "gender"} if task.by == ("bias_type",) else {}


def _main_values(values: Sequence[ValueRecord], task: TaskRecord) -> list[ValueRecord]:
    """The values that a task is judged by: stereotype and default of all items, the headline first.

    A task without these is judged by women minus men by group, if it has them, or else by the value of all items
    (those about gender, if the dataset is about several kinds of bias).
    """
    estimands = [value for value in values if value.estimand and not value.groups]
    contrasts = [value for value in values if value.contrast]
    unjudged = [value for value in values if not value.contrast and not value.estimand]
    whole = [v for v in unjudged if v.groups == judged_group(task)] or [v for v in unjudged if not v.groups]
    return estimands or contrasts or whole


def measure_words(task: TaskRecord) -> Mapping[str, Any]:
    """The words for the measure of a task, from the file beside its code; those it lacks are from the run's record."""
    kind = {"higher": "quality", "none": "level"}.get(task.better, "lean")
    recorded = {"title": task.title or task.measure, "asks": task.asks or task.reading, "kind": kind}
    return recorded | {"leans": task.leans, "unit": task.unit} | measures.words_of(task.measure)


def dataset_words(name: str) -> Mapping[str, Any]:
    """The words for a dataset, the same for all of its options; empty for a user's own dataset."""
    return _words().get(base_name(name), {})


def cited_with_datasets() -> dict[str, tuple[str, ...]]:
    """The keys of the works to cite, by dataset."""
    return {name: tuple(words["cites"]) for name, words in _words().items() if "cites" in words}


def _words() -> dict[str, dict[str, Any]]:
    from evenhand import datasets  # imported late: it loads every builder

    return datasets.words()
