"""GAP's annotations after a rewrite: pronoun and names with their offsets follow the text."""

from collections.abc import Mapping, Sequence

from evenhand.mitigation.swap import Edit

MARKED = ("Pronoun", "A", "B")
COLUMNS = frozenset((*MARKED, *(f"{name}-offset" for name in MARKED)))


def is_annotated(row: Mapping[str, str]) -> bool:
    """Has it GAP's columns, with numbers for offsets?"""
    return set(row) >= COLUMNS and all(row[f"{name}-offset"].isdecimal() for name in MARKED)


def followed(row: Mapping[str, str], text: str, edits: Sequence[Edit]) -> dict[str, str]:
    """The row with the rewritten text, and Pronoun, A, B and their offsets as they now stand in it."""
    found = {**row, "Text": text}
    for name in MARKED:
        start = int(row[f"{name}-offset"])
        stop = start + len(row[name])
        before = sum(len(e.new) - len(e.old) for e in edits if e.start < start)
        inside = sum(len(e.new) - len(e.old) for e in edits if start <= e.start < stop)
        found[f"{name}-offset"] = str(start + before)
        found[name] = text[start + before : stop + before + inside]
    return found
