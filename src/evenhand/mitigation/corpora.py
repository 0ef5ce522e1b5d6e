"""A corpus as a model is debiased on it: a share of its documents with the other gender, cut into sentences."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.datasets.corpora.texts import BALANCED_ALREADY, documents, split
from evenhand.errors import BadInput
from evenhand.mitigation.names import Naming
from evenhand.mitigation.substitute import substitute
from evenhand.mitigation.swap import Swapper


@dataclass(frozen=True)
class Substituted:
    """The documents as they were and as they are now, and which share of them was to be swapped."""

    before: list[str]
    after: list[str]
    share: float

    @cached_property
    def sentences(self) -> list[str]:
        """What a model is trained on."""
        return [sentence for text in self.after for sentence in split(text)]


def substituted(corpus: str, *, share: float | None = None, seed: int = 0) -> Substituted:
    """The corpus with words and names of a share of its documents swapped: a half, or none if it is balanced already.

    `corpus` is balanced (bundled), gap, gap-flipped, mt-gender or a file.
    """
    share = (0.0 if corpus in BALANCED_ALREADY else 0.5) if share is None else share
    texts = [text for text in documents(corpus) if text.strip()]
    rewrite = Swapper(names=Naming()) if share else str
    found = Substituted(texts, list(substitute(texts, rewrite, share=share, rng=np.random.default_rng(seed))), share)
    if not found.sentences:
        raise BadInput(f"'{corpus}' has no sentences to train on.")
    return found
