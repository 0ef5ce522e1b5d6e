"""The result of a reproduction, and what papers publish: numbers, tables, predictions of models."""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from evenhand import Run, models
from evenhand.errors import BadInput, DataNotFound
from evenhand.papers.findings import Claim

DATA = Path(__file__).parent / "data"
Parsed = TypeVar("Parsed")


@dataclass(frozen=True)
class Reproduction:
    """Published numbers and ours, cell by cell, with notes on why they differ, and the runs behind them."""

    cells: pd.DataFrame
    """Columns that say what a cell is about; then published, ours, difference (ours - published), low, high."""
    notes: list[str]
    claims: list[Claim] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    charts: list[Path] = field(default_factory=list)
    """Files that were drawn."""
    digits: int = 2
    """The number of decimals that the paper prints."""
    across: tuple[str, ...] = ("what",)
    """The columns of `cells` that are the columns of the paper's tables."""


def versus(published: float | None, ours: float | Mapping[Any, Any] | None, **about: str) -> dict[str, Any]:
    """A cell: `about`, published, ours and the difference; the interval too if `ours` is a mapping that has one."""
    value, low, high = map(ours.get, ("value", "low", "high")) if isinstance(ours, Mapping) else (ours, None, None)
    difference = value - published if value is not None and published is not None else None
    return {**about, "published": published, "ours": value, "difference": difference, "low": low, "high": high}


def load_published(paper: str) -> dict[str, Any]:
    """The paper's numbers."""
    return tomllib.loads((DATA / f"{paper}.toml").read_text(encoding="utf-8"))


def file_name(model: str) -> str:
    """The file name for a model: the model's name, with two dashes for the slash of a Hub id."""
    return models.find(model).name.replace("/", "--")


def published_folder(name: str, source: str, kind: str = "predictions") -> Path:
    """The folder under EVENHAND_DATA with what a paper published. Raises DataNotFound if it is missing."""
    path = Path(os.environ.get("EVENHAND_DATA", "")) / name
    if not path.is_dir():
        raise DataNotFound(
            f"The published {kind} are not on this machine. Put them under EVENHAND_DATA/{name}/: they are in {source}."
        )
    return path


def read_file(path: Path, parse: Callable[[str], Parsed]) -> Parsed:
    """Read a published file and parse it."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise BadInput(f"'{path}' cannot be read: {error}. Replace it with the authors' file.") from error
