"""First names of people in a document, and their partners: like frequency, like gender-specificity, other gender."""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from evenhand.errors import BadInput
from evenhand.mitigation.swap import Edit, cased

RUN = re.compile(r"[A-ZÀ-Þ][^\W\d_]*\.?(?:[ ](?:(?:de|da|di|du|van|von|der|den|la|le|al|bin|of the|of)[ ])?[A-ZÀ-Þ][^\W\d_]*\.?)*")
"""Capitalised words in a row, with initials and the small words of surnames."""
TOKEN = re.compile(r"[A-ZÀ-Þ][^\W\d_]*")
STARTS = re.compile(r"(?:^|[.!?:;]['\"’”)\]]*\s+|\n\s*|[\"“‘`]+|--\s*|\(\s*|\[\s*|[*•]\s*)$")
"""What stands before the first word of a sentence."""

SURNAME_TITLES = set(
    "Mr Mrs Ms Miss Dr Prof Professor President Senator Congressman Congresswoman Governor Mayor Judge Justice Captain Capt "
    "Colonel Col General Gen Major Lieutenant Lt Sergeant Sgt Officer Detective Inspector Coach Representative Rep Sen "
    "Chancellor Minister Secretary Ambassador Admiral Commander Reverend Rev Father".split()
)
"""Before a single word, which is then a surname."""
FIRST_TITLES = set(
    "King Queen Prince Princess Sir Dame Lady Lord Emperor Empress Pope Aunt Auntie Uncle Grandma Grandpa Sister Brother "
    "Tsar Duke Duchess Baby Little Young Old Cousin".split()
)
"""Before a first name."""
PLACE_BEFORE = set("San Santa Saint St Fort Ft Port Mount Mt Lake New North South East West Point Cape Camp Isle".split())
AFTER = set(
    "University College School Academy Institute Street St Road Avenue Ave Boulevard Drive Lane Park County Parish Award "
    "Awards Prize Medal Cup Trophy River Lake Creek Mount Mountain Mountains Island Islands Bay Beach Coast City Town Village "
    "Church Cathedral Chapel Abbey Hospital Clinic Airport Station Theatre Theater Museum Gallery Library Records Press "
    "Foundation Trust Fund Society Company Corporation Corp Inc Ltd Group Bank Club Stadium Arena Field Hall House Castle "
    "Palace Square Bridge Valley Hills Springs Falls Desert Ocean Sea Building Center Centre Court Act Agency Hotel Republic "
    "State States Canal Dam Forest Garden Gardens Heights Junction Tech Times Post News Tribune Herald Show Band Orchestra "
    "Choir Ballet Festival Open Championship Championships League Arbor Carolina Dakota Virginia Wales Zealand Rico".split()
)
"""After a name, these make it one of a place or an organisation."""
DOUBTFUL = set(
    "April May June August Summer Autumn Dawn Eve Easter Christian German Roman Jesus Israel Asia America China India Jordan "
    "Georgia Virginia Carolina Florence Charlotte Paris Austin Houston Dallas Denver Chester Lincoln Jackson Madison "
    "Savannah Sydney Adelaide Victoria Alexandria Augusta Geneva Vienna Verona Milan Orlando Phoenix Santiago Diego Francisco "
    "Cheyenne Dakota Montana Tennessee Indiana Devon Kent Chelsea Kimberly Brittany Lourdes Melbourne Cameron Kenya Ireland "
    "Odessa Troy Athens Sparta Warren Norfolk Washington Cleveland Columbus Hamilton Houston Laurel Aurora Salem Trinity "
    "Will Mark Bill Grace Hope Faith Joy Rose Art Frank Pat Drew Grant Chance Chase Gene Ray Rich Sue Ivy Amber Ruby Pearl "
    "Crystal Dale Dean Don Clay Miles Rob Bob Jack Nick Buck Guy Buddy Junior Royal Noble Major Long Young Love Lane Page Olive "
    "Daisy Robin Jay Ginger Sage Basil Star Story Sky Mercy Honor Precious Treasure Season Cherry Candy Sugar Penny Jewel Gay "
    "Merry Early Cash Mason Cooper Carter Porter Fisher Parker Hunter Sawyer Chandler Tyler Taylor Kelly Francis Santos "
    "Ali Rey Del Van Lou Ira Son Man See Ha Era Tu Ok Pa Ma See Hong Sang Young Sun Angel Harmony Destiny Melody Misty Stormy "
    "Windy Sandy Rusty Dusty Rocky Sonny Bird Forest Glen Cliff Rock Stone Wood Bishop King Prince Barrister Prior Abbey".split()
)
"""Names that are as often something else: taken for names only where a surname follows, or did elsewhere in the text."""
ORDINARY = set(
    "The A An And But Or Nor So Yet For If As At By In On Of To From With Without Within After Before Since While When Where "
    "Whereas Although Though Because Until Once Then There Here This That These Those It Its He She They We You I His Her "
    "Their My Our Your Him Them Who Whom Whose What Which Why How Not No Yes All Both Each Every Some Many Most Other Another "
    "Also However Despite During Upon Under Over About Against Among Between Through Later Earlier Now Today Meanwhile "
    "Like Unlike Along Only Even Just Still Soon First Finally Eventually Following According Like Did Does Do Is Was Were Are "
    "Had Has Have Can Could Should Would Let Dear Said Says Poor".split()
)
"""Words that have a capital because a sentence begins with them."""
PLACE_WORDS = re.compile(r"\b(?:in|at|near|outside|around|across)\s+$")


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
        lines = Path(file).expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"The list of names '{file}' cannot be read: {error}. It must be text in UTF-8.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        fields = [field.strip().lower() for field in line.split("\t")]
        if len(fields) != 2 or not all(fields):
            raise BadInput(f"{file}, line {number}: two names and a tab between are wanted. Got {line!r}.")
        for one, other in (fields, fields[::-1]):
            if one in table:
                raise BadInput(f"{file}, line {number}: '{one}' has a partner already, '{table[one].partner}'.")
            table[one] = Name(other, surname=False)
    return table


class Naming:
    """Finds the first names of a document that are people's, and gives each its partner, the same throughout.

    A name is a person's first name where a surname follows it, or did elsewhere in the document; standing alone, where it
    is nothing else as often (a month, a place, a surname) and the document has not used it as a surname. Names before
    University, Street, Award and the like belong to these. Hyphenated names are left alone.
    """

    def __init__(self, table: Mapping[str, Name] | None = None) -> None:
        self.table = bundled() if table is None else table

    def __call__(self, text: str) -> Iterator[Edit]:
        """The edits, in order."""
        runs = [run for match in RUN.finditer(text) if (run := self._run(text, match))]
        first, last = set[str](), set[str]()
        for run in runs:
            if len(run) > 1 and not self._not_a_person(run):
                last.add(run[-1][0])
                first.update(word for word, _ in run[:-1] if word.lower() in self.table)
        for run in runs:
            for index, (word, start) in enumerate(run):
                found = self.table.get(word.lower())
                if found and self._is_first_name(text, run, index, found, first, last):
                    yield Edit(start, word, cased(found.partner, word), "name")

    def _run(self, text: str, match: re.Match[str]) -> list[tuple[str, int]]:
        """The words of a run and their places, without one that only begins a sentence."""
        words = [(m[0], match.start() + m.start()) for m in TOKEN.finditer(match[0])]
        while len(words) > 1 and words[0][0] in ORDINARY:
            words = words[1:]
        if len(words) > 1 and words[0][0].lower() not in self.table and words[1][0].lower() in self.table:
            opening = STARTS.search(text[max(0, match.start() - 8) : match.start()])
            titled = words[0][0] in SURNAME_TITLES | FIRST_TITLES | PLACE_BEFORE
            if opening and not titled and len(words) == 2:
                words = words[1:]  # "Actor James said": what stands first is no name, the name stands alone
        return words if words[0][0] not in ORDINARY else []

    def _not_a_person(self, run: list[tuple[str, int]]) -> bool:
        return any(word in AFTER for word, _ in run[1:]) or run[0][0] in PLACE_BEFORE

    def _is_first_name(
        self, text: str, run: list[tuple[str, int]], index: int, found: Name, first: set[str], last: set[str]
    ) -> bool:
        word, start = run[index]
        stop = start + len(word)
        around = text[start - 1 : start] + text[stop : stop + 1]
        if "-" in around or (word.isupper() and len(word) < 4) or self._not_a_person(run):
            return False
        if index and run[index - 1][0] in PLACE_BEFORE:
            return False
        if len(run) > 1 and index == len(run) - 1:
            if run[0][0] in FIRST_TITLES and index == 1:
                return True
            return False
        if len(run) > 1:
            return index == 0 or run[0][0].lower() in self.table or len(run[0][0]) == 1 or run[0][0] in FIRST_TITLES
        if word in first:
            return True
        if word in last or word in DOUBTFUL or found.surname:
            return False
        return not PLACE_WORDS.search(text[max(0, start - 10) : start])
