"""Plain sentences and plain inferences in a few languages: who has learnt a language has no trouble with them."""

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
    """Short sentences of everyday life, as data/plain.tsv has them; none in a language we have none of."""
    return tuple(row["text"] for row in _read("plain.tsv") if row["language"] == language)


@cache
def inferences(language: str) -> tuple[Example, ...]:
    """As many entailments as contradictions and neutral pairs, as data/plain-nli.tsv has them."""
    found = (row for row in _read("plain-nli.tsv") if row["language"] == language)
    return tuple(Example(row["premise"], row["hypothesis"], row["label"]) for row in found)


def shuffled(text: str, language: str) -> str:
    """The same words in another order, the last mark at its place; always the same one.

    >>> shuffled("The river is too cold to swim in.", "en")
    'too river cold swim to in is The.'
    """
    *body, last = [span.of(text) for span in words(text)]
    order = np.random.default_rng(0).permutation(len(body))
    return ("" if language in SPACELESS else " ").join(body[i] for i in order) + last


def _read(name: str) -> list[dict[str, str]]:
    with as_file(files("evenhand.checks") / "data" / name) as path:
        return [row for _, row in rows(path, ("language",))]
