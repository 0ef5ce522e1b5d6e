"""Draw samples of datasets, partners together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.dataset import Dataset
from evenhand.core.items import Item
from evenhand.core.loop import Task
from evenhand.errors import BadInput


def restrict_task(task: Task, items: Sequence[Item]) -> Task:
    """The task, restricted to these items of its dataset."""
    return replace(task, dataset=replace(task.dataset, items=items))


def sampled_tasks(
    tasks: Sequence[Task], limit: int | Mapping[str, int], seed: int, *, clusters: bool = False
) -> list[Task]:
    """The tasks on samples of at most `limit` items of each dataset; `limit` is one number, or a number by name."""
    whole = {task.dataset.name: task.dataset for task in tasks}
    limits = limit if isinstance(limit, Mapping) else dict.fromkeys(whole, limit)
    parts = {name: draw_sample(dataset, limits[name], seed, clusters=clusters) for name, dataset in whole.items()}
    return [replace(task, dataset=parts[task.dataset.name]) for task in tasks]


def draw_sample(dataset: Dataset, limit: int, seed: int, *, clusters: bool = False) -> Dataset:
    """The dataset with at most `limit` random items, in their original order.

    The sample does not depend on the model, and a larger sample contains a smaller one. Items are drawn together with
    their partners, in proportion to the groups `by`; with `clusters`, see `order_of_drawing`.
    """
    items = dataset.items
    if limit >= len(items):
        return dataset
    drawn = [unit for *_, unit in order_of_drawing(dataset, seed, clusters=clusters)]
    chosen: list[int] = []
    for unit in drawn:
        if len(chosen) + len(unit) > limit:
            break
        chosen += unit
    if not chosen:
        raise BadInput(
            f"`limit` must be at least {min(map(len, drawn))} for '{dataset.name}', since its items are sampled "
            f"together with their partners. Got {limit}."
        )
    return replace(dataset, items=[items[i] for i in sorted(chosen)])


def order_of_drawing(dataset: Dataset, seed: int, *, clusters: bool = False) -> list[tuple[float, int, list[int]]]:
    """All sets of partners in the order in which a sample draws them: (place, number of the stratum, item indices).

    With `clusters`, whole clusters are drawn instead, stratified by kind. The first of each kind has place 0. Then the
    female and the male kind get equally many, since a stereotype weights both kinds equally; if the headline is another
    estimand, each kind gets its proportion.
    """
    items, kinds = dataset.items, dataset.kinds
    labels: list[Any] = [tuple(item.groups.get(group, "") for group in dataset.by) for item in items]
    if clusters:
        labels = [str(getattr(item, "right", "")) for item in items]  # without kinds: each right option equally
        labels = kinds.of(pd.DataFrame([dict(item.groups) for item in items])).tolist() if kinds else labels
    units: dict[object, list[int]] = {}
    for index, item in enumerate(items):
        key = (clusters and item.groups.get(dataset.cluster)) or _partner_key(item, dataset)
        units.setdefault(key, []).append(index)
    strata: dict[tuple[Any, ...], list[list[int]]] = {}
    for unit in units.values():
        strata.setdefault(tuple(sorted({labels[i] for i in unit} - {""})), []).append(unit)
    equal = [key for key in strata if clusters and kinds and kinds.headline == "stereotype" and len(key) == 1]
    rng, drawn = np.random.default_rng(seed), list[tuple[float, int, list[int]]]()
    for number, (key, stratum) in enumerate(sorted(strata.items())):
        size = max(len(strata[other]) for other in equal) if key in equal else len(stratum)
        for place, index in enumerate(rng.permutation(len(stratum))):
            drawn.append(((place + (0 if clusters else 0.5)) / size, number, stratum[index]))
    return sorted(drawn)


def _partner_key(item: Item, dataset: Dataset) -> object:
    """The key that an item and its partners share; the item's id if the dataset has no partners."""
    if dataset.partners is None:
        return item.id
    apart = (dataset.partners.group, *dataset.partners.differ)
    return tuple(sorted((group, label) for group, label in item.groups.items() if group not in apart))
