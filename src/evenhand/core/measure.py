"""What a measure is: it asks and scores, and never sees a model."""

from collections.abc import Sequence
from typing import ClassVar, Protocol, TypeVar

from evenhand.core.items import Item
from evenhand.core.questions import Answer, Question
from evenhand.core.scores import Score

AnyItem = TypeVar("AnyItem", bound=Item, contravariant=True)


class Measure(Protocol[AnyItem]):
    """Turns an item into questions, their answers into a score, and scores into a value."""

    name: ClassVar[str]
    version: ClassVar[int]
    """Raised whenever a score could change."""
    neutral: ClassVar[float]
    """The value that means "no bias"; NaN for a plain level, of which none is the unbiased one."""
    reading: ClassVar[str]
    """What a value above or below the neutral one means, in a line."""

    def ask(self, item: AnyItem) -> Sequence[Question]:
        """What must be known to score the item."""

    def score(self, item: AnyItem, answers: Sequence[Answer]) -> float:
        """The item's score, from the answers to `ask(item)` in order; it never sees an answer that is missing."""

    def summarise(self, scores: Sequence[Score]) -> float:
        """The value of these scores, none of them NaN; NaN when there are none."""
