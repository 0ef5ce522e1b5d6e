"""Titles, whose partner depends on the context: Sir Paul and Dame Judi, but "yes, sir" and "yes, madam"."""

import re
from collections.abc import Mapping

from evenhand.datasets.gendered import Gender
from evenhand.text.edits import any_of

NAME = re.compile(r"\s+(?!I\b)[A-ZÀ-Þ]")
"""A following name or office."""
FOLLOWED = re.compile(r"\s+(?:(?!I\b)[A-ZÀ-Þ]|(?:and|or|&)\s)")
"""A following name or office, or another title: Mr. and Miss Smith."""
OFFICE = re.compile(rf"\s+(?:{any_of('lords')})\b")
"""What follows Lord in an office or a religion, where no Lady is possible, and Lady in a few stage names."""
PAGEANT = re.compile(rf"\s+(?:{any_of('places', 'pageants')})\b")
"""What follows Miss in the name of a beauty pageant."""
UPPER = re.compile(r"\.\s+[A-Z]{2}")
"""What follows MS if it is a title, as in MS. JONES; MS may also be a disease, a state or a manuscript."""
NOTRE = re.compile(r"\b(?:Notre|Grande)\s$", re.I)
FIRST = re.compile(r"\bfirst\s$", re.I)
COUPLED = re.compile(r"\s+(?:and|or|&)\s+(?:Lord|Lady)\s+[A-ZÀ-Þ]")
"""What follows the first title of a couple: Lord and Lady Grantham."""
LORDS_AFTER = re.compile(r"\s+(?:and|or|&)\s+(?:the\s+)?(?:lords|ladies)\b", re.I)
LORDS_BEFORE = re.compile(r"\b(?:lords|ladies)\s+(?:and|or|&)\s+(?:the\s+)?$", re.I)
MY = re.compile(r"\b[Mm]y\s$")
OWN = re.compile(r"\b(?:his|her|your|their)\s$", re.I)
TITLES: dict[str, Gender] = {
    **dict.fromkeys(("sir", "lord", "lords", "lordship", "mr", "master"), "male"),
    **dict.fromkeys(("dame", "lady", "ladies", "madam", "miss", "ms", "mrs"), "female"),
}
SHORT = frozenset({"mr", "mrs", "ms"})
FORMS = re.compile(r"\b(M(?:r|R|rs|RS|iss|ISS|s|aster|ASTER))\b(\.?)(?=\s+(?:and\s|[A-ZÀ-Þ]))")
MODERN = {"mr": "ms", "ms": "mr", "mrs": "mr", "miss": "mr"}
MARRIED = {"mr": "mrs", "mrs": "mr", "miss": "master", "master": "miss"}


def forms(text: str) -> tuple[Mapping[str, str], bool]:
    """The partners of Mr, Mrs, Miss, Ms and Master in a document, and whether it writes "Mr." with a dot.

    Partners depend on the titles that the document has, so that swapping twice gives the same document. If it has Ms or
    only one title, Mr becomes Ms, and Ms, Mrs and Miss become Mr. If it has only Mr and Miss, they are partners.
    Otherwise Mr and Mrs are partners, and so are Miss and Master.
    """
    titles = [(title.lower(), dot) for title, dot in FORMS.findall(text)]
    used, dots = {title for title, _ in titles}, [dot for title, dot in titles if title in SHORT]
    dotted = 2 * dots.count(".") > len(dots)
    if "ms" in used or len(used) < 2:
        return MODERN, dotted
    return {**MODERN, "mr": "miss", "miss": "mr"} if used == {"mr", "miss"} else MARRIED, dotted


def with_dots(text: str, title: str, end: int, new: str, writes_dots: bool) -> tuple[str, str]:
    """The title that ends at `end` of the text, and its new one, each with its dot if it has one: ("Mr.", "Miss").

    `writes_dots` says that the document writes "Mr." and not "Mr".
    """
    short, new_short = title.lower() in SHORT, new.lower() in SHORT
    if short == new_short:
        return title, new  # what follows stays as it is
    if short:
        return (title + "." if text[end : end + 1] == "." and FOLLOWED.match(text, end + 1) else title), new
    return title, new + "." * writes_dots


def partner(text: str, start: int, stop: int, forms: Mapping[str, str] = MODERN) -> str | None:
    """The partner of the title at `start`, in lower case; None if it is not a title. `forms` are those of the document.

    >>> partner("Sir Paul", 0, 3), partner("Yes, sir.", 5, 8), partner("My Lord Chancellor", 3, 7)
    ('dame', 'madam', None)
    """
    word, old = text[start:stop].lower(), text[start:stop]
    before, named, capital = text[max(0, start - 8) : start], NAME.match(text, stop), old[0].isupper()
    match word:
        case "sir":
            return "dame" if named else "madam"
        case "dame":
            return "sir" if capital and named and not NOTRE.search(before) else None
        case "madam":
            return "mr" if capital and named else "sir"
        case "lords" | "ladies":
            if LORDS_AFTER.match(text, stop) or LORDS_BEFORE.search(text[max(0, start - 16) : start]):
                return "ladies" if word == "lords" else "lords"
            return "gentlemen" if word == "ladies" else None
        case "lordship":
            return "ladyship" if OWN.search(before) else None
        case "lord" | "lady":
            other = "lady" if word == "lord" else "lord"
            titled = COUPLED.match(text, stop) or (named and not OFFICE.match(text, stop) and not FIRST.search(before))
            if titled if capital else MY.search(before):
                return other
            return "gentleman" if word == "lady" and not (named and OFFICE.match(text, stop)) else None
        case "miss" | "master":
            return forms.get(word) if capital and named and not PAGEANT.match(text, stop) else None
        case "mr" | "mrs":
            return forms[word] if capital else None
        case _:
            return "mr" if old == "Ms" or (old == "MS" and UPPER.match(text, stop)) else None
