"""The interface of measures, which ask and score but never see a model."""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, get_args

from evenhand.core.foreign import foreign, is_ours
from evenhand.core.items import Item
from evenhand.core.questions import AMONG, Answer, Question
from evenhand.core.scores import Called, Score, Summary
from evenhand.core.typed import Named, check_types
from evenhand.errors import BadInput, check_known

AnyItem = TypeVar("AnyItem", bound=Item, contravariant=True)

LAST = 9

Formula = Literal["paper", "released"]
"""Whose formula to compute if a paper and its authors' released code differ."""
Better = Literal["closer", "higher", "none"]
"""Which values are better: those closer to neutral, higher values, or none for a plain level."""
Favours = Literal["item", "other", "men", "women", "stereotype", "none"]
"""What a higher score favours: the gender that the item is about, the other gender, men, women or the stereotype."""


class Unscored(Exception):
    """Raised by `Measure.score` if answers make no score; the message, the reason, becomes the note of the score."""


def check_formula(formula: str) -> None:
    """Raise if `formula` is neither "paper" nor "released"."""
    check_known("value of formula", [formula], get_args(Formula))


def check_among(among: str) -> None:
    """Raise if `among` is not one of AMONG."""
    check_known("value of among", [among], AMONG)


class Measure(Protocol[AnyItem]):
    """Turns an item into questions, their answers into a score, and scores into a value."""

    name: ClassVar[str]
    version: ClassVar[int]
    """Increased whenever a score could change."""
    neutral: ClassVar[float]
    """The value that means "no bias"; NaN for a plain level, which has no unbiased value."""
    reading: ClassVar[str]
    """What a value above or below the neutral one means, in one line."""

    def ask(self, item: AnyItem) -> Sequence[Question]:
        """The questions whose answers score the item."""

    def score(self, item: AnyItem, answers: Sequence[Answer]) -> float:
        """The item's score, from the answers to `ask(item)` in order, none of them missing."""

    def summarise(self, scores: Sequence[Score]) -> float:
        """The value of these scores, of which none is NaN; NaN if the list is empty.

        A `core.scores.Summary` in place of this method tells how its value is resampled.
        """


def summary_of(measure: Measure[Any]) -> Summary:
    """The measure's `summarise` as a `Summary`."""
    with summarising(measure):
        function: Any = measure.summarise
        return function if isinstance(function, Summary) else Called(function)


def summarising(measure: Any) -> AbstractContextManager[None]:
    """Compute values by the measure: an error in a user's `summarise`, or that what it returns leads to, names it."""
    kind = measure if isinstance(measure, type) else type(measure)
    return foreign(f"The measure '{measure.name}' failed to summarise", getattr(kind, "summarise", kind))


@dataclass(frozen=True, slots=True)
class Traits:
    """Optional class variables of a measure, with their defaults."""

    title: str = ""
    """What the page calls the measure, instead of its name."""
    leans: tuple[str, str] = ("below neutral", "above neutral")
    """The verdicts on values below and above the neutral value: "leans to men", "leans to women"."""
    unit: str = ""
    better: Better = "closer"
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """The lowest and the highest possible value."""
    rank: int = LAST
    """Among measures of the same items, the lowest rank is the dataset's headline; a measure of rank LAST never is."""
    favours: Favours = "item"
    """How d follows from scores (core.estimands); "none" if stereotype and default cannot be told apart."""
    family: str = ""
    """Measures of a dataset with the same `family` share a family of verdicts; by default each has its own."""
    items: type | None = None
    """The type of items that the measure is for."""
    needs: tuple[str, ...] = ()
    """Groups, or fields such as `right`, that every item must have for the measure to run by default."""
    on_request: bool = False
    """Whether the measure runs only if a user names it."""
    answers: tuple[str, ...] = ()
    """Names of the log-probabilities that the measure asks for, in order, to compute scores from imported numbers.

    A measure that only compares these numbers has a method `of_numbers`, which takes them on any scale.
    """
    takes_missing: bool = False
    """Whether `score` also gets missing answers, each with its note, because it can do without some."""
    weight: str = ""
    """The name of the number in `keep` that weighs an item's score within its cluster.

    A measure's `keep(item, answers)` gives what a run keeps of an item besides its score, by name.
    """
    misread: tuple[tuple[int, int], ...] = ()
    """How many texts with known labels are misread: `stats.ratios.Misread`."""
    masked_only: bool = False
    """Whether only masked language models can answer its questions."""
    causal_only: bool = False
    """Whether only causal language models can answer its questions."""

    @classmethod
    def of(cls, measure: Any) -> Self:
        """The traits of a measure or its class. Raises BadInput if a trait, or the neutral value, has a wrong type."""
        owner = measure if isinstance(measure, type) else type(measure)
        options = {f.name for f in fields(owner)} if is_dataclass(owner) else set()  # an option is not a trait
        hints: dict[str, Any] = {f.name: f.type for f in fields(cls) if f.name not in options} | Measure.__annotations__
        hints = {name: hint for name, hint in hints.items() if hasattr(owner, name)}
        values = {name: getattr(owner, name) for name in hints}
        if not is_ours(owner):
            values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
            check_types(f"The measure '{owner.__name__}'", [(name, values[name], hint) for name, hint in hints.items()])
        values = {name: value for name, value in values.items() if name not in Measure.__annotations__}
        traits = cls(**({"better": "none"} if math.isnan(measure.neutral) else {}) | values)
        if math.isinf(measure.neutral) or not traits.bounds[0] < traits.bounds[1]:
            got = f"Got {measure.neutral} and {traits.bounds}"
            raise BadInput(f"'{owner.__name__}' needs a finite `neutral`, or NaN, and `bounds` that rise. {got}.")
        return traits

    @property
    def recorded(self) -> dict[str, Any]:
        """The traits that the record of a task has, with None for an infinite bound."""
        low, high = (end if math.isfinite(end) else None for end in self.bounds)
        same = ("title", "leans", "unit", "better", "rank", "favours", "family")
        return {name: getattr(self, name) for name in same} | {"bounds": (low, high)}


Measures = Named | Measure[Any] | Sequence[str | Measure[Any]]
"""Measures: by name, or as objects."""
