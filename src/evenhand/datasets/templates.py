"""Template files: filling the slots of sentences, and checks of users' files.

The span of each filling is recorded when it is filled in, never searched for.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

from evenhand.core.files import public_path
from evenhand.core.items import Sentence
from evenhand.core.questions import Span
from evenhand.core.words import capitalise
from evenhand.errors import BadInput, UnknownName

SLOT = re.compile(r"\{(\w+)\}")
VOWEL = re.compile(r"(?!uni[a-hj-mo-z]|us[eu]|ut[ei]|ur[aeio]|eu|one\b)[aeiou]|hour|honest|heir", re.I)
"""The beginnings of words that take "an"."""
TEXTS = ("name", "language", "about", "source", "licence")
"""The metadata that every template file may have."""


def render(template: str, **fillings: str) -> tuple[str, dict[str, Span]]:
    """The template with every slot filled, and the span of each filling; a filling at the start is capitalised.

    >>> render("{person} is a {profession}.", person="she", profession="mason")
    ('She is a mason.', {'person': Span(start=0, stop=3), 'profession': Span(start=9, stop=14)})
    """
    slots = SLOT.findall(template)
    for name in fillings:
        if slots.count(name) != 1:
            count = slots.count(name) or "none"
            raise BadInput(f"Template {template!r} must have the slot {{{name}}} exactly once. Got {count}.")
    if unknown := [name for name in slots if name not in fillings]:
        known = ", ".join(f"{{{name}}}" for name in fillings)
        raise BadInput(f"Template {template!r} has the unknown slot {{{unknown[0]}}}. Known: {known}.")
    text, spans, end = "", {}, 0
    for match in SLOT.finditer(template):
        text += template[end : match.start()]
        filling = fillings[match[1]] if text else capitalise(fillings[match[1]])
        spans[match[1]] = Span(len(text), len(text) + len(filling))
        text += filling
        end = match.end()
    return text + template[end:], spans


def with_article(template: str, slot: str, word: str) -> str:
    """The template with "an" instead of "a" before the slot, if the word needs it.

    >>> with_article("She is a {job}.", "job", "actuary")
    'She is an {job}.'
    """
    return re.sub(rf"\b([Aa]) (?=\{{{slot}\}})", r"\1n ", template) if VOWEL.match(word) else template


def sentence(
    id: str, template: str, fillings: Mapping[str, str], groups: Mapping[str, str], candidates: tuple[str, ...]
) -> Sentence:
    """The sentence of a template with two fillings: first the phrase with the target, then the attribute."""
    text, spans = render(template, **fillings)
    phrase, attribute = (spans[slot] for slot in fillings)
    if phrase.start == 0:
        candidates = tuple(map(capitalise, candidates))
    return Sentence(id, text, last_word(text, phrase), attribute, groups, phrase, candidates)


def combinations(
    templates: Iterable[str], persons: Mapping[str, list[str]], words: Mapping[str, list[str]], kind: str, word: str
) -> Iterator[tuple[str, dict[str, str]]]:
    """Each template and the groups of its sentence, with each person (by gender) and each word (by kind).

    `kind` and `word` are the names of the groups that hold the kind of the word and the word.
    """
    places = [(gender, slot, person) for gender in persons for slot, person in enumerate(persons[gender], start=1)]
    for label, listed in words.items():
        numbered = enumerate(templates, start=1)
        for (number, template), (gender, slot, person), each in product(numbered, places, listed):
            groups = {kind: label, "gender": gender, word: each, "person": person}
            yield template, groups | {"slot": str(slot), "template": str(number)}


def last_word(text: str, phrase: Span) -> Span:
    """The last word of a phrase of the text: "aunt" of "my aunt"."""
    return Span(phrase.stop - len(phrase.of(text).split()[-1]), phrase.stop)


def texts_of(data: Mapping[str, Any], about: str = "") -> dict[str, Any]:
    """The metadata of a template file, as parameters of a Dataset."""
    return {key: data.get(key, about if key == "about" else "") for key in TEXTS}


def check_choice(option: str, value: str, *allowed: str) -> None:
    """Raise an error unless the value of the option is one of `allowed`."""
    if value not in allowed:
        raise BadInput(f"{option} must be {' or '.join(map(repr, allowed))}. Got {value!r}.")


def check_keys(place: str, keys: Iterable[str], known: Sequence[str]) -> None:
    """Raise an error if one of the keys is unknown."""
    for key in keys:
        if key not in known:
            raise BadInput(f"{place}: {UnknownName('key', key, known)}")


def check_required(file: str, data: Mapping[str, Any], required: Sequence[str]) -> None:
    """Raise an error if a required key is missing or empty."""
    for key in required:
        if not data.get(key):
            raise BadInput(f"{file}: the key '{key}' is missing or empty. Such a file needs {', '.join(required)}.")


def check_words(place: str, key: str, words: object) -> None:
    """Raise an error unless `words` is a list of distinct texts, none of them empty."""
    if not isinstance(words, list) or not words or not all(isinstance(word, str) and word.strip() for word in words):
        raise BadInput(f"{place}: '{key}' must be a list of words, none of them empty. Got {words!r}.")
    if len(set(words)) < len(words):
        raise BadInput(f"{place}: '{key}' has {Counter(words).most_common(1)[0][0]!r} twice.")


def recorded_file(file: str, recorded: str, text: str | None = None) -> dict[str, str]:
    """Path and SHA-256 of a file (or of its `text`), as a run records them; raises if `recorded` is another SHA-256."""
    path = Path(file).expanduser()
    with path.open("rb") if text is None else BytesIO(text.encode()) as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if recorded and recorded != digest:
        raise BadInput(f"'{file}' has changed since the run was made. Restore it, or run the audit again.")
    return {"file": public_path(path), "sha256": digest}
