"""What a test knows and a declared type does not: the kind of a model, an item or a question, a number in a frame."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import pandas as pd

import evenhand
from evenhand import Answer
from evenhand.core.questions import Question
from evenhand.models.loading.names import DEFAULT
from evenhand.models.networks.causal import CausalLM
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.networks.nli import NliModel
from evenhand.models.table import Rule

Kind = TypeVar("Kind")
Asked = TypeVar("Asked", bound=Question)
Network = TypeVar("Network", MaskedLM, CausalLM, NliModel)


def all_of(kind: type[Kind], things: Iterable[object]) -> list[Kind]:
    """The things, every one of that kind."""
    found = []
    for thing in things:
        assert isinstance(thing, kind)
        found.append(thing)
    return found


def only(kind: type[Asked], rule: Callable[[Asked], Answer | Sequence[float]]) -> Rule:
    """The rule of a table that is asked questions of that kind alone."""

    def answer(question: Question) -> Answer | Sequence[float]:
        assert isinstance(question, kind)
        return rule(question)

    return answer


def load(kind: type[Network], name: str = DEFAULT, **options: Any) -> Network:
    """The model of that name, of that kind."""
    model = evenhand.load(name, **options)
    assert isinstance(model, kind)
    return model


def number(frame: pd.DataFrame, row: Hashable, column: Hashable) -> float:
    """What is in this row and column, which must be one number."""
    cells: Any = frame.loc
    return float(cells[row, column])


def numbers(frame: pd.DataFrame, row: Hashable, columns: Sequence[str]) -> list[float]:
    """What is in these columns of one row."""
    return [number(frame, row, column) for column in columns]
