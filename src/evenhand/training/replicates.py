"""Combine the scores of models trained on several draws: a mean, with an interval over draws and items together."""

from dataclasses import replace

import numpy as np
import pandas as pd

from evenhand.errors import BadInput
from evenhand.stats.estimate import Estimate
from evenhand.stats.intervals import generator
from evenhand.stats.mean_intervals import mean_estimate
from evenhand.stats.verdict import adjust, decide

COMBINED = "combined"
COLUMNS = ["group", "value", "low", "high", "draws", "n", "p_holm", "lean"]


def replicate_means(
    scores: pd.DataFrame, *, by: str = "category", cluster: str = "id", size: bool = False, seed: int = 0
) -> pd.DataFrame:
    """The mean score of each group, then of all together, over draws: group, value, low, high, draws, n, p_holm, lean.

    `scores` has columns id, score, `by`, and draw if there are several. With `size`, absolute scores are used (ASLD).
    Items, or the clusters of items that `cluster` names, and draws are both treated as samples, so the interval covers
    what another training on other sentences would give (stats.mean_test, crossed); with one draw, only the items.
    `lean` is the verdict of stats.verdict against 0, with p adjusted over these rows.
    """
    return _table(scores.assign(score=scores["score"].abs()) if size else scores, by, cluster, seed)


def replicate_changes(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    by: str = "category",
    cluster: str = "id",
    size: bool = False,
    seed: int = 0,
) -> pd.DataFrame:
    """The change of the mean score from one model to another, item by item and draw by draw.

    The columns are those of `replicate_means`. If only one of the models has several draws, each of these is compared
    with the only draw of the other model.
    """
    keys = ["id", "draw"] if all("draw" in frame for frame in (before, after)) else ["id"]
    if set(before["id"]) != set(after["id"]):
        raise BadInput("`before` and `after` must have scores of the same items. Their ids differ.")
    joined = after.merge(before[[*keys, "score"]], on=keys, suffixes=("", "_before"))
    start, end = (joined[name].abs() if size else joined[name] for name in ("score_before", "score"))
    return _table(joined.assign(score=end - start), by, cluster, seed)


def _table(scores: pd.DataFrame, by: str, cluster: str, seed: int) -> pd.DataFrame:
    scores = scores.dropna(subset=["score"])
    rows: list[tuple[str, int]] = []
    estimates: list[Estimate] = []
    for label, part in (*scores.groupby(by, sort=False), *([(COMBINED, scores)] if len(scores) else [])):
        values, clusters = part["score"].to_numpy(dtype=np.float64), part[cluster].astype(str).tolist()
        draws = part["draw"].astype(str).tolist() if "draw" in part else [""]
        crossed = [draws] if len(set(draws)) > 1 else []
        estimate = mean_estimate(values, clusters, generator(seed, {"group": str(label)}), crossed=crossed)
        estimates.append(replace(estimate, n=part["id"].nunique()))
        rows.append((str(label), len(set(draws))))
    several = max((draws for _, draws in rows), default=1) > 1
    tested = zip(rows, adjust(estimates, crossed=several), strict=True)
    table = [(label, e.value, e.low, e.high, draws, e.n, e.p_holm, decide(e).word) for (label, draws), e in tested]
    return pd.DataFrame(table, columns=COLUMNS)
