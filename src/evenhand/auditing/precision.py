"""Half precision, honestly: how far a run's values are from those in float32, on a sample of its own questions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evenhand.core.items import Item
from evenhand.core.loop import Task, measure_all
from evenhand.core.model import Model
from evenhand.core.scores import FAST, Result, Score, Value, generator
from evenhand.runs.record import Deviation
from evenhand.stats.estimate import side
from evenhand.stats.intervals import clustered_interval

SAMPLE = 100
"""Items of each dataset that are scored in both precisions."""


def warning(found: Deviation, dtype: str) -> Iterator[str]:
    """A sentence where the precision may decide what the scorecard says."""
    if found.doubtful:
        yield (
            f"{found.measure} on {found.dataset}: float32 may say otherwise of {', '.join(found.doubtful)}. {dtype} "
            f"shifts scores by {found.shift:+.4f} [{found.low:+.4f}, {found.high:+.4f}] ({found.items} items). "
            "Run it with --dtype float32."
        )


def deviations(
    half: Model, exact: Model, tasks: Sequence[Task], results: Sequence[Result], seed: int
) -> list[Deviation]:
    """How far `half` is from `exact`, the same model in float32, for each task of which something could be scored."""
    sampled = [replace(task, dataset=replace(task.dataset, items=_sample(task, seed))) for task in tasks]
    pairs = zip(measure_all(half, sampled, seed=seed), measure_all(exact, sampled, seed=seed), strict=True)
    found = (
        _deviation(task, one.scores, other.scores, result, seed)
        for task, (one, other), result in zip(tasks, pairs, results, strict=True)
    )
    return [deviation for deviation in found if deviation is not None]


def _sample(task: Task, seed: int) -> list[Item]:
    items = task.dataset.items
    chosen = np.random.default_rng(seed).choice(len(items), size=min(SAMPLE, len(items)), replace=False)
    return [items[i] for i in sorted(chosen)]


def _deviation(
    task: Task, half: Sequence[Score], exact: Sequence[Score], result: Result, seed: int
) -> Deviation | None:
    of = FAST.get(task.measure.summarise, np.asarray)
    both = [(a, b) for a, b in zip(half, exact, strict=True) if not np.isnan([a.value, b.value]).any()]
    if not both:
        return None
    differences = of(np.array([a.value for a, _ in both])) - of(np.array([b.value for _, b in both]))
    clusters = [a.groups.get(task.dataset.cluster, a.id) for a, _ in both]
    largest = float(np.abs(differences).max())
    low, high = clustered_interval(differences, clusters, generator(seed, {"precision": result.measure}))
    if np.isnan(low):  # too few to tell: then by what one item can differ
        low, high = -largest, largest
    doubtful = [_named(value) for value in result.values if _decides(value, result.neutral, low, high)]
    return Deviation(
        result.dataset,
        result.measure,
        len(both),
        float(differences.mean()),
        low,
        high,
        largest,
        tuple(doubtful),
    )


def _decides(value: Value, neutral: float, low: float, high: float) -> bool:
    """Would the verdict be another if the value were as it may be in float32, which is half minus the shift?"""
    return len({side(value.low - shift, value.high - shift, neutral) for shift in (0.0, low, high)}) > 1


def _named(value: Value) -> str:
    return " ".join(value.groups.values()) or "all"
