"""The result of a reproduction, and what papers publish: numbers, tables, predictions of models."""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from evenhand import Run, Score, Summary, models
from evenhand.errors import BadInput, DataNotFound
from evenhand.papers.findings import Claim
from evenhand.stats import ALPHA, Paired, generator, holm

DATA = Path(__file__).parent / "data"
Pair = tuple[str, str]
Parsed = TypeVar("Parsed")


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
    return tomllib.loads((DATA / f"{paper}.toml").read_text(encoding="utf-8"))


def file_name(model: str) -> str:
    """What files are called after a model: its name, with two dashes for the slash of a Hub id."""
    return models.find(model).name.replace("/", "--")


def folder(name: str, source: str, what: str = "predictions") -> Path:
    """The folder of what a paper published, under EVENHAND_DATA."""
    found = Path(os.environ.get("EVENHAND_DATA", "")) / name
    if not found.is_dir():
        raise DataNotFound(
            f"The published {what} are not on this machine. Put them under EVENHAND_DATA/{name}/: they are in {source}."
        )
    return found


def read(path: Path, parse: Callable[[str], Parsed]) -> Parsed:
    """Read a published file and parse it."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise BadInput(f"'{path}' cannot be read: {error}. Take the authors' own.") from error


def every_pair(order: Mapping[str, float]) -> list[Pair]:
    """All pairs of models, the higher one first."""
    return list(combinations(sorted(order, key=lambda model: -order[model]), 2))


def neighbours(order: Mapping[str, float]) -> list[Pair]:
    """Each model with the next lower one."""
    return list(pairwise(sorted(order, key=lambda model: -order[model])))


def orderings(
    of: str, pairs: Sequence[Pair], scores: Mapping[str, Sequence[Score]], summary: Summary, cluster: str
) -> str:
    """A sentence on which orderings are shown. `scores` are those of each model, on the same items in the same order.

    An ordering is shown where the interval of the difference excludes 0 and its p, adjusted by Holm over all pairs,
    is below .05.
    """
    lows, ps = [], []
    for higher, lower in pairs:
        clusters = [score.groups[cluster] for score in scores[higher]]
        paired = Paired(summary.resampling([scores[lower], scores[higher]], clusters))
        rng = generator(0, {"models": f"{higher} {lower}"})
        lows.append(paired.difference.interval(rng)[0])
        ps.append(paired.swap_test(rng))
    shown = [low > 0 and p < ALPHA for low, p in zip(lows, holm(ps), strict=True)]
    told = f"{of}: {sum(shown)} of {len(pairs)} published orderings of two models are shown (p adjusted by Holm)."
    open_ = [f"{one} above {other}" for (one, other), is_shown in zip(pairs, shown, strict=True) if not is_shown]
    return f"{told} Not shown: {'; '.join(open_)}." if open_ else told
