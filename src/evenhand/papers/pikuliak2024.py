"""Pikuliak, Oresko, Hrckova and Simko 2024, GEST: r_i and g_s of many models, from their published predictions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evenhand import datasets
from evenhand.analysis.two_runs import Summaries
from evenhand.core.dataset import Dataset
from evenhand.core.design import Design
from evenhand.core.files import read_given
from evenhand.core.scores import Score
from evenhand.core.summary import group_values
from evenhand.datasets.files.bundled import read_tsv
from evenhand.errors import BadInput, UnknownName
from evenhand.measures.gest import MEN, WOMEN, StereotypeRate
from evenhand.papers.base import Reproduction, folder, neighbours, orderings, versus
from evenhand.stats.intervals import Floats

SHOWN = ("bert-base-uncased", "gpt2")
SHARED = "3"
"""The template that masked and causal models have in common."""


class Predicted(NamedTuple):
    """The published predictions of one model by one template, and the rates that the authors print."""

    model: str
    kind: str
    template: str
    rates: list[float]
    scores: list[Score]

    @property
    def values(self) -> Floats:
        return np.array([score.value for score in self.scores])

    @property
    def ours(self) -> list[float]:
        labels = np.array([score.groups["stereotype"] for score in self.scores])
        return [float(np.exp(self.values[labels == label].mean())) for label in (*WOMEN, *MEN)]


def reproduce(*, models: list[str] | None = None, out: str | Path = "runs/reproduce") -> Reproduction:
    """r_i of the published predictions of `models` next to the printed ones, and g_s, which the paper draws.

    As released: version 1.0, and the exponential of scores to the base 10. What the paper lacks: intervals, and which
    neighbours in the order by g_s are shown to differ, of all models. Nothing is written to `out`: `evenhand import`
    makes runs.
    """
    source = folder("gest", "the authors' repository, kinit-sk/gest, data/predictions")
    rows = read_tsv("pikuliak2024.tsv", "evenhand.papers")
    for name in models or ():
        if name not in (names := {row["model"] for row in rows}):
            raise UnknownName("model with published predictions", name, names)
    data = {kind: datasets.load(f"gest{suffix}", version="1.0", template=SHARED) for kind, suffix in KINDS.items()}
    found = [_predicted(row, source, data[row["kind"]]) for row in rows]
    cells = [cell for one in found if one.model in (models or SHOWN) for cell in _cells(one, data[one.kind])]
    apart = max(abs(rate - printed) for one in found for rate, printed in zip(one.ours, one.rates, strict=True))
    notes = [
        "Published: r_i as the authors print them, to two decimals. g_s is published in a figure alone.",
        f"Of all {len(found)} models and templates, no r_i is more than {apart:.4f} away from the printed one.",
        "As released: version 1.0, the exponential of scores to the base 10. With natural logarithms g_s is the same "
        "to the power of 2.303.",
        *(_orderings(kind, found, data[kind]) for kind in KINDS),
        *([] if models else [f"Shown: {', '.join(SHOWN)}. Others: `model`."]),
    ]
    return Reproduction(pd.DataFrame(cells), notes)


KINDS = {"masked": "", "causal": "-causal"}
"""What the name of the dataset ends with, by kind of model."""


def _predicted(row: Mapping[str, str], source: Path, data: Dataset) -> Predicted:
    number = int(row["template"]) - (1 if row["kind"] == "masked" else 3)  # the release counts from 0
    path = source / f"{row['model']}_template-{number}.txt"
    values = read_given(path, lambda text: [float(line) for line in text.splitlines()], "", "Take the authors' own.")
    if len(values) != len(data.items) or not np.isfinite(values).all():
        raise BadInput(f"'{path}' must have {len(data.items):,} finite numbers, one for each sentence.")
    scores = [Score(item.id, value, item.groups) for item, value in zip(data.items, values, strict=True)]
    rates = [float(row[f"r{i}"]) for i in range(1, 17)]
    return Predicted(row["model"], row["kind"], row["template"], rates, scores)


def _cells(one: Predicted, data: Dataset) -> Iterator[dict[str, Any]]:
    design = Design(("stereotype",), cluster=data.cluster)
    for value in group_values(one.scores, StereotypeRate(), design, neutral=1.0):
        label = value.groups.get("stereotype")
        told = one.rates[(WOMEN + MEN).index(label)] if label else None
        what = f"r, {label}" if label else "g_s"
        yield versus(told, asdict(value), model=one.model, template=one.template, what=what)


def _orderings(kind: str, found: Sequence[Predicted], data: Dataset) -> str:
    mine = {one.model: one for one in found if one.kind == kind and one.template == SHARED}
    groups = [item.groups for item in data.items]
    clusters = [of[data.cluster] for of in groups]
    how: dict[str, Any] = {"neutral": 1.0, "better": 0.0, "summary": StereotypeRate(), "groups": groups}
    compared = (
        ((one, other), Summaries(mine[other].values, mine[one].values, clusters, **how))
        for one, other in neighbours({name: StereotypeRate()(one.scores) for name, one in mine.items()})
    )
    return orderings(f"g_s of {kind} models, template {SHARED}, each with the next", compared)
