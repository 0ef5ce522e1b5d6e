"""Many models on one dataset: who is nearest to neutral, and can one tell?"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evenhand.errors import BadInput
from evenhand.folder import Run
from evenhand.measures import MEASURES
from evenhand.result import FAST, Summarise, generator
from evenhand.stats import Floats, clustered_interval

COMPARED = ("gender-agreement", "likelihood-difference", "pronoun")
"""Measures by which models can be ranked; of a dataset's, the first of these is shown."""


def comparable(run: Run) -> list[tuple[str, str]]:
    """The datasets of a run and, for each, the measure to set models side by side with."""
    measures: dict[str, list[str]] = {}
    for task in run.about["tasks"]:
        measures.setdefault(task["dataset"], []).append(task["measure"])
    return [(data, m) for data, has in measures.items() if (m := next((c for c in COMPARED if c in has), None))]


def side_by_side(runs: Sequence[Run], dataset: str, measure: str) -> pd.DataFrame:
    """A row for each group and model: labels, `model`, `value`, `low`, `high`, `mark`.

    `mark` is "best" where the model is nearer to the neutral value than every other (for words that call for one
    gender: farther, on the right side), "worst" where it is farther, and empty where that could be chance: the
    interval of each difference, item by item and clustered as the values' own, at 95 % for all comparisons of the row
    (Bonferroni), must leave out 0.
    """
    task = _same_task(runs, dataset, measure)
    by = task["by"]
    frames = [_scores(run, dataset, measure) for run in runs]
    rows: list[dict[str, Any]] = []
    for labels in _labels(runs[0], dataset, measure, by):
        marks = _marks([_part(frame, labels) for frame in frames], labels, task, runs[0].about["seed"])
        for run, mark in zip(runs, marks, strict=True):
            found = _value(run, dataset, measure, labels)
            shown = {group: labels.get(group, "all") for group in by}
            rows.append({**shown, "model": run.about["model"], **found, "mark": mark})
    return pd.DataFrame(rows)


def _marks(parts: list[pd.DataFrame], labels: dict[str, str], task: dict[str, Any], seed: int) -> list[str]:
    groups = [group for group in (task["cluster"], task["crossed"]) if group]
    joined = parts[0][["id", *groups]]
    for number, part in enumerate(parts):
        joined = joined.merge(part[["id", "score"]].rename(columns={"score": f"score{number}"}), on="id")
    joined = joined.dropna()
    if joined.empty:
        return ["" for _ in parts]
    summarise: Summarise = MEASURES[task["measure"]].summarise  # type: ignore[assignment]
    scores = FAST[summarise](joined[[f"score{n}" for n in range(len(parts))]].to_numpy(dtype=float))
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


def _badness(scores: Floats, labels: dict[str, str], task: dict[str, Any]) -> Floats:
    """What each item adds to the distance from neutral, or from what a word calls for: the smaller the better.

    The distance is |mean - neutral|; an item's share in it is its own difference from neutral, with the mean's sign.
    """
    if task["measure"] == "gender-agreement":
        return -scores
    wanted = {"she": 1.0, "he": -1.0}.get(labels.get("calls_for", ""))
    if wanted is not None:
        return wanted * scores
    centred: Floats = scores - MEASURES[task["measure"]].neutral
    signed: Floats = centred * np.sign(centred.mean(axis=0))
    return signed


def _apart(differences: Floats, items: pd.DataFrame, task: dict[str, Any], comparisons: int, seed: int) -> bool:
    """Is the whole interval above 0, at 95 % over so many comparisons?"""
    clusters = items[task["cluster"] or "id"].astype(str).tolist()
    crossed = items[task["crossed"]].astype(str).tolist() if task["crossed"] else None
    rng = generator(seed, {"models": "side by side"})
    low, _ = clustered_interval(differences, clusters, rng, crossed=crossed, level=1 - 0.05 / comparisons)
    return low > 0


def _same_task(runs: Sequence[Run], dataset: str, measure: str) -> dict[str, Any]:
    """What was measured, if it was the same in all runs."""
    tasks = []
    for run in runs:
        found = [t for t in run.about["tasks"] if (t["dataset"], t["measure"]) == (dataset, measure)]
        if not found:
            raise BadInput(f"'{run.path}' has no {measure} on {dataset}. Audit all models with the same suite.")
        tasks.append({"within": "", "crossed": ""} | {k: v for k, v in found[0].items() if k != "reading"})
    for run, task in zip(runs, tasks, strict=True):
        if task != tasks[0] or run.about["limit"] != runs[0].about["limit"]:
            raise BadInput(
                f"'{runs[0].path}' and '{run.path}' were not measured alike on {dataset}: other versions, options or "
                "samples. Audit them with the same command."
            )
    return tasks[0]


def _scores(run: Run, dataset: str, measure: str) -> pd.DataFrame:
    return run.scores[(run.scores["dataset"] == dataset) & (run.scores["measure"] == measure)]


def _labels(run: Run, dataset: str, measure: str, by: list[str]) -> list[dict[str, str]]:
    """All items, then each group; without what lies within."""
    rows = [r["groups"] for r in run.results if (r["dataset"], r["measure"]) == (dataset, measure)]
    return [groups for groups in rows if set(groups) in (set(), set(by))]


def _part(frame: pd.DataFrame, labels: dict[str, str]) -> pd.DataFrame:
    for group, label in labels.items():
        frame = frame[frame[group] == label]
    return frame


def _value(run: Run, dataset: str, measure: str, labels: dict[str, str]) -> dict[str, float]:
    for row in run.results:
        if (row["dataset"], row["measure"], row["groups"]) == (dataset, measure, labels):
            return {name: math.nan if row[name] is None else row[name] for name in ("value", "low", "high")}
    return {"value": math.nan, "low": math.nan, "high": math.nan}
