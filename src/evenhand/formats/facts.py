"""The values of a run with everything that an export must state about them."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from evenhand.runs.folder import Run
from evenhand.runs.record import AuditRecord, TaskRecord
from evenhand.runs.values import ValueRecord
from evenhand.stats.estimate import Estimate
from evenhand.stats.verdict import decide


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
    contrast: str = ""
    """For a mean difference between partners, which: "female - male"."""
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
        return ", ".join(filter(None, (self.contrast, labels))) or "all items"

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """What tells it apart from the other values of its task."""
        return (*self.groups.items(), *([("contrast", self.contrast)] if self.contrast else []))

    def labels(self, task: TaskRecord) -> list[str]:
        """Its label in each group of a table; a contrast stands in the place of the group whose labels it compares."""
        compared = task.partners.group if task.partners and self.contrast else ""
        return [self.contrast if group == compared else self.groups.get(group, "all") for group in task.by or ["items"]]


def facts(run: Run) -> list[Fact]:
    """Every value of the run. One without an interval counts as missing, since it could be chance."""
    return [
        _fact(row, task, run.record.audit_of(task))
        for task in run.record.tasks
        for row in (*run.values_of(*task.name), *run.contrasts_of(*task.name))
    ]


def headlines(run: Run, task: TaskRecord | None = None) -> list[Fact]:
    """The values over all items and by group, and the contrasts: of one task, or of all. No parts within groups."""
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
    return Fact(
        **asdict(found),
        model=row.model,
        fingerprint=row.fingerprint,
        dataset=row.dataset,
        dataset_version=task.dataset_version,
        measure=row.measure,
        measure_version=row.version,
        groups=row.groups,
        neutral=row.at,
        part=bool(task.within) and task.within in row.groups,
        lean=decide(row.estimate, row.at, unfit=audit.unfit_for(task)).word,
        contrast=row.contrast,
        partial=task.partial,
        limit=task.limit,
        kind=audit.kind,
        doctor=audit.diagnosis,
    )
