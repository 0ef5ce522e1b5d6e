"""Samples of datasets that keep partners together and groups in proportion; half precision checked on one of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evenhand.core.dataset import Dataset
from evenhand.core.items import Item
from evenhand.core.loop import Task, measure_all
from evenhand.core.measure import summary_of
from evenhand.core.model import Model
from evenhand.core.scores import Result, Score, generator
from evenhand.core.summary import OfMeans
from evenhand.errors import BadInput
from evenhand.runs.origin import Deviation
from evenhand.stats.estimate import side
from evenhand.stats.intervals import clustered_interval
from evenhand.stats.resampling import Paired

SAMPLE = 100
"""Number of items of each dataset that are scored in both precisions."""


def sampled_tasks(tasks: Sequence[Task], limit: int, seed: int) -> list[Task]:
    """The tasks on samples of at most `limit` items of each dataset."""
    whole = {task.dataset.name: task.dataset for task in tasks}
    parts = {name: sampled(dataset, limit, seed) for name, dataset in whole.items()}
    return [replace(task, dataset=parts[task.dataset.name]) for task in tasks]


def sampled(dataset: Dataset, limit: int, seed: int) -> Dataset:
    """At most `limit` random items in their order, the same for every model; a larger sample contains a smaller.

    Sets of partners (single items where there are none) are drawn in proportion to the groups `by`.
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
    """All sets of partners, each as indices of its items, in the order in which a sample draws them."""
    items = dataset.items
    found: dict[object, list[int]] = {}
    for index, item in enumerate(items):
        found.setdefault(_partner_key(item, dataset), []).append(index)
    strata: dict[tuple[tuple[str, ...], ...], list[list[int]]] = {}
    for unit in found.values():
        labels = {tuple(items[i].groups.get(group, "") for group in dataset.by) for i in unit}
        strata.setdefault(tuple(sorted(labels)), []).append(unit)
    rng = np.random.default_rng(seed)
    placed = []
    for number, stratum in enumerate(strata[key] for key in sorted(strata)):
        for place, which in enumerate(rng.permutation(len(stratum))):
            placed.append(((place + 0.5) / len(stratum), number, stratum[which]))
    return [unit for _, _, unit in sorted(placed)]


def _partner_key(item: Item, dataset: Dataset) -> object:
    """A key that an item shares with its partners only; its id if the dataset has no partners."""
    if dataset.partners is None:
        return item.id
    apart = (dataset.partners.group, *dataset.partners.differ)
    return tuple(sorted((group, label) for group, label in item.groups.items() if group not in apart))


def warning(found: Deviation, dtype: str) -> Iterator[str]:
    """A sentence if half precision may have changed on which side of neutral a value lies."""
    if found.doubtful:
        yield (
            f"{found.measure} on {found.dataset}: float32 may differ on {', '.join(found.doubtful)}. {dtype} "
            f"shifts scores by {found.shift:+.4f} [{found.low:+.4f}, {found.high:+.4f}] ({found.items} items). "
            "Run it with `dtype='float32'`."
        )


def deviations(
    half: Model, exact: Model, tasks: Sequence[Task], results: Sequence[Result], seed: int
) -> list[Deviation]:
    """How far `half` is from `exact`, the same model in float32, for each task with items that both could score."""
    sampled = sampled_tasks(tasks, SAMPLE, seed)
    both = (measure_all(model, sampled, seed=seed) for model in (half, exact))
    found = (
        _deviation(task, one.scores, other.scores, result, seed)
        for task, one, other, result in zip(tasks, *both, results, strict=True)
    )
    return [deviation for deviation in found if deviation is not None]


def _deviation(
    task: Task, half: Sequence[Score], exact: Sequence[Score], result: Result, seed: int
) -> Deviation | None:
    both = [(a, b) for a, b in zip(half, exact, strict=True) if not np.isnan([a.value, b.value]).any()]
    if not both:
        return None
    summary, rng = summary_of(task.measure), generator(seed, {"precision": result.measure})
    here, there = (np.array([scores[place].value for scores in both]) for place in (0, 1))
    differences = summary.numbers(here) - summary.numbers(there) if isinstance(summary, OfMeans) else here - there
    clusters = [a.groups.get(task.dataset.cluster, a.id) for a, _ in both]
    largest, shift = float(np.abs(differences).max()), float(differences.mean())
    if isinstance(summary, OfMeans):
        low, high = clustered_interval(differences, clusters, rng)
    else:  # the shift of the value, not of the scores
        change = Paired(summary.resampling([[b for _, b in both], [a for a, _ in both]], clusters)).difference
        shift, (low, high) = change.value, change.interval(rng)
    if np.isnan(shift):  # the value needs items that are not in the sample
        return None
    if np.isnan(low):  # too few clusters for an interval: as much as one item can differ
        low, high = -largest, largest
    doubtful = tuple(
        " ".join(value.groups.values()) or "all"
        for value in result.estimates  # a value in float32 is the one in half precision minus the shift
        if len({side(value.low - shift, value.high - shift, result.neutral) for shift in (0.0, low, high)}) > 1
    )
    return Deviation(result.dataset, result.measure, len(both), shift, low, high, largest, doubtful)
