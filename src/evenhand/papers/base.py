"""The result of a reproduction, and what papers publish: numbers, tables, predictions of models."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.analysis.two_runs import Values
from evenhand.core.scores import generator
from evenhand.datasets.files.bundled import read_toml
from evenhand.errors import DataNotFound
from evenhand.papers.hypotheses import Claim
from evenhand.run import Run
from evenhand.stats.significance import holm
from evenhand.stats.verdict import ALPHA


@dataclass(frozen=True)
class Reproduction:
    """Published numbers and ours, cell by cell, with notes on why they differ, and the runs behind them."""

    cells: pd.DataFrame
    """Columns that say what a cell is about; then published, ours, difference."""
    notes: list[str]
    claims: list[Claim] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    charts: list[Path] = field(default_factory=list)
    """Files that were drawn."""
    digits: int = 2
    """Decimals, as the paper prints them."""
    across: tuple[str, ...] = ("what",)
    """The columns of `cells` that are the columns of the paper's tables."""


def versus(number: float | None, found: float | Mapping[Any, Any] | None, **about: str) -> dict[str, Any]:
    """A cell: what it is `about`, published, ours and their difference; low and high if `found` is a mapping."""
    value, low, high = map(found.get, ("value", "low", "high")) if isinstance(found, Mapping) else (found, None, None)
    difference = value - number if value is not None and number is not None else None
    return {**about, "published": number, "ours": value, "difference": difference, "low": low, "high": high}


def published(paper: str) -> dict[str, Any]:
    """The paper's numbers."""
    return read_toml(f"{paper}.toml", "evenhand.papers")


Pair = tuple[str, str]


def folder(name: str, source: str) -> Path:
    """The folder of a paper's published predictions, under EVENHAND_DATA."""
    found = Path(os.environ.get("EVENHAND_DATA", "")) / "published" / name
    if not found.is_dir():
        raise DataNotFound(
            f"The published predictions are not on this machine. Put them under EVENHAND_DATA/published/{name}/: they "
            f"are in {source}."
        )
    return found


def every_pair(order: Mapping[str, float]) -> list[Pair]:
    """All pairs of models, the higher one first."""
    return list(combinations(sorted(order, key=lambda model: -order[model]), 2))


def neighbours(order: Mapping[str, float]) -> list[Pair]:
    """Each model with the next lower one."""
    return list(pairwise(sorted(order, key=lambda model: -order[model])))


def orderings(of: str, compared: Iterable[tuple[Pair, Values]], seed: int = 0) -> str:
    """Which orderings are shown: a sentence. `compared` has, for each pair, the values of the lower and higher model.

    An ordering is shown where the interval of the difference leaves out 0 and its p, adjusted by Holm over all pairs,
    is below .05.
    """
    pairs, rows = [], []
    for pair, values in compared:
        pairs.append(pair)
        rows.append(values.difference(generator(seed, {"models": " ".join(pair)}), same=False))
    adjusted = holm([row.p for row in rows])
    shown = [row.low > 0 and p < ALPHA for row, p in zip(rows, adjusted, strict=True)]
    told = f"{of}: {sum(shown)} of {len(pairs)} published orderings of two models are shown (p adjusted by Holm)."
    open_ = [f"{one} above {other}" for (one, other), is_shown in zip(pairs, shown, strict=True) if not is_shown]
    return f"{told} Not shown: {'; '.join(open_)}." if open_ else told
