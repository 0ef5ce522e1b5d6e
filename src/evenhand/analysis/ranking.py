"""Many models on one dataset: which is nearest to neutral, and whether that could be chance."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from evenhand.analysis.change import two_values
from evenhand.analysis.two_runs import Values
from evenhand.core.scores import generator
from evenhand.measures import MEASURES
from evenhand.runs.comparable import distinct_names, of_two_kinds, same_task
from evenhand.runs.folder import Run
from evenhand.runs.record import TaskRecord
from evenhand.runs.values import contrasts_from, values_from
from evenhand.stats.verdict import FEWEST_CROSSED, enough, moved


def comparable(run: Run) -> list[tuple[str, str]]:
    """The datasets of a run and, for each, the measure that models are compared by."""
    found = []
    for dataset in run.datasets:
        known = [task for task in run.tasks_on(dataset) if task.measure in MEASURES]
        tasks = [task for task in known if task.ranks_models or task.genders]
        if tasks:  # one whose value of all items has a direction first
            found.append(min(tasks, key=lambda task: (task.better != "higher", task.rank)).name)
    return found


def side_by_side(runs: Sequence[Run], dataset: str, measure: str) -> pd.DataFrame:
    """A row for each group and model: labels, `model`, `value`, `low`, `high`, `n`, `mark`; `total` in the row of all.

    Where women and men are partners, the values are their differences, by the first group. `mark` is "best" where the
    model is nearer to the neutral value than every other (for words that call for one gender: farther, on the right
    side), "worst" where it is farther, and empty where that could be chance: each comparison must pass the rule of
    stats.verdict, with p adjusted over all comparisons of the table (Bonferroni). Items that one of the models could
    not score are left out for all. With a model that is unfit, which is marked so, nothing is ranked. Causal models
    are not ranked among others: the same measure is another quantity for them.
    """
    task = same_task(runs, dataset, measure)
    frames = _common([run.scores_of(dataset, measure) for run in runs])
    values = [contrasts_from(frame, task) if task.genders else values_from(frame, task) for frame in frames]
    by = [group for group in task.by if not task.genders or group != "gender"][: 1 if task.genders else None]
    unfit = ["unfit" if run.record.unfit(run.task(dataset, measure)) else "" for run in runs]
    ranked = not of_two_kinds(runs) and not any(unfit)
    marks = _marks(frames, task, len(values[0])) if ranked else {}
    rows: list[dict[str, Any]] = []
    for number, value in enumerate(values[0]):
        labels = dict(value.groups)
        shown = {group: labels.get(group, "all") for group in by} or {"items": "all"}
        mine = marks.get(", ".join(labels.values()) or "all", unfit)
        for name, found, mark in zip(distinct_names(runs), values, mine, strict=True):
            numbers = {key: getattr(found[number], key) for key in ("value", "low", "high", "n")}
            rows.append({**shown, "model": name, **numbers, "mark": mark, "total": not labels})
    return pd.DataFrame(rows)


def _common(frames: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """The items that all models could score."""
    ids = set.intersection(*(set(frame.dropna(subset="score")["id"]) for frame in frames))
    return [frame[frame["id"].isin(ids)] for frame in frames]


def _marks(frames: list[pd.DataFrame], task: TaskRecord, rows: int) -> dict[str, list[str]]:
    """Best and worst by label, where each comparison with the others passes the test for the whole table."""
    if frames[0].empty:
        return {}

    @cache
    def both(one: int, other: int) -> dict[str, Values]:
        return {label: found for label, found, _ in two_values(frames[one], frames[other], task)}

    comparisons = rows * (len(frames) - 1)

    def farther(label: str, one: int, other: int) -> bool:
        """Whether the second model is shown to be farther from where it should be than the first."""
        found = both(one, other)[label].row(generator(task.seed, {"models": "side by side"}), same=False)
        p = found["worse_p"] * comparisons
        needed = FEWEST_CROSSED if task.crossed and not task.genders else enough(comparisons)
        return moved(found["worse_low"], found["worse_high"], p, found["clusters"], needed) > 0

    marks = {}
    for label in both(0, 0):
        distances = [both(number, number)[label].distance for number in range(len(frames))]
        marks[label] = mine = [""] * len(frames)
        if np.isnan(distances).any():
            continue
        best, worst = int(np.argmin(distances)), int(np.argmax(distances))
        others = [number for number in range(len(frames)) if number not in (best, worst)]
        if best != worst and farther(label, best, worst):
            mine[best] = "best" if all(farther(label, best, other) for other in others) else ""
            mine[worst] = "worst" if all(farther(label, other, worst) for other in others) else ""
    return marks
