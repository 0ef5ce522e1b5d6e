"""A second opinion from the bundled model: is "her" an object or a possessive here, is "Charlotte" a person?

The word is hidden, and the model compares two sets of words in its place: him, me, them, us with his, my, their, our;
names of people, he and she with places and "it". The model sees a few words on each side; more context does not help.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from evenhand.models.networks.mini_en import logits

Grammar = Literal["auto", "rules", "model"]
SIDES = {
    "her": (("his", "my", "their", "our"), ("him", "me", "them", "us")),
    "his": (("her", "my", "our", "your"), ("hers", "mine", "ours", "yours")),
    "name": (
        ("he", "she", "him", "her", "John", "Mary", "Tom", "Elizabeth"),
        ("it", "they", "there", "the", "to", "London", "England", "China"),
    ),
}
"""The two sets of words that are compared, by kind of question. Each word is one token, so a place is read once."""
BEFORE, AFTER = 4, 3
"""Words of context on each side."""
REACH = 50
PLAIN = str.maketrans({**dict.fromkeys("’‘`´", "'"), **dict.fromkeys("“”„", '"'), **dict.fromkeys("—–", "-"), "…": "."})
AGREED, DENIED = 1.0, -0.5
"""Log-odds: a doubtful name is a person's from AGREED on, and not a person's below DENIED."""


class Place(NamedTuple):
    """The kind of a word, and a few words on each side of it, in ASCII, since the model knows no other characters."""

    kind: str
    before: str
    after: str


def place(kind: str, text: str, start: int, stop: int) -> Place:
    """The context of characters `start` to `stop` of a text."""
    before, after = text[max(0, start - REACH) : start], text[stop : stop + REACH]
    begin, *_ = [m.start() for m in re.finditer(r"\S+", before)][-BEFORE:] or [len(before)]
    *_, end = [m.end() for m in re.finditer(r"\S+", after)][:AFTER] or [0]
    return Place(kind, _to_ascii(before[begin:]), _to_ascii(after[:end]))


def _to_ascii(text: str) -> str:
    """The text in ASCII, of the same length."""
    text = text.translate(PLAIN)
    if text.isascii():
        return text.replace("\n", " ").replace("\r", " ").replace("\t", " ")
    marks = (unicodedata.normalize("NFKD", character)[:1] for character in text)
    return "".join(mark if mark.isascii() and mark.isprintable() else " " if mark.isspace() else "-" for mark in marks)


def log_odds(places: Sequence[Place]) -> dict[Place, float]:
    """For each place, ln(p / (1 - p)): of a possessive for her and his, of a person for a name."""
    odds: dict[Place, float] = {}
    for kind, sides in SIDES.items():
        if questions := list(dict.fromkeys(place for place in places if place.kind == kind)):
            answers = logits([(place.before, place.after) for place in questions], sides[0] + sides[1])
            first, second = (np.logaddexp.reduce(side, axis=1) for side in np.split(answers, [len(sides[0])], axis=1))
            odds |= dict(zip(questions, (first - second).astype(float).tolist(), strict=True))
    return odds
