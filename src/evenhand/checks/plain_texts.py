"""Plain sentences and inferences in a few languages, easy for any model that knows the language."""

from functools import cache

import numpy as np

from evenhand.core.words import words
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.datasets.files import read_tsv

LANGUAGES = ("en", "de", "ja", "zh")
SPACELESS = ("ja", "zh")
HERE = "evenhand.checks"


@cache
def sentences(language: str) -> tuple[str, ...]:
    """Short sentences of everyday life, from data/plain.tsv; empty for other languages."""
    return tuple(row["text"] for row in read_tsv("plain.tsv", HERE) if row["language"] == language)


@cache
def inferences(language: str) -> tuple[Example, ...]:
    """Equal numbers of entailments, contradictions and neutral pairs, from data/plain-nli.tsv."""
    rows = (row for row in read_tsv("plain-nli.tsv", HERE) if row["language"] == language)
    return tuple(Example(row["premise"], row["hypothesis"], row["label"]) for row in rows)


def shuffle_words(text: str, language: str) -> str:
    """The same words in a fixed random order, with the last mark at the end.

    >>> shuffled("The river is too cold to swim in.", "en")
    'too river cold swim to in is The.'
    """
    *body, last = [span.of(text) for span in words(text)]
    order = np.random.default_rng(0).permutation(len(body))
    return ("" if language in SPACELESS else " ").join(body[i] for i in order) + last
