"""Words that have a gender, and their partners: man and woman, he and she."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

Gender = Literal["female", "male"]

PRONOUNS: dict[str, Gender] = {"his": "male", "him": "male", "her": "female", "hers": "female"}
"""Pronouns whose partner depends on what they do in the sentence."""
FREQUENCY = {"his": 6.51, "her": 6.30, "him": 6.11, "hers": 3.97}
PARTNERS = {("his", "her"), ("him", "her"), ("his", "hers")}


@dataclass(frozen=True, slots=True)
class Words:
    """Two words, partners of each other; with `oneway`, the partner of the word of that gender alone.

    ("Hostess" has "host" for partner, but a host may be a woman.) Frequencies are Zipf's, log10 of the occurrences in a
    billion words, from wordfreq 3.1 (Speer 2022; CC BY-SA 4.0).
    """

    male: str
    female: str
    kind: str
    oneway: str
    frequency: dict[str, float]


@cache
def lexicon() -> tuple[Words, ...]:
    """The pairs, as data/gendered-en.tsv lists them; he and she too, but not `PRONOUNS`."""
    path = files("evenhand.datasets") / "data" / "gendered-en.tsv"
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(
        Words(
            row["male"],
            row["female"],
            row["kind"],
            row["oneway"],
            {row[g]: float(row[f"zipf_{g}"]) for g in ("male", "female") if row[f"zipf_{g}"]},
        )
        for row in rows
    )


@cache
def _genders() -> dict[str, Gender]:
    found = dict(PRONOUNS)
    for words in lexicon():
        if words.oneway != "male":
            found[words.female] = "female"
        if words.oneway != "female":
            found[words.male] = "male"
    return found


@cache
def _partners() -> frozenset[tuple[str, str]]:
    return frozenset({(w.male, w.female) for w in lexicon()} | PARTNERS)


@cache
def _frequencies() -> dict[str, float]:
    return FREQUENCY | {word: zipf for words in lexicon() for word, zipf in words.frequency.items()}


@cache
def _kinds() -> dict[str, str]:
    found = dict.fromkeys(PRONOUNS, "pronoun")
    for words in lexicon():
        found |= {word: words.kind for word in (words.male, words.female) if word in _genders()}
    return found


def kind(word: str) -> str:
    """What sort of gendered word it is: pronoun, person, kinship, ...; empty for other words."""
    return _kinds().get(word.lower(), "")


def gender(word: str) -> Gender | None:
    """The gender a word has by itself, if any."""
    return _genders().get(word.lower())


def partners(one: str, other: str) -> bool:
    """Are these two words the same but for their gender?"""
    one, other = one.lower(), other.lower()
    return (one, other) in _partners() or (other, one) in _partners()


def frequency(word: str) -> float | None:
    """How common a gendered word is, on Zipf's scale; None for other words."""
    return _frequencies().get(word.lower())
