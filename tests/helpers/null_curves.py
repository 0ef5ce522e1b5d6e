"""Curves of trainings in which nothing changes: the real scores of a run, with noise resampled by clusters.

From one checkpoint to the next, each cluster gets the noise of a cluster that is drawn with replacement: its own scores
less the mean over all. So noise has the spread, the tails and the correlation within clusters that scores have, its
expected mean is 0, and every change that is shown is a false alarm.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand import Run
from evenhand.analysis.tracking import SHOWN, Curve, Track, compare_checkpoints, way_of
from evenhand.runs.record import TaskRecord

SIZE = 0.3
"""Of the noise of one step, as a share of the scores' own."""
Noise = Callable[[Any, np.random.Generator], None]
"""Changes the scores, an array, as a step of a training without any effect does."""


def false_alarms(run: Run, curves: tuple[Curve, ...], noise: list[Noise], checkpoints: int, seed: int) -> list[bool]:
    """For each curve of a simulated training, whether any change is shown: between neighbours, or first and last."""
    rng = np.random.default_rng(seed)
    runs, scores = [], run.scores["score"].to_numpy(dtype=float).copy()
    for number in range(checkpoints):
        record = replace(run.record, fingerprint=str(number))
        runs.append(Run(Path(f"training/checkpoint-{number + 1}"), record))
        kept = {"scores": run.scores.assign(score=scores), "unmeasured": {}}  # where a run keeps what it has read
        runs[-1].__dict__ |= kept
        for change in noise:
            change(scores, rng)
    found = compare_checkpoints(Track(tuple(runs), curves))
    shown = {(row.dataset, row.name, row.group) for row in found if way_of(row) in SHOWN}
    return [curve.key in shown for curve in curves]


def noise_of(run: Run, curves: tuple[Curve, ...]) -> list[Noise]:
    """What changes the scores of these curves from one checkpoint to the next."""
    return [noise for task in {curve.task.name: curve.task for curve in curves}.values() for noise in _noise(run, task)]


def _noise(run: Run, task: TaskRecord) -> Iterator[Noise]:
    mine = run.scores[(run.scores["dataset"] == task.dataset) & (run.scores["measure"] == task.measure)]
    place = dict(zip(mine["id"], mine.index, strict=True))
    assert task.partners
    both = task.partners.pairs(run.scores_of(*task.name)).dropna(subset="difference")
    for _, part in both.groupby(next(group for group in task.by if group != "gender")):
        clusters = [one for _, one in part.groupby(task.cluster)]
        middle = float(np.mean([one["difference"].mean() for one in clusters]))
        donors = [one["difference"].to_numpy(dtype=float) - middle for one in clusters]
        yield _drawn_clusters([one["id_female"].map(place).to_numpy() for one in clusters], donors)


def _drawn_clusters(places: list[Any], donors: list[Any]) -> Noise:
    """The noise of a pair is added to its female item."""

    def change(scores: Any, rng: np.random.Generator) -> None:
        for where, donor in zip(places, rng.integers(len(donors), size=len(places)), strict=True):
            scores[where] += SIZE * np.resize(donors[donor], len(where))

    return change
