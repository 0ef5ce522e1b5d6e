"""Counterfactual data: a share of the documents rewritten, or each with its counterpart beside it."""

from collections.abc import Iterable, Iterator

from numpy.random import Generator

from evenhand.errors import BadInput
from evenhand.mitigation.swap import Rewrite


def substitute(texts: Iterable[str], rewrite: Rewrite, *, share: float = 0.5, rng: Generator) -> Iterator[str]:
    """Each document rewritten with probability `share`, or as it was: counterfactual data substitution.

    Maudslay et al. (2019) take a half, so that a document's words keep their company; 1.0 is what the gender-swapped
    GAP corpus of Bartl et al. (2020) is in fact. A coin is thrown for each document, so the choice of one does not
    depend on the others' texts.
    """
    if not 0 <= share <= 1:
        raise BadInput(f"share must be between 0 and 1. Got {share}.")
    for text in texts:
        chosen = rng.random() < share
        yield rewrite(text) if chosen else text


def augment(texts: Iterable[str], rewrite: Rewrite) -> Iterator[str]:
    """Each document, then its counterpart; once where the two are the same."""
    for text in texts:
        yield text
        if (other := rewrite(text)) != text:
            yield other
