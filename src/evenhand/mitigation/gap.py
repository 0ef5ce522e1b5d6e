"""GAP's annotations after a rewrite: pronoun and names with their offsets follow the text."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.mitigation.swap import Edit

MARKED = ("Pronoun", "A", "B")


def is_annotated(row: Mapping[str, Any], column: str) -> bool:
    """Has it GAP's columns, and does the text in `column` have what they say where they say it?"""
    return all(_stands(row, column, name) for name in MARKED)


def _stands(row: Mapping[str, Any], column: str, name: str) -> bool:
    marked, start = row.get(name), str(row.get(f"{name}-offset"))
    return isinstance(marked, str) and start.isdecimal() and row[column].startswith(marked, int(start))


def followed(row: Mapping[str, Any], column: str, text: str, edits: Sequence[Edit]) -> dict[str, Any]:
    """The row with the rewritten text, and Pronoun, A, B and their offsets as they now stand in it.

    Offsets stay what they were: numbers, or their digits.
    """
    found = {**row, column: text}
    for name in MARKED:
        kind = type(row[f"{name}-offset"])
        start = int(row[f"{name}-offset"])
        stop = start + len(row[name])
        before = sum(len(e.new) - len(e.old) for e in edits if e.start < start)
        inside = sum(len(e.new) - len(e.old) for e in edits if start <= e.start < stop)
        found[f"{name}-offset"] = kind(start + before)
        found[name] = text[start + before : stop + before + inside]
    return found
