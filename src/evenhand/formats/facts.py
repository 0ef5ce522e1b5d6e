"""The values of a run with everything that an export must state about them."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields

from evenhand.runs.folder import StoredRun
from evenhand.runs.record import AuditRecord, TaskRecord
from evenhand.runs.values import ValueRecord
from evenhand.stats.estimate import Estimate
from evenhand.stats.verdict import decide, size


@dataclass(frozen=True, slots=True)
class Fact(Estimate):
    """A value with its model, dataset, measure, versions, groups and neutral value."""

    model: str = ""
    fingerprint: str = ""
    dataset: str = ""
    dataset_version: int = 0
    measure: str = ""
    measure_version: int = 0
    groups: Mapping[str, str] = field(default_factory=dict)
    neutral: float = math.nan
    part: bool = False
    """Whether it is the value of a part within a group, such as one profession."""
    lean: str = ""
    """Which side of neutral it leans to, or why there is no verdict: stats.verdict."""
    size: str = ""
    """How large the lean is: stats.size."""
    contrast: str = ""
    """For a mean difference between partners, which: "female - male"."""
    estimand: str = ""
    """stereotype or default: core.estimands."""
    partial: bool = False
    limit: int | None = None
    kind: str = ""
    """The kind of model: masked, causal or nli."""
    doctor: str = ""
    """The doctor's verdict on the model: AuditRecord.diagnosis."""

    @property
    def of(self) -> str:
        """The items it is about, in words."""
        labels = ", ".join(f"{group} {label}" for group, label in self.groups.items())
        return ", ".join(filter(None, (self.estimand, self.contrast, labels))) or "all items"

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """What tells it apart from the other values of its task."""
        more = {"contrast": self.contrast, "estimand": self.estimand}
        return (*self.groups.items(), *((name, of) for name, of in more.items() if of))

    def labels(self, task: TaskRecord) -> list[str]:
        """Its label in each group of a table; a contrast stands in the place of the group whose labels it compares.

        Stereotype and default stand in the first place, and so do labels of a group that the table has no place for.
        """
        compared = task.partners.group if task.partners and self.contrast else ""
        by = task.by or ("items",)
        labels = [self.contrast if group == compared else self.groups.get(group, "all") for group in by]
        other = [label for group, label in self.groups.items() if group not in by]
        if first := [*other, *([self.contrast] if self.contrast not in labels else []), self.estimand]:
            told = [*first, *([labels[0]] if labels[0] != "all" else [])]
            labels[0] = ", ".join(filter(None, told)) or labels[0]
        return labels


def facts(run: StoredRun) -> list[Fact]:
    """Every value of the run. One without an interval counts as missing, since it could be chance."""
    return [
        _fact(row, task, run.record.audit_of(task))
        for task in run.record.tasks
        for row in (*run.rows_of(*task.name), *run.values_of(*task.name))
    ]


def headlines(run: StoredRun, task: TaskRecord | None = None) -> list[Fact]:
    """Stereotype, default and contrasts, then the values over all items and by group: no parts within groups."""
    found = [fact for fact in facts(run) if not fact.part]
    return found if task is None else [fact for fact in found if (fact.dataset, fact.measure) == task.name]


def short(value: float) -> str:
    """A neutral value as text; "none" if there is none."""
    return "none" if math.isnan(value) else f"{value:g}"


def _fact(row: ValueRecord, task: TaskRecord, audit: AuditRecord) -> Fact:
    found = row.estimate
    if not (found.known and found.spans):
        why = "too few clusters for an interval" if row.n else "no item was scored"
        found = Estimate(math.nan, n=row.n, unscored=row.unscored, note=row.note or why)
    same = {f.name: getattr(row, f.name) for f in fields(Fact) if f.name in ValueRecord.__slots__}
    more = {"measure_version": row.version, "neutral": row.at, "limit": task.limit, "kind": audit.kind}
    more |= {"part": bool(task.within) and task.within in row.groups, "doctor": audit.diagnosis}
    lean = decide(row.estimate, row.at, unfit=audit.unfit_for(task)).word
    sized = size(row.estimate, row.at, task.unit) if lean in ("above", "below") else ""
    return Fact(**same | asdict(found) | more, lean=lean, size=sized)
