"""What a model of ours offers beyond answers: batches planned beforehand, and a look inside."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

from evenhand.core.model import Described, Kinded, Model, TokenCounter
from evenhand.core.questions import Question
from evenhand.models.planning.plan import Batch, Plan, Values


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

    exact: Callable[[], Model] | None
    """Loads the same model here, in float32: half precision is compared with it on a sample."""

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What `function(model, *arguments)` gives where the model is: for whatever must look into it."""


def overflowed(model: Model) -> int:
    """How many inputs half precision could not hold, and float32 did; 0 where nobody counts."""
    return int(model.overflowed) if hasattr(model, "overflowed") else 0


@runtime_checkable
class Examined(Planned, TokenCounter, Kinded, Described, Protocol):
    """A model that lets itself be looked into, so that a doctor can say whether its numbers will mean something."""

    @property
    def longest(self) -> int:
        """How many tokens an input may have, special tokens included."""

    @property
    def mask(self) -> str:
        """The token that stands for a hidden word; empty where there is none."""

    def cast(self, dtype: str) -> Model:
        """A copy in another precision: float32, bfloat16 or float16."""
