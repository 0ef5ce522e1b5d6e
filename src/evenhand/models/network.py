"""A network with its tokenizer: what every kind of model shares on the way from questions to answers."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray

from evenhand.errors import ModelError
from evenhand.models.batching import Batch, Ids, Limit, Plan, Values, work_through
from evenhand.models.examining import cast
from evenhand.models.pieces import count, encode
from evenhand.questions import Answer, Question, Span


class NetworkModel(ABC):
    """A network that answers in nats, in batches planned beforehand; equal inputs go through it once."""

    kind: ClassVar[str]
    """What an audit runs on it, by suites.ALL."""

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        *,
        name: str,
        fingerprint: str,
        longest: int,
        limit: Limit,
        about: Mapping[str, object],
    ) -> None:
        self.network = network.eval()
        self.tokenizer = tokenizer
        self.name = name
        self.fingerprint = fingerprint
        self.longest = longest
        self.limit = limit
        self.about = about
        self._too_large = math.inf  # tokens of the smallest batch that ran out of memory

    @property
    def mask(self) -> str:
        """The token that stands for a hidden word; empty where there is none."""
        return self.tokenizer.mask_token or ""

    def cast(self, dtype: str) -> Self:
        """A copy in another precision: float32, bfloat16 or float16."""
        return cast(self, dtype)  # type: ignore[no-any-return]

    @abstractmethod
    def plan(self, questions: Sequence[Question]) -> Plan:
        """The batches that answer these questions."""

    @abstractmethod
    def _forward(self, batch: Batch) -> Values:
        """One batch through the network, whatever memory it takes."""

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer for each question, in order."""
        return work_through(self.plan(questions), self.run)

    def count_pieces(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        """For each text and span, the number of pieces; 0 where the text cannot be represented."""
        return [
            count(pieces, span)
            for pieces, (_, span) in zip(
                encode(self.tokenizer, [text for text, _ in places], self.longest), places, strict=True
            )
        ]

    def run(self, batch: Batch) -> Values:
        """One batch through the network; in halves, and so from then on, where memory does not suffice."""
        if batch.tokens >= self._too_large and len(batch.inputs) > 1:
            return [row for half in batch.halves() for row in self.run(half)]
        try:
            return self._forward(batch)
        except RuntimeError as error:
            # On the CPU running out of memory has no class of its own.
            if not isinstance(error, torch.OutOfMemoryError) and "allocate memory" not in str(error):
                raise
            if len(batch.inputs) == 1:
                raise ModelError(
                    f"'{self.name}' ran out of memory on {self.network.device} with a single input of "
                    f"{batch.tokens} pieces. Use a larger device, a smaller --dtype or shorter texts."
                ) from error
        self._too_large = batch.tokens
        if self.network.device.type == "cuda":
            torch.cuda.empty_cache()
        return self.run(batch)


def padded(inputs: Sequence[Ids], pad: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The inputs as one array, filled up to the length of the first, the longest, and what of it to attend to."""
    shape = len(inputs), len(inputs[0])
    ids = np.full(shape, pad)
    attention = np.zeros(shape, dtype=np.int64)
    for row, one in enumerate(inputs):
        ids[row, : len(one)] = one
        attention[row, : len(one)] = 1
    return ids, attention
