"""The way back from a swapped text."""

from collections.abc import Sequence

from evenhand.text.edits import Edit, apply_edits


def swapped_back(text: str, edits: Sequence[Edit]) -> str:
    """The original of a swapped text, by its edits."""
    back, moved = [], 0
    for edit in edits:
        back.append(Edit(edit.start + moved, edit.new, edit.old, edit.rule))
        moved += len(edit.new) - len(edit.old)
    return apply_edits(text, back)
