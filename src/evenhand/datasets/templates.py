"""Sentences from templates with named slots; where each filling landed is remembered, never searched for."""

import re

from evenhand.core.questions import Span
from evenhand.errors import BadInput

SLOT = re.compile(r"\{(\w+)\}")
VOWEL = re.compile(r"(?!uni[a-hj-mo-z]|us[eu]|ut[ei]|ur[aeio]|eu|one\b)[aeiou]|hour|honest|heir", re.I)
"""How a word begins that takes "an"."""


def render(template: str, **fillings: str) -> tuple[str, dict[str, Span]]:
    """The template with every slot filled, and the span of each filling.

    >>> render("{person} is a {profession}.", person="She", profession="mason")
    ('She is a mason.', {'person': Span(start=0, stop=3), 'profession': Span(start=9, stop=14)})
    """
    slots = SLOT.findall(template)
    for name in fillings:
        if slots.count(name) != 1:
            count = "none" if name not in slots else str(slots.count(name))
            raise BadInput(f"Template {template!r} must have the slot {{{name}}} exactly once. Got {count}.")
    if unknown := [name for name in slots if name not in fillings]:
        raise BadInput(
            f"Template {template!r} has a slot {{{unknown[0]}}} that nothing fills. Known: {_list(fillings)}."
        )
    text, spans, end = "", {}, 0
    for match in SLOT.finditer(template):
        text += template[end : match.start()]
        filling = fillings[match[1]]
        spans[match[1]] = Span(len(text), len(text) + len(filling))
        text += filling
        end = match.end()
    return text + template[end:], spans


def agreeing(template: str, slot: str, word: str) -> str:
    """The template with "an" before the slot where the word calls for it.

    >>> agreeing("She is a {job}.", "job", "actuary")
    'She is an {job}.'
    """
    return re.sub(rf"\b([Aa]) (?=\{{{slot}\}})", r"\1n ", template) if VOWEL.match(word) else template


def _list(names: dict[str, str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)
