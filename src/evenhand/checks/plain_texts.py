"""Plain sentences and inferences in a few languages, easy for any model that knows the language."""

from functools import cache
from importlib.resources import as_file, files

import numpy as np

from evenhand.core.words import words
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.datasets.files.rows import rows

LANGUAGES = ("en", "de", "ja", "zh")
SPACELESS = ("ja", "zh")


@cache
def sentences(language: str) -> tuple[str, ...]:
    """Short sentences of everyday life, from data/plain.tsv; empty for other languages."""
    return tuple(row["text"] for row in _read("plain.tsv") if row["language"] == language)


@cache
def inferences(language: str) -> tuple[Example, ...]:
    """Equal numbers of entailments, contradictions and neutral pairs, from data/plain-nli.tsv."""
    found = (row for row in _read("plain-nli.tsv") if row["language"] == language)
    return tuple(Example(row["premise"], row["hypothesis"], row["label"]) for row in found)


@cache
def beginnings(language: str) -> dict[str, str]:
    """Texts that go on with one word, which anybody expects, and that word, from data/beginnings.tsv."""
    return {row["text"]: row["word"] for row in _read("beginnings.tsv") if row["language"] == language}


def shuffled(text: str, language: str) -> str:
    """The same words in a fixed random order, with the last mark at the end.

    >>> shuffled("The river is too cold to swim in.", "en")
    'too river cold swim to in is The.'
    """
    *body, last = [span.of(text) for span in words(text)]
    order = np.random.default_rng(0).permutation(len(body))
    return ("" if language in SPACELESS else " ").join(body[i] for i in order) + last


def _read(name: str) -> list[dict[str, str]]:
    with as_file(files("evenhand.checks") / "data" / name) as path:
        return [row for _, row in rows(path, ("language",))]
