"""Edits of a text: what is changed, where, and by which rule; and the lists of context words that the rules use."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from evenhand.core.words import capitalise
from evenhand.datasets.files import read_toml
from evenhand.errors import BadInput

STAYS = "name: stays"
"""The rule of an edit that changes nothing: it lists a name that stays as it is."""


class Edit(NamedTuple):
    """A replacement of characters `start` to `start + len(old)` of the original, and the rule behind it."""

    start: int
    old: str
    new: str
    rule: str


Edits = list[list[Edit]]
"""The edits of a document: a list for each of its texts."""


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with the edits applied."""
    parts, at = [], 0
    for edit in edits:
        if edit.start < at or text[edit.start : edit.start + len(edit.old)] != edit.old:
            raise BadInput(f"The edits belong to another text: {edit.old!r} is not at {edit.start}.")
        parts += [text[at : edit.start], edit.new]
        at = edit.start + len(edit.old)
    return "".join([*parts, text[at:]])


def are_changed(edits: Edits) -> bool:
    """Whether any of the edits changes the document; listing a name that stays does not."""
    return any(edit.rule != STAYS for each in edits for edit in each)


def match_case(word: str, like: str) -> str:
    """The word in the case of another: lower, Capitalised or UPPER; mixed case (McKenzie) counts as Capitalised.

    >>> match_case("woman", "MAN"), match_case("she", "He"), match_case("lisa", "MacKenzie")
    ('WOMAN', 'She', 'Lisa')
    """
    if like.islower():
        return word
    if like.isupper() and len(like) > 1:
        return word.upper()
    return capitalise(word) if like[0].isupper() else word


@cache
def contexts() -> dict[str, frozenset[str]]:
    """Word lists by name; `ordinary` also has its words in upper case, and `before` has all titles and roles."""
    lists = read_toml("name-contexts-en.toml", "evenhand.text")
    words = {name: frozenset(listed.split()) for name, listed in lists.items()}
    words["ordinary"] |= {word.upper() for word in words["ordinary"]}
    return words | {"before": words["roles"] | words["surname_titles"] | words["first_titles"]}


def any_of(*names: str) -> str:
    """A regular expression that matches the words of these lists."""
    return "|".join(sorted(word for name in names for word in contexts()[name]))
