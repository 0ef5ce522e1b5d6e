"""First names of people in a document, and their partners: names of the other gender that are about as common."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from evenhand.core.files import read_parsed
from evenhand.datasets.files.bundled import read_tsv
from evenhand.datasets.gendered import Gender, gender
from evenhand.errors import BadInput
from evenhand.mitigation.contexts import any_of, contexts
from evenhand.mitigation.swap import Edit, Swapper, cased

CAPITAL = r"[A-ZÀ-Þ][^\W\d_]*"
RUN = re.compile(
    rf"{CAPITAL}(?:(?:(?<=\b[A-Z])\.|(?<=\b(?:Mr|Ms|Dr|St|Lt|Jr|Sr))\.|(?<=\b(?:Mrs|Gen|Rev|Sgt|Col|Sen|Rep|Gov))\.)?"
    rf"[ ](?:(?:de|da|di|du|van|von|der|den|la|le|al|bin)[ ])?{CAPITAL})*"
)
"""Capitalised words in a row, with initials, titles and the small words of surnames."""
TOKEN = re.compile(CAPITAL)
STARTS = re.compile(r"(?:^|[.!?:;]['\"’”)\]]*\s+|\n\s*|[\"“‘`]+|--\s*|\(\s*|\[\s*|[*•]\s*)$")
"""What precedes the first word of a sentence."""
PLACE_WORDS = re.compile(r"\b(?:in|near|outside)\s+$")
PLACED = re.compile(r"\b(?:in|at|of|from|to|near|the|The|and|\d+)\s+$|[A-Z][a-z]+,\s$")
"""What precedes a place or a month that is also a name: in Georgia; Savannah, Georgia; 20 April."""
INSIDE = re.compile(r"\b(?:in|at|near|the|The|\d+)\s+$")
"""The same if another capitalised word follows: in Virginia Beach, but the novels of Virginia Woolf."""
THING = re.compile(r"\b(?:the|The|a|an|upon|la|le|el|los|las|du)\s+$")
"""What precedes something that is not a person: the Benjamin, a ship; Stoke upon Trent; Gracias a la Vida."""
OWNED = re.compile(r"['’]s\s+[A-Z]|\s+\d+:\d|['’]t\b|\s+(?:nominat\w+|awards?|winners?)\b")
"""What follows a word that is not a person's name: Steven's Forest, Mark 16:2, Don't, an Oscar nomination."""
QUOTED = re.compile(r"''|[\"”’](?!s)(?! [A-Z])")
"""What follows a title in quotation marks, such as a song or a show."""
OPENED = re.compile(r"(?:``|''|[\"“‘])$")
FIRM = re.compile(r"\s*&\s*[A-Z]|\s+and Sons\b")
"""What follows the name of a firm."""
PERSON = re.compile(
    r"['’]s\s+(?:mother|father|parents|sister|brother|wife|husband|son|daughter|child|children|friends?|boyfriend|"
    r"girlfriend|life|death|career|house|eyes|name|body|face|head|love)\b|\s+(?:(?:was|is)\s+(?:born|married|the\s+(?:"
    r"mother|father|sister|brother|wife|husband|son|daughter))|had\s+been|who|herself|himself|"
    rf"(?:{any_of('deeds')}))\b"
)
"""What follows a single word that is a person's name, even if it is also a word or a place."""
AND = re.compile(r",?\s+(?:and|or)\s+|,\s+")
"""What connects two names: Hanna and Emily."""
OF = re.compile(r"\s+of\b")
ORDINAL = re.compile(r"(?:\dst|\dnd|\drd|\dth|[Ff]irst|[Ss]econd)\s$")
RULED = re.compile(r"(?:[A-Z][a-z]+\s+of|\bfrom)\s$")
"""What precedes a country or a town: Governor of Victoria, from Georgia."""
STATE = re.compile(rf",\s+(?:{any_of('places', 'regions')}|New [JHMYSZ]|North [CD]|South [ACD]|West V)")
"""What follows a town: Milford, Connecticut."""
BEFORE = re.compile(r"([^\W\d_]+)[,]?\s+$")


@dataclass(frozen=True, slots=True)
class Name:
    """A name's partner, the name's own gender, and whether it is more often a surname."""

    partner: str
    gender: Gender
    surname: bool = False


@cache
def bundled() -> Mapping[str, Name]:
    """The pairs of data/names-en.tsv, both ways, by the name in lower case."""
    table: dict[str, Name] = {}
    for row in read_tsv("names-en.tsv", "evenhand.mitigation"):
        table[row["male"]] = Name(row["female"], "male", row["male_surname"] == "1")
        table[row["female"]] = Name(row["male"], "female", row["female_surname"] == "1")
    return table


def own(file: str) -> Mapping[str, Name]:
    """A user's pairs: a male and a female name on each line, separated by a tab. A name may be in one pair only."""
    table: dict[str, Name] = {}
    try:
        lines = read_parsed(Path(file).expanduser(), str.splitlines)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"The list of names '{file}' cannot be read: {error}. Give a UTF-8 text file.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip("\ufeff \t"):
            continue
        fields = [field.strip().lower() for field in line.removeprefix("\ufeff").split("\t")]
        if len(fields) != 2 or not all(fields) or fields[0] == fields[1]:
            raise BadInput(f"{file}, line {number}: two different names with a tab between are needed. Got {line!r}.")
        male, female = fields
        for one, found in ((male, Name(female, "male")), (female, Name(male, "female"))):
            if one in table:
                raise BadInput(f"{file}, line {number}: '{one}' has a partner already, '{table[one].partner}'.")
            table[one] = found
    if not table:
        raise BadInput(f"The list of names '{file}' is empty.")
    return table


Run = list[tuple[str, int]]
"""Capitalised words in a row, each with its position."""


class Naming:
    """Finds the first names of people in a document, with the same partner throughout.

    A word is a first name if a surname follows it here or elsewhere in the document. A single word is one if it is not
    as often something else (a month, a place, a surname) and not a surname in this document, if it does what people do
    ("Ruby said"), or if it is next to a first name ("Hanna and Emily"). Names before University, Street, Award and the
    like belong to these. Hyphenated names are left alone.
    """

    def __init__(self, table: Mapping[str, Name] | None = None) -> None:
        self.table = bundled() if table is None else table

    def __call__(self, text: str) -> Iterator[Edit]:
        """The edits, in order."""
        runs = [run for match in RUN.finditer(text) if (run := self._run(text, match))]
        first, last = self._used(text, runs)
        for run in runs:
            for index, (word, start) in enumerate(run):
                found = self.table.get(word.lower())
                if found and self._is_first_name(text, run, index, found, first, last):
                    yield Edit(start, word, cased(found.partner, word), "name")

    def _run(self, text: str, match: re.Match[str]) -> Run:
        """The words of a run and their positions, from the last title on, without words that only begin a sentence.

        Empty if no word of it is in the list of names.
        """
        if " " not in match[0]:
            return [(match[0], match.start())] if match[0].lower() in self.table else []
        if self.table.keys().isdisjoint(map(str.lower, TOKEN.findall(match[0]))):
            return []
        context = contexts()
        words = [(m[0], match.start() + m.start()) for m in TOKEN.finditer(match[0])]
        while words and words[0][0] in context["ordinary"]:
            words = words[1:]
        words = words[self._person_at(words) :]
        if len(words) == 2 and words[1][0] == "I" and words[0][0] in context["words"] | context["elsewhere"]:
            words = words[:1] if words[0][0].lower() in self.table else []  # "May I ask?", unlike Mary I of England
        if len(words) == 2 and words[0][0].lower() not in self.table and words[1][0].lower() in self.table:
            role = words[0][0] in context["roles"] or words[0][0].endswith(("ly", "ing"))
            if role and STARTS.search(text[max(0, match.start() - 8) : match.start()]):
                words = words[1:]  # "Actor James said": the first word is not a name
        return words

    def _person_at(self, words: Run) -> int:
        """Where a person begins in a longer run: New York *Mayor Michael Bloomberg*, Essence Magazine *Ana Perez*."""
        context = contexts()
        for index in range(len(words) - 3, -1, -1):
            if words[index + 1][0].lower() not in self.table or words[index + 2][0] in context["after"]:
                continue
            if words[index][0] in context["roles"] or words[index][0] in context["surname_titles"]:
                return index
            if index and words[index][0] in context["after"] and words[index][0].lower() not in self.table:
                return index + 1
        return 0

    def _used(self, text: str, runs: list[Run]) -> tuple[set[str], set[str]]:
        """The words that the document clearly uses as first names, and as surnames."""
        context = contexts()
        first, last = set[str](), set[str]()
        for run in runs:
            if len(run) > 1 and not _not_a_person(text, run):
                first.update(word for word, _ in run[:-1] if word.lower() in self.table)
                if not (len(run) == 2 and run[0][0] in context["first_titles"]):
                    last.add(run[-1][0])
        settled = first | last | context["never"]
        alone = [run for run in runs if len(run) == 1 and run[0][0] not in settled]
        doubtful = {
            word
            for ((word, _),) in alone
            if not self.table[word.lower()].surname and (word in context["elsewhere"] or word in context["words"])
        }
        for one, other in pairwise(alone):
            pair = {one[0][0], other[0][0]}
            surnames = any(self.table[word.lower()].surname for word in pair)
            if len(pair & doubtful) == 1 and not surnames and AND.fullmatch(text, _end(one), other[0][1]):
                first |= pair
        for run in alone:
            word, start = run[0]
            thing = THING.search(text[max(0, start - 5) : start])
            if word in doubtful and not thing and PERSON.match(text, _end(run)):
                first.add(word)
        return first, last

    def _is_first_name(self, text: str, run: Run, index: int, found: Name, first: set[str], last: set[str]) -> bool:
        context = contexts()
        word, start = run[index]
        stop = start + len(word)
        if HYPHEN.match(text, stop) or HYPHENED.search(text, max(0, start - 3), start) or _not_a_person(text, run):
            return False
        if word in context["never"] or (word.isupper() and len(word) < 4) or FIRM.match(text, _end(run)):
            return False
        before = text[max(0, start - 20) : start]
        if found.surname and len(run) > 1 and PLACE_WORDS.search(before):
            return False
        if word in context["offices"] and (OF.match(text, stop) or ORDINAL.search(before)):
            return False
        if word in context["elsewhere"] and (PLACED if len(run) == 1 else INSIDE).search(before):
            return len(run) == 1 and word in first and not (INSIDE.search(before) or RULED.search(before))
        if len(run) > 1:
            if index == len(run) - 1:  # a surname, unless a title makes it the first
                lord = found.surname and run[0][0] in ("Lord", "Lady")
                return len(run) == 2 and run[0][0] in context["first_titles"] and not lord
            after = run[index + 1][0]
            if word == "Don":  # a title before a first name
                return not (after.lower() in self.table or after.endswith(("o", "ote", "one")))
            if word == "Les" and after.endswith("s"):  # French: Les Misérables
                return False
            if word in context["offices"] and index + 2 < len(run) and after.lower() in self.table:
                return False  # Dean Christina Slade
            return index == 0 or run[index - 1][0] not in context["place_before"]
        kin = BEFORE.search(before)
        if THING.search(before) or (kin and kin[1] in context["works"]):
            return False
        if OWNED.match(text, stop) or STATE.match(text, stop):
            return False
        if word in first or (kin and kin[1] in context["kin"]):
            return True
        if OPENED.search(before) and QUOTED.match(text, stop):
            return False
        if word in last or word in context["elsewhere"] or found.surname:
            return False
        if word in context["words"] and STARTS.search(before):
            return False
        return not PLACE_WORDS.search(before)


def first_names(text: str, naming: Naming) -> Iterator[tuple[str, Gender]]:
    """Every first name in a document, in lower case, with its gender; words that have a gender anyway are left out.

    >>> list(first_names("Mary Smith met Tom in May. Will they marry? Ruby said so. Mr King did not.", Naming()))
    [('mary', 'female'), ('tom', 'male'), ('ruby', 'female')]
    """
    names = (edit.old.lower() for edit in naming(text) if not gender(edit.old))
    return ((name, naming.table[name].gender) for name in names)


Names = tuple[tuple[str, Name], ...]


@cache
def swapper(names: bool = True, own: Names | None = None) -> Swapper:
    """The swapper for words and, with `names`, for first names: those of the user's own list, if given."""
    return Swapper(names=Naming(dict(own) if own else None) if names else None)


HYPHEN, HYPHENED = re.compile(r"-(?!-)|\*\w"), re.compile(r"(?<!-)-$|\b[OD]['’]$|\w\*$")
"""One hyphen, as in Jean-Paul, and O'Donnell; two are a dash. Some texts have * for letters (Fran*ais)."""


def _end(run: Run) -> int:
    word, start = run[-1]
    return start + len(word)


def _not_a_person(text: str, run: Run) -> bool:
    context = contexts()
    if run[0][0] in context["place_before"]:
        return True
    if not any(word in context["after"] for word, _ in run[1:]):
        return False
    *_, (word, _) = run
    return word not in context["after"] or not HYPHEN.match(text, _end(run))  # Janet Street-Porter
