"""A swapped text with its changes marked, and the rule of each in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from evenhand.errors import BadInput
from evenhand.mitigation.names import Naming
from evenhand.mitigation.swap import Edit, Swapper, applied

LONGEST = 20_000
"""Characters of a text; files of any length are for `evenhand swap`."""
RULES = {
    "adjective": "an adjective of one gender and its partner",
    "animal": "animals: female and male have words of their own",
    "her: object": "“her” as an object is “him”",
    "her: possessive": "“her” before what is hers is “his”",
    "his: alone": "“his” standing alone is “hers”",
    "his: possessive": "“his” before what is his is “her”",
    "kinship": "words for relatives",
    "name": "first names of like frequency, the other gender",
    "noun": "nouns with a partner",
    "partner": "husbands, wives and other partners",
    "person": "words for a person of one gender",
    "pronoun": "pronouns that have one partner",
    "religion": "roles in a religion",
    "role": "words for a job or a role",
    "title": "titles, by what stands around them",
}
"""What each rule of an edit does, for people."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the text that stays, and the change after it, if one follows."""

    text: str
    edit: Edit | None


@dataclass(frozen=True, slots=True)
class Marked:
    """A text in parts, the swapped text, and how often each rule was used."""

    parts: Sequence[Part]
    swapped: str
    rules: dict[str, int]


def marked(text: str, *, names: bool) -> Marked:
    """The text with every gendered word swapped, first names too with `names`."""
    if not text.strip():
        raise BadInput("There is no text. Paste some, then swap it.")
    if len(text) > LONGEST:
        raise BadInput(
            f"At most {LONGEST:,} characters here. Got {len(text):,}. For files of any length: evenhand swap FILE."
        )
    edits = _swapper(names).edits(text)
    parts, at = [], 0
    for edit in edits:
        parts.append(Part(text[at : edit.start], edit))
        at = edit.start + len(edit.old)
    rules: dict[str, int] = {}
    for edit in edits:
        rules[edit.rule] = rules.get(edit.rule, 0) + 1
    return Marked([*parts, Part(text[at:], None)], applied(text, edits), dict(sorted(rules.items())))


@cache
def _swapper(names: bool) -> Swapper:
    return Swapper(names=Naming() if names else None)
