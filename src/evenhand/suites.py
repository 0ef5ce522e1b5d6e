"""Which datasets and measures an audit runs."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand import datasets, measures
from evenhand.errors import BadInput, UnknownName
from evenhand.run import Task

SUITES: dict[str, dict[str, list[tuple[str, str]]]] = {
    "becpro": {"de": [("becpro-de", "association")], "en": [("becpro-en", "association")]},
    "emotions": {"en": [("emotions-en", "association")]},
}
"""By suite and language: (dataset, measure)."""


def tasks(suite: str = "all", language: str = "en", options: Mapping[str, Any] | None = None) -> list[Task]:
    """The tasks of a suite, or of all."""
    if suite != "all" and suite not in SUITES:
        raise UnknownName("suite", suite, ["all", *SUITES])
    chosen = [by_language for name, by_language in SUITES.items() if suite in ("all", name)]
    pairs = [pair for by_language in chosen for pair in by_language.get(language, [])]
    if not pairs:
        raise UnknownName("language", language, {known for by_language in chosen for known in by_language})
    return chosen_tasks(pairs, options)


def chosen_tasks(pairs: Sequence[tuple[str, str]], options: Mapping[str, Any] | None = None) -> list[Task]:
    """The tasks for these (dataset, measure) pairs. An option goes to every dataset and measure that has it."""
    options = dict(options or {})
    known = {
        name for dataset, measure in pairs for name in (*datasets.options_of(dataset), *measures.options_of(measure))
    }
    for name in options:
        if name not in known:
            raise UnknownName("option", name, known)
    return [
        Task(
            datasets.load(dataset, **{k: v for k, v in options.items() if k in datasets.options_of(dataset)}),
            measures.load(measure, **{k: v for k, v in options.items() if k in measures.options_of(measure)}),
        )
        for dataset, measure in pairs
    ]


def record(task: Task) -> dict[str, Any]:
    """A task as plain data: enough to read its results, and to build it again."""
    how = task.measure
    return {
        "dataset": task.dataset.name,
        "dataset_builder": task.dataset.builder or task.dataset.name,
        "dataset_version": task.dataset.version,
        "dataset_options": dict(task.dataset.options),
        "measure": how.name,
        "measure_version": how.version,
        "measure_options": dataclasses.asdict(how) if dataclasses.is_dataclass(how) else {},
        "by": list(task.dataset.by),
        "cluster": task.dataset.cluster,
        "reading": how.reading,
    }


def rebuild(recorded: Mapping[str, Any]) -> Task:
    """The task that was recorded; an error if its dataset has changed since."""
    dataset = datasets.load(recorded["dataset_builder"], **recorded["dataset_options"])
    if dataset.version != recorded["dataset_version"]:
        raise BadInput(
            f"The run has version {recorded['dataset_version']} of dataset '{dataset.name}', this evenhand has "
            f"version {dataset.version}. Run the audit again, or use the evenhand that made the run."
        )
    return Task(dataset, measures.load(recorded["measure"], **recorded["measure_options"]))
