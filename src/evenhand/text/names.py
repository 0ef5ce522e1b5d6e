"""First names of people in a document, and their partners: names of the other gender that are about as common."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from evenhand.datasets.gendered import Gender
from evenhand.text import name_patterns as patterns
from evenhand.text.asking import AGREED, DENIED, Place, place
from evenhand.text.edits import STAYS, Edit, cased
from evenhand.text.name_lists import Name, bundled, contexts

CONTEXT = contexts()
Run = list[tuple[str, int]]
"""Capitalised words in a row, each with its position."""


class Naming:
    """Finds the first names of people in a document, with the same partner throughout.

    A word is a first name if a surname follows it here or elsewhere in the document. A single word is one if it is not
    as often something else (a month, a place, a surname) and not a surname in this document, if it does what people do
    ("Ruby said"), or if it is next to a first name ("Hanna and Emily"). Names before University, Street, Award and the
    like belong to these. Hyphenated names stay. `always` takes every word of the list that is
    not in lower case for a first name, as in texts of another language.
    """

    def __init__(
        self, table: Mapping[str, Name] | None = None, only: Gender | None = None, *, always: bool = False
    ) -> None:
        self.table = bundled() if table is None else table
        self.only, self.always = only, always

    def __call__(self, text: str) -> Iterator[Edit]:
        """The edits, in order, by rules alone."""
        return (edit for edit in self.draft(text).edits({}) if edit.rule != STAYS)

    def draft(self, text: str) -> "Draft":
        if self.always:
            words = [(m[0], m.start()) for m in patterns.LETTERS.finditer(text) if not m[0].islower()]
            return Draft(self, text, [[word] for word in words if word[0].lower() in self.table], set(), set(), [], [])
        runs, unlisted = list[Run](), list[tuple[str, int]]()
        table, ordinary = self.table, CONTEXT["ordinary"]
        for match in patterns.RUN.finditer(text):  # most are one word, which is not in the list: these must be quick
            word = match[0]
            if " " in word:
                run = self._run(text, match)
                runs += [run] if run and not _is_not_a_person(text, run) else []
                if not any(word.lower() in table for word, _ in run[:-1]):
                    unlisted += patterns.full_name(match)
            elif word.lower() in table:
                runs.append([(word, match.start())])
            elif word not in ordinary and patterns.is_unlisted(text, word, *match.span()):
                unlisted.append((word, match.start()))
        return Draft(self, text, runs, *self._used(text, runs), unlisted)

    def _run(self, text: str, match: re.Match[str]) -> Run:
        """The words of a run and their positions, from the last title on, without words that only begin a sentence.

        Empty if no word of it is in the list of names.
        """
        if self.table.keys().isdisjoint(map(str.lower, patterns.TOKEN.findall(match[0]))):
            return []
        words = [(m[0], match.start() + m.start()) for m in patterns.TOKEN.finditer(match[0])]
        begin, ordinary = 0, CONTEXT["ordinary"]
        while begin < len(words) and words[begin][0] in ordinary:
            begin += 1
        words = words[begin:]
        for index, (word, at) in enumerate(words):
            if word in ordinary and (len(word) > 1 or (word == "I" and text[at + 1 : at + 2] != ".")):
                words = words[:index]  # May *I* ask?
                break
        if begin > 1 and words and words[0][0] in CONTEXT["words"] | CONTEXT["elsewhere"]:
            return []  # a heading, To Whom It May Concern
        words = words[self._person_at(words) :]
        if len(words) == 2 and words[0][0].lower() not in self.table and words[1][0].lower() in self.table:
            role = words[0][0] in CONTEXT["roles"] or words[0][0].endswith(("ly", "ing"))
            if role and patterns.STARTS.search(text[max(0, match.start() - 8) : match.start()]):
                words = words[1:]  # "Actor James said": the first word is not a name
        return words if any(word.lower() in self.table for word, _ in words) else []

    def _person_at(self, words: Run) -> int:
        """Where a person begins in a longer run: New York *Mayor Michael Bloomberg*, Essence Magazine *Ana Perez*."""
        for index in range(len(words) - 3, -1, -1):
            if words[index + 1][0].lower() not in self.table or words[index + 2][0] in CONTEXT["after"]:
                continue
            if words[index][0] in CONTEXT["roles"] or words[index][0] in CONTEXT["surname_titles"]:
                return index
            if index and words[index][0] in CONTEXT["after"] and words[index][0].lower() not in self.table:
                return index + 1
        return 0

    def _used(self, text: str, runs: list[Run]) -> tuple[set[str], set[str], list[Run]]:
        """The words that the document clearly uses as first names, and as surnames; and doubtful words, alone."""
        first, last = set[str](), set[str]()
        for run in runs:
            if len(run) > 1:
                first.update(word for word, _ in run[:-1] if word.lower() in self.table)
                if not (len(run) == 2 and run[0][0] in CONTEXT["first_titles"]):
                    last.add(run[-1][0])
        if words := first & CONTEXT["words"]:
            spelt = Counter(patterns.LETTERS.findall(text))
            first -= {word for word in words if patterns.mostly_small(spelt, word)}
        settled = first | last | CONTEXT["never"]
        alone = [run for run in runs if len(run) == 1 and run[0][0] not in settled]
        doubtful = {
            word
            for ((word, _),) in alone
            if not self.table[word.lower()].surname and (word in CONTEXT["elsewhere"] or word in CONTEXT["words"])
        }
        for one, other in pairwise(alone):
            pair = {one[0][0], other[0][0]}
            surnames = any(self.table[word.lower()].surname for word in pair)
            if len(pair & doubtful) == 1 and not surnames and patterns.AND.fullmatch(text, _end(one), other[0][1]):
                first |= pair
        sure = set(first)
        for run in alone:
            word, start = run[0]
            if word not in doubtful or patterns.THING.search(text[max(0, start - 5) : start]):
                continue
            kin = patterns.BEFORE.search(text[max(0, start - 20) : start])
            related = kin and kin[1] in CONTEXT["kin"]
            if related or patterns.PERSON.match(text, _end(run)) or patterns.does_its_word(text, *run[0]):
                first.add(word)
        return first, last, [run for run in alone if run[0][0] in doubtful and run[0][0] not in sure]


@dataclass(frozen=True)
class Draft:
    """Capitalised words of a document that may be first names; `first` and `last` clearly are first and last names."""

    naming: Naming
    text: str
    runs: list[Run]
    first: set[str]
    last: set[str]
    alone: list[Run]
    """Doubtful words: months, places, flowers."""
    unlisted: list[tuple[str, int]]
    """Words that do what people do, but are not in the list."""

    @cached_property
    def doubtful(self) -> dict[str, Place]:
        """Where to ask a model whether a doubtful word is a person: the first place of each."""
        found: dict[str, Place] = {}
        for run in self.alone:
            word, start = run[0]
            before = self.text[max(0, start - 20) : start]
            if word in found or word in self.first or word.isupper() or patterns.PLACED.search(before):
                continue
            usual = word in CONTEXT["elsewhere"] or patterns.STARTS.search(before)
            if not usual and word.lower() not in self._spelt:
                continue  # Grace, in the middle of a sentence, and no grace
            if self._is_first_name(run, 0, self.naming.table[word.lower()], {word}):  # if the model says so
                found[word] = place("name", self.text, start, start + len(word))
        return found

    @cached_property
    def _spelt(self) -> Counter[str]:
        return Counter(patterns.LETTERS.findall(self.text))

    def edits(self, odds: Mapping[Place, float]) -> Iterator[Edit]:
        """The edits, then the names that stay. The odds at its first place decide about a doubtful word throughout."""
        told = {word: odds[here] for word, here in self.doubtful.items()} if odds else {}
        people = {word for word, found in told.items() if found >= AGREED}  # no answer, no opinion
        others = {word for word, found in told.items() if found < DENIED}
        first, nobody = (self.first | people) - others, self.last | others | CONTEXT["never"]
        for run in self.runs:
            for index, (word, start) in enumerate(run):
                found = self.naming.table.get(word.lower())
                if not found or (self.naming.only and found.gender != self.naming.only):
                    continue
                if (word not in others or len(run) > 1) and self._is_first_name(run, index, found, first):
                    yield Edit(start, word, cased(found.partner, word), "name")
                elif len(run) == 1 and word not in nobody and patterns.PERSON.match(self.text, _end(run)):
                    yield Edit(start, word, word, STAYS)  # it does what people do
        surnames = {run[-1][0] for run in self.runs if len(run) > 1}
        for word, start in self.unlisted:
            if word not in surnames and word.lower() not in self._spelt:  # People, where it has people, too
                yield Edit(start, word, word, STAYS)

    def _is_first_name(self, run: Run, index: int, found: Name, first: set[str]) -> bool:
        if self.naming.always:
            return True
        text, table = self.text, self.naming.table
        word, start = run[index]
        stop = start + len(word)
        upper, before = word.isupper(), text[max(0, start - 20) : start]
        if (
            (word in CONTEXT["never"] or (upper and len(word) < 4))
            or (upper and word.capitalize() in CONTEXT["words"] | CONTEXT["elsewhere"])
            or (patterns.HYPHEN.match(text, stop) or patterns.HYPHENED.search(text, max(0, start - 3), start))
            or (patterns.FIRM.match(text, _end(run)) or patterns.DATED.match(text, stop))
            or (run[-1][0] in CONTEXT["brands"] and patterns.BRAND.match(text, _end(run)))
            or (word in CONTEXT["words"] and patterns.ASKS.match(text, stop))
            or (upper and patterns.BRACKETED.match(text, start - 1))
            or (len(run) == 1 and (patterns.OWNED.match(text, stop) or patterns.STATE.match(text, stop)))
            or (len(run) > 1 and found.surname and patterns.PLACE_WORDS.search(before))
            or (word in CONTEXT["offices"] and (patterns.OF.match(text, stop) or patterns.ORDINAL.search(before)))
        ):
            return False
        if word in CONTEXT["elsewhere"] and (patterns.PLACED if len(run) == 1 else patterns.INSIDE).search(before):
            placed = patterns.WITHIN.search(before) or patterns.RULED.search(before)
            return len(run) == 1 and word in first and not placed
        if len(run) > 1:
            if index == len(run) - 1:  # a surname, unless a title makes it the first
                lord = found.surname and run[0][0] in ("Lord", "Lady", "Father", "Mother")
                return len(run) == 2 and run[0][0] in CONTEXT["first_titles"] and not lord
            after = run[index + 1][0]
            if word == "Don":  # a title before a first name
                return not (after.lower() in table or after.endswith(("o", "ote", "one")))
            if word == "Les" and after.endswith("s"):  # French: Les Misérables
                return False
            if word in CONTEXT["offices"] and index + 2 < len(run) and after.lower() in table:
                return False  # Dean Christina Slade
            return index == 0 or run[index - 1][0] not in CONTEXT["place_before"]
        kin = patterns.BEFORE.search(before)
        if patterns.THING.search(before) or (kin and kin[1] in CONTEXT["works"]):
            return False
        if word in first or (kin and kin[1] in CONTEXT["kin"]):
            return True
        if patterns.OPENED.search(before) and patterns.QUOTED.match(text, stop):
            return False
        if word in self.last or word in CONTEXT["elsewhere"] or found.surname or word in CONTEXT["surnames"]:
            return False
        if word in CONTEXT["words"] and (
            patterns.STARTS.search(before) or patterns.mostly_small(self._spelt, word, more=1)
        ):
            return False
        return not patterns.PLACE_WORDS.search(before)


def _end(run: Run) -> int:
    word, start = run[-1]
    return start + len(word)


def _is_not_a_person(text: str, run: Run) -> bool:
    if run[0][0] in CONTEXT["place_before"]:
        return True
    if CONTEXT["after"].isdisjoint(word for word, _ in run[1:]):
        return False
    return run[-1][0] not in CONTEXT["after"] or not patterns.HYPHEN.match(text, _end(run))  # Janet Street-Porter
