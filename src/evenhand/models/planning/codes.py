"""What the integers of a plan mean: the one place that packs two numbers into one integer, and unpacks them.

Plans, the cache and workers compare, hash, store and send inputs and cells without knowing what a network takes. So
what goes with a token is part of its integer, `token + size * beside`, where `size` is the number of the network's
embeddings:

    where        `beside` is
    a text       0
    a pair       the token's type: to which of the two texts it belongs
    a tree       the token's parent, by its place in the row; the root, mostly the start token, is its own
    a cell       PLAIN: the log-probability of the token is read, or, of an NLI classifier, of the label
                 WEIGHED: the same, times the attention that the token gets
                 FOLLOWS: of what the next-sentence head says; its labels are 0, it follows, and 1, it does not
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

PLAIN, WEIGHED, FOLLOWS = range(3)


def join(tokens: Iterable[int], beside: Iterable[int], size: int) -> tuple[int, ...]:
    """One integer for each token and what goes with it."""
    return tuple(token + size * more for token, more in zip(tokens, beside, strict=True))


def split(joined: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tokens, and what goes with them."""
    beside, tokens = np.divmod(joined, size)
    return tokens, beside
