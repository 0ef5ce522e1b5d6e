"""WEAT (Caliskan, Bryson and Narayanan 2017) and SEAT (May et al. 2019), as the latter released both.

X and Y are `targ1` and `targ2`, A and B `attr1` and `attr2`, as published: an effect above 0 is in the direction of the
stereotype.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from evenhand.core.dataset import Dataset
from evenhand.core.files import from_json, read_given
from evenhand.core.items import SIDES, Place, Target, TargetSentence
from evenhand.core.questions import Span
from evenhand.datasets.checking import check_words
from evenhand.datasets.files.releases import RELEASES, released
from evenhand.datasets.kinds import GENDER_TESTS, kinds_of
from evenhand.errors import BadInput

Test = Literal["all", "6", "6b", "7", "7b", "8", "8b", "1", "2", "3", "3b", "4", "5", "5b", "9", "10"]
SETS = ("targ1", "targ2", "attr1", "attr2")
IRREGULAR = {"man": "men", "woman": "women", "children": "child"}
GENDERED = ("male terms", "female terms")
"""Attributes that are partners by position: he and she, his and hers."""
WANTED = f'A test is a JSON object of {", ".join(SETS)}, each {{"category": "Math", "examples": ["algebra", ...]}}.'


class Set(NamedTuple):
    """A set of a test: its name, and its words or sentences."""

    name: str
    examples: list[str]


def load(name: str, test: Test = "all") -> Dataset:
    """The words of `weat`, or the sentences of `seat`; of the six tests of gender, or of one of all fifteen."""
    tests = GENDER_TESTS if test == "all" else (test,)
    what = "Sentences that say nothing but a word" if name == "seat" else "Words"
    return Dataset(
        name=name,
        about=f"{what}, of two sets X and Y, and two sets of attributes that they may be nearer to.",
        **RELEASES[name].texts,
        items=[item for number in tests for item in _targets(name, number)],
        by=("test",) if test == "all" else (),
        cluster="word",
        kinds=kinds_of(name, {"test": test}),
        options={"test": test},
    )


def _targets(name: str, test: str) -> Iterator[Target]:
    words = sets = _read_sets(released(name, f"weat{test}.jsonl"))
    if name == "seat":
        sets = _read_sets(released(name, f"sent-weat{test}.jsonl"))
    x, y, a, b = (_places(known.examples, asked.examples) for known, asked in zip(words, sets, strict=True))
    attributes = tuple(place for _, place in a), tuple(place for _, place in b)
    paired = (sets[2].name, sets[3].name) == GENDERED and len(a) == len(b)
    kind = TargetSentence if name == "seat" else Target
    for side, asked, places in zip(SIDES, sets[:2], (x, y), strict=True):
        for word, place in places:
            groups = {"test": test, "side": side, "set": asked.name, "word": word}
            yield kind(f"{test}/{place[0]}", place, attributes, groups, paired)


def _read_sets(path: Path) -> list[Set]:
    """The four sets of a file; "MaleNames" is called male names."""
    data, sets = read_given(path, from_json, "The test", WANTED), []
    for key in SETS:
        given = data.get(key) if isinstance(data, dict) else None
        if not isinstance(given, dict) or not isinstance(given.get("category"), str):
            raise BadInput(f"{path}: '{key}' must have a category, a text, and examples. Got {given!r}. {WANTED}")
        check_words(str(path), f"examples of {key}", given.get("examples"))
        sets.append(Set(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", given["category"]).lower(), given["examples"]))
    return sets


def _places(words: Sequence[str], texts: Sequence[str]) -> list[tuple[str, Place]]:
    """The word of each text, and where it stands there, in the plural or the singular if need be.

    A text that has none of the words is taken whole, without its full stop.
    """
    forms = {
        form.lower(): word
        for word in words
        for form in (f"{word}s", f"{word}es", f"{word[:-1]}ies", word.removesuffix("s"), IRREGULAR.get(word, word))
        if form
    } | {word.lower(): word for word in words}  # hers is a word itself, not the plural of her
    longest_first = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    places = []
    for text in texts:
        match, whole = re.search(rf"\b(?:{longest_first})\b", text, re.I), text.removesuffix(".")
        word = forms.get(match[0].lower()) if match else None
        span = Span(*match.span()) if match and word else Span(0, len(whole))
        places.append((word or whole, (text, span)))
    return places
