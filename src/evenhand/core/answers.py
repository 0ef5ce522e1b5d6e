"""What all questions share: answers, spans, and checks of both."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import Field, dataclass
from itertools import pairwise
from typing import Any, ClassVar, Protocol

from evenhand.core.typed import check_fields
from evenhand.errors import BadInput
from evenhand.stats.estimate import NOT_FINITE, TOO_FAR, number_fault

ABOVE_CERTAINTY = "a log-probability above 0"
WRONG_COUNT = "not as many log-probabilities as were asked for"
NO_DIRECTION, ONE_NUMBER = "a vector of zeros (below 1e-38)", "a vector of one number"
ABOVE_ONE = "probabilities that add up to more than 1"
FAULTS = NOT_FINITE, TOO_FAR, ABOVE_CERTAINTY, WRONG_COUNT, NO_DIRECTION, ONE_NUMBER, ABOVE_ONE
"""The notes on answers whose numbers cannot be used; other notes are a model's reasons for a missing answer."""
ROUNDING = 1e-4
"""How far above 0 rounding can push a log-probability: it is a difference of float32 numbers of up to a thousand."""
SUMS = 1.01  # the largest sum that the probabilities of different outcomes may have, with rounding


@dataclass(frozen=True, slots=True, init=False)
class Answer:
    """The numbers that a question asks for, in the order that it defines; NaN, with the reason as note, if missing.

    Most of evenhand's own questions ask for natural-log probabilities: `logps` is another name of `numbers`. `text` is
    what a model wrote, in the answer to a `Write`.
    """

    numbers: tuple[float, ...]
    note: str
    text: str

    def __init__(
        self, numbers: tuple[float, ...] = (), note: str = "", *, logps: tuple[float, ...] | None = None, text: str = ""
    ) -> None:
        object.__setattr__(self, "numbers", numbers if logps is None else logps)
        object.__setattr__(self, "note", note)
        object.__setattr__(self, "text", text)

    @classmethod
    def none(cls, note: str) -> "Answer":
        """A missing answer, with the reason."""
        return cls((math.nan,), note)

    @property
    def logps(self) -> tuple[float, ...]:
        return self.numbers

    @property
    def logp(self) -> float:
        """The sum of `logps`, the log-probability of the whole; NaN if there are none, since 0 would mean certainty."""
        return math.fsum(self.numbers) if self.numbers else math.nan


class Question(Protocol):
    """A frozen dataclass with everything its answer depends on: equal questions are asked once, and answers cached.

    Answers to a class of your own that extends this one must be finite numbers, unless it has a `fault` of its own.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def fault(self, answer: Answer) -> str:
        """The reason why an answer without a note is not valid; empty if it is valid."""
        return number_fault(*answer.numbers) if len(answer.numbers) else "no numbers"


class OfVector:
    """A `Question` for a vector: two or more numbers, finite and not all 0 in single precision, which is cached."""

    __slots__ = ()
    stored_as: ClassVar[str] = "<f4"

    def fault(self, answer: Answer) -> str:
        most = max(map(abs, answer.numbers), default=0.0)
        if fault := number_fault(*answer.numbers) or (NOT_FINITE if most > 3.4e38 else ""):
            return fault
        return NO_DIRECTION if most < 1e-38 else "" if len(answer.numbers) > 1 else ONE_NUMBER


class OfLogps:
    """A `Question` for `count` log-probabilities, of different outcomes; 0 if only a tokenizer knows their number.

    It does not extend the protocol, since that makes `isinstance`, and with it planning, slower.
    """

    __slots__ = ()

    @property
    def count(self) -> int:
        return 0

    def fault(self, answer: Answer) -> str:
        n = len(answer.numbers)
        if not n or n != (self.count or n):
            return WRONG_COUNT
        return outcomes_fault(answer.numbers) if self.count > 1 else fault(answer.numbers)


def fault(logps: Sequence[float]) -> str:
    """The reason why numbers are not log-probabilities (finite, within 1e60, at most 0); empty if they are."""
    return number_fault(*logps) or (ABOVE_CERTAINTY if len(logps) and max(logps) > ROUNDING else "")


def outcomes_fault(logps: Sequence[float]) -> str:
    """The reason why numbers are not log-probabilities of outcomes of which one occurs at most; empty if they are."""
    return fault(logps) or (ABOVE_ONE if math.fsum(map(math.exp, logps)) > SUMS else "")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters `start` to `stop` of a text."""

    start: int
    stop: int

    def of(self, text: str) -> str:
        """The part of `text` that the span covers."""
        return text[self.start : self.stop]

    def shift(self, by: int) -> "Span":
        """The span moved right by `by` characters."""
        return Span(self.start + by, self.stop + by)


def check_texts(question: object, tuples: tuple[object, ...], *texts: Any) -> None:
    """Raise if one of `texts` is empty or not a string, or one of `tuples` is not a tuple."""
    if not all(isinstance(value, tuple) for value in tuples) or not all(isinstance(text, str) for text in texts):
        check_fields(question)  # a list cannot be hashed, and a string would be a sequence of letters
    for text in texts:
        if not text.strip():
            raise BadInput(f"{type(question).__name__} needs a text. Got {text!r}. Remove empty rows.")


def check_spans(question: object, text: str, spans: Iterable[Span]) -> None:
    """Raise if a span is empty, beyond its text, or overlaps another."""
    ordered = sorted(spans)
    for span in ordered:
        if not 0 <= span.start < span.stop <= len(text) or not span.of(text).strip():
            raise BadInput(
                f"{type(question).__name__}: a span must lie within its text of {len(text)} characters and not be "
                f"empty. Got {span.start} to {span.stop} in {text!r}."
            )
    for span, following in pairwise(ordered):
        if span.stop > following.start:
            raise BadInput(f"{type(question).__name__}: {span} and {following} must not overlap, in {text!r}.")
