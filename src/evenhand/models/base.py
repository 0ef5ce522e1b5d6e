"""Optional abilities of models, as protocols: planned batches, inspection, running in another process."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from evenhand.core.foreign import foreign
from evenhand.core.items import check_readable
from evenhand.core.model import Described, Finding, Model, TokenCounter
from evenhand.core.questions import Answer, Question, Unplanned
from evenhand.errors import ModelError
from evenhand.models.planning.plan import Batch, Plan, Values, run_plan
from evenhand.models.planning.plan import Read as Read
from evenhand.models.planning.plan import Reading as Reading

Numbered = Sequence[tuple[int, Answer]]
"""Answers, each with the number of its question."""


@runtime_checkable
class Planned(Model, Protocol):
    """A model that plans its batches beforehand, so that work can be cached, resumed or distributed."""

    def plan(self, questions: Sequence[Question]) -> Plan:
        """The batches that answer these questions."""

    def stream(self, batches: Sequence[tuple[int, Batch]]) -> Iterable[tuple[int, Values]]:
        """The values of each batch, with the number of the batch, as batches finish."""


def check_questions(model: Planned, questions: Sequence[Question]) -> None:
    """Raise an error if the model cannot answer these questions, before anything is measured."""
    unplanned = [q for q in questions if isinstance(q, Unplanned)] if isinstance(model, Batched) else []
    with foreign(f"The model '{model.name}' failed to plan", model):
        model.plan([question for question in questions if question not in unplanned])
        if unplanned and isinstance(model, Batched):
            next(iter(model.batched_answers(unplanned)), None)  # checks tokens and layers before the first pass


class OwnInputs(ABC):
    """Wraps a network from `evenhand.load` to give it your own inputs, which `readings` makes from questions."""

    def __init__(self, model: Any, name: str, inputs: str) -> None:
        """`name` is appended to the model's name, and `inputs` describes the inputs. A run records both."""
        self.model = model
        self.name = f"{model.name}--{name}"
        self.fingerprint = f"{model.fingerprint}-{name}"
        self.about = {**model.about, "inputs": inputs}
        self.stream = model.stream

    @abstractmethod
    def readings(self, questions: Sequence[Question]) -> list[Reading]:
        """For each question, the token ids, and the positions and tokens whose log-probabilities are read."""

    def plan(self, questions: Sequence[Question]) -> Plan:
        return Plan(self.readings(questions), self.model.limit)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return run_plan(self.plan(questions), self.stream)


@runtime_checkable
class Batched(Planned, Protocol):
    """A model that gives vectors or writes texts, which a plan of positions to read cannot describe."""

    def batched_answers(self, questions: Sequence[Any], answered: Container[int] = ()) -> Iterable[Numbered]:
        """The answers to the `Unplanned` questions whose number is not in `answered`, by number, batch by batch."""


@runtime_checkable
class Streams(Model, Protocol):
    """A model that gives its answers one by one. Answers given before an error, or before Ctrl-C, are kept."""

    def answers(self, questions: Sequence[Question]) -> Iterable[tuple[int, Answer]]:
        """The answer to each question, with the number of the question, as answers come."""


@runtime_checkable
class Selective(Model, Protocol):
    """A model that can answer only some kinds of questions. The doctor asks it a few of those."""

    def cannot(self, question: Question) -> str:
        """The reason why the model cannot be asked this question; empty if it can."""


@runtime_checkable
class CountsRequests(Model, Protocol):
    """A model that says which requests answer a question, none if it cannot be asked. A budget counts them."""

    def requests(self, question: Question) -> Sequence[object]: ...


@runtime_checkable
class Recognisable(Model, Protocol):
    """A model whose weights cannot be seen. Its reference answers show whether it is still the same model."""

    reference: Mapping[Question, Answer]
    """The answers that are compared later, by question."""
    tolerance: float
    """The difference in nats that two answers of the same model may have."""
    good: int
    """The number of times that the reference answers were confirmed so far."""


@runtime_checkable
class Chats(Model, Protocol):
    """A causal model that may be asked in chats."""

    chats: bool
    """Whether the model has a chat template, or its server has a chat API."""


@runtime_checkable
class Metered(Model, Protocol):
    """A model whose answers cost something."""

    def spend(self) -> Mapping[str, int]:
        """What was spent since the last call, by kind: requests, tokens."""


@runtime_checkable
class SelfChecked(Model, Protocol):
    """A model that brings findings for the doctor and for the record of a run."""

    def findings(self, language: str) -> Iterable[Finding]:
        """What users should know before they measure the model in this language."""


class ServerChanged(ModelError):
    """The reference answers of a `Recognisable` model have changed. Its answers since the last check are void."""


def refusal(model: Selective, questions: Iterable[Question]) -> str:
    """The reason why the model cannot be asked one of these questions; empty if it can be asked all of them."""
    with foreign(f"The model '{model.name}' failed to say what it cannot be asked", model):
        check_readable(why := next(filter(None, map(model.cannot, questions)), ""))
        return why


def largest_difference(one: Answer, other: Answer) -> float:
    """The largest difference between the numbers of two answers, in nats; infinite if their lengths differ."""
    if len(one.logps) != len(other.logps):
        return math.inf
    return max((abs(a - b) for a, b in zip(one.logps, other.logps, strict=True)), default=0.0)


@runtime_checkable
class RunsInWorker(Planned, Protocol):
    """A model that runs in another process, such as a Ray worker."""

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of `function(model, *arguments)`, called in the model's process."""


def count_overflows(model: Model) -> int:
    """The number of inputs that overflowed in half precision and were computed in float32; 0 if it is not counted."""
    with foreign(f"`overflowed` of the model '{model.name}' is no number", model):
        return int(model.overflowed) if hasattr(model, "overflowed") else 0


@runtime_checkable
class Examined(Planned, TokenCounter, Described, Protocol):
    """A model that the doctor can inspect."""

    @property
    def kind(self) -> str:
        """The kind of model: masked, causal or nli. It decides which suite an audit runs."""

    @property
    def longest(self) -> int:
        """The maximum number of tokens of an input, special tokens included."""

    @property
    def mask(self) -> str:
        """The mask token; empty if the tokenizer has none."""

    def cast(self, dtype: str) -> Model:
        """A copy in another precision: float32, bfloat16 or float16."""
