"""Many models on one dataset: who is nearest to neutral, and can one tell?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.measure import Traits
from evenhand.core.scores import FAST, MacroMean, Score, Summarise, Value, generator, summarised
from evenhand.measures import MEASURES
from evenhand.runs.comparable import distinct_names, of_two_kinds, same_task
from evenhand.runs.folder import Run
from evenhand.runs.record import TaskRecord
from evenhand.stats.estimate import side
from evenhand.stats.intervals import Floats, clustered_interval


def comparable(run: Run) -> list[tuple[str, str]]:
    """The datasets of a run and, for each, the measure to set models side by side with."""
    found = []
    for dataset in run.datasets:
        tasks = [task for task in run.tasks_on(dataset) if task.ranks_models]
        if tasks:  # one whose value of all items has a direction first
            found.append(min(tasks, key=lambda task: (task.better != "higher", task.rank)).name)
    return found


def mixed(scores: pd.DataFrame, task: TaskRecord) -> bool:
    """Do some of the words call for he, and others for she, so that the value of all of them has no direction?"""
    return task.better == "closer" and "calls_for" in scores and bool(scores["calls_for"].nunique() > 1)


def side_by_side(runs: Sequence[Run], dataset: str, measure: str) -> pd.DataFrame:
    """A row for each group and model: labels, `model`, `value`, `low`, `high`, `n`, `mark`; `total` in the row of all.

    `mark` is "best" where the model is nearer to the neutral value than every other (for words that call for one
    gender: farther, on the right side), "worst" where it is farther, and empty where that could be chance: the
    interval of each difference, item by item and clustered as the values' own, at 95 % for all comparisons of the row
    (Bonferroni), must leave out 0. Items that one of the models could not score are left out for all. Among causal
    models and others nobody is marked: the same measure is another quantity of them.
    """
    task = same_task(runs, dataset, measure)
    by = task.by
    frames = _common([run.scores_of(dataset, measure) for run in runs])
    rows: list[dict[str, Any]] = []
    values = [_values(frame, task, run.record.seed) for frame, run in zip(frames, runs, strict=True)]
    for number, value in enumerate(values[0]):
        labels = dict(value.groups)
        marks = _marks([_part(frame, labels) for frame in frames], labels, task, runs[0].record.seed)
        if of_two_kinds(runs):
            marks = [""] * len(runs)
        shown = {group: labels.get(group, "all") for group in by} or {"items": "all"}
        for name, mine, mark in zip(distinct_names(runs), values, marks, strict=True):
            found = {key: getattr(mine[number], key) for key in ("value", "low", "high", "n")}
            rows.append({**shown, "model": name, **found, "mark": mark, "total": not labels})
    return pd.DataFrame(rows)


def _common(frames: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """The items that all models could score."""
    ids = set.intersection(*(set(frame.dropna(subset="score")["id"]) for frame in frames))
    return [frame[frame["id"].isin(ids)] for frame in frames]


def _values(frame: pd.DataFrame, task: TaskRecord, seed: int) -> list[Value]:
    """The value of all items, then of each group; without what lies within."""
    groups = list(dict.fromkeys(group for group in (*task.by, task.cluster, task.crossed) if group))
    scores = [
        Score(str(row["id"]), float(row["score"]), {group: row[group] for group in groups})
        for row in frame.to_dict("records")
    ]
    how = MEASURES[task.measure]
    summarise: Summarise = how.summarise  # type: ignore[assignment]
    design = {"cluster": task.cluster, "crossed": task.crossed}
    return list(summarised(scores, summarise, by=task.by, bounds=Traits.of(how).bounds, seed=seed, **design))


def _marks(parts: list[pd.DataFrame], labels: dict[str, str], task: TaskRecord, seed: int) -> list[str]:
    groups = [group for group in (task.cluster, task.crossed) if group]
    joined = parts[0][["id", *groups]]
    for number, part in enumerate(parts):
        joined = joined.merge(part[["id", "score"]].rename(columns={"score": f"score{number}"}), on="id")
    if joined.empty or mixed(parts[0], task):
        return ["" for _ in parts]
    summarise: Summarise = MEASURES[task.measure].summarise  # type: ignore[assignment]
    scores = joined[[f"score{n}" for n in range(len(parts))]].to_numpy(dtype=float)
    if isinstance(summarise, MacroMean):
        scores = scores * _equal_shares(parts[0][summarise.by])[:, np.newaxis]
    else:
        scores = FAST[summarise](scores)
    badness = _badness(scores, labels, task)
    now = badness.mean(axis=0)
    marks = ["" for _ in parts]
    for name, which, sign in (("best", int(now.argmin()), 1), ("worst", int(now.argmax()), -1)):
        apart = [
            _apart(sign * (badness[:, other] - badness[:, which]), joined, task, len(parts) - 1, seed)
            for other in range(len(parts))
            if other != which
        ]
        marks[which] = name if all(apart) else marks[which]
    return marks


def _equal_shares(sets: pd.Series) -> Floats:
    """Weights of mean 1 by which each set counts alike, however many items it has."""
    sizes = sets.map(sets.value_counts())
    return np.asarray(len(sets) / (sets.nunique() * sizes), dtype=np.float64)


def _badness(scores: Floats, labels: dict[str, str], task: TaskRecord) -> Floats:
    """What each item adds to the distance from neutral, or from what a word calls for: the smaller the better.

    The distance is |mean - neutral|; an item's share in it is its own difference from neutral, with the mean's sign.
    """
    if task.better == "higher":
        return -scores
    wanted = {"she": 1.0, "he": -1.0}.get(labels.get("calls_for", ""))
    if wanted is not None:
        return wanted * scores
    centred: Floats = scores - MEASURES[task.measure].neutral
    signed: Floats = centred * np.sign(centred.mean(axis=0))
    return signed


def _apart(differences: Floats, items: pd.DataFrame, task: TaskRecord, comparisons: int, seed: int) -> bool:
    """Is the whole interval above 0, at 95 % over so many comparisons?"""
    clusters = items[task.cluster or "id"].astype(str).tolist()
    crossed = items[task.crossed].astype(str).tolist() if task.crossed else None
    rng = generator(seed, {"models": "side by side"})
    return side(*clustered_interval(differences, clusters, rng, crossed=crossed, level=1 - 0.05 / comparisons)) > 0


def _part(frame: pd.DataFrame, labels: dict[str, str]) -> pd.DataFrame:
    for group, label in labels.items():
        frame = frame[frame[group] == label]
    return frame
