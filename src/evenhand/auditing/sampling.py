"""A sample of a dataset: partners stay together, and every group keeps its share."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evenhand.core.dataset import Dataset
from evenhand.core.items import Item
from evenhand.core.loop import Task
from evenhand.errors import BadInput


def sampled_tasks(tasks: Sequence[Task], limit: int, seed: int) -> list[Task]:
    """The tasks on samples of at most `limit` items of each dataset."""
    found = {
        name: sampled(dataset, limit, seed) for name, dataset in {t.dataset.name: t.dataset for t in tasks}.items()
    }
    return [replace(task, dataset=found[task.dataset.name]) for task in tasks]


def sampled(dataset: Dataset, limit: int, seed: int) -> Dataset:
    """At most `limit` random items in their order, the same for every model; a larger sample has those of a smaller.

    What is drawn are sets of partners (single items where there are none), in proportion to the groups `by`.
    """
    items = dataset.items
    if limit >= len(items):
        return dataset
    drawn = units(dataset, seed)
    chosen: list[int] = []
    for unit in drawn:
        if len(chosen) + len(unit) > limit:
            break
        chosen += unit
    if not chosen:
        raise BadInput(
            f"`limit` must be at least {min(map(len, drawn))} for '{dataset.name}', whose items are sampled "
            f"together with their partners. Got {limit}."
        )
    return replace(dataset, items=[items[i] for i in sorted(chosen)])


def units(dataset: Dataset, seed: int) -> list[list[int]]:
    """All sets of partners, each as places of its items, in the order in which a sample draws them."""
    items = dataset.items
    found: dict[object, list[int]] = {}
    for index, item in enumerate(items):
        found.setdefault(_shared(item, dataset), []).append(index)
    strata: dict[tuple[tuple[str, ...], ...], list[list[int]]] = {}
    for unit in found.values():
        strata.setdefault(tuple(sorted({_labels(items[i], dataset) for i in unit})), []).append(unit)
    rng = np.random.default_rng(seed)
    placed = []
    for number, stratum in enumerate(strata[key] for key in sorted(strata)):
        for place, which in enumerate(rng.permutation(len(stratum))):
            placed.append(((place + 0.5) / len(stratum), number, stratum[which]))
    return [unit for _, _, unit in sorted(placed)]


def _shared(item: Item, dataset: Dataset) -> object:
    """What an item has in common with its partners alone; its id, where the dataset has none."""
    if dataset.partners is None:
        return item.id
    apart = (dataset.partners.group, *dataset.partners.differ)
    return tuple(sorted((group, label) for group, label in item.groups.items() if group not in apart))


def _labels(item: Item, dataset: Dataset) -> tuple[str, ...]:
    return tuple(item.groups.get(group, "") for group in dataset.by)
