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
from evenhand.stats import Floats

DRAWS = 5_000
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
    gender: farther, on the right side), "worst" where it is farther, and empty where that could be chance: the models
    are resampled together, cluster by cluster, and each difference's interval, at 95 % for all comparisons of the row
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
    joined = parts[0][["id", *filter(None, [task["cluster"]])]]
    for number, part in enumerate(parts):
        joined = joined.merge(part[["id", "score"]].rename(columns={"score": f"score{number}"}), on="id")
    joined = joined.dropna()
    summarise: Summarise = MEASURES[task["measure"]].summarise  # type: ignore[assignment]
    scores = FAST[summarise](joined[[f"score{n}" for n in range(len(parts))]].to_numpy(dtype=float))
    clusters = joined[task["cluster"] or "id"].astype(str)
    _, index = np.unique(clusters, return_inverse=True)
    g = int(index.max()) + 1 if len(index) else 0
    if g < 2:
        return ["" for _ in parts]
    badness = _badness(_draws(scores, index, g, generator(seed, {**labels, "models": "all"})), labels, task)
    now = _badness(scores.mean(axis=0, keepdims=True), labels, task)[0]
    marks = ["" for _ in parts]
    for name, which, sign in (("best", int(now.argmin()), 1), ("worst", int(now.argmax()), -1)):
        if all(_apart(sign * (badness[:, o] - badness[:, which]), len(parts) - 1) for o in _others(which, len(parts))):
            marks[which] = name
    return marks


def _badness(values: Floats, labels: dict[str, str], task: dict[str, Any]) -> Floats:
    """How far from neutral, or from what a word calls for: the smaller the better."""
    if task["measure"] == "gender-agreement":
        return -values
    wanted = {"below 0": 1.0, "above 0": -1.0}.get(labels.get("better", ""))
    if wanted is not None:
        return wanted * values
    return np.abs(values - MEASURES[task["measure"]].neutral)


def _draws(scores: Floats, index: Any, g: int, rng: np.random.Generator) -> Floats:
    """The means of all models in bootstrap samples of clusters, the same for each: (draws, models)."""
    sums = np.zeros((g, scores.shape[1]))
    np.add.at(sums, index, scores)
    drawn = rng.multinomial(g, np.full(g, 1 / g), size=DRAWS).astype(np.float64)  # (draws, clusters)
    means: Floats = (drawn @ sums) / (drawn @ np.bincount(index, minlength=g).astype(np.float64))[:, None]
    return means


def _apart(differences: Floats, comparisons: int) -> bool:
    """Is the whole interval above 0, at 95 % over so many comparisons?"""
    return bool(np.quantile(differences, 0.025 / max(comparisons, 1)) > 0)


def _others(which: int, n: int) -> list[int]:
    return [other for other in range(n) if other != which]


def _same_task(runs: Sequence[Run], dataset: str, measure: str) -> dict[str, Any]:
    """What was measured, if it was the same in all runs."""
    tasks = []
    for run in runs:
        found = [t for t in run.about["tasks"] if (t["dataset"], t["measure"]) == (dataset, measure)]
        if not found:
            raise BadInput(f"'{run.path}' has no {measure} on {dataset}. Audit all models with the same suite.")
        tasks.append({k: v for k, v in found[0].items() if k != "reading"})
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
