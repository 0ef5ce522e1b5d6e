"""First names of people in a document, and their partners: like frequency, like gender-specificity, other gender."""

import csv
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
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
PLACE_WORDS = re.compile(r"\b(?:in|near|outside)\s+$")
PLACED = re.compile(r"\b(?:in|at|of|from|to|near|the|The|and|\d+)\s+$|[A-Z][a-z]+,\s$")
"""Before a name that is as often a place or a month: in Georgia; Savannah, Georgia; 20 April."""
INSIDE = re.compile(r"\b(?:in|at|near|the|The|\d+)\s+$")
"""The same where another capitalised word follows: in Virginia Beach, but the novels of Virginia Woolf."""
THING = re.compile(r"\b(?:the|The|a|an|upon|la|le|el|los|las|du)\s+$")
"""Before what is no person: the Benjamin, a ship; Stoke upon Trent; Gracias a la Vida."""
OWNED = re.compile(r"['’]s\s+[A-Z]|\s+\d+:\d|['’]t\b|\s+(?:nominat\w+|awards?|winners?)\b")
"""After a name that is part of another, or none: Steven's Forest, Mark 16:2, Don't, an Oscar nomination."""
QUOTED = re.compile(r"''|[\"”’](?!s)(?! [A-Z])")
"""After what stands alone in quotation marks, which is a song or a show."""
OPENED = re.compile(r"(?:``|''|[\"“‘])$")
FIRM = re.compile(r"\s*&\s*[A-Z]|\s+and Sons\b")
"""What follows the name of a firm."""
PERSON = re.compile(
    r"['’]s\s+(?:mother|father|parents|sister|brother|wife|husband|son|daughter|child|children|friends?|boyfriend|"
    r"girlfriend|life|death|career|house|eyes|name|body|face|head|love)\b|\s+(?:(?:was|is)\s+(?:born|married|the\s+(?:"
    r"mother|father|sister|brother|wife|husband|son|daughter))|had\s+been|who|herself|himself|"
    r"(?:said|told|asked|married|died|thought|knew|met|loved|decided|agreed|admitted|replied|joined|wrote|wanted|tried|"
    r"says|tells|asks|marries|dies|thinks|knows|meets|loves|decides|agrees|admits|replies|joins|writes|wants|tries|"
    r"takes|gives|finds|leaves|goes|comes|sees|feels|confesses|reveals|realizes|kisses|learns|explains|returns))\b"
)
"""After a name alone, these make it a person's, be it a word or a place as well."""
AND = re.compile(r",?\s+(?:and|or)\s+|,\s+")
"""Between two names of a kind: Hanna and Emily."""
OF = re.compile(r"\s+of\b")
ORDINAL = re.compile(r"(?:\dst|\dnd|\drd|\dth|[Ff]irst|[Ss]econd)\s$")
RULED = re.compile(r"(?:[A-Z][a-z]+\s+of|\bfrom)\s$")
"""Before a land or a town: Governor of Victoria, from Georgia."""
STATE = re.compile(
    r",\s+(?:Alabama|Alaska|Alberta|Arizona|Arkansas|Australia|Austria|Belgium|Brazil|California|Canada|Colorado|"
    r"Connecticut|Delaware|England|Florida|France|Georgia|Germany|Greece|Hawaii|Idaho|Illinois|India|Iowa|"
    r"Ireland|Israel|Italy|Jamaica|Japan|Kansas|Kentucky|London|Louisiana|Maine|Manitoba|Maryland|Massachusetts|Mexico|"
    r"Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New [JHMYSZ]|Norway|North [CD]|Ohio|Oklahoma|"
    r"Ontario|Oregon|"
    r"Pennsylvania|Poland|Quebec|Queensland|Rhode|Russia|Saskatchewan|Scotland|South [ACD]|Spain|Sweden|Switzerland|"
    r"Tasmania|Tennessee|Texas|UK|US|Utah|Vermont|Victoria|Virginia|Wales|Washington|West V|Wisconsin|Wyoming)"
)
"""After a town: Milford, Connecticut."""
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
    it is nothing else as often (a month, a place, a surname) and the document has not used it as a surname, or where it
    does what people do ("Ruby said") or stands beside a name that is one ("Hanna and Emily"). Names before
    University, Street, Award and the like belong to these. Hyphenated names are left alone.
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
        """The words of a run and their places, from the last title on, without those that only begin a sentence.

        Nothing where no word of it is in the list.
        """
        if " " not in match[0]:
            return [(match[0], match.start())] if match[0].lower() in self.table else []
        if self.table.keys().isdisjoint(map(str.lower, TOKEN.findall(match[0]))):
            return []
        around = _around()
        words = [(m[0], match.start() + m.start()) for m in TOKEN.finditer(match[0])]
        while words and words[0][0] in around["ordinary"]:
            words = words[1:]
        words = words[self._person_at(words) :]
        if len(words) == 2 and words[0][0].lower() not in self.table and words[1][0].lower() in self.table:
            role = words[0][0] in around["roles"] or words[0][0].endswith(("ly", "ing"))
            if role and STARTS.search(text[max(0, match.start() - 8) : match.start()]):
                words = words[1:]  # "Actor James said": what stands first is no name, the name stands alone
        return words

    def _person_at(self, words: Run) -> int:
        """Where a person begins in a longer run: New York *Mayor Michael Bloomberg*, Essence Magazine *Ana Perez*."""
        around = _around()
        for index in range(len(words) - 3, -1, -1):
            if words[index + 1][0].lower() not in self.table or words[index + 2][0] in around["after"]:
                continue
            if words[index][0] in around["roles"] or words[index][0] in around["surname_titles"]:
                return index
            if index and words[index][0] in around["after"] and words[index][0].lower() not in self.table:
                return index + 1
        return 0

    def _used(self, text: str, runs: list[Run]) -> tuple[set[str], set[str]]:
        """What the document uses as first names beyond doubt, and as surnames."""
        around = _around()
        first, last = set[str](), set[str]()
        for run in runs:
            if len(run) > 1 and not _not_a_person(text, run):
                first.update(word for word, _ in run[:-1] if word.lower() in self.table)
                if not (len(run) == 2 and run[0][0] in around["first_titles"]):
                    last.add(run[-1][0])
        settled = first | last | around["never"]
        alone = [run for run in runs if len(run) == 1 and run[0][0] not in settled]
        doubtful = {
            word
            for ((word, _),) in alone
            if not self.table[word.lower()].surname and (word in around["elsewhere"] or word in around["words"])
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
        around = _around()
        word, start = run[index]
        stop = start + len(word)
        if HYPHEN.match(text, stop) or HYPHENED.search(text, max(0, start - 3), start) or _not_a_person(text, run):
            return False
        if word in around["never"] or (word.isupper() and len(word) < 4) or FIRM.match(text, _end(run)):
            return False
        before = text[max(0, start - 20) : start]
        if found.surname and len(run) > 1 and PLACE_WORDS.search(before):
            return False
        if word in around["offices"] and (OF.match(text, stop) or ORDINAL.search(before)):
            return False
        if word in around["elsewhere"] and (PLACED if len(run) == 1 else INSIDE).search(before):
            return len(run) == 1 and word in first and not (INSIDE.search(before) or RULED.search(before))
        if len(run) > 1:
            if index == len(run) - 1:  # a surname, unless a title makes it the first
                lord = found.surname and run[0][0] in ("Lord", "Lady")
                return len(run) == 2 and run[0][0] in around["first_titles"] and not lord
            after = run[index + 1][0]
            if word == "Don":  # a title before a first name
                return not (after.lower() in self.table or after.endswith(("o", "ote", "one")))
            if word == "Les" and after.endswith("s"):  # French: Les Misérables
                return False
            if word in around["offices"] and index + 2 < len(run) and after.lower() in self.table:
                return False  # Dean Christina Slade
            return index == 0 or run[index - 1][0] not in around["place_before"]
        kin = BEFORE.search(before)
        if THING.search(before) or (kin and kin[1] in around["works"]):
            return False
        if OWNED.match(text, stop) or STATE.match(text, stop):
            return False
        if word in first or (kin and kin[1] in around["kin"]):
            return True
        if OPENED.search(before) and QUOTED.match(text, stop):
            return False
        if word in last or word in around["elsewhere"] or found.surname:
            return False
        if word in around["words"] and STARTS.search(before):
            return False
        return not PLACE_WORDS.search(before)


HYPHEN, HYPHENED = re.compile(r"-(?!-)|\*\w"), re.compile(r"(?<!-)-$|\b[OD]['’]$|\w\*$")
"""One hyphen, as in Jean-Paul, and O'Donnell; two are a dash. Some texts have * for letters (Fran*ais)."""


def _end(run: Run) -> int:
    word, start = run[-1]
    return start + len(word)


def _not_a_person(text: str, run: Run) -> bool:
    around = _around()
    if run[0][0] in around["place_before"]:
        return True
    if not any(word in around["after"] for word, _ in run[1:]):
        return False
    *_, (word, _) = run
    return word not in around["after"] or not HYPHEN.match(text, _end(run))  # Janet Street-Porter
