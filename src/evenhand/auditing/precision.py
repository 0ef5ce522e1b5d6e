"""Compare a model in half precision with the same model in float32, on a sample of what was measured."""

import logging
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from evenhand.auditing.sampling import sampled_tasks
from evenhand.core.loop import Task, measure_all
from evenhand.core.measure import summarising, summary_of
from evenhand.core.model import Model
from evenhand.core.scores import OfMeans, Result, Score, generator
from evenhand.errors import EvenhandError
from evenhand.runs.record import Deviation, Precision
from evenhand.stats.estimate import side
from evenhand.stats.intervals import Paired, clustered_interval

log = logging.getLogger(__name__)

SAMPLE = 100
"""The most items of each dataset that are scored in both precisions."""


def compare(
    half: Model,
    exact: Callable[[], Model],
    tasks: Sequence[Task],
    results: Sequence[Result],
    seed: int,
) -> Precision:
    """How the results of `half` deviate from those of `exact`, the same model in float32; or why that is not known."""
    try:
        return Precision(deviations=tuple(_deviations(half, exact(), tasks, results, seed)))
    except (EvenhandError, MemoryError) as error:  # the float32 model may not fit into memory
        why = f"Not compared with float32: {error}"
        log.warning(why)
        return Precision(why=why)


def doubts(precision: Precision, dtype: str) -> Iterator[str]:
    """Yield a sentence for each task of which half precision may have moved a value to the other side of neutral."""
    for deviation in precision.deviations:
        if deviation.doubtful:
            yield (
                f"{deviation.measure} on {deviation.dataset}: float32 may differ on {', '.join(deviation.doubtful)}. "
                f"{dtype} shifts scores by {deviation.shift:+.4f} [{deviation.low:+.4f}, {deviation.high:+.4f}] "
                f"({deviation.items} items). "
                "Run it with `dtype='float32'`."
            )


def _deviations(
    half: Model, exact: Model, tasks: Sequence[Task], results: Sequence[Result], seed: int
) -> list[Deviation]:
    """The deviation of `half` from `exact`, the same model in float32, on a sample of each task that both can score."""
    sampled = sampled_tasks(tasks, SAMPLE, seed)
    both = (measure_all(model, sampled, seed=seed) for model in (half, exact))
    found = list[Deviation | None]()
    for task, in_half, in_float32, result in zip(tasks, *both, results, strict=True):
        with summarising(task.measure):
            found.append(_deviation(task, in_half.scores, in_float32.scores, result, seed))
    return [deviation for deviation in found if deviation is not None]


def _deviation(
    task: Task, half: Sequence[Score], exact: Sequence[Score], result: Result, seed: int
) -> Deviation | None:
    both = [(a, b) for a, b in zip(half, exact, strict=True) if not np.isnan([a.value, b.value]).any()]
    if not both:
        return None
    summary, rng = summary_of(task.measure), generator(seed, {"precision": result.measure})
    values, in_float32 = (np.array([scores[place].value for scores in both]) for place in (0, 1))
    if isinstance(summary, OfMeans):
        values, in_float32 = summary.numbers(values), summary.numbers(in_float32)
    differences = values - in_float32
    clusters = [a.groups.get(task.dataset.cluster, a.id) for a, _ in both]
    largest, shift = float(np.abs(differences).max()), float(differences.mean())
    if isinstance(summary, OfMeans):
        low, high = clustered_interval(differences, clusters, rng)
    else:  # the shift of the value, not of the scores
        change = Paired(summary.resampling([[b for _, b in both], [a for a, _ in both]], clusters)).difference
        shift, (low, high) = change.value, change.interval(rng)
    if np.isnan(shift):  # the value needs items that are not in the sample
        return None
    if np.isnan(low):  # too few clusters for an interval: use the largest difference of an item
        low, high = -largest, largest
    doubtful = tuple(
        " ".join(value.groups.values()) or "all"
        for value in result.estimates  # the value in float32 = the value in half precision - shift
        if len({side(value.low - shift, value.high - shift, result.neutral) for shift in (0.0, low, high)}) > 1
    )
    return Deviation(result.dataset, result.measure, len(both), shift, low, high, largest, doubtful)
