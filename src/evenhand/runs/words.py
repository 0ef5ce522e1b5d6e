"""The words that explain the measures and datasets of a run to readers."""

from collections.abc import Mapping
from typing import Any

from evenhand import measures
from evenhand.core.dataset import base_name
from evenhand.runs.record import TaskRecord


def measure_words(task: TaskRecord) -> Mapping[str, Any]:
    """The words for the measure of a task: those beside its code, or else what the run says of it."""
    kind = {"higher": "quality", "none": "level"}.get(task.better, "lean")
    asks = task.asks or task.reading
    title = task.title or task.measure
    recorded: dict[str, Any] = {"title": title, "asks": asks, "kind": kind, "leans": task.leans, "unit": task.unit}
    return recorded | measures.words_of(task.measure)


def dataset_words(name: str) -> Mapping[str, Any]:
    """The words for a dataset, whatever its options; empty for a user's own."""
    return _words().get(base_name(name), {})


def cited_with_datasets() -> dict[str, tuple[str, ...]]:
    """The works to cite, by dataset."""
    return {name: tuple(words["cites"]) for name, words in _words().items() if "cites" in words}


def _words() -> dict[str, dict[str, Any]]:
    from evenhand import datasets  # imported late: it loads every builder

    return datasets.words()
