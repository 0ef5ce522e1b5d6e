"""Keep the annotations of the GAP corpus right after a rewrite: pronoun, names and their offsets."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.mitigation.edits import Edit

MARKED = ("Pronoun", "A", "B")


def is_annotated(row: Mapping[str, Any], column: str) -> bool:
    """Whether a row has GAP's columns, and they agree with the text in `column`."""
    for name in MARKED:
        marked, start = row.get(name), str(row.get(f"{name}-offset"))
        if not (isinstance(marked, str) and start.isdecimal() and row[column].startswith(marked, int(start))):
            return False
    return True


def followed(row: Mapping[str, Any], column: str, text: str, edits: Sequence[Edit]) -> dict[str, Any]:
    """The row with the rewritten text, and with Pronoun, A, B and their offsets updated.

    Offsets keep their type: numbers, or digits in a text.
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
