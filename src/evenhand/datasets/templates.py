"""Sentences from templates with named slots. The place of each filling is recorded, never searched for."""

import re
from collections.abc import Mapping

from evenhand.core.items import Sentence
from evenhand.core.questions import Span
from evenhand.core.words import capitalised
from evenhand.errors import BadInput

SLOT = re.compile(r"\{(\w+)\}")
VOWEL = re.compile(r"(?!uni[a-hj-mo-z]|us[eu]|ut[ei]|ur[aeio]|eu|one\b)[aeiou]|hour|honest|heir", re.I)
"""The beginnings of words that take "an"."""


def render(template: str, **fillings: str) -> tuple[str, dict[str, Span]]:
    """The template with every slot filled, and the span of each filling; one at the start gets a capital letter.

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
        raise BadInput(f"Template {template!r} has a slot {{{unknown[0]}}} that nothing fills. Known: {known}.")
    text, spans, end = "", {}, 0
    for match in SLOT.finditer(template):
        text += template[end : match.start()]
        filling = fillings[match[1]] if text else capitalised(fillings[match[1]])
        spans[match[1]] = Span(len(text), len(text) + len(filling))
        text += filling
        end = match.end()
    return text + template[end:], spans


def agreeing(template: str, slot: str, word: str) -> str:
    """The template with "an" instead of "a" before the slot, if the word needs it.

    >>> agreeing("She is a {job}.", "job", "actuary")
    'She is an {job}.'
    """
    return re.sub(rf"\b([Aa]) (?=\{{{slot}\}})", r"\1n ", template) if VOWEL.match(word) else template


def sentence(
    id: str, template: str, fillings: Mapping[str, str], groups: Mapping[str, str], candidates: tuple[str, ...]
) -> Sentence:
    """The sentence of a template with two fillings: the phrase that has the target, then the attribute."""
    text, spans = render(template, **fillings)
    phrase, attribute = (spans[slot] for slot in fillings)
    if phrase.start == 0:
        candidates = tuple(map(capitalised, candidates))
    return Sentence(id, text, last_word(text, phrase), attribute, groups, phrase, candidates)


def last_word(text: str, phrase: Span) -> Span:
    """The last word of a phrase of the text: "aunt" of "my aunt"."""
    return Span(phrase.stop - len(phrase.of(text).split()[-1]), phrase.stop)
