"""A model before and after: what changed, measure by measure, item by item."""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from evenhand.analysis.findings import of_dataset
from evenhand.analysis.paired import changes, compared, pairs
from evenhand.analysis.side_by_side import same_task
from evenhand.folder import Run
from evenhand.measures import MEASURES
from evenhand.result import FAST, Summarise, generator
from evenhand.stats import clustered_interval, holm, sign_flip_test

COLUMNS = ("dataset", "measure", "group", "before", "after", "change", "low", "high", "p", "p_holm")


def changed(before: Run, after: Run) -> pd.DataFrame:
    """For each measure and group: value before and after, their difference with its 95 % interval, and p.

    Differences are item by item, clustered as the values themselves; `p` flips the signs of whole clusters, `p_holm` is
    adjusted over all rows. Of associations the difference female - male is compared, by profession group.
    """
    rows: list[dict[str, Any]] = []
    for task in before.about["tasks"]:
        same_task([before, after], task["dataset"], task["measure"])
        one, other = (of_dataset(run, task["dataset"], task["measure"]) for run in (before, after))
        find = _associations if {"gender", "slot"} <= set(one) else _values
        rows += find(one, other, {"within": "", "crossed": ""} | task, before.about["seed"])
    for row, adjusted in zip(rows, holm([1.0 if math.isnan(r["p"]) else r["p"] for r in rows]), strict=True):
        row["p_holm"] = adjusted
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _associations(one: pd.DataFrame, other: pd.DataFrame, task: dict[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    by, cluster = task["by"][0], task["cluster"]
    first, second, moved = (
        compared(pairs(frame), by=by, cluster=cluster, seed=seed).set_index(by)
        for frame in (one, other, changes(one, other))
    )
    for label in moved.index:
        found = moved.loc[label]
        yield {
            "dataset": task["dataset"],
            "measure": "association, female - male",
            "group": str(label),
            "before": first.loc[label, "difference"],
            "after": second.loc[label, "difference"],
            "change": found["difference"],
            "low": found["low"],
            "high": found["high"],
            "p": found["p"],
        }


def _values(one: pd.DataFrame, other: pd.DataFrame, task: dict[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    changes(one, other)  # the same items, or an error
    joined = one.merge(other[["id", "score"]], on="id", suffixes=("", "_after")).dropna(subset=["score", "score_after"])
    summarise: Summarise = MEASURES[task["measure"]].summarise  # type: ignore[assignment]
    of = FAST[summarise]
    parts = {"all": joined}
    if task["by"]:
        parts |= {", ".join(map(str, labels)): part for labels, part in joined.groupby(task["by"])}
    for label, part in parts.items():
        if part.empty:
            continue
        here, there = (of(part[column].to_numpy(dtype=float)) for column in ("score", "score_after"))
        clusters = part[task["cluster"] or "id"].astype(str).tolist()
        crossed = part[task["crossed"]].astype(str).tolist() if task["crossed"] else None
        rng = generator(seed, {"change": label})
        low, high = clustered_interval(there - here, clusters, rng, crossed=crossed)
        yield {
            "dataset": task["dataset"],
            "measure": task["measure"],
            "group": label,
            "before": here.mean(),
            "after": there.mean(),
            "change": (there - here).mean(),
            "low": low,
            "high": high,
            "p": sign_flip_test(there - here, clusters, rng),
        }
