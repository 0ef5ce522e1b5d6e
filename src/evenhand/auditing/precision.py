"""How far a run in half precision is from float32, on a sample of its items."""

from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.auditing.sampling import sampled_tasks
from evenhand.core.loop import Task, measure_all
from evenhand.core.measure import summary_of
from evenhand.core.model import Model
from evenhand.core.scores import FAST, MacroMean, Result, Score, generator, resampled
from evenhand.runs.origin import Deviation
from evenhand.stats.estimate import side
from evenhand.stats.intervals import clustered_interval
from evenhand.stats.resampling import Paired

SAMPLE = 100
"""Number of items of each dataset that are scored in both precisions."""


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
    summarise, rng = summary_of(task.measure), generator(seed, {"precision": result.measure})
    of = FAST.get(summarise, np.asarray)
    differences = of(np.array([a.value for a, _ in both])) - of(np.array([b.value for _, b in both]))
    clusters = [a.groups.get(task.dataset.cluster, a.id) for a, _ in both]
    largest, shift = float(np.abs(differences).max()), float(differences.mean())
    if summarise in FAST or isinstance(summarise, MacroMean):
        low, high = clustered_interval(differences, clusters, rng)
    else:  # the shift of the value, not of the scores
        change = Paired(resampled(summarise, [[b for _, b in both], [a for a, _ in both]], clusters)).difference
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
