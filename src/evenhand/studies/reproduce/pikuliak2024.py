"""Pikuliak, Hrckova, Oresko and Simko 2024, GEST: r_i and g_s of many models, from their published predictions."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evenhand import datasets
from evenhand.analysis.two_runs import Summaries
from evenhand.core.dataset import Dataset
from evenhand.core.scores import Score, summarised
from evenhand.datasets.files.bundled import read_tsv
from evenhand.errors import BadInput, UnknownName
from evenhand.measures.gest import MEN, WOMEN, StereotypeRate
from evenhand.stats.intervals import Floats
from evenhand.studies.reproduce.base import Reproduction, versus
from evenhand.studies.reproduce.predictions import folder, neighbours, orderings

G_S = "g_s"
SHARED = "3"
"""The template that masked and causal models have in common."""


class Predicted(NamedTuple):
    """The published predictions of one model by one template, and the rates that the authors print."""

    model: str
    kind: str
    template: str
    rates: list[float]
    scores: Floats


def reproduce(*, models: list[str] | None = None, out: str | Path = "runs/reproduce") -> Reproduction:
    """r_i of the published predictions next to the printed ones, and g_s, which the paper draws; all, or some `models`.

    As released: version 1.0, and the exponential of scores to the base 10. What the paper lacks: intervals of g_s, and
    which neighbours in the order by g_s are shown to differ. Nothing is written to `out`; `evenhand import` makes runs.
    """
    source = folder("gest", "the authors' repository, kinit-sk/gest, data/predictions")
    rows = read_tsv("pikuliak2024.tsv", "evenhand.studies.reproduce")
    names = list(dict.fromkeys(row["model"] for row in rows))
    for name in models or ():
        if name not in names:
            raise UnknownName("model with published predictions", name, names)
    data = {kind: datasets.load(f"gest{suffix}", version="1.0", template=SHARED) for kind, suffix in KINDS.items()}
    found = [_predicted(row, source) for row in rows if row["model"] in (models or names)]
    cells = [cell for one in found for cell in _cells(one, data[one.kind])]
    notes = [
        "Published: r_i as the authors print them, to two decimals. g_s is published in a figure alone.",
        "As released: version 1.0, natural exponential of scores to the base 10. With natural logarithms g_s is the same "
        "to the power of 2.303.",
        *(note for kind in KINDS if (note := _orderings(kind, found, data[kind], cells))),
    ]
    return Reproduction(pd.DataFrame(cells), notes)


KINDS = {"masked": "", "causal": "-causal"}
"""What the name of the dataset ends with, by kind of model."""


def _predicted(row: Mapping[str, str], source: Path) -> Predicted:
    number = int(row["template"]) - (1 if row["kind"] == "masked" else 3)  # the release counts from 0
    path = source / f"{row['model']}_template-{number}.txt"
    try:
        scores = np.array([float(line) for line in path.read_text(encoding="utf-8").splitlines()])
    except (OSError, ValueError) as error:
        raise BadInput(f"'{path}' cannot be read: {error}. Take the authors' own.") from error
    rates = [float(row[f"r{i}"]) for i in range(1, 17)]
    return Predicted(row["model"], row["kind"], row["template"], rates, scores)


def _cells(one: Predicted, data: Dataset) -> Iterator[dict[str, Any]]:
    if len(one.scores) != len(data.items) or not np.isfinite(one.scores).all():
        raise BadInput(f"{one.model}, template {one.template}: {len(data.items):,} finite scores are needed.")
    scores = [Score(item.id, value, item.groups) for item, value in zip(data.items, one.scores.tolist(), strict=True)]
    what = {"model": one.model, "template": one.template}
    for value in summarised(scores, StereotypeRate(), by=("stereotype",), cluster="quotation", neutral=1.0):
        label = value.groups.get("stereotype")
        told = one.rates[(WOMEN + MEN).index(label)] if label else None
        ours = {"value": value.value, "low": value.low, "high": value.high}
        yield {**what, "what": f"r, {label}" if label else G_S, **versus(told, ours)}


def _orderings(kind: str, found: Sequence[Predicted], data: Dataset, cells: Sequence[Mapping[str, Any]]) -> str:
    mine = {one.model: one for one in found if one.kind == kind and one.template == SHARED}
    if len(mine) < 2:
        return ""
    rates = {cell["model"]: cell["ours"] for cell in cells if cell["template"] == SHARED and cell["what"] == G_S}
    groups = [item.groups for item in data.items]
    clusters = [of["quotation"] for of in groups]
    how: dict[str, Any] = {"neutral": 1.0, "better": 0.0, "summarise": StereotypeRate(), "groups": groups}
    compared = (
        ((one, other), Summaries(mine[other].scores, mine[one].scores, clusters, **how))
        for one, other in neighbours({name: rates[name] for name in mine})
    )
    return orderings(f"g_s of {kind} models, template {SHARED}, each with the next", compared)
