"""The values of a run with everything that an export must state about them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from evenhand.errors import BadInput
from evenhand.runs.folder import Run
from evenhand.runs.record import TaskRecord
from evenhand.runs.values import ValueRecord
from evenhand.stats.estimate import Estimate
from evenhand.stats.verdict import decide

SAME = ("dataset_builder", "dataset_version", "dataset_options", "measure_version", "measure_options")
"""Fields of a task that must be equal in runs that share a table."""


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

    @property
    def of(self) -> str:
        """The items it is about, in words."""
        return ", ".join(f"{group} {label}" for group, label in self.groups.items()) or "all items"


def facts(run: Run) -> list[Fact]:
    """Every value of the run. One without an interval counts as missing, since it could be chance."""
    tasks = run.record.tasks
    return [_fact(row, task, run.record.unfit) for task in tasks for row in run.values_of(*task.name)]


def headlines(run: Run, task: TaskRecord | None = None) -> list[Fact]:
    """The values over all items and by group, without the parts within groups: of one task, or of all."""
    found = [fact for fact in facts(run) if not fact.part]
    return found if task is None else [fact for fact in found if (fact.dataset, fact.measure) == task.name]


def check_same_tasks(runs: Sequence[Run]) -> None:
    """Raise an error if runs that are to share a table measured different things under the same name."""
    first: dict[tuple[str, str], tuple[Run, Any]] = {}
    for run in runs:
        sample = (run.record.limit, run.record.seed) if run.record.partial else None
        for task in run.record.tasks:
            mine = {key: getattr(task, key) for key in SAME} | {"sample": sample}
            earlier, theirs = first.setdefault(task.name, (run, mine))
            if mine != theirs:
                other = ", ".join(key for key in mine if mine[key] != theirs[key])
                where = f"{task.measure} on {task.dataset}"
                raise BadInput(
                    f"'{earlier.path}' and '{run.path}' were not measured in the same way by {where}: "
                    f"{other} differ. Audit them with the same command, or export them one by one."
                )


def short(value: float) -> str:
    """A neutral value as text; "none" if there is none."""
    return "none" if math.isnan(value) else f"{value:g}"


def _fact(row: ValueRecord, task: TaskRecord, unfit: bool) -> Fact:
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
        lean=decide(row.estimate, row.at, unfit=unfit).word,
    )
