"""What tables on a terminal are made of: numbers with their signs, lines that are not cut."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich import box
from rich.table import Table
from rich.text import Text

UNSIGNED = {
    "likelihood-difference",
    "nli-coal",
    "nli-coal-weighted",
    "fraction-neutral",
    "fraction-entailment",
    "fraction-contradiction",
}
"""Measures that are neutral at 0 and never below."""


def line(text: str, style: str) -> Text:
    """One line however long: a path that is cut in two cannot be copied."""
    return Text(text, style=style, no_wrap=True, overflow="ignore")


def framed(frame: pd.DataFrame, formats: Mapping[str, str]) -> Table:
    """The columns named, each in its format; text to the left, numbers to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, form in formats.items():
        table.add_column(column, justify="right" if form else "left", no_wrap=True)
    for _, row in frame.iterrows():
        table.add_row(*(cell(row[column], form) for column, form in formats.items()))
    return table


def cell(value: Any, form: str) -> str:
    """The value in its format; a dash where there is none."""
    return "–" if pd.isna(value) else format(value, form)


def number(row: Mapping[str, Any]) -> str:
    """The value, signed where it can be of either sign; a dash where there is none."""
    return "–" if row["value"] is None else format(row["value"], _form(row))


def interval(row: Mapping[str, Any]) -> str:
    """Low and high; a dash where there are too few clusters for an interval."""
    return "–" if row["low"] is None else f"[{row['low']:{_form(row)}}, {row['high']:{_form(row)}}]"


def _form(row: Mapping[str, Any]) -> str:
    return "+.3f" if row["neutral"] == 0 and row["measure"] not in UNSIGNED else ".3f"
