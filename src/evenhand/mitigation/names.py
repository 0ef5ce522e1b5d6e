"""First names of people in a document, and their partners: like frequency, like gender-specificity, other gender."""

import csv
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from evenhand.errors import BadInput
from evenhand.mitigation.swap import Edit, cased

CAPITAL = r"[A-ZÀ-Þ][^\W\d_]*"
RUN = re.compile(
    rf"{CAPITAL}(?:(?:(?<=\b[A-Z])\.|(?<=\b(?:Mr|Ms|Dr|St|Lt|Jr|Sr))\.|(?<=\b(?:Mrs|Gen|Rev|Sgt|Col|Sen|Rep|Gov))\.)?"
    rf"[ ](?:(?:de|da|di|du|van|von|der|den|la|le|al|bin)[ ])?{CAPITAL})*"
)
"""Capitalised words in a row, with initials, titles and the small words of surnames."""
TOKEN = re.compile(CAPITAL)
STARTS = re.compile(r"(?:^|[.!?:;]['\"’”)\]]*\s+|\n\s*|[\"“‘`]+|--\s*|\(\s*|\[\s*|[*•]\s*)$")
"""What stands before the first word of a sentence."""
PLACE_WORDS = re.compile(r"\b(?:in|at|near|outside|around|across)\s+$")
PLACED = re.compile(r"\b(?:in|at|of|from|to|near|the|The|and)\s+$")
THING = re.compile(r"\b(?:the|The|a|an)\s+$")
"""Before what is no person: the Benjamin, a ship."""
OWNED = re.compile(r"['’]s\s+[A-Z]")
"""After a name that is part of another: Steven's Forest."""
FIRM = re.compile(r"\s*&|\s+and Sons\b")
"""What follows the name of a firm."""
BEFORE = re.compile(r"([^\W\d_]+)[,]?\s+$")


@dataclass(frozen=True, slots=True)
class Name:
    """A name's partner, and whether the name is more often a surname."""

    partner: str
    surname: bool


@cache
def bundled() -> Mapping[str, Name]:
    """The pairs of data/names-en.tsv, both ways, by the name in lower case."""
    text = (files("evenhand.mitigation") / "data" / "names-en.tsv").read_text(encoding="utf-8")
    table: dict[str, Name] = {}
    for row in csv.DictReader(text.splitlines(), delimiter="\t"):
        table[row["male"]] = Name(row["female"], row["male_surname"] == "1")
        table[row["female"]] = Name(row["male"], row["female_surname"] == "1")
    return table


def own(file: str) -> Mapping[str, Name]:
    """A user's pairs: a male and a female name on each line, a tab between. A name may stand in one pair only."""
    table: dict[str, Name] = {}
    try:
        lines = Path(file).expanduser().read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"The list of names '{file}' cannot be read: {error}. It must be text in UTF-8.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        fields = [field.strip().lower() for field in line.split("\t")]
        if len(fields) != 2 or not all(fields) or fields[0] == fields[1]:
            raise BadInput(f"{file}, line {number}: two different names and a tab between are wanted. Got {line!r}.")
        for one, other in (fields, fields[::-1]):
            if one in table:
                raise BadInput(f"{file}, line {number}: '{one}' has a partner already, '{table[one].partner}'.")
            table[one] = Name(other, surname=False)
    if not table:
        raise BadInput(f"The list of names '{file}' is empty.")
    return table


@cache
def _around() -> dict[str, frozenset[str]]:
    text = (files("evenhand.mitigation") / "data" / "name-contexts-en.toml").read_text(encoding="utf-8")
    return {name: frozenset(words.split()) for name, words in tomllib.loads(text).items()}


Run = list[tuple[str, int]]
"""Capitalised words in a row, each with its place."""


class Naming:
    """Finds the first names of a document that are people's, and gives each its partner, the same throughout.

    A name is a person's first name where a surname follows it, or did elsewhere in the document; standing alone, where
    it is nothing else as often (a month, a place, a surname) and the document has not used it as a surname. Names
    before University, Street, Award and the like belong to these. Hyphenated names are left alone.
    """

    def __init__(self, table: Mapping[str, Name] | None = None) -> None:
        self.table = bundled() if table is None else table

    def __call__(self, text: str) -> Iterator[Edit]:
        """The edits, in order."""
        runs = [run for match in RUN.finditer(text) if (run := self._run(text, match))]
        first, last = set[str](), set[str]()
        for run in runs:
            if len(run) > 1 and not _not_a_person(run):
                first.update(word for word, _ in run[:-1] if word.lower() in self.table)
                if not (len(run) == 2 and run[0][0] in _around()["first_titles"]):
                    last.add(run[-1][0])
        for run in runs:
            for index, (word, start) in enumerate(run):
                found = self.table.get(word.lower())
                if found and self._is_first_name(text, run, index, found, first, last):
                    yield Edit(start, word, cased(found.partner, word), "name")

    def _run(self, text: str, match: re.Match[str]) -> Run:
        """The words of a run and their places, without those that only begin a sentence."""
        around = _around()
        words = [(m[0], match.start() + m.start()) for m in TOKEN.finditer(match[0])]
        while words and words[0][0] in around["ordinary"]:
            words = words[1:]
        if len(words) == 2 and words[0][0].lower() not in self.table and words[1][0].lower() in self.table:
            titles = around["surname_titles"] | around["first_titles"] | around["place_before"]
            if words[0][0] not in titles and STARTS.search(text[max(0, match.start() - 8) : match.start()]):
                words = words[1:]  # "Actor James said": what stands first is no name, the name stands alone
        return words

    def _is_first_name(self, text: str, run: Run, index: int, found: Name, first: set[str], last: set[str]) -> bool:
        around = _around()
        word, start = run[index]
        stop = start + len(word)
        if "-" in text[max(0, start - 1) : start] + text[stop : stop + 1] or _not_a_person(run):
            return False
        if word in around["never"] or (word.isupper() and len(word) < 4) or FIRM.match(text, _end(run)):
            return False
        before = text[max(0, start - 20) : start]
        if word in around["elsewhere"] and PLACED.search(before):
            return False
        if len(run) > 1:
            if index == len(run) - 1:  # a surname, unless a title makes it the first
                return len(run) == 2 and run[0][0] in around["first_titles"]
            return index == 0 or run[index - 1][0] not in around["place_before"]
        if THING.search(before) or OWNED.match(text, stop):
            return False
        if word in first:
            return True
        kin = BEFORE.search(before)
        if kin and kin[1] in around["kin"]:
            return True
        if word in last or word in around["elsewhere"] or found.surname:
            return False
        if word in around["words"] and STARTS.search(before):
            return False
        return not PLACE_WORDS.search(before)


def _end(run: Run) -> int:
    word, start = run[-1]
    return start + len(word)


def _not_a_person(run: Run) -> bool:
    around = _around()
    return any(word in around["after"] for word, _ in run[1:]) or run[0][0] in around["place_before"]
