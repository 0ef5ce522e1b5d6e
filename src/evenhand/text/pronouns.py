"""Decide from its context, by a small linear model, whether "her" is an object (him) or a possessive (his).

The training text needs no labels: "him" and "his" (them and their, me and my) show which contexts take an object and
which a possessive. tools/learn_pronouns.py learns word classes and feature weights from raw text, and writes them to
data/pronouns-en.tsv.
"""

import math
import re
from collections.abc import Mapping
from functools import cache
from itertools import repeat

from evenhand.datasets.files import read_text
from evenhand.text.edits import any_of, contexts

TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[.,;:!?()—]")
"""Words and the marks that separate clauses; quotation marks do not help here."""
AROUND = 60
"""Characters of context on each side: at least three words."""
SUBJECTS, DETERMINERS = contexts()["subjects"], contexts()["determiners"]
SHARED = re.compile(r" and (?:(?:her|his|the|their) )?[^\W_]+(?: [^\W_]+)?['’]s? ")
"""What follows the first of two possessors: "her and Sam's house"."""
ALONE = re.compile(
    rf"['\"’”)\]]*\s*(?:[.,;:!?]|$)|\s+(?:{any_of('after_objects')})(?![\w-])|\s*(?:--|[–—])|\s+-\s|"
    r"\s+[$£€]\d[\d.,]*(?:[.,](?!\d)|[;!?]|\s+(?:more|less|each|for|per)\b)"
)
"""What cannot follow a possessive: saw her. thanked her for, paid her $10 more."""
OR = r"(?:\s+or\s+|\s*/\s*)"
PAIR_AFTER = re.compile(rf"{OR}(his|her|their|him|them|hers|theirs)\b|\s+and\s+(him|them|hers|theirs)\b", re.I)
PAIR_BEFORE = re.compile(rf"\b(his|her|their|him|them|hers|theirs)(){OR}$", re.I)
"""The other pronoun of two with the same role: his or her book, him and her."""
LISTED = re.compile(r"\b(?:s?he|they)\s*/\s*$", re.I)
"""What precedes an object in a list of pronouns: she/her."""
VERB = re.compile(rf"\s+(?:{any_of('after_his')}|will be)(?![\w-])")
"""What follows a "his" without a noun: his was blue, a friend of his came."""
TITLED = re.compile(r"\s+[A-Z]")
"""What follows a "his" with a noun: his A Short History."""
QUALIFIED = re.compile(r"\s+(?:A\s|['’]\d\d\s|[a-z]+ly\s+[a-z]+(?:ful|ive|al|ic|ous|ent|ant|able)\s+[a-z])")
"""What follows a possessive: her A levels, her '07 Ford, her ultimately successful attempt."""
COUNTED = re.compile(
    r"\s+(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)\s+"
    rf"(?!(?:{any_of('after_two')})\b|(?:{any_of('measured')})\w*\b)[a-z]"
)
"""What follows a possessive, unless the verb before may have two objects: her two sons, but met her two years ago."""
MAKES = re.compile(r"\bma(?:de|ke|kes|king)\s+$", re.I)
MADE = re.compile(
    r"\s+(?:(?:own\s+)?(?:bow|choice|escape|exit|living|mark|mind|peace|way)|"
    r"(?:(?!her\b|to\b)[\w'’-]+\s+){0,3}(?:appearance|comeback|debut))\b"
)
"""What follows a possessive after "make": made her Broadway debut, make her mind up."""
SURE = -2.0
"""The score below which a "his" has no noun ("a friend of his"). This is rare: one in a hundred."""
UNSURE = {"her": (-1.25, 0.55), "his": (-4.0, -0.2)}
"""Scores between these limits are often wrong. After some verbs the limits of "her" are wider (`is_unsure`)."""
ENDING = r"(?:e|es|s|ed|ted|ting|ing|ning|n|en)?\s+$"
TWO_OBJECTS = re.compile(rf"\b(?:{any_of('two_objects')}){ENDING}", re.I)
"""A verb that often has two objects, or an object and what it is called: gave her money, elected her president."""
COMPLEMENT = re.compile(rf"\b(?:{any_of('complements')}){ENDING}", re.I)
"""A verb that may have an object and what it is or does: made her anxious, saw her duck; or, seldom, two objects."""
PART = 0.15
OF_HIS = re.compile(r"\b(?:that|this|those|these)\s+(?:[a-z-]+\s+){1,2}of\s+$", re.I)
"""What precedes a "his" that may have no noun: that car of his (broke down), that car of his (father)."""


def tokens(text: str) -> list[str]:
    """The words and marks of a text, with one kind of dash."""
    return TOKEN.findall(text.replace("--", "—").replace("–", "—"))


def features(text: str, start: int, stop: int, kinds: Mapping[str, str]) -> list[str]:
    """The features of a place: the words around it, their endings and kinds, and combinations of these."""
    after = tokens(text[stop : stop + AROUND])[:3]
    before = tokens(text[max(0, start - AROUND) : start])[-3:]
    next1, next2, next3 = (*after, "</s>", "</s>", "</s>")[:3]
    last3, last2, last1 = ("<s>", "<s>", "<s>", *before)[-3:]
    low, left = next1.lower(), last1.lower()
    kind1, kind2, kind3, past1, past2, past3 = (_word_tag(w, kinds) for w in (next1, next2, next3, last1, last2, last3))
    names = [
        "",
        f"+1 {low}",
        f"+2 {next2.lower()}",
        f"-1 {left}",
        f"-2 {last2.lower()}",
        f"-1+1 {left} {low}",
        f"+1... {low[-3:]}",
        f"-1... {left[-3:]}",
        f"k {kind1}",
        f"k {kind1} {kind2}",
        f"k {kind1} {kind2} {kind3}",
        f"p {past1}",
        f"p {past2} {past1}",
        f"p {past3} {past2} {past1}",
        f"pk {past1} {kind1}",
        f"pk {past1} {kind1} {kind2}",
        f"-1k {left} {kind1}",
        f"+1k {low} {kind2}",
        f"...k {low[-2:]} {kind2}",
    ]
    return [*names, "capital", f"capital -1... {left[-2:]}"] if next1[0].isupper() else names


def _word_tag(word: str, kinds: Mapping[str, str]) -> str:
    """The class of a word; for a rare word, its shape."""
    low = word.lower()
    if low in SUBJECTS:
        return "subject"
    if low in DETERMINERS:
        return "determiner"
    if kind := kinds.get(low):
        return kind
    return "Name" if word[0].isupper() else "digits" if word[0].isdigit() else f"?{low[-2:]}"


@cache
def _read_model() -> tuple[dict[str, str], dict[str, float]]:
    kinds, weights = dict[str, str](), dict[str, float]()
    for line in read_text("pronouns-en.tsv", "evenhand.text").splitlines():
        name, value = line.split("\t")
        if name.startswith("="):
            kinds |= dict.fromkeys(value.split(), name[1:])
        else:
            weights[name] = float(value)
    return kinds, weights


def score(text: str, start: int, stop: int) -> float:
    """The score of a place: above 0 a possessive is likelier ("her book"), below 0 an object ("saw her")."""
    if SHARED.match(text, stop):
        return 10.0
    word = text[start:stop].lower()
    if pair := PAIR_AFTER.match(text, stop) or PAIR_BEFORE.search(text[max(0, start - 12) : start]):
        other = (pair[1] or pair[2]).lower()
        if other != word:
            return 10.0 if other in ("his", "their", "her") else -10.0
    if ALONE.match(text, stop) or (word == "her" and LISTED.search(text[max(0, start - 8) : start])):
        return -10.0
    if word == "his":
        if VERB.match(text, stop):
            return -10.0
        if TITLED.match(text, stop):
            return 10.0
    elif QUALIFIED.match(text, stop) or _is_owned(text, start, stop):
        return 10.0
    kinds, weights = _read_model()
    return sum(map(weights.get, features(text, start, stop, kinds), repeat(0.0)))


def _is_owned(text: str, start: int, stop: int) -> bool:
    """Whether the verb before "her" shows that it is a possessive: made her debut, loved her two dogs."""
    before = text[max(0, start - 16) : start]
    if COUNTED.match(text, stop):
        return not (TWO_OBJECTS.search(before) or COMPLEMENT.search(before))
    return MADE.match(text, stop) is not None and MAKES.search(before) is not None


def is_unsure(text: str, start: int, stop: int, margin: float) -> bool:
    """Whether a place with the score `margin` needs a second opinion."""
    word = text[start:stop].lower()
    low, high = UNSURE[word]
    if word == "his":
        return low < margin < (6.0 if OF_HIS.search(text[max(0, start - 40) : start]) else high)
    if not low < margin < high:
        before = text[max(0, start - 16) : start]
        if (two := TWO_OBJECTS.search(before)) or COMPLEMENT.search(before):
            low, high = -2.25, 3.5 if two else 2.25
    return low < margin < high


def is_possessive(word: str, margin: float, odds: float = math.nan) -> bool:
    """Whether her or his is a possessive, by its score `margin` and by a model's log-odds, if the model was asked.

    A part of the score is added to the log-odds: both together have fewer errors than either alone.
    """
    above = margin - (0.0 if word == "her" else SURE)
    return above > 0 if math.isnan(odds) else odds + PART * above > 0
