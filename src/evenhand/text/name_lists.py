"""Lists of first names with their partners: the bundled one, and a user's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evenhand.datasets.files import read_toml, read_tsv
from evenhand.datasets.files.rows import read_pairs
from evenhand.datasets.gendered import Gender
from evenhand.errors import BadInput


@cache
def contexts() -> dict[str, frozenset[str]]:
    """Word lists by name; `ordinary` has its words in capitals, too, and `before` has all titles and roles."""
    lists = read_toml("name-contexts-en.toml", "evenhand.text")
    words = {name: frozenset(listed.split()) for name, listed in lists.items()}
    words["ordinary"] |= {word.upper() for word in words["ordinary"]}
    return words | {"before": words["roles"] | words["surname_titles"] | words["first_titles"]}


def any_of(*names: str) -> str:
    """A regular expression for the words of these lists."""
    return "|".join(sorted(word for name in names for word in contexts()[name]))


@dataclass(frozen=True, slots=True)
class Name:
    """A name's partner, the name's own gender, and whether it is more often a surname."""

    partner: str
    gender: Gender
    surname: bool = False


Names = tuple[tuple[str, Name], ...]
"""A user's own list of names."""


@cache
def census() -> Mapping[str, Name]:
    """The pairs of the US census (data/names-en.tsv), both ways, by the name in lower case; as in Bartl et al. 2020."""
    return _read("names-en.tsv")


@cache
def bundled_names() -> Mapping[str, Name]:
    """Names of the census and of the world (data/names-world.tsv); the latter have partners of the same region."""
    return {**census(), **_read("names-world.tsv")}


def _read(file: str) -> dict[str, Name]:
    table: dict[str, Name] = {}
    for row in read_tsv(file, "evenhand.text"):
        table.setdefault(row["male"], Name(row["female"], "male", row["male_surname"] == "1"))
        table.setdefault(row["female"], Name(row["male"], "female", row["female_surname"] == "1"))
    return table


def read_names(file: str | Path) -> Mapping[str, Name]:
    """A user's pairs: a male and a female name on each line, separated by a tab. A name may be in one pair only."""
    table: dict[str, Name] = {}
    for male, female in read_pairs(file, "names"):
        for name, entry in ((male, Name(female, "male")), (female, Name(male, "female"))):
            if name in table:
                raise BadInput(f"{file}: '{name}' has two partners, '{table[name].partner}' and '{entry.partner}'.")
            table[name] = entry
    return table
