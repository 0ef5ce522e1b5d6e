"""Words that have a gender, and their partners: man and woman, he and she."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from evenhand.datasets.files.bundled import read_tsv

Gender = Literal["female", "male"]

PRONOUNS: dict[str, Gender] = {"his": "male", "him": "male", "her": "female", "hers": "female"}
"""Pronouns whose partner depends on their role in the sentence."""
FREQUENCY = {"his": 6.51, "her": 6.30, "him": 6.11, "hers": 3.97}
PARTNERS = {("his", "her"), ("him", "her"), ("his", "hers")}


@dataclass(frozen=True, slots=True)
class Words:
    """Two words that are partners; with `oneway`, only the word of that gender has the other as its partner.

    ("Hostess" has the partner "host", but a host may be a woman.) Frequencies are on the Zipf scale, log10 of the
    occurrences in a billion words, from wordfreq 3.1 (Speer 2022; CC BY-SA 4.0).
    """

    male: str
    female: str
    kind: str
    oneway: str
    frequency: dict[str, float]


@cache
def lexicon() -> tuple[Words, ...]:
    """The pairs of data/gendered-en.tsv; he and she are included, `PRONOUNS` are not."""
    return tuple(
        Words(
            row["male"],
            row["female"],
            row["kind"],
            row["oneway"],
            {row[g]: float(row[f"zipf_{g}"]) for g in ("male", "female") if row[f"zipf_{g}"]},
        )
        for row in read_tsv("gendered-en.tsv")
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
    """The kind of a gendered word: pronoun, person, kinship, ...; empty for other words."""
    return _kinds().get(word.lower(), "")


def gender(word: str) -> Gender | None:
    """The gender a word has by itself, if any."""
    return _genders().get(word.lower())


def partners(one: str, other: str) -> bool:
    """Whether two words are the same except for their gender."""
    one, other = one.lower(), other.lower()
    return (one, other) in _partners() or (other, one) in _partners()


def frequency(word: str) -> float | None:
    """The frequency of a gendered word on the Zipf scale; None for other words."""
    return _frequencies().get(word.lower())
