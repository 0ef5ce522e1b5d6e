"""Many models on one dataset: which is nearest to neutral, and whether that could be chance."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evenhand.analysis.change import item_scores, joined_by_item
from evenhand.core.scores import generator
from evenhand.measures import MEASURES
from evenhand.runs.comparable import distinct_names, of_two_kinds, same_task
from evenhand.runs.folder import Run
from evenhand.runs.record import TaskRecord
from evenhand.runs.values import mixed, values_from
from evenhand.stats.verdict import FEWEST_CROSSED, enough, moved


def comparable(run: Run) -> list[tuple[str, str]]:
    """The datasets of a run and, for each, the measure that models are compared by."""
    found = []
    for dataset in run.datasets:
        tasks = [task for task in run.tasks_on(dataset) if task.ranks_models and task.measure in MEASURES]
        if tasks:  # one whose value of all items has a direction first
            found.append(min(tasks, key=lambda task: (task.better != "higher", task.rank)).name)
    return found


def side_by_side(runs: Sequence[Run], dataset: str, measure: str) -> pd.DataFrame:
    """A row for each group and model: labels, `model`, `value`, `low`, `high`, `n`, `mark`; `total` in the row of all.

    `mark` is "best" where the model is nearer to the neutral value than every other (for words that call for one
    gender: farther, on the right side), "worst" where it is farther, and empty where that could be chance: each
    comparison must pass the rule of stats.verdict, with p adjusted over all comparisons of the table (Bonferroni).
    Items that one of the models could not score are left out for all. Causal models are not ranked among others: the
    same measure is another quantity for them.
    """
    task = same_task(runs, dataset, measure)
    by = task.by
    frames = _common([run.scores_of(dataset, measure) for run in runs])
    rows: list[dict[str, Any]] = []
    values = [values_from(frame, task) for frame in frames]
    for number, value in enumerate(values[0]):
        labels = dict(value.groups)
        marks = [""] * len(runs)
        if not of_two_kinds(runs) and not any(run.record.unfit(task) for run in runs):
            parts = [_part(frame, labels) for frame in frames]
            marks = _marks(parts, labels, task, len(values[0]))
        shown = {group: labels.get(group, "all") for group in by} or {"items": "all"}
        for name, mine, mark in zip(distinct_names(runs), values, marks, strict=True):
            found = {key: getattr(mine[number], key) for key in ("value", "low", "high", "n")}
            rows.append({**shown, "model": name, **found, "mark": mark, "total": not labels})
    return pd.DataFrame(rows)


def _common(frames: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """The items that all models could score."""
    ids = set.intersection(*(set(frame.dropna(subset="score")["id"]) for frame in frames))
    return [frame[frame["id"].isin(ids)] for frame in frames]


def _marks(parts: list[pd.DataFrame], labels: dict[str, str], task: TaskRecord, rows: int) -> list[str]:
    """Best and worst of these models, where each comparison with the others passes the test for the whole table."""
    marks = ["" for _ in parts]
    if parts[0].empty or mixed(parts[0], task):
        return marks
    comparisons = rows * (len(parts) - 1)

    def farther(one: int, other: int) -> bool:
        """Whether the second model is shown to be farther from where it should be than the first."""
        both = item_scores(joined_by_item(parts[one], parts[other]), task, labels)
        found = both.row(generator(task.seed, {"models": "side by side"}), same=False)
        p = found["worse_p"] * comparisons
        needed = FEWEST_CROSSED if task.crossed else enough(comparisons)
        return moved(found["worse_low"], found["worse_high"], p, found["clusters"], needed) > 0

    distances = [item_scores(joined_by_item(part, part), task, labels).distance for part in parts]
    best, worst = int(np.argmin(distances)), int(np.argmax(distances))
    others = [number for number in range(len(parts)) if number not in (best, worst)]
    if best != worst and farther(best, worst):
        marks[best] = "best" if all(farther(best, other) for other in others) else ""
        marks[worst] = "worst" if all(farther(other, worst) for other in others) else ""
    return marks


def _part(frame: pd.DataFrame, labels: dict[str, str]) -> pd.DataFrame:
    for group, label in labels.items():
        frame = frame[frame[group] == label]
    return frame
