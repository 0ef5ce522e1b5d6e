"""Every item of a dataset with its scores, as compact data for a table that the page's script makes on demand."""

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evenhand.show.page import readings
from evenhand.show.page.section import Measured

LEVEL = 3
"""The zlib compression level; higher ones take twice the time to save a tenth of the size."""
MOST = 200_000
"""The most rows of a table; with more, the page would take long to open."""


@dataclass(frozen=True)
class Items:
    """The table of all items, or of all pairs of partners: its measure, its size and its rows."""

    first: Measured
    """The measure whose items the page shows if no script runs."""
    n: int
    left_out: int
    data: str
    """Columns and rows as JSON, deflated, in base64. page.js reads them."""

    @property
    def size(self) -> str:
        return f"{self.n:,} {'pairs' if self.first.paired or self.first.reading.sentences[1] else 'sentences'}"


def items_of(members: Sequence[Measured]) -> list[Items]:
    """The tables of a dataset: one of pairs of partners and one of single items, if there are such items."""
    tables = []
    for paired in (True, False):
        chosen = [s for s in members if s.paired == paired and s.has_texts and any(map(len, s.items))]
        if chosen:
            tables.append(_item_table(chosen))
    return tables


def _item_table(members: Sequence[Measured]) -> Items:
    headline = members[0].runs[0].headline_task(members[0].dataset).name
    first = next((section for section in members if section.key == headline), members[0])
    rows = first.items[0]
    index = pd.Index(rows["id_female"] if first.paired else rows["id"])
    first_rows = slice(0, MOST)
    heads = {name: head for name, head in zip(("text", "other"), first.reading.sentences, strict=True) if head}
    columns: list[dict[str, Any]]
    columns = [{"name": head, "kind": "text", "rows": _strings(rows[name])} for name, head in heads.items()]
    columns += [*_label_columns(first, rows), *_score_columns(members, first, index)]
    for column in columns:
        column["rows"] = column["rows"][first_rows]
    sort = next((n for n, c in enumerate(columns) if c.pop("first", False)), len(columns) - 1)
    texts = [column.pop("rows") for column in columns if column["kind"] == "text"]
    together = [text for row in zip(*texts, strict=True) for text in row]  # similar texts side by side compress best
    whole = {"columns": columns, "texts": together, "sort": sort, "lang": first.language}
    packed = zlib.compress(json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode(), LEVEL)
    return Items(first, len(rows), max(0, len(rows) - MOST), base64.b64encode(packed).decode())


def _strings(column: pd.Series) -> list[str]:
    """The texts of a column; empty if an older run has none."""
    return [text if isinstance(text, str) else "" for text in column.tolist()]


def _label_columns(first: Measured, rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Groups as codes of labels; a group with a single label is skipped."""
    for name in first.item_groups:
        codes, labels = pd.factorize(np.array(_strings(rows[name]), dtype=object), sort=True)
        if len(labels) > 1:
            words = [readings.group(name, label) for label in labels]
            yield {"name": readings.group_name(name), "kind": "label", "labels": words, "rows": codes.tolist()}


def _score_columns(members: Sequence[Measured], first: Measured, index: pd.Index) -> Iterator[dict[str, object]]:
    for section in members:
        for name, rows in zip(section.names, section.items, strict=True):
            suffix = f", {name}" if len(section.names) > 1 else ""
            ids = rows["id_female"] if section.paired else rows["id"]
            scores = pd.Series(rows["score"].to_numpy(dtype=float), index=ids).reindex(index).to_numpy()
            shown = section.reading.title if len(members) > 1 else "score"
            sorts = section.key == first.key if not first.reading.ranked else section.measure == first.reading.ranked
            column = {
                "name": f"{shown}{suffix}",
                "kind": "score",
                "rows": _round_scores(scores),
                "signed": section.signed,
            }
            yield column | {"first": sorts}
            if section.paired and not suffix:
                for side, words in zip(("female", "male"), section.reading.sentences, strict=True):
                    each = _round_scores(rows.set_axis(ids)[f"score_{side}"].reindex(index).to_numpy(dtype=float))
                    yield {"name": f"score {words}", "kind": "score", "rows": each, "signed": True}


def _round_scores(scores: np.ndarray[Any, Any]) -> list[float | None]:
    known = np.isfinite(scores)
    return [value if fine else None for value, fine in zip(np.round(scores, 3).tolist(), known.tolist(), strict=True)]
