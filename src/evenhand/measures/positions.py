"""What the order of the options does to the answer, where each question is asked in all orders."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from evenhand.core.items import Choice
from evenhand.core.questions import Answer
from evenhand.core.scores import Summary, share
from evenhand.measures.choices import Level


class ChoiceFirst(Level):
    """How much of the probability goes to whatever option is listed first, mean over all orders of the options.

    1 divided by the number of options if the order does not matter; above it the model prefers the first one. Since
    each option is first equally often, this favours neither women nor men; if it is strong, it hides what they do.
    """

    name: ClassVar[str] = "choice-first"
    rank: ClassVar[int] = 5
    needs: ClassVar[tuple[str, ...]] = ("orders",)
    reading: ClassVar[str] = (
        "share of the probability of the option listed first; 1 / options if the order does not matter"
    )

    def score(self, item: Choice, answers: Sequence[Answer]) -> float:
        shares = self.shares(item, answers)
        return float(np.mean([row[order[0]] for row, order in zip(shares, item.orders, strict=True)]))


class ChoiceTurns(Level):
    """How many questions have another answer if their options stand in another order: the share of questions.

    0 where the likeliest option is the same in all orders. Needs probabilities: shares of a few replies differ between
    orders by chance.
    """

    exact: ClassVar[bool] = True

    name: ClassVar[str] = "choice-turns"
    rank: ClassVar[int] = 4
    needs: ClassVar[tuple[str, ...]] = ("orders",)
    reading: ClassVar[str] = "share of questions whose answer changes with the order of their options"
    summarise: ClassVar[Summary] = share

    def score(self, item: Choice, answers: Sequence[Answer]) -> float:
        return float(len(set(self.logps(item, answers).argmax(axis=1).tolist())) > 1)
