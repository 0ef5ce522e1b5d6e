"""A paper's tables in the paper's own shape, with our numbers next to the published ones."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType
from rich.text import Text

from evenhand.papers.findings import Claim
from evenhand.show.tables import cell, line, table
from evenhand.stats import Estimate

NUMBERS = ("published", "ours", "difference", "low", "high")
WIDE = 6
"""Most columns of numbers next to each other; those of a wider table follow below."""
FORMS = {"W": ",.0f", "p": ".0e", "p, two-sided": ".2g", "rank": ".0f"}


def reproduction(
    cells: pd.DataFrame,
    notes: Sequence[str],
    claims: Sequence[Claim],
    digits: int = 2,
    across: Sequence[str] = ("what",),
) -> RenderableType:
    """The tables of a paper, then its hypotheses, and why the numbers differ.

    The columns of `cells` that `across` names are the columns of a table; the others, but for its number, go down.
    Each row of the paper has a line for what is published, one for ours, its interval, and the difference.
    """
    parts: list[RenderableType] = []
    tables = cells.groupby("table", sort=False) if "table" in cells else [("", cells)]
    for name, part in tables:
        parts += _table(str(name), part, list(across), digits)
    return Group(*parts, *claim_lines(claims), "", *(Text(f"- {note}") for note in notes))


def _table(name: str, cells: pd.DataFrame, across: Sequence[str], digits: int) -> Iterator[RenderableType]:
    down = [column for column in cells.columns if column not in (*NUMBERS, *across, "table")]
    varying = [column for column in across if cells[column].nunique() > 1] or [across[-1]]
    alone = [str(cells[column].iloc[0]) for column in across if column not in varying]
    heads = list(dict.fromkeys(cells[varying].astype(str).agg(", ".join, axis=1)))
    title = ", ".join(filter(None, [f"Table {name}" if name[:1].isdigit() else name, *alone]))
    if title:
        yield line(title, "bold")
    for start in range(0, len(heads), WIDE):
        shown = heads[start : start + WIDE]
        rows = [
            cells_of_line
            for labels, part in cells.groupby(down, sort=False, dropna=False)
            for cells_of_line in _lines([str(label) for label in labels], part, varying, shown, digits)
        ]
        yield table([*down, "", *shown], rows, left=[*down, ""])


def _lines(
    labels: Sequence[str], part: pd.DataFrame, varying: Sequence[str], heads: Sequence[str], digits: int
) -> Iterator[list[str]]:
    """The lines of one row of the paper; only those that have a number."""
    rows: dict[str, Mapping[Any, Any]] = {
        ", ".join(str(row[name]) for name in varying): row for row in part.to_dict("records")
    }
    first = True
    for what in ("published", "ours", "95 % interval", "difference"):
        numbers = [_cell(rows[head], what, digits) if head in rows else "" for head in heads]
        if any(number.strip("–") for number in numbers):
            yield [*(labels if first else [""] * len(labels)), what, *numbers]
            first = False


def _cell(row: Mapping[Any, Any], what: str, digits: int) -> str:
    form = FORMS.get(row["what"], f"+.{digits}f")
    if what == "95 % interval":
        return Estimate(row["ours"], row.get("low", math.nan), row.get("high", math.nan)).interval(form)
    return cell(row[what], form)


def claim_lines(claims: Sequence[Claim]) -> Iterator[Text]:
    """A line for each: hypothesis, verdict, value and interval, and the contrast with the other gender."""
    if claims:
        yield line("Hypotheses of the paper (p adjusted by Holm over these lines; H3 within +-0.1 nats)", "bold")
    for claim in claims:
        beyond = f"  against the other gender's words {claim.contrast.shown()}" if claim.contrast else ""
        yield line(f"{claim.hypothesis}  {claim.verdict:9}  {claim.claim}  {claim.found.shown()}{beyond}", "")
