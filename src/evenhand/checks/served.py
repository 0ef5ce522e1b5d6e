"""Checks of a model behind a server: what its probe found, and whether it has learnt a language."""

from collections.abc import Iterator
from typing import cast

from evenhand.checks import plain_texts
from evenhand.checks.base import CAREFUL, FINE, UNFIT, Case, LeftOut, Verdict
from evenhand.checks.head_and_language import head_and_language
from evenhand.checks.stability import numbers
from evenhand.core.words import words
from evenhand.models.served.asking import letter
from evenhand.models.served.model import ServedModel
from evenhand.runs.origin import UNCHECKED
from evenhand.runs.record import Finding

KNOWS, BARELY = 0.5, 0.2
"""Shares of plain beginnings that a model continues as anybody would: a random one continues none of them."""


def server(model: ServedModel, language: str) -> Iterator[Finding]:
    """What the server gives, whether its numbers can be relied on, and whether its model knows the language.

    By plain sentences where it gives the log-probabilities of a prompt, by plain beginnings where it lists next tokens.
    A model that gives text alone is not checked.
    """
    for check, verdict, says, do in model.probed.remarks:
        yield Finding(check, cast("Verdict", verdict), says, do)
    case = Case(model, language, thorough=False)
    try:
        if model.ability.whole:
            yield from head_and_language(case)
            yield from numbers(case)
        elif model.ability.kind == "b":
            yield _continues(model, language)
        else:
            raise LeftOut("head and language", "the server gives text only")
    except LeftOut as out:
        yield Finding(UNCHECKED, CAREFUL, f"{out}.", "Look at some of its answers yourself.")


def _continues(model: ServedModel, language: str) -> Finding:
    """How many plain beginnings are continued by the word that anybody expects, or by its first token.

    A reply in a chat may also say the whole text again, from its first word.
    """
    texts = plain_texts.beginnings(language)
    if not texts:
        raise LeftOut("head and language", f"we have no plain beginnings of '{language}'")
    chat = not model.ability.next
    asked = "Continue this text. Say the next word and nothing else: {}" if chat else "{}"
    found = [letter(token).lower() for token in model.likeliest([asked.format(text) for text in texts])]
    right = sum(
        (len(token) > 2 and word.startswith(token)) or (chat and words(text)[0].of(text).lower() == token)
        for token, (text, word) in zip(found, texts.items(), strict=True)
    )
    verdict = FINE if right >= KNOWS * len(texts) else CAREFUL if right >= BARELY * len(texts) else UNFIT
    do = "" if verdict == FINE else "Is it a trained model of this language? Look at some of its answers."
    says = f"{right} of {len(texts)} plain beginnings of '{language}' are continued by the word that anybody expects."
    return Finding("language", verdict, says, do)
