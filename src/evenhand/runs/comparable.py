"""Checks whether runs were measured in the same way, as a comparison by items needs, and distinct names for runs."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from evenhand.errors import BadInput
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord

NAMES = {"dataset_version": "version of the dataset", "measure_version": "version of the measure"}


def same_task(runs: Sequence[StoredRun], dataset: str, measure: str, *, shared: bool = False) -> TaskRecord:
    """The record of the task in the first run. Raises an error that lists the differences if another run has others.

    With `shared`, the runs may have different samples, if these share enough items: see `enough_shared`.
    """
    tasks = [run.task(dataset, measure) for run in runs]
    for run, task in zip(runs[1:], tasks[1:], strict=True):
        differences = [
            *_differences(tasks[0].identity, task.identity),
            *_sample_differences((runs[0], run), (tasks[0], task), shared),
        ]
        if differences:
            two_kinds = of_two_kinds([runs[0], run])
            why = "One is a causal model, the other is not." if two_kinds else "Audit them with the same command."
            raise BadInput(
                f"'{runs[0].path}' and '{run.path}' were not measured in the same way on {dataset}: "
                f"{'; '.join(differences)}. {why}"
            )
    return tasks[0]


def in_common(runs: Sequence[StoredRun]) -> list[tuple[str, str]]:
    """The dataset and measure of each task that all runs have. Raises an error if no task is in all of them."""
    shared = [task for task in task_names(runs[0]) if all(task in task_names(run) for run in runs[1:])]
    if not shared:
        each = "; ".join(f"'{run.path}' {', '.join(f'{m} on {d}' for d, m in task_names(run))}" for run in runs)
        raise BadInput(f"The runs have no task in common. They have: {each}. Audit all models with the same suite.")
    return shared


def of_two_kinds(runs: Sequence[StoredRun]) -> bool:
    """Whether some of the models are causal and others are not: between these, a measure is not the same quantity."""
    return len({run.record.causal for run in runs}) > 1


def task_names(run: StoredRun) -> list[tuple[str, str]]:
    """Dataset and measure of each of the run's tasks."""
    return [task.name for task in run.record.tasks]


def distinct_names(runs: Sequence[StoredRun]) -> list[str]:
    """The names of the runs' models. Equal names are followed by how the model was asked, if that differs.

    If they are still equal, the fingerprint follows and, if that is equal, too, the position.
    """
    names = [run.record.model for run in runs]
    asked = [run.record.model_alone + run.record.asked.words(in_chats=False) for run in runs]
    if len({run.record.asked for run in runs}) > 1:
        counts = Counter(names)
        names = [whole if counts[name] > 1 else name for name, whole in zip(names, asked, strict=True)]
    for marks in ([run.record.fingerprint[:8] for run in runs], range(1, len(runs) + 1)):
        counts = Counter(names)
        names = [f"{name} ({mark})" if counts[name] > 1 else name for name, mark in zip(names, marks, strict=True)]
    return names


def _differences(task: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    for key in {**task, **other}:
        first, second = task.get(key), other.get(key)
        if isinstance(first, dict) and isinstance(second, dict):
            # A file with a recorded hash may have another path.
            yield from _differences(
                *(
                    {name: value for name, value in options.items() if name != "file" or "sha256" not in options}
                    for options in (first, second)
                )
            )
        elif first != second:
            yield f"{NAMES.get(key, key)} {_as_text(first)} and {_as_text(second)}"


def shared_ids(run: StoredRun, other: StoredRun, dataset: str, measure: str) -> set[str] | None:
    """The ids of the items that both runs have; None if the runs have the same items."""
    if run.scores_of(dataset, measure)["id"].equals(other.scores_of(dataset, measure)["id"]):
        return None
    ids, other_ids = item_ids(run, dataset, measure), item_ids(other, dataset, measure)
    return None if ids == other_ids else ids & other_ids


def item_ids(run: StoredRun, dataset: str, measure: str) -> set[str]:
    """The ids of the items of a task."""
    return set(run.scores_of(dataset, measure)["id"].astype(str))


def enough_shared(ids: Collection[str], other_ids: Collection[str]) -> bool:
    """Whether two samples can be compared by the items that they share: at least half of the smaller one."""
    return 2 * len(set(ids) & set(other_ids)) >= min(len(ids), len(other_ids))


def _sample_differences(
    runs: tuple[StoredRun, StoredRun], tasks: tuple[TaskRecord, TaskRecord], shared: bool
) -> Iterator[str]:
    in_both = shared_ids(*runs, *tasks[0].name)
    ids = [item_ids(run, *tasks[0].name) for run in runs] if in_both is not None else []
    if in_both is not None and not (shared and enough_shared(*ids)):
        limits = ["" if task.limit is None else f" ({task.draw})" for task in tasks]
        samples = [f"{len(sample):,} items{limit}" for sample, limit in zip(ids, limits, strict=True)]
        yield f"samples of {' and '.join(samples)}, {len(in_both):,} in common"


def _as_text(value: object) -> str:
    if value in (None, "", (), []):
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
