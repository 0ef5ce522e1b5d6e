"""A swapped text with its changes marked, and a description of each rule."""

import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from evenhand.errors import BadInput
from evenhand.mitigation.edits import Edit, applied
from evenhand.mitigation.names import swapper

LONGEST = 20_000
"""Characters of a text; `evenhand swap` takes files of any length."""
RULES = tomllib.loads((files("evenhand.web") / "rules.toml").read_text(encoding="utf-8"))
"""What each rule of an edit does, for people."""


@dataclass(frozen=True, slots=True)
class Part:
    """An unchanged part of the text, and the edit that follows it, if any."""

    text: str
    edit: Edit | None


@dataclass(frozen=True, slots=True)
class Marked:
    """A text in parts, the swapped text, and the number of edits by rule."""

    parts: Sequence[Part]
    swapped: str
    rules: dict[str, int]


def marked(text: str, *, names: bool) -> Marked:
    """The text with every gendered word swapped, first names too with `names`."""
    if not text.strip():
        raise BadInput("There is no text. Paste some, then swap it.")
    if len(text) > LONGEST:
        more = "For files of any length: evenhand swap FILE."
        raise BadInput(f"At most {LONGEST:,} characters here. Got {len(text):,}. {more}")
    edits = swapper(names).edits(text)
    parts, at = [], 0
    for edit in edits:
        parts.append(Part(text[at : edit.start], edit))
        at = edit.start + len(edit.old)
    rules = Counter(edit.rule for edit in edits)
    return Marked([*parts, Part(text[at:], None)], applied(text, edits), dict(sorted(rules.items())))
