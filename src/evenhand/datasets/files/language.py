"""Check that texts are English, the only language whose gendered words evenhand knows."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from evenhand.datasets.files import read_toml
from evenhand.errors import BadInput

WORDS = "function-words.toml"
WORD = re.compile(r"[^\W\d_]+")
NOT_LATIN = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
DOCUMENTS, CHARACTERS = 1_000, 500
"""How many documents are examined, and how many characters of each."""
ENOUGH, RARE = 100, 0.04
"""Texts of at least ENOUGH words are not English if the share of English function words, usually 0.4, is below RARE."""
ENGLISH = "If these are English, give `lang='en'`."
OTHER = "For another language, give `word_pairs`, a list of its gendered words."


@cache
def function_words() -> frozenset[str]:
    """English function words, which are excluded from the lists of words around people."""
    return frozenset(read_toml(WORDS)["plain"]["English"].split())


@cache
def _function_words_by_language() -> dict[str, list[str]]:
    return {language: listed.split() for language, listed in read_toml(WORDS)["language"].items()}


def not_english(texts: Iterable[str]) -> str:
    """A sentence that says why the first texts are not English; empty if they seem to be English.

    >>> not_english(["Die Ärztin sagt, dass sie müde ist."])
    'The texts seem to be German: of their 7 words, 4 are function words of German and 0 of English.'
    """
    sample = [text[:CHARACTERS] for text in islice(texts, DOCUMENTS)]
    words = Counter(word.lower() for text in sample for word in WORD.findall(text))
    letters, others = sum(len(word) * n for word, n in words.items()), sum(len(NOT_LATIN.findall(t)) for t in sample)
    if others > letters / 2:
        return f"The texts seem not to be English: {others:,} of their {letters:,} letters are not Latin."
    n = words.total()
    hits = {language: sum(words[word] for word in listed) for language, listed in _function_words_by_language().items()}
    english = hits.pop("English")
    most = max(hits, key=lambda language: hits[language])
    if hits[most] > max(english, 1):
        counts = f"of their {n:,} words, {hits[most]:,} are function words of {most} and {english:,} of English"
        return f"The texts seem to be {most}: {counts}."
    if n >= ENOUGH and english < RARE * n:
        return f"The texts seem not to be English: {english:,} of their {n:,} words are English function words."
    return ""


def check_language(texts: Iterable[str], lang: str | None, corpus: str = "") -> None:
    """Raise an error, which names the `corpus`, unless the texts are English; `lang="en"` skips the check."""
    if lang not in (None, "en"):
        raise BadInput(f"`lang` must be 'en': gendered words are known only in English. Got '{lang}'. {OTHER}")
    if lang is None and (why := not_english(texts)):
        prefix = f"'{corpus}': " if corpus else ""
        raise BadInput(f"{prefix}{why} Gendered words are known only in English. {ENGLISH} {OTHER}")


def not_english_files(folder: Path, files: Sequence[Path], read: Callable[[Path], Iterable[str]]) -> dict[str, str]:
    """Why files are not English, by their paths in the folder; raises BadInput if none of the files is English."""
    others = {str(file.relative_to(folder)): why for file in files if (why := not_english(read(file)))}
    if others and len(others) == len(files):
        why = next(iter(others.values()))
        raise BadInput(f"'{folder}': none of its {len(files):,} files is English. {why} {ENGLISH} {OTHER}")
    return {file: why.replace("The texts seem", "it seems").replace("their", "its") for file, why in others.items()}
