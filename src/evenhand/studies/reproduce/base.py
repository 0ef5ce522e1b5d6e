"""The result of a reproduction, and the numbers that papers print."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.analysis.hypotheses import Claim
from evenhand.runs.folder import Run


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


def versus(number: float | None, found: float | Mapping[Any, Any] | None) -> dict[str, Any]:
    """The end of a cell: published, ours and their difference; low and high too if `found` is a mapping."""
    ours = found.get("value") if isinstance(found, Mapping) else found
    difference = ours - number if ours is not None and number is not None else None
    interval = {end: found.get(end) for end in ("low", "high")} if isinstance(found, Mapping) else {}
    return {"published": number, "ours": ours, "difference": difference, **interval}


def published(paper: str) -> dict[str, Any]:
    """The paper's numbers."""
    return tomllib.loads((files("evenhand.studies.reproduce") / "data" / f"{paper}.toml").read_text("utf-8"))
