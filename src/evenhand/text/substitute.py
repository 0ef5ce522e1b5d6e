"""Counterfactual data substitution: swap the gender of a share of the documents."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.datasets.corpora.texts import BALANCED_ALREADY, RELEASED, documents, split
from evenhand.datasets.files.language import not_english
from evenhand.errors import BadInput
from evenhand.text.name_lists import census
from evenhand.text.swap import Rewrite, swapper


def check_share(share: float) -> None:
    """Raise an error unless it is a number from 0 to 1."""
    if not isinstance(share, int | float) or not 0 <= share <= 1:
        raise BadInput(f"share must be between 0 and 1. Got {str(share)[:200]}.")


def is_chosen(number: int, share: float, seed: int) -> bool:
    """Whether document `number` of a corpus is swapped, which depends on the seed and the number alone."""
    return share == 1 or bool(np.random.default_rng([seed, number]).random() < share)


def substitute(texts: Iterable[str], rewrite: Rewrite, *, share: float = 0.5, seed: int = 0) -> Iterator[str]:
    """Each document, rewritten with probability `share`: counterfactual data substitution.

    Maudslay et al. (2019) use 0.5, so that a document's words keep their context; the gender-swapped GAP corpus of
    Bartl et al. (2020) in fact has 1.0. `evenhand swap` chooses the same documents for the same seed.
    """
    check_share(share)
    for number, text in enumerate(texts):
        yield rewrite(text) if is_chosen(number, share, seed) else text


@dataclass(frozen=True)
class Substituted:
    """The documents before and after the swap, and the share that was to be swapped."""

    before: list[str]
    after: list[str]
    share: float

    @cached_property
    def sentences(self) -> list[str]:
        return [sentence for text in self.after for sentence in split(text)]


def substituted(corpus: str, *, share: float | None = None, seed: int = 0) -> Substituted:
    """The corpus with words and names of a share of its documents swapped: by default half, or none if it is balanced.

    `corpus` is balanced (bundled), gap, gap-flipped, mt-gender or a file. It must be English if anything is swapped.
    """
    share = (0.0 if corpus in BALANCED_ALREADY else 0.5) if share is None else share
    check_share(share)
    texts = list(documents(corpus))
    if share and (why := not_english(texts)):
        can = "swap it with evenhand swap, and train with `share=0`"
        raise BadInput(f"'{corpus}' cannot be swapped. {why} Give an English corpus; if it is English, {can}.")
    names = tuple(census().items()) if corpus in RELEASED else None  # as in the papers
    after = substitute(texts, swapper(own=names) if share else str, share=share, seed=seed)
    both = [(old, new) for old, new in zip(texts, after, strict=True) if old.strip()]
    result = Substituted([old for old, _ in both], [new for _, new in both], share)
    if not result.sentences:
        raise BadInput(f"'{corpus}' has no sentences to train on.")
    return result
