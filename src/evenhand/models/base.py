"""Optional abilities of models: batches planned beforehand, inspection, running in another process."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from evenhand.core.foreign import foreign
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
        """The values of each batch, with its number, as they come."""


def check_questions(model: Planned, questions: Sequence[Question]) -> None:
    """Raise if the model cannot answer questions like these, before anything is measured."""
    apart = [q for q in questions if isinstance(q, Unplanned)] if isinstance(model, Batched) else []
    model.plan([question for question in questions if question not in apart])
    if apart and isinstance(model, Batched):
        next(iter(model.batched_answers(apart)), None)  # checks tokens and layers before the first pass


class OwnInputs(ABC):
    """Wraps a network from `evenhand.load` to ask it with inputs of your own, which `readings` makes."""

    def __init__(self, model: Any, name: str, inputs: str) -> None:
        """`name` is appended to the model's name; `inputs` describes the inputs. A run records both."""
        self.model = model
        self.name = f"{model.name}--{name}"
        self.fingerprint = f"{model.fingerprint}-{name}"
        self.about = {**model.about, "inputs": inputs}
        self.stream = model.stream

    @abstractmethod
    def readings(self, questions: Sequence[Question]) -> list[Reading]:
        """Each question as token ids, and the positions and tokens to read the log-probabilities of."""

    def plan(self, questions: Sequence[Question]) -> Plan:
        return Plan(self.readings(questions), self.model.limit)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return run_plan(self.plan(questions), self.stream)


@runtime_checkable
class Batched(Planned, Protocol):
    """A model that gives vectors or writes texts: what no plan of positions to read can have."""

    def batched_answers(self, questions: Sequence[Any], answered: Container[int] = ()) -> Iterable[Numbered]:
        """The answers to `Unplanned` questions that are not `answered`, each with its number, batch by batch."""


@runtime_checkable
class Streams(Model, Protocol):
    """A model whose answers come one by one; those that came before an error, or Ctrl-C, are kept."""

    def answers(self, questions: Sequence[Question]) -> Iterable[tuple[int, Answer]]:
        """The answer to each question, with its number, as they come."""


@runtime_checkable
class Selective(Model, Protocol):
    """A model that can be asked only some questions. The doctor asks it a few of these."""

    def cannot(self, question: Question) -> str:
        """Why it cannot be asked this; empty if it can."""


@runtime_checkable
class CountsRequests(Model, Protocol):
    """A model that is sent requests for a question, none if it cannot be asked it; a budget counts them."""

    def requests(self, question: Question) -> Sequence[object]: ...


@runtime_checkable
class Recognisable(Model, Protocol):
    """A model whose weights cannot be seen: some of its answers show whether it is still the same model."""

    reference: Mapping[Question, Answer]
    """Answers by which the model is recognised."""
    tolerance: float
    """Nats by which the same answers may differ at another time."""
    good: int
    """How often the reference answers were confirmed; grows while answers come."""


@runtime_checkable
class Chats(Model, Protocol):
    """A causal model that may be asked in chats."""

    chats: bool
    """Whether it can be: it has a chat template, or its server has chats."""


@runtime_checkable
class Metered(Model, Protocol):
    """A model whose answers cost something."""

    def spend(self) -> Mapping[str, int]:
        """What was spent since this was last asked, by what it is: requests, tokens."""


@runtime_checkable
class SelfChecked(Model, Protocol):
    """A model that has findings of its own for the doctor, and for the record of a run."""

    def findings(self, language: str) -> Iterable[Finding]:
        """What a user who measures it in this language should know about it."""


class ServerChanged(ModelError):
    """The numbers of a recognisable model have changed: its answers since they were last checked are void."""


def refusal(model: Selective, questions: Iterable[Question]) -> str:
    """Why the model cannot be asked one of these questions; empty if it can be asked them all."""
    with foreign(f"The model '{model.name}' failed to say what it cannot be asked", model):
        return next(filter(None, map(model.cannot, questions)), "")


def apart(one: Answer, other: Answer) -> float:
    """The largest difference between two answers, in nats; infinite if their lengths differ."""
    if len(one.logps) != len(other.logps):
        return math.inf
    return max((abs(a - b) for a, b in zip(one.logps, other.logps, strict=True)), default=0.0)


@runtime_checkable
class RunsInWorker(Planned, Protocol):
    """A model that runs in another process."""

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of `function(model, *arguments)`, called in the model's process."""


def count_overflows(model: Model) -> int:
    """How many inputs overflowed in half precision and were computed in float32; 0 where the model does not count."""
    return int(model.overflowed) if hasattr(model, "overflowed") else 0


@runtime_checkable
class Examined(Planned, TokenCounter, Described, Protocol):
    """A model that the doctor can inspect."""

    @property
    def kind(self) -> str:
        """What an audit runs on it: masked, causal or nli."""

    @property
    def longest(self) -> int:
        """The highest number of tokens of an input, special tokens included."""

    @property
    def mask(self) -> str:
        """The mask token; empty where there is none."""

    def cast(self, dtype: str) -> Model:
        """A copy in another precision: float32, bfloat16 or float16."""
