"""What a run says, for whoever writes it down: each value with all that must go with it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from evenhand.errors import BadInput
from evenhand.runs.folder import Run
from evenhand.runs.record import TaskRecord, ValueRecord
from evenhand.stats.estimate import Estimate

ALIKE = ("dataset_builder", "dataset_version", "dataset_options", "measure_version", "measure_options")
"""What must be the same where two runs stand in one table."""


@dataclass(frozen=True, slots=True)
class Fact(Estimate):
    """A value with what must go with it: whose, of what, in which versions, and what is neutral."""

    model: str = ""
    fingerprint: str = ""
    dataset: str = ""
    dataset_version: int = 0
    measure: str = ""
    measure_version: int = 0
    groups: Mapping[str, str] = field(default_factory=dict)
    neutral: float = math.nan
    part: bool = False
    """Whether it is of a part within a group: a single profession, say."""

    @property
    def of(self) -> str:
        """Which items, in words."""
        return ", ".join(f"{group} {label}" for group, label in self.groups.items()) or "all items"


def facts(run: Run) -> list[Fact]:
    """Every value of the run. One without an interval counts as none: it could be chance, and nobody could tell."""
    return [_fact(row, task) for task in run.record.tasks for row in run.values_of(*task.name)]


def headlines(run: Run) -> list[Fact]:
    """The values over all items and by group, without the parts within groups."""
    return [fact for fact in facts(run) if not fact.part]


def check_alike(runs: Sequence[Run]) -> None:
    """An error where runs that are to share a table measured something else under the same name."""
    first: dict[tuple[str, str], tuple[Run, Any]] = {}
    for run in runs:
        sample = (run.record.limit, run.record.seed) if run.record.partial else None
        for task in run.record.tasks:
            name = task.name
            mine = {key: getattr(task, key) for key in ALIKE} | {"sample": sample}
            earlier, theirs = first.setdefault(name, (run, mine))
            if mine != theirs:
                other = ", ".join(key for key in mine if mine[key] != theirs[key])
                raise BadInput(
                    f"'{earlier.path}' and '{run.path}' were not measured alike by {name[1]} on {name[0]}: {other} "
                    "differ. Audit them with the same command, or export them one by one."
                )


def short(value: float) -> str:
    """A neutral value in words: the number, or that there is none."""
    return "none" if math.isnan(value) else f"{value:g}"


def of_tasks(run: Run, found: Sequence[Fact]) -> Iterator[tuple[TaskRecord, list[Fact]]]:
    """Each task with its facts, in the run's order."""
    for task in run.record.tasks:
        yield task, [fact for fact in found if (fact.dataset, fact.measure) == task.name]


def _fact(row: ValueRecord, task: TaskRecord) -> Fact:
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
        neutral=math.nan if row.neutral is None else row.neutral,
        part=bool(task.within) and task.within in row.groups,
    )
