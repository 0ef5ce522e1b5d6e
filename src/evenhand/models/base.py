"""What a model is to the rest: one method."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from evenhand.models.batching import Batch, Plan, Values
from evenhand.questions import Answer, Question, Span


class Model(Protocol):
    """Answers a list of questions with a list of answers, in the same order."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever an answer could: weights, tokenizer, dtype. First part of every key of a kept answer."""

    def answer(self, questions: Sequence[Question]) -> Sequence[Answer]:
        """One answer for each question, in order."""


@runtime_checkable
class Planned(Model, Protocol):
    """A model whose work comes in batches planned beforehand, so that it can be kept, resumed or shared out."""

    def plan(self, questions: Sequence[Question]) -> Plan:
        """The batches that answer these questions."""

    def stream(self, batches: Sequence[tuple[int, Batch]]) -> Iterable[tuple[int, Values]]:
        """The values of each batch, with its number, as they come."""


@runtime_checkable
class Elsewhere(Planned, Protocol):
    """A model that is not in this process."""

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What `function(model, *arguments)` gives where the model is: for whatever must look into it."""


@runtime_checkable
class Pieced(Protocol):
    """A model that can say into how many pieces its tokenizer cuts a word."""

    def count_pieces(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        """For each text and span, the number of pieces; 0 where the text cannot be represented."""


@runtime_checkable
class Described(Protocol):
    """A model that can say more of itself than its name, for the record of a run."""

    @property
    def about(self) -> Mapping[str, object]:
        """Where it came from and how it runs: source, revision, dtype, device, ..."""


@runtime_checkable
class Examined(Planned, Pieced, Described, Protocol):
    """A model that lets itself be looked into, so that a doctor can say whether its numbers will mean something."""

    @property
    def kind(self) -> str:
        """What an audit runs on it, by suites.ALL."""

    @property
    def longest(self) -> int:
        """How many pieces an input may have, special tokens included."""

    @property
    def mask(self) -> str:
        """The token that stands for a hidden word; empty where there is none."""

    def cast(self, dtype: str) -> Model:
        """A copy in another precision: float32, bfloat16 or float16."""
