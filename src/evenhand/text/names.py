"""First names of people in a document, and their partners: names of the other gender that are about as common.

The patterns say what stands before and after a capitalised word that is, or is not, a person's name.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import dropwhile, pairwise
from pathlib import Path

from evenhand.datasets.files.rows import read_pairs
from evenhand.datasets.gendered import Gender, Name, bundled_names, gender
from evenhand.errors import BadInput
from evenhand.text.asking import AGREED, DENIED, Place, place
from evenhand.text.edits import STAYS, Edit, any_of, contexts, match_case

CONTEXT = contexts()
Run = list[tuple[str, int]]
"""Capitalised words in a row, each with its position."""
CAPITAL = r"[A-ZÀ-Þ][^\W\d_]*"
RUN = re.compile(
    rf"(?<![^\W\d_]){CAPITAL}(?:(?:(?<=\b[A-Z])\.|(?<=\b(?:Mr|Ms|Dr|St|Lt|Jr|Sr))\.|(?<=\b(?:Mrs|Gen|Rev|Sgt|Col|Sen|Rep|Gov))\.)?"
    rf"[ ]{{1,2}}(?:(?:de|da|di|du|del|della|dos|van|von|der|den|la|le|al|bin|bint|ibn|ben)[ ])?{CAPITAL})*"
)
"""Capitalised words in a row, with initials, titles and the small words of surnames."""
TOKEN = re.compile(CAPITAL)
LETTERS = re.compile(r"[^\W\d_]+")
STARTS = re.compile(r"(?:^|[.!?:;]['\"’”)\]]*\s+|\n\s*|[\"“‘`]+|--\s*|\(\s*|\[\s*|[*•]\s*)$")
"""What precedes the first word of a sentence."""
PLACE_WORDS = re.compile(r"\b(?:in|near|outside|(?:Baron|Bishop|Count|County|Duke|Earl|city|suburb|town)\s+of)\s+$")
PLACED = re.compile(rf"\b(?:{any_of('before_places')}|July or|\d+)[\s-]+$|[A-Z][a-z]+,\s$")
"""What precedes a place or a month that is also a name: in Georgia; Savannah, Georgia; 20 April."""
INSIDE = re.compile(r"\b(?:in|at|near|the|The|\d+)\s+$")
"""What precedes such a place if another capitalised word follows: in Virginia Beach, but novels of Virginia Woolf."""
WITHIN = re.compile(rf"\b(?:in|near|the|The|\d+|(?:{any_of('moves')})\s+to)\s+$|(?:[A-Z][a-z]+\s+of|\bfrom)\s$")
"""What precedes such a place if the word is a person elsewhere in the document, so that "at" and "to" do not show a
place; and what precedes a country or a town: Governor of Victoria, from Georgia."""
THING = re.compile(r"\b(?:the|The|a|an|upon|la|le|el|los|las|de|du)\s+$")
"""What precedes something that is not a person: the Benjamin, a ship; Stoke upon Trent; Conservatoire de Paris."""
OWNED = re.compile(
    r"['’]s\s+[A-Z]|\s+\d+:\d|['’]ts?\b|\s+(?:nominat\w+|awards?|winners?|ale|cats?|city|people|spacecraft)\b|"
    rf"\s+\((?:1[89]|20)\d\d\)|,\s+(?:{any_of('places', 'regions')}|New [JHMYSZ]|North [CD]|South [ACD]|West V)"
)
"""What follows a word that is not a person's name: Steven's Forest, Mark 16:2, Don't, Oscar winners, Belle (2013);
Milford, Connecticut."""
QUOTED = re.compile(r"''|[\"”’](?!s)(?! [A-Z])")
"""What follows a title in quotation marks, such as a song or a show."""
OPENED = re.compile(r"(?:``|''|[\"“‘])$")
FIRM = re.compile(rf"\s*&\s*\w|\s+and Sons\b|\s+(?:{any_of('products')})\b")
"""What follows a name in that of a firm, a phrase or a product: and Sons, Flora & fauna, Calvin Klein jeans."""
BRAND = re.compile(r"['’]s(?:\s+(?:is|was|are|were|has|and|or|in|on|at|for|to|when|where|which)\b|\s*[.,;:!?)]|\s*$)")
"""What follows a brand that is written as a possessive: ate at Wendy's and left."""
PERSON = re.compile(
    rf"['’]s\s+(?:{any_of('belongings')})\b|\s+(?:(?:was|is)\s+(?:born|married|the\s+(?:{any_of('relations')}))|had\s+been|"
    rf"who|herself|himself|{any_of('deeds')})\b"
)
"""What follows a single word that is a person's name, even if it is also a word or a place."""
AND = re.compile(r",?\s+(?:and|or)\s+|,\s+")
"""What connects two names: Hanna and Emily."""
OF = re.compile(r"\s+of\b")
ORDINAL = re.compile(r"(?:\dst|\dnd|\drd|\dth|[Ff]irst|[Ss]econd)\s$")
QUOTES = frozenset("\"“‘'")
CALLED = re.compile(r",\s+(?:[a-z]|I\b)")
"""What follows somebody who is spoken to: "Lizzy, give him your hand"."""
TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Master|Dr|Lord|Lady|Sir|Dame)\.?\s+$")
ASKS = re.compile(r"\s+(?:you|we|they|he|she|it|this|that|the|there|your|my|our|his|her)\b")
"""What follows a word that begins a question or a wish: Will you, Grant us."""
DATED = re.compile(r"\.?\s+\d")
"""What follows a month: Jan. 31, June 1999."""
BEFORE = re.compile(r"([^\W\d_]+)[,]?\s+$")
BRACKETED = re.compile(r"\([A-Z]+\)")
"""An abbreviation: Instruments for Research (IRIS)."""
HYPHEN = re.compile(r"-(?!-)|\*\w|[_\d]|\w*\.(?:doc|pdf|xls|txt|com|org|net)\b")
HYPHENED = re.compile(r"(?<!-)-$|\b[OD]['’]$|\w\*$|%\w\w$")
"""What joins a word to the one before: a hyphen (two are a dash), O' as in O'Donnell, or * for a letter (Fran*ais)."""


Names = tuple[tuple[str, Name], ...]
"""A user's own list of names."""


def read_names(file: str | Path) -> Mapping[str, Name]:
    """A user's pairs: a male and a female name on each line, separated by a tab. A name may be in one pair only."""
    table: dict[str, Name] = {}
    for male, female in read_pairs(file, "names"):
        for name, entry in ((male, Name(female, "male")), (female, Name(male, "female"))):
            if name in table:
                partners = f"'{table[name].partner}' and '{entry.partner}'"
                raise BadInput(f"{file}: '{name}' has two partners, {partners}. Remove one of these pairs.")
            table[name] = entry
    return table


class Naming:
    """Finds the first names of people in a document; a name has the same partner throughout.

    A word is a first name if a surname follows it here or elsewhere in the document. A word by itself is a first name
    if it does what people do ("Ruby said"), if it is next to a first name ("Hanna and Emily"), or if it is neither
    often something else (a month, a place, a surname) nor a surname in this document. Names before University, Street,
    Award and the like are not first names of people. Hyphenated names stay. With `always`, for texts of another
    language, every word of the list that is not in lower case is a first name.
    """

    def __init__(
        self, table: Mapping[str, Name] | None = None, only: Gender | None = None, *, always: bool = False
    ) -> None:
        self.table = bundled_names() if table is None else table
        self.only, self.always = only, always

    def __call__(self, text: str) -> Iterator[Edit]:
        """The edits in order, by rules alone, without names that stay."""
        return (edit for edit in self.draft(text).edits({}) if edit.rule != STAYS)

    def draft(self, text: str) -> "Draft":
        if self.always:
            words = [(m[0], m.start()) for m in LETTERS.finditer(text) if not m[0].islower()]
            return Draft(self, text, [[word] for word in words if word[0].lower() in self.table], set(), set(), [], [])
        runs, unlisted = list[Run](), list[tuple[str, int]]()
        table, ordinary = self.table, CONTEXT["ordinary"]
        for match in RUN.finditer(text):  # most runs are one word that is not in the list: these must be quick
            word = match[0]
            if " " in word:
                run = self._run(text, match)
                runs += [run] if run and not _is_not_a_person(text, run) else []
                if not any(word.lower() in table for word, _ in run[:-1]):
                    unlisted += _full_name(match)
            elif word.lower() in table:
                runs.append([(word, match.start())])
            elif word not in ordinary and _is_unlisted(text, word, *match.span()):
                unlisted.append((word, match.start()))
        return Draft(self, text, runs, *self._first_and_last_names(text, runs), unlisted)

    def _run(self, text: str, match: re.Match[str]) -> Run:
        """The words of a run and their positions, from the last title on, without words that only begin a sentence.

        Empty if no word of it is in the list of names.
        """
        if self.table.keys().isdisjoint(map(str.lower, TOKEN.findall(match[0]))):
            return []
        words = [(m[0], match.start() + m.start()) for m in TOKEN.finditer(match[0])]
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
            if role and STARTS.search(text[max(0, match.start() - 8) : match.start()]):
                words = words[1:]  # "Actor James said": the first word is not a name
        return words if any(word.lower() in self.table for word, _ in words) else []

    def _person_at(self, words: Run) -> int:
        """The index of a person in a longer run: New York *Mayor Michael Bloomberg*, Essence Magazine *Ana Perez*."""
        for index in range(len(words) - 3, -1, -1):
            if words[index + 1][0].lower() not in self.table or words[index + 2][0] in CONTEXT["after"]:
                continue
            if words[index][0] in CONTEXT["roles"] or words[index][0] in CONTEXT["surname_titles"]:
                return index
            if index and words[index][0] in CONTEXT["after"] and words[index][0].lower() not in self.table:
                return index + 1
        return 0

    def _first_and_last_names(self, text: str, runs: list[Run]) -> tuple[set[str], set[str], list[Run]]:
        """The words that the document clearly uses as first names, those as surnames, and runs of one doubtful word."""
        first, last = set[str](), set[str]()
        for run in runs:
            if len(run) > 1:
                first.update(word for word, _ in run[:-1] if word.lower() in self.table)
                if not (len(run) == 2 and run[0][0] in CONTEXT["first_titles"]):
                    last.add(run[-1][0])
        if words := first & CONTEXT["words"]:
            counts = Counter(LETTERS.findall(text))
            first -= {word for word in words if _is_mostly_lowercase(counts, word)}
        settled = first | last | CONTEXT["never"]
        alone = [run for run in runs if len(run) == 1 and run[0][0] not in settled]
        doubtful = {
            word
            for ((word, _),) in alone
            if not self.table[word.lower()].surname and (word in CONTEXT["elsewhere"] or word in CONTEXT["words"])
        }
        for left, right in pairwise(alone):
            pair = {left[0][0], right[0][0]}
            surnames = any(self.table[word.lower()].surname for word in pair)
            if len(pair & doubtful) == 1 and not surnames and AND.fullmatch(text, _end(left), right[0][1]):
                first |= pair
        sure = set(first)
        for run in alone:
            word, start = run[0]
            if word not in doubtful or THING.search(text[max(0, start - 5) : start]):
                continue
            kin = BEFORE.search(text[max(0, start - 20) : start])
            related = kin and kin[1] in CONTEXT["kin"]
            if related or PERSON.match(text, _end(run)) or _is_its_own_verb(text, *run[0]):
                first.add(word)
        return first, last, [run for run in alone if run[0][0] in doubtful and run[0][0] not in sure]


@dataclass(frozen=True)
class Draft:
    """Capitalised words of a document that may be first names; `first` are clearly first names, `last` surnames."""

    naming: Naming
    text: str
    runs: list[Run]
    first: set[str]
    last: set[str]
    alone: list[Run]
    """Runs of one doubtful word: months, places, flowers."""
    unlisted: list[tuple[str, int]]
    """Words that are used like names of people, but are not in the list."""

    @cached_property
    def doubtful(self) -> dict[str, Place]:
        """The first place of each doubtful word at which to ask a model whether it is a person."""
        places: dict[str, Place] = {}
        for run in self.alone:
            word, start = run[0]
            before = self.text[max(0, start - 20) : start]
            if word in places or word in self.first or word.isupper() or PLACED.search(before):
                continue
            usual = word in CONTEXT["elsewhere"] or STARTS.search(before)
            if not usual and word.lower() not in self._word_counts:
                continue  # Grace within a sentence, in a document without "grace"
            if self._is_first_name(run, 0, self.naming.table[word.lower()], {word}):  # if the model agrees
                places[word] = place("name", self.text, start, start + len(word))
        return places

    @cached_property
    def _word_counts(self) -> Counter[str]:
        return Counter(LETTERS.findall(self.text))

    def edits(self, odds: Mapping[Place, float]) -> Iterator[Edit]:
        """The edits, then the names that stay. The log-odds at a doubtful word's first place decide throughout."""
        opinions = {word: odds[where] for word, where in self.doubtful.items()} if odds else {}
        people = {word for word, opinion in opinions.items() if opinion >= AGREED}  # nobody without answers
        others = {word for word, opinion in opinions.items() if opinion < DENIED}
        first, nobody = (self.first | people) - others, self.last | others | CONTEXT["never"]
        for run in self.runs:
            for index, (word, start) in enumerate(run):
                name = self.naming.table.get(word.lower())
                if not name or (self.naming.only and name.gender != self.naming.only):
                    continue
                if (word not in others or len(run) > 1) and self._is_first_name(run, index, name, first):
                    yield Edit(start, word, match_case(name.partner, word), "name")
                elif len(run) == 1 and word not in nobody and PERSON.match(self.text, _end(run)):
                    yield Edit(start, word, word, STAYS)  # used like a name, but not swapped
        surnames = {run[-1][0] for run in self.runs if len(run) > 1}
        for word, start in self.unlisted:
            if word not in surnames and word.lower() not in self._word_counts:  # not People next to people
                yield Edit(start, word, word, STAYS)

    def _is_first_name(self, run: Run, index: int, name: Name, first: set[str]) -> bool:
        if self.naming.always:
            return True
        text, table = self.text, self.naming.table
        word, start = run[index]
        stop = start + len(word)
        upper, before = word.isupper(), text[max(0, start - 20) : start]
        if (
            (word in CONTEXT["never"] or (upper and len(word) < 4))
            or (upper and word.capitalize() in CONTEXT["words"] | CONTEXT["elsewhere"])
            or (HYPHEN.match(text, stop) or HYPHENED.search(text, max(0, start - 3), start))
            or (FIRM.match(text, _end(run)) or DATED.match(text, stop))
            or (run[-1][0] in CONTEXT["brands"] and BRAND.match(text, _end(run)))
            or (word in CONTEXT["words"] and ASKS.match(text, stop))
            or (upper and BRACKETED.match(text, start - 1))
            or (len(run) == 1 and OWNED.match(text, stop))
            or (len(run) > 1 and name.surname and PLACE_WORDS.search(before))
            or (word in CONTEXT["offices"] and (OF.match(text, stop) or ORDINAL.search(before)))
        ):
            return False
        if word in CONTEXT["elsewhere"] and (PLACED if len(run) == 1 else INSIDE).search(before):
            return len(run) == 1 and word in first and not WITHIN.search(before)
        if len(run) > 1:
            if index == len(run) - 1:  # a surname, unless a title makes it the first
                lord = name.surname and run[0][0] in ("Lord", "Lady", "Father", "Mother")
                return len(run) == 2 and run[0][0] in CONTEXT["first_titles"] and not lord
            after = run[index + 1][0]
            if word == "Don":  # a title before a first name
                return not (after.lower() in table or after.endswith(("o", "ote", "one")))
            if word == "Les" and after.endswith("s"):  # French: Les Misérables
                return False
            if word in CONTEXT["offices"] and index + 2 < len(run) and after.lower() in table:
                return False  # Dean Christina Slade
            return index == 0 or run[index - 1][0] not in CONTEXT["place_before"]
        kin = BEFORE.search(before)
        if THING.search(before) or (kin and kin[1] in CONTEXT["works"]):
            return False
        if word in first or (kin and kin[1] in CONTEXT["kin"]):
            return True
        if OPENED.search(before) and QUOTED.match(text, stop):
            return False
        if word in self.last or word in CONTEXT["elsewhere"] or name.surname or word in CONTEXT["surnames"]:
            return False
        if word in CONTEXT["words"] and (
            STARTS.search(before) or _is_mostly_lowercase(self._word_counts, word, more=1)
        ):
            return False
        return not PLACE_WORDS.search(before)


def _end(run: Run) -> int:
    word, start = run[-1]
    return start + len(word)


def _is_not_a_person(text: str, run: Run) -> bool:
    if run[0][0] in CONTEXT["place_before"]:
        return True
    if CONTEXT["after"].isdisjoint(word for word, _ in run[1:]):
        return False
    return run[-1][0] not in CONTEXT["after"] or not HYPHEN.match(text, _end(run))  # Janet Street-Porter


def _is_mostly_lowercase(words: Counter[str], word: str, more: int = 0) -> bool:
    """Whether a document has a word in lower case (basil) at least as often as capitalised (Basil), plus `more`.

    Will is excluded: as a verb it is in lower case in any text.
    """
    return word != "Will" and words[word.lower()] >= words[word] + more


def _is_unlisted(text: str, word: str, start: int, stop: int) -> bool:
    """Whether a capitalised word that is not in the list is a name: it does what people do, or is spoken to."""
    if text[stop : stop + 1] == ",":
        if text[start - 1 : start] not in QUOTES or not CALLED.match(text, stop):
            return False
    elif not PERSON.match(text, stop):
        return False
    if word in CONTEXT["surname_titles"] or len(word) < 3 or word.isupper() or gender(word):
        return False
    before = text[max(0, start - 12) : start]
    return not (TITLED.search(before) or THING.search(before))


def _full_name(match: re.Match[str]) -> list[tuple[str, int]]:
    """The first name of a full name that is not listed, or that women and men bear: Mayor *Xyz* Nair, *Yuki* Sato."""
    start, before, both = match[0].split(" ", 1)[0].rstrip("."), CONTEXT["before"], CONTEXT["both"]
    if start not in before and start not in both and not gender(start):
        return []  # most runs, and quickly
    words = [(m[0], match.start() + m.start()) for m in TOKEN.finditer(match[0])]
    first, *others = list(dropwhile(lambda word: word[0] in before or gender(word[0]), words)) or [("", 0)]
    known = first[0] in both or (first != words[0] and len(first[0]) > 2)
    return [first] if known and others and CONTEXT["after"].isdisjoint(word for word, _ in words) else []


def _is_its_own_verb(text: str, name: str, start: int) -> bool:
    """Whether a name is followed by the same word as a verb, so that it is a person: Rose rose, Mark marked."""
    return re.match(rf"\s+{name.lower()}(?:e?d|s)?\b", text[start + len(name) : start + len(name) + 40]) is not None
