"""The interface of measures, which ask and score but never see a model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, get_args

from evenhand.core.items import Item
from evenhand.core.questions import Answer, Question
from evenhand.core.scores import Score
from evenhand.errors import UnknownName

AnyItem = TypeVar("AnyItem", bound=Item, contravariant=True)

LAST = 9

Formula = Literal["paper", "released"]
"""Which one counts where a paper and its authors' released code differ."""
Better = Literal["closer", "higher", "none"]
"""Which values are better: those closer to neutral, higher ones, or none, for a plain level."""


class Unscored(Exception):
    """Raised by `Measure.score` where answers make no score; the message is the reason, the note of the score."""


def check_formula(formula: str) -> None:
    """Raise if `formula` is neither "paper" nor "released"."""
    if formula not in get_args(Formula):
        raise UnknownName("value of formula", formula, get_args(Formula))


class Measure(Protocol[AnyItem]):
    """Turns an item into questions, their answers into a score, and scores into a value."""

    name: ClassVar[str]
    version: ClassVar[int]
    """Raised whenever a score could change."""
    neutral: ClassVar[float]
    """The value that means "no bias"; NaN for a plain level, which has no unbiased value."""
    reading: ClassVar[str]
    """What a value above or below the neutral one means, in one line."""

    def ask(self, item: AnyItem) -> Sequence[Question]:
        """The questions whose answers score the item."""

    def score(self, item: AnyItem, answers: Sequence[Answer]) -> float:
        """The item's score, from the answers to `ask(item)` in order, none of them missing."""

    def summarise(self, scores: Sequence[Score]) -> float:
        """The value of these scores, none of them NaN; NaN when there are none."""


@dataclass(frozen=True, slots=True)
class Traits:
    """Optional class variables of a measure, with their defaults."""

    title: str = ""
    """What the page calls it; its name where there is no title."""
    leans: tuple[str, str] = ("below neutral", "above neutral")
    """The verdict on a value below the neutral one, and above it: "leans to men", "leans to women"."""
    unit: str = ""
    better: Better = "closer"
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """The lowest and the highest possible value."""
    rank: int = LAST
    """Among measures of the same items, the one of lowest rank is the dataset's headline; LAST never is."""
    ranks_models: bool = False
    """Whether several models are compared by it."""
    items: type | None = None
    """The kind of item it is for."""
    needs: tuple[str, ...] = ()
    """Groups that every item must have for it to run by default."""
    on_request: bool = False
    """Whether it runs only when it is named."""
    answers: tuple[str, ...] = ()
    """Names of the log-probabilities that it asks for, in order; for scores that are imported.

    A measure that only compares them has a method `of_numbers`, which takes them on any scale.
    """
    masked_only: bool = False
    """Whether it asks what only a masked language model can answer."""
    causal_only: bool = False
    """Whether it asks what only a causal language model can answer."""

    @classmethod
    def of(cls, measure: Any) -> Self:
        """The traits of a measure, or of its class."""
        owner = measure if isinstance(measure, type) else type(measure)
        options = {f.name for f in fields(owner)} if is_dataclass(owner) else set()  # an option is not a trait
        names = [f.name for f in fields(cls) if hasattr(owner, f.name) and f.name not in options]
        given = {name: getattr(owner, name) for name in names}
        return cls(**({"better": "none"} if math.isnan(measure.neutral) else {}) | given)

    @property
    def recorded(self) -> dict[str, Any]:
        """The traits that the record of a task has; None for an end that is not bounded."""
        low, high = (end if math.isfinite(end) else None for end in self.bounds)
        same = {name: getattr(self, name) for name in ("title", "leans", "unit", "better", "rank", "ranks_models")}
        return {**same, "bounds": (low, high)}
