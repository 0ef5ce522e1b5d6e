"""For tests of checks: the one finding of a check, and plain objects in a model's place."""

from collections.abc import Callable, Sequence
from typing import Any

from evenhand import Answer, Span
from evenhand.checks.base import Case
from evenhand.checks.doctor import Check
from evenhand.core.model import Finding
from evenhand.core.questions import Question
from evenhand.core.words import words

Make = Callable[..., Any]
"""Makes a tiny random model of a family, see tests/checks/conftest.py."""


def one(check: Check, model: Any, *data: Any, language: str = "en") -> Finding:
    """What a check finds, which must be one thing."""
    (finding,) = check(Case(model, language, data))
    return finding


class Pieces:
    """Cuts some words, knows all but some; nobody asks it anything else."""

    name = fingerprint = "pieces"

    def __init__(self, cut: Sequence[str] = (), unknown: Sequence[str] = ()) -> None:
        self.cut, self.unknown = cut, unknown

    def count_tokens(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        said = [span.of(text).lower() for text, span in places]
        return [0 if w in self.unknown else len(words(w)) + (w in self.cut) for w in said]

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        raise AssertionError(f"asked {questions}")


class Leaky:
    """Answers by how many were asked at once: by so many nats less for each."""

    name = fingerprint = "leaky"

    def __init__(self, nats: float = 0.1) -> None:
        self.nats = nats

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return [Answer((-1.0 - self.nats * len(questions),)) for _ in questions]
