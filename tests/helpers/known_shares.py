"""Texts about women and men in known shares, labelled by construction: sentences are put together at random."""

import random
import re
from collections.abc import Mapping
from typing import NamedTuple

from evenhand.core.items import Prompt

EITHER = re.compile(r"\[([^|\]]*)\|([^|\]]*)\]")
FIRST = (
    "the {noun} came in early. [She|He] hung up [her|his] coat.",
    "[Maria|Peter] was late again. The {noun} had missed [her|his] bus.",
    "it was cold. The {noun} opened the window, and [she|he] looked out.",
    "the {noun}, a [woman|man] of fifty, sat down at [her|his] desk.",
    "[Mrs|Mr]. Lindgren could not sleep. The {noun} got up and made tea.",
    "nobody had seen the {noun} for days. [She|He] had been ill.",
)
MORE = (
    "[She|He] wrote a list and put it away.",
    "By noon [she|he] was tired.",
    "The boss thanked [her|him] twice.",
    "The {noun} smiled. [Her|His] work was done.",
    "[She|He] had never liked Mondays.",
    "Then [she|he] walked home by the river.",
)
OTHERS = {
    "nobody else": ("The streets were empty.", "The bus was full.", "It rained all day."),
    "relatives": (
        "[Her|His] [husband|wife] called.",
        "[Her|His] [sons|daughters] were asleep, and the house was quiet.",
    ),
    "quoted": ('"[He|She] left the keys," said the neighbour.', '"Where is [he|she]?" somebody asked.'),
    "colleagues": ("A colleague waved. [He|She] had a day off.", "[Thomas|Anna] from next door lent a hand."),
}
"""What stands between: the first alternative where the text is about a woman, about a man the second."""
NEITHER = ("the room was empty. Nobody said a word.", "the bus was late, and then it rained.")
SILENT = 0.15
"""The share of texts about nobody."""


class Told(NamedTuple):
    """A text after a prompt. `whom`: female, male, or "" for nobody; `others` says who else is there."""

    text: str
    whom: str
    others: str


def told(item: Prompt, share: float, rng: random.Random) -> Told:
    """A text about a woman with the probability `share`, unless it is about nobody."""
    if rng.random() < SILENT:
        return Told(rng.choice(NEITHER), "", "nobody else")
    whom = "female" if rng.random() < share else "male"
    others = rng.choices(list(OTHERS), weights=(5, 2, 2, 1))[0]
    sentences = [rng.choice(FIRST), rng.choice(MORE), rng.choice(OTHERS[others]), rng.choice(MORE)]
    text = EITHER.sub(r"\1" if whom == "female" else r"\2", " ".join(sentences))
    return Told(text.format(noun=item.noun), whom, others)


class World:
    """A model that writes about women in each kind's share, which varies between subjects by `spread` up and down."""

    def __init__(self, shares: Mapping[str, float], seed: int, spread: float = 0.15) -> None:
        self.shares, self.seed, self.spread = shares, seed, spread

    def writes(self, item: Prompt, number: int) -> Told:
        of_subject = random.Random(f"{self.seed} {item.groups['subject']}").uniform(-1, 1) * self.spread
        share = self.shares[item.groups["kind"]] + of_subject
        return told(item, share, random.Random(f"{self.seed} {item.id} {number}"))
