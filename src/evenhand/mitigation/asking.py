"""A second opinion from the bundled model: is "her" an object or a possessive here, is "Charlotte" a person?

The word is hidden, and the model compares words that could stand there: him, me, them, us with his, my, their, our;
people's names and he and she with places and "it". It sees a few words on each side; more context does not help.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Literal

import numpy as np

from evenhand.core.model import Model, ask
from evenhand.core.questions import Fill, Span
from evenhand.errors import BadInput
from evenhand.models import load

Grammar = Literal["auto", "rules", "model"]
GRAMMARS: tuple[Grammar, ...] = ("auto", "rules", "model")
SIDES = {
    "her": (("his", "my", "their", "our"), ("him", "me", "them", "us")),
    "his": (("her", "my", "our", "your"), ("hers", "mine", "ours", "yours")),
    "name": (
        ("he", "she", "him", "her", "John", "Mary", "Tom", "Elizabeth"),
        ("it", "they", "there", "the", "to", "London", "England", "China"),
    ),
}
"""The words that are compared, for each kind of question. Each is one token of the model: a place is read once."""
BEFORE, AFTER = 4, 3
"""Words of context on each side."""
REACH = 50
PLAIN = str.maketrans({**dict.fromkeys("’‘`´", "'"), **dict.fromkeys("“”„", '"'), **dict.fromkeys("—–", "-"), "…": "."})
AGREED, DENIED = 1.0, -0.5
"""From the first log-odds on a doubtful name is a person's; below the second it is none."""


@dataclass(frozen=True, slots=True)
class Place:
    """A word in its context: characters `start` to `stop` of `text`, and what kind of word it is."""

    kind: str
    text: str
    start: int
    stop: int


def place(kind: str, text: str, start: int, stop: int) -> Place:
    """The place with a few words on each side, in plain characters, which the model knows."""
    left, right = text[max(0, start - REACH) : start], text[stop : stop + REACH]
    words = [m.start() for m in re.finditer(r"\S+", left)]
    begin = words[-BEFORE] if len(words) >= BEFORE else words[0] if words else len(left)
    ends = [m.end() for m in re.finditer(r"\S+", right)]
    end = ends[AFTER - 1] if len(ends) >= AFTER else ends[-1] if ends else 0
    left, right = left[begin:], right[:end]
    return Place(kind, _plain(left + text[start:stop] + right), len(left), len(left) + stop - start)


def _plain(text: str) -> str:
    """The text in ASCII, with as many characters."""
    text = text.translate(PLAIN)
    if text.isascii():
        return text.replace("\n", " ").replace("\r", " ").replace("\t", " ")
    marks = (unicodedata.normalize("NFKD", one)[:1] for one in text)
    return "".join(mark if mark.isascii() and mark.isprintable() else " " if mark.isspace() else "-" for mark in marks)


@cache
def _model() -> Model:
    return load("mini-en", device="cpu")


def check_grammar(grammar: str) -> Grammar:
    """The grammar that is used: `auto` is the rules alone where torch, which the model needs, is not installed."""
    if grammar not in GRAMMARS:
        raise BadInput(f"`grammar` must be one of {', '.join(GRAMMARS)}. Got '{grammar}'.")
    if grammar != "rules" and find_spec("torch") is None:
        if grammar == "model":
            raise BadInput("`grammar='model'` needs torch: pip install torch. Or give `grammar='rules'`.")
        return "rules"
    return "auto" if grammar == "auto" else "model" if grammar == "model" else "rules"


def log_odds(places: Sequence[Place]) -> list[float]:
    """For each place, ln(p / (1 - p)): of a possessive for her and his, of a person for a name; NaN for no answer."""
    distinct = list(dict.fromkeys(places))
    questions = [
        Fill(one.text, Span(one.start, one.stop), word) for one in distinct for side in SIDES[one.kind] for word in side
    ]
    answers = iter(ask(_model(), questions) if questions else ())
    found = {}
    for one in distinct:
        first, second = (np.logaddexp.reduce([next(answers).logp for _ in side]) for side in SIDES[one.kind])
        found[one] = float(first - second)
    return [found[one] for one in places]
