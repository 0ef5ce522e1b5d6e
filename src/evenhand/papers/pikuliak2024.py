"""Pikuliak, Oresko, Hrckova and Simko 2024, GEST: r_i and g_s of many models, from their published predictions."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evenhand import Dataset, Score, datasets, measures
from evenhand.errors import BadInput, check_known
from evenhand.papers.base import DATA, Reproduction, folder, neighbours, orderings, read, versus
from evenhand.stats import generator

SHOWN = ("bert-base-uncased", "gpt2")
SHARED = "3"
"""The template that masked and causal models have in common."""


KINDS = {"masked": "", "causal": "-causal"}
"""What the name of the dataset ends with, by kind of model."""
RATE: Any = measures.load("gest").summarise
"""g_s of all scores; r_i of those of one stereotype."""


class Predicted(NamedTuple):
    """The published predictions of one model by one template, and the rates that the authors print."""

    model: str
    kind: str
    template: str
    rates: list[float]
    scores: list[Score]

    @property
    def by_stereotype(self) -> dict[str, list[Score]]:
        found: dict[str, list[Score]] = {}
        for score in self.scores:
            found.setdefault(score.groups["stereotype"], []).append(score)
        return dict(sorted(found.items()))


def reproduce(*, models: list[str] | None = None, out: str | Path = "runs/reproduce") -> Reproduction:
    """r_i of the published predictions of `models` next to the printed ones, and g_s, which the paper draws.

    As released: version 1.0, and the exponential of scores to the base 10. What the paper lacks: intervals, and which
    neighbours in the order by g_s are shown to differ, of all models. Nothing is written to `out`: `evenhand import`
    makes runs.
    """
    source = folder("published/gest", "the authors' repository, kinit-sk/gest, data/predictions")
    rows = [row for _, row in datasets.rows(DATA / "pikuliak2024.tsv", ())]
    check_known("model with published predictions", models or (), {row["model"] for row in rows})
    data = {kind: datasets.load(f"gest{suffix}", version="1.0", template=SHARED) for kind, suffix in KINDS.items()}
    found = [_read_predictions(row, source, data[row["kind"]]) for row in rows]
    cells = [cell for one in found if one.model in (models or SHOWN) for cell in _cells(one, data[one.kind].cluster)]
    apart = max(
        abs(float(np.exp(np.mean([score.value for score in part]))) - printed)
        for one in found
        for part, printed in zip(one.by_stereotype.values(), one.rates, strict=True)
    )
    notes = [
        "Published: r_i as the authors print them, to two decimals. g_s is published in a figure alone.",
        f"Of all {len(found)} models and templates, no r_i is more than {apart:.4f} away from the printed one.",
        "As released: version 1.0, the exponential of scores to the base 10. With natural logarithms g_s is the same "
        "to the power of 2.303.",
        *(_orderings(kind, found, data[kind].cluster) for kind in KINDS),
        *([] if models else [f"Shown: {', '.join(SHOWN)}. Others: `model`."]),
    ]
    return Reproduction(pd.DataFrame(cells), notes)


def _read_predictions(row: Mapping[str, str], source: Path, data: Dataset) -> Predicted:
    number = int(row["template"]) - (1 if row["kind"] == "masked" else 3)  # the release counts from 0
    path = source / f"{row['model']}_template-{number}.txt"
    values = read(path, lambda text: [float(line) for line in text.splitlines()])
    if len(values) != len(data.items) or not np.isfinite(values).all():
        raise BadInput(f"'{path}' must have {len(data.items):,} finite numbers, one for each sentence.")
    scores = [Score(item.id, value, item.groups) for item, value in zip(data.items, values, strict=True)]
    rates = [float(row[f"r{i}"]) for i in range(1, 17)]
    return Predicted(row["model"], row["kind"], row["template"], rates, scores)


def _cells(one: Predicted, cluster: str) -> Iterator[dict[str, Any]]:
    about = {"model": one.model, "template": one.template}
    yield versus(None, _rate(one.scores, cluster, {}), **about, what="g_s")
    for (label, scores), printed in zip(one.by_stereotype.items(), one.rates, strict=True):
        yield versus(printed, _rate(scores, cluster, {"stereotype": label}), **about, what=f"r, {label}")


def _rate(scores: Sequence[Score], cluster: str, groups: Mapping[str, str]) -> dict[str, float]:
    summary = RATE.inside(groups)
    resampled = summary.resampling([scores], [score.groups[cluster] for score in scores])
    low, high = resampled.interval(generator(0, groups))
    return {"value": summary(scores), "low": low, "high": high}


def _orderings(kind: str, found: Sequence[Predicted], cluster: str) -> str:
    scores = {one.model: one.scores for one in found if one.kind == kind and one.template == SHARED}
    pairs = neighbours({name: RATE(of) for name, of in scores.items()})
    return orderings(f"g_s of {kind} models, template {SHARED}, each with the next", pairs, scores, RATE, cluster)
