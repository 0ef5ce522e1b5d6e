"""Swapped texts: the way back, and what is expected of them."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from evenhand.text.edits import Edit, apply_edits


def swapped_back(text: str, edits: Sequence[Edit]) -> str:
    """The original of a swapped text, by its edits."""
    back, moved = [], 0
    for edit in edits:
        back.append(Edit(edit.start + moved, edit.new, edit.old, edit.rule))
        moved += len(edit.new) - len(edit.old)
    return apply_edits(text, back)


def is_as_expected(swapped: str, expected: str, text: str) -> bool:
    """Whether a swapped text is what is expected, where each * stands for a name that the text does not have."""
    match = re.fullmatch(re.escape(expected).replace(r"\*", r"([^\W\d_]+)"), swapped)
    return match is not None and not any(re.search(rf"\b{name}\b", text) for name in match.groups())


def gap_rows(data: Path) -> list[dict[str, str]]:
    """The rows of GAP's three parts."""
    rows = list[dict[str, str]]()
    for part in ("development", "validation", "test"):
        with (data / "gap" / f"gap-{part}.tsv").open(encoding="utf-8") as file:
            rows += csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return rows
