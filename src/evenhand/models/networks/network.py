"""A network with its tokenizer: what every kind of model shares on the way from questions to answers."""

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain, groupby, islice
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from evenhand.core.questions import Answer, Question, Span
from evenhand.errors import ModelError
from evenhand.models.networks.casting import cast
from evenhand.models.planning.plan import Batch, Ids, Limit, Plan, Values
from evenhand.models.planning.running import work_through
from evenhand.models.planning.tokens import count, encode

SHORT = 64
"""Tokens up to which an input leaves the larger tiles of attention empty: half the time of an attention on an H200."""


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
        self.overflowed = 0
        """Inputs that half precision could not hold, and float32 did."""
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
    def _cells(self, batch: Batch) -> Tensor:
        """One batch through the network, whatever memory it takes: the values of its cells in a row, on its device."""

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer for each question, in order."""
        return work_through(self.plan(questions), self.stream)

    def count_tokens(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        """For each text and span, the number of tokens; 0 where the text cannot be represented."""
        return [
            count(text, span)
            for text, (_, span) in zip(
                encode(self.tokenizer, [text for text, _ in places], self.longest), places, strict=True
            )
        ]

    def run(self, batch: Batch) -> Values:
        """One batch through the network."""
        return self._begin(batch)()

    def stream(self, batches: Iterable[tuple[int, Batch]]) -> Iterator[tuple[int, Values]]:
        """The values of each batch, in order. A GPU has the next one to work on while its last values are read."""
        ahead: deque[tuple[int, Callable[[], Values]]] = deque()
        for number, batch in batches:
            ahead.append((number, self._begin(batch)))
            if len(ahead) > (self.network.device.type == "cuda"):
                first, finish = ahead.popleft()
                yield first, finish()
        yield from ((number, finish()) for number, finish in ahead)

    def _begin(self, batch: Batch) -> Callable[[], Values]:
        """Start a batch; in halves, and so from then on, where memory does not suffice. What is given waits for it."""
        if batch.tokens >= self._too_large and len(batch.inputs) > 1:
            halves = [self.run(half) for half in batch.halves()]
            return lambda: [row for half in halves for row in half]
        try:
            with attention_for(len(batch.inputs[0]), self.network.device):
                values = _fetched(self._cells(batch))
            return lambda: self._finite(batch, _by_input(batch, values()))
        except RuntimeError as error:
            # On the CPU running out of memory has no class of its own.
            if not isinstance(error, torch.OutOfMemoryError) and "allocate memory" not in str(error):
                raise
            if len(batch.inputs) == 1:
                raise ModelError(
                    f"'{self.name}' ran out of memory on {self.network.device} with a single input of "
                    f"{batch.tokens} tokens. Use a larger device, a smaller --dtype or shorter texts."
                ) from error
        self._too_large = batch.tokens
        if self.network.device.type == "cuda":
            torch.cuda.empty_cache()
        return self._begin(batch)

    @contextmanager
    def _in_float32(self) -> Iterator[None]:
        """The same weights in float32 meanwhile; buffers stay as they are, for some would not come back the same."""
        dtype = self.network.dtype
        try:
            for weights in self.network.parameters():
                weights.data = weights.data.float()
            yield
        finally:
            for weights in self.network.parameters():
                weights.data = weights.data.to(dtype)

    def _finite(self, batch: Batch, values: Values) -> Values:
        """The values; inputs that overflowed in half precision once more, with the same weights, in float32."""
        if self.network.dtype == torch.float32:
            return values
        odd = [row for row, found in enumerate(values) if not all(map(math.isfinite, found))]
        if not odd:
            return values
        self.overflowed += len(odd)
        with self._in_float32():
            again = _by_input(some := batch.only(odd), _fetched(self._cells(some))())
        whole = list(values)
        for row, found in zip(odd, again, strict=True):
            whole[row] = found
        return whole


def _fetched(cells: Tensor) -> Callable[[], list[float]]:
    """The numbers, once the device has them: until then it is left to work."""
    if cells.device.type != "cuda":
        return cells.tolist
    here = torch.empty(cells.shape, dtype=cells.dtype, pin_memory=True)
    here.copy_(cells, non_blocking=True)
    there = torch.cuda.Event()  # type: ignore[no-untyped-call]
    there.record()

    def wait() -> list[float]:
        there.synchronize()
        found: list[float] = here.tolist()
        return found

    return wait


def _by_input(batch: Batch, values: Sequence[float]) -> Values:
    if all(len(cells) == 1 for cells in batch.cells):  # as in all but a few batches
        return [(value,) for value in values]
    following = iter(values)
    return [list(islice(following, len(cells))) for cells in batch.cells]


def padded(inputs: Sequence[Ids], pad: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The inputs as one array, filled up to the length of the first, the longest, and what of it to attend to."""
    shape = len(inputs), len(inputs[0])
    ids = np.full(shape, pad)
    attention = np.zeros(shape, dtype=np.int64)
    row = 0
    for length, alike in groupby(inputs, key=len):
        block = np.fromiter(chain.from_iterable(alike), dtype=np.int64).reshape(-1, length)
        ids[row : row + len(block), :length] = block
        attention[row : row + len(block), :length] = 1
        row += len(block)
    return ids, attention


def attention_for(length: int, device: torch.device) -> AbstractContextManager[None]:
    """Short inputs without the attention of cuDNN and FlashAttention, whose tiles they would leave empty."""
    if device.type != "cuda" or length > SHORT:
        return nullcontext()
    return sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH])


def on_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """The array there; a GPU copies it while the host goes on."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


class LanguageModel(NetworkModel):
    """A language model: its cells are tokens at places of an input, and their values log-probabilities."""

    pad = 0
    """What fills up an input to the length of the longest."""

    @abstractmethod
    def _logits(self, ids: NDArray[np.int64], attention: NDArray[np.int64], places: NDArray[np.int64]) -> Tensor:
        """The network's output at these places (rows and positions): (places, vocabulary) in float32."""

    def _cells(self, batch: Batch) -> Tensor:
        ids, attention = padded(batch.inputs, self.pad)
        places, which, tokens = batch.places()
        logits = self._logits(ids, attention, places)
        where, token = on_device(np.stack([which, tokens]), logits.device)
        return logits[where, token] - logits.logsumexp(dim=-1)[where]
