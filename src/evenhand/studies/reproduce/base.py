"""What a reproduction gives, and the numbers that papers print."""

import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.analysis.hypotheses import Claim
from evenhand.runs.folder import Run


@dataclass(frozen=True)
class Reproduction:
    """Published and ours, cell by cell, with the reasons for departures; runs are the folders behind it."""

    cells: pd.DataFrame
    """What the cell is of, in columns of the paper's own; then published, ours, difference."""
    notes: list[str]
    claims: list[Claim] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    charts: list[Path] = field(default_factory=list)
    """Files that were drawn."""
    digits: int = 2
    """Decimals, as the paper prints them."""


def beside(number: float | None, ours: float | None) -> dict[str, float | None]:
    """The end of a cell: published, ours, difference."""
    difference = ours - number if ours is not None and number is not None else None
    return {"published": number, "ours": ours, "difference": difference}


def published(paper: str) -> dict[str, Any]:
    """The paper's numbers."""
    return tomllib.loads((files("evenhand.studies.reproduce") / "data" / f"{paper}.toml").read_text("utf-8"))
