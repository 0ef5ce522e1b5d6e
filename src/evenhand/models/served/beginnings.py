"""Check whether a model knows a language, if its server gives only the next token or text."""

import tomllib
from collections.abc import Callable, Sequence
from importlib.resources import files

from evenhand.core.model import CAREFUL, FINE, UNCHECKED, UNFIT, Finding
from evenhand.core.words import words
from evenhand.models.served.options import bare

BEGINNINGS = tomllib.loads((files("evenhand.models.served") / "beginnings.toml").read_text(encoding="utf-8"))
"""By language, beginnings of texts, each with the next word that any speaker expects."""
KNOWS, BARELY = 0.5, 0.2
"""Shares of these beginnings that a model must continue as expected; a random model continues none."""


def unchecked_finding(why: str) -> Finding:
    """The finding that head and language could not be checked."""
    says = f"head and language ({why})."
    return Finding(UNCHECKED, CAREFUL, says, "Look at some of its answers yourself.")


def check_language(language: str, likeliest: Callable[[Sequence[str]], Sequence[str]], *, chat: bool) -> Finding:
    """How many plain beginnings are continued by the word that anybody expects, or by its first token.

    `likeliest` gives the token after each text. A reply in a chat may also say the whole text again, from its first
    word.
    """
    texts = BEGINNINGS.get(language)
    if not texts:
        return unchecked_finding(f"we have no plain beginnings of '{language}'")
    asked = "Continue this text. Say the next word and nothing else: {}" if chat else "{}"
    found = [bare(token).lower() for token in likeliest([asked.format(text) for text in texts])]
    right = sum(
        (len(token) > 2 and word.startswith(token)) or (chat and words(text)[0].of(text).lower() == token)
        for token, (text, word) in zip(found, texts.items(), strict=True)
    )
    verdict = FINE if right >= KNOWS * len(texts) else CAREFUL if right >= BARELY * len(texts) else UNFIT
    do = "" if verdict == FINE else "Is it a trained model of this language? Look at some of its answers."
    says = f"{right} of {len(texts)} plain beginnings of '{language}' are continued by the word that anybody expects."
    return Finding("language", verdict, says, do)
