"""Swap the gender of every gendered word of a text, with correct grammar, and list the edits."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from evenhand.core.words import capitalised
from evenhand.datasets.gendered import lexicon
from evenhand.errors import BadInput
from evenhand.mitigation import titles
from evenhand.mitigation.pronouns import SURE, score

WORD = re.compile(r"[^\W\d_]+(?:['’](?:am|AM)\b)?(?![\u0300-\u036f])")
"""Letters only, since hyphens, 's, 'll and quotation marks stay as they are; and ma'am."""
KEEP_BEFORE = re.compile(r"[-](?:sized?|hunts?|made|man)\b|\s+(?:hunts?|sized?)\b")
"""What follows a word that is part of a set phrase: king-size, witch hunt, man-made."""
KEEP_AFTER = re.compile(r"(?:\bs/|\(s\)|[@#]|\bhe-)$", re.I)
"""What precedes a word that is part of another: s/he, (s)he, @his, he-man."""
ADDRESS = re.compile(r"\S*(?:://|@|www\.)\S*")
SURNAME = re.compile(
    r"\b(?!(?:The|A|An|His|Her|My|Our|Their|Your|And|Or|But|Of|When|While|As|Is|Was|Crown|Former|Young|Old|New)\b)"
    r"[A-Z][a-z]+\.?\s$"
)
"""What precedes a capitalised role noun that is a surname: Stephen King."""
NAMED = re.compile(r"\s(?:[A-Z][a-z]+\s)?(?:University|College|School|Records|Street|Hospital|Island|Bible|Award)\b")
"""What follows a role noun that is part of a name: Duke University."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of characters `start` to `start + len(old)` of the original, and the rule behind it."""

    start: int
    old: str
    new: str
    rule: str


Rewrite = Callable[[str], str]
Naming = Callable[[str], Iterator[Edit]]
"""Finds the first names of a document, with their partners."""


class Spelt(dict[str, tuple[str, str] | None]):
    """A word, in any case and with any apostrophe -> its partner and kind, None for other words.

    Lookups are cached: most words of a text occur again, and looking them up is most of the work.
    """

    ENOUGH = 200_000

    def __init__(self, table: Mapping[str, tuple[str, str]]) -> None:
        super().__init__(table)
        self.table = table

    def __missing__(self, word: str) -> tuple[str, str] | None:
        found = self.table.get(word.lower().replace("’", "'"))
        if len(self) < self.ENOUGH:
            self[word] = found
        return found


class Swapper:
    """Rewrites a document: a call returns the new text, `edits` the list of changes.

    `pairs` replaces the bundled words: male words with their female partners, swapped both ways; where several share a
    partner, the first counts. `names` finds first names (evenhand.mitigation.names); None leaves names alone.
    """

    def __init__(self, pairs: Mapping[str, str] | None = None, names: Naming | None = None) -> None:
        self.names = names
        self.words = _bundled() if pairs is None else _both_ways(pairs)

    def __call__(self, text: str) -> str:
        """The text with every gendered word swapped."""
        return applied(text, self.edits(text))

    def edits(self, text: str) -> list[Edit]:
        """The changes, in order."""
        found = list(self._words(text))
        if self.names is not None:
            taken = {edit.start for edit in found}
            found += [edit for edit in self.names(text) if edit.start not in taken]
            found.sort(key=lambda edit: edit.start)
        return found

    def _words(self, text: str) -> Iterator[Edit]:
        table = self.words
        addresses = [m.span() for m in ADDRESS.finditer(text)] if any(m in text for m in ("://", "@", "www.")) else []
        surnames = set[str]()
        for match in WORD.finditer(text):
            old = match[0]
            found = table[old]
            if found is None:
                continue
            partner: str | None
            partner, rule = found
            start = match.start()
            if rule == "context":
                partner, rule = _pronoun(text, start, match.end())
            elif KEEP_BEFORE.match(text, match.end()):
                continue
            elif rule == "title" and old.lower() in titles.TITLES:
                partner = titles.partner(text, start, match.end())
                if partner is None:
                    continue
            if KEEP_AFTER.search(text[max(0, start - 3) : start]) or any(a <= start < b for a, b in addresses):
                continue
            if rule == "role" and old[0].isupper():
                if SURNAME.search(text[max(0, start - 20) : start]):
                    surnames.add(old)
                if old in surnames or NAMED.match(text, match.end()):
                    continue
            yield Edit(start, old, cased(partner, old), rule)


def _pronoun(text: str, start: int, stop: int) -> tuple[str, str]:
    possessive = score(text, start, stop)
    if text[start:stop].lower() == "her":
        return ("his", "her: possessive") if possessive > 0 else ("him", "her: object")
    return ("her", "his: possessive") if possessive > SURE else ("hers", "his: alone")


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text with the edits applied."""
    parts, at = [], 0
    for edit in edits:
        if text[edit.start : edit.start + len(edit.old)] != edit.old:
            raise BadInput(f"The edits belong to another text: {edit.old!r} is not at {edit.start}.")
        parts += [text[at : edit.start], edit.new]
        at = edit.start + len(edit.old)
    return "".join([*parts, text[at:]])


def cased(word: str, like: str) -> str:
    """The word in the case of another: lower, Capitalised or UPPER; mixed case (McKenzie) counts as Capitalised.

    >>> cased("woman", "MAN"), cased("she", "He"), cased("lisa", "MacKenzie")
    ('WOMAN', 'She', 'Lisa')
    """
    if like.islower():
        return word
    if like.isupper() and len(like) > 1:
        return word.upper()
    return capitalised(word) if like[0].isupper() else word


@cache
def _bundled() -> Spelt:
    table: dict[str, tuple[str, str]] = {}
    for words in lexicon():
        if words.oneway != "female":
            table.setdefault(words.male, (words.female, words.kind))
        if words.oneway != "male":
            table.setdefault(words.female, (words.male, words.kind))
    table |= {"her": ("", "context"), "his": ("", "context")}
    table |= {"him": ("her", "pronoun"), "hers": ("his", "pronoun")}
    table |= dict.fromkeys(titles.TITLES, ("", "title"))
    return Spelt(table)


def _both_ways(pairs: Mapping[str, str]) -> Spelt:
    table: dict[str, tuple[str, str]] = {}
    for male, female in pairs.items():
        if not male.strip() or not female.strip() or male == female:
            raise BadInput(f"A pair must be two different words. Got {male!r} and {female!r}.")
        table.setdefault(male.lower(), (female.lower(), "own"))
        table.setdefault(female.lower(), (male.lower(), "own"))
    return Spelt(table)
