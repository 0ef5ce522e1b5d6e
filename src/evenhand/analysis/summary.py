"""A run in a few numbers: for each dataset, the value or the contrast that it is judged by."""

import math
from dataclasses import dataclass

from evenhand.core.measure import LAST
from evenhand.errors import RunError
from evenhand.runs.folder import Run
from evenhand.runs.json_files import rescore
from evenhand.runs.record import TaskRecord
from evenhand.runs.values import ValueRecord, mixed
from evenhand.stats.verdict import decide


@dataclass(frozen=True)
class Headline:
    """The number that a dataset is judged by, with its task."""

    task: TaskRecord
    value: ValueRecord
    lean: str
    """Which side of neutral it leans to, or why there is no verdict: stats.verdict."""

    @property
    def of(self) -> str:
        """Which items it is about: a contrast, a group, or all."""
        return ", ".join(filter(None, (self.value.contrast, *self.value.groups.values()))) or "all"


def headlines(run: Run) -> list[Headline]:
    """One number for each dataset of the run, in order.

    Where women and men are partners, their difference: of the group that leans farthest, or else is farthest from 0.
    Otherwise the value of all items by the measure of the lowest rank that has a direction.
    """
    found = []
    for dataset in run.datasets:
        task = chief(run, dataset)
        contrasts = run.contrasts_of(*task.name) if task.genders else []
        whole = [value for value in run.values_of(*task.name) if not value.groups]
        lines = [_headline(run, task, value) for value in contrasts or whole]
        if not lines:
            raise RunError(f"'{run.path}' has no value of {task.measure} on {dataset}. {rescore(run.path)}")
        found.append(max(lines, key=lambda line: (line.lean in ("above", "below"), _distance(line.value))))
    return found


def chief(run: Run, dataset: str) -> TaskRecord:
    """The task that a dataset is judged by: the measure of the lowest rank that has a direction."""
    return min(run.tasks_on(dataset), key=lambda task: _rank(run, task))


def _headline(run: Run, task: TaskRecord, value: ValueRecord) -> Headline:
    return Headline(task, value, decide(value.estimate, value.at, unfit=run.record.unfit(task)).word)


def _rank(run: Run, task: TaskRecord) -> int:
    return LAST if mixed(run.scores_of(*task.name), task) else task.rank


def _distance(value: ValueRecord) -> float:
    return -1.0 if value.value is None else abs(value.value - (0.0 if math.isnan(value.at) else value.at))
