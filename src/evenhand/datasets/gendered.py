"""Words and first names that have a gender, and their partners: man and woman, he and she, John and Mary."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from evenhand.datasets.files import read_toml, read_tsv

Gender = Literal["female", "male"]

PRONOUNS: dict[str, Gender] = {"his": "male", "him": "male", "her": "female", "hers": "female"}
"""Pronouns whose partner depends on their role in the sentence."""
FREQUENCY = {"his": 6.51, "her": 6.30, "him": 6.11, "hers": 3.97}
PARTNERS = {("his", "her"), ("him", "her"), ("his", "hers")}


@dataclass(frozen=True, slots=True)
class WordPair:
    """Two words that are partners. If `oneway` is a gender, only the word of that gender has a partner.

    "Hostess" has the partner "host", but not the other way round: a host may be a woman. Frequencies are on the Zipf
    scale, log10 of the occurrences in a billion words, from wordfreq 3.1 (Speer 2022; CC BY-SA 4.0).
    """

    male: str
    female: str
    kind: str
    oneway: str
    zipf_male: str
    zipf_female: str
    note: str


@dataclass(frozen=True, slots=True)
class Name:
    """A name's partner, the name's own gender, and whether it is more often a surname."""

    partner: str
    gender: Gender
    surname: bool = False


@cache
def lexicon() -> tuple[WordPair, ...]:
    """The pairs of data/gendered-en.tsv; he and she are included, `PRONOUNS` are not."""
    return tuple(WordPair(**row) for row in read_tsv("gendered-en.tsv"))


@cache
def _genders_and_kinds() -> dict[str, tuple[Gender, str]]:
    """The gender and kind of each word that has a gender by itself."""
    known: dict[str, tuple[Gender, str]] = {word: (gender, "pronoun") for word, gender in PRONOUNS.items()}
    for words in lexicon():
        if words.oneway != "male":
            known[words.female] = "female", words.kind
        if words.oneway != "female":
            known[words.male] = "male", words.kind
    return known


@cache
def _partner_pairs() -> frozenset[tuple[str, str]]:
    return frozenset({(w.male, w.female) for w in lexicon()} | PARTNERS)


@cache
def _frequencies() -> dict[str, float]:
    listed = [pair for w in lexicon() for pair in ((w.male, w.zipf_male), (w.female, w.zipf_female))]
    return FREQUENCY | {word: float(zipf) for word, zipf in listed if zipf}


def kind(word: str) -> str:
    """The kind of a gendered word: pronoun, person, kinship, ...; empty for other words."""
    return _genders_and_kinds().get(word.lower(), (None, ""))[1]


def gender(word: str) -> Gender | None:
    """The gender a word has by itself, if any."""
    return _genders_and_kinds().get(word.lower(), (None, ""))[0]


def words_of(side: Gender) -> list[str]:
    """The words of a gender that are said of people."""
    return [word for word, (gender, kind) in _genders_and_kinds().items() if gender == side and kind != "animal"]


def partners(word: str, other: str) -> bool:
    """Whether two words are the same except for their gender."""
    word, other = word.lower(), other.lower()
    return (word, other) in _partner_pairs() or (other, word) in _partner_pairs()


def frequency(word: str) -> float | None:
    """The frequency of a gendered word on the Zipf scale; None for other words."""
    return _frequencies().get(word.lower())


@cache
def census() -> Mapping[str, Name]:
    """The pairs of the US census (data/names-en.tsv), both ways, by the name in lower case; as in Bartl et al. 2020."""
    return _read_names("names-en.tsv")


@cache
def bundled_names() -> Mapping[str, Name]:
    """Names of the census and of the world (data/names-world.tsv); the latter have partners of the same region."""
    return {**census(), **_read_names("names-world.tsv")}


@cache
def sure_names() -> Mapping[str, Gender]:
    """The gender of capitalised names that one gender bears and that are no surnames or words, and of some titles."""
    doubtful = set(" ".join(read_toml("doubtful-names-en.toml").values()).lower().split())
    names = {name: known.gender for name, known in bundled_names().items() if not known.surname}
    titles: dict[str, Gender] = {"Dame": "female", "Miss": "female", "Sir": "male"}
    return titles | {name.capitalize(): gender for name, gender in names.items() if name not in doubtful}


def _read_names(file: str) -> dict[str, Name]:
    table: dict[str, Name] = {}
    for row in read_tsv(file):
        table.setdefault(row["male"], Name(row["female"], "male", row["male_surname"] == "1"))
        table.setdefault(row["female"], Name(row["male"], "female", row["female_surname"] == "1"))
    return table
