"""A model whose answers follow from what it is asked: whichever host asks it gets the answers of an audit."""

import math
from random import Random
from typing import Any

import pytest

from evenhand import Run
from evenhand.core.questions import Answer, Choose, Question, Write
from evenhand.models.table import Table

TEXTS = ("She sang.", "He sat down, and then he sang.", "It rained.", "Her brother called her, and she sang.", "")


def logps(text: str, count: int) -> tuple[float, ...]:
    """Log-probabilities of labels after a text: together between .45 and .95, so that some are no answer."""
    draw = Random(text)
    parts = [draw.uniform(0.05, 1) for _ in range(count)]
    mass = draw.uniform(0.45, 0.95)
    return tuple(math.log(mass * part / sum(parts)) for part in parts)


def written(prompt: str, seed: int) -> str:
    return TEXTS[(len(prompt) + seed * 3) % len(TEXTS)]


def model() -> Table:
    def answer(question: Question) -> Answer:
        if isinstance(question, Write):
            return Answer(text=written(question.text, question.seed))
        assert isinstance(question, Choose)
        return Answer(logps(question.text, question.count))

    return Table(answer, "planted", kind="causal")


def assert_same(run: Run, other: Run) -> None:
    """Of the same items and measures, the runs have the same numbers."""
    ours, theirs = _numbers(run), _numbers(other)
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        assert values == pytest.approx(theirs[name], abs=1e-9, nan_ok=True), name


def _numbers(run: Run) -> dict[tuple[Any, ...], list[float]]:
    """All numbers of a run, by what they are of."""
    columns = ("value", "low", "high", "p", "n", "unscored")
    return {
        (row["dataset"], row["measure"], row["estimand"], *sorted(row["groups"].items())): [
            math.nan if row[name] is None else row[name] for name in columns
        ]
        for row in run.results
    }
