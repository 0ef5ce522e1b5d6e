"""Patterns for what stands before and after a capitalised word that is, or is not, a person's name."""

import re
from collections import Counter
from itertools import dropwhile

from evenhand.datasets.gendered import gender
from evenhand.text.name_lists import any_of, contexts

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
"""The same if another capitalised word follows: in Virginia Beach, but the novels of Virginia Woolf."""
WITHIN = re.compile(rf"\b(?:in|near|the|The|\d+|(?:{any_of('moves')})\s+to)\s+$")
"""The same for a word that is a person elsewhere in the document, whom one may look at, or write to."""
THING = re.compile(r"\b(?:the|The|a|an|upon|la|le|el|los|las|de|du)\s+$")
"""What precedes something that is not a person: the Benjamin, a ship; Stoke upon Trent; Conservatoire de Paris."""
OWNED = re.compile(
    r"['’]s\s+[A-Z]|\s+\d+:\d|['’]ts?\b|\s+(?:nominat\w+|awards?|winners?|ale|cats?|city|people|spacecraft)\b|"
    r"\s+\((?:1[89]|20)\d\d\)"
)
"""What follows a word that is not a person's name: Steven's Forest, Mark 16:2, Don't, Oscar winners, Belle (2013)."""
QUOTED = re.compile(r"''|[\"”’](?!s)(?! [A-Z])")
"""What follows a title in quotation marks, such as a song or a show."""
OPENED = re.compile(r"(?:``|''|[\"“‘])$")
FIRM = re.compile(rf"\s*&\s*\w|\s+and Sons\b|\s+(?:{any_of('products')})\b")
"""What follows the name of a firm, or is Flora & fauna, or Calvin Klein jeans."""
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
RULED = re.compile(r"(?:[A-Z][a-z]+\s+of|\bfrom)\s$")
"""What precedes a country or a town: Governor of Victoria, from Georgia."""
STATE = re.compile(rf",\s+(?:{any_of('places', 'regions')}|New [JHMYSZ]|North [CD]|South [ACD]|West V)")
"""What follows a town: Milford, Connecticut."""
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
"""One hyphen, as in Jean-Paul, and O'Donnell; two are a dash. Some texts have * for letters (Fran*ais)."""


def mostly_small(words: Counter[str], word: str, more: int = 0) -> bool:
    """Whether a document has a word in lower case (basil) at least as often as capitalised (Basil), plus `more`.

    Will is excluded: as a verb it is in lower case in any text.
    """
    return word != "Will" and words[word.lower()] >= words[word] + more


def is_unlisted(text: str, word: str, start: int, stop: int) -> bool:
    """Whether a capitalised word that is not in the list is a person: it does what people do, or is spoken to."""
    after = text[stop : stop + 1]
    if after == ",":
        if text[start - 1 : start] not in QUOTES or not CALLED.match(text, stop):
            return False
    elif not PERSON.match(text, stop):
        return False
    if word in contexts()["surname_titles"] or len(word) < 3 or word.isupper() or gender(word):
        return False
    before = text[max(0, start - 12) : start]
    return not (TITLED.search(before) or THING.search(before))


def full_name(match: re.Match[str]) -> list[tuple[str, int]]:
    """The first name of a full name that no list has, or that women and men bear: Mayor *Xyz* Nair, *Yuki* Sato."""
    start, before, both = match[0].split(" ", 1)[0].rstrip("."), contexts()["before"], contexts()["both"]
    if start not in before and start not in both and not gender(start):
        return []  # most, and quickly
    words = [(m[0], match.start() + m.start()) for m in TOKEN.finditer(match[0])]
    first, *others = list(dropwhile(lambda word: word[0] in before or gender(word[0]), words)) or [("", 0)]
    known = first[0] in both or (first != words[0] and len(first[0]) > 2)
    return [first] if known and others and contexts()["after"].isdisjoint(word for word, _ in words) else []


def does_its_word(text: str, name: str, start: int) -> bool:
    """Whether a name is followed by the same word as a verb, so that it is a person: Rose rose, Mark marked."""
    return re.match(rf"\s+{name.lower()}(?:e?d|s)?\b", text[start + len(name) : start + len(name) + 40]) is not None
