"""A network with its tokenizer: the code that masked, causal and NLI models share."""

import copy
import math
import timeit
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain, groupby, islice
from time import process_time
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from evenhand.core.questions import Answer, Question, Span
from evenhand.errors import ModelError
from evenhand.models.planning.plan import Batch, Ids, Limit, Plan, Values, answer_all, split
from evenhand.models.planning.tokens import count, encode

Pick = Callable[[Tensor], Tensor]
"""Selects the asked positions from a tensor (batch, length, width)."""


TIMES = 40
"""A precision that is this many times slower than float32 is emulated, and a question would take seconds."""
SHORT = 64
"""Inputs of up to this many tokens leave large attention tiles mostly empty, which doubles the time on an H200."""


class NetworkModel(ABC):
    """A network that answers in nats, in planned batches. Equal inputs are run once.

    If it changes no answer, hooks select the asked positions before the part of the network that treats positions one
    by one. In BERT and similar models, the rest of the last layer after attention then skips all other positions, which
    saves an eighth of the work of six layers if one position per input is asked for.
    """

    kind: ClassVar[str]
    """The kind of model, which decides the suite that an audit runs: a key of suites.ALL."""
    picks_before_head: ClassVar[bool] = False
    """Whether positions are also selected between body and head, whatever the architecture."""

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
        """The number of inputs that overflowed in half precision and were computed again in float32."""
        self._too_large = math.inf  # the number of tokens of the smallest batch that ran out of memory
        self._size = network.get_input_embeddings().weight.shape[0]
        self._picks = False
        # The hooks hold this list and not the model, since a reference cycle would keep a deleted model in memory.
        self._asked: list[Pick] = []
        self._early: Any = None
        if (after_attention := _after_last_attention(network.base_model)) is not None:
            self._early = after_attention.register_forward_pre_hook(partial(_pick_early, self._asked))
        if self.picks_before_head:
            network.base_model.register_forward_hook(partial(_pick, self._asked))
        self._try_out()

    @abstractmethod
    def _try_out(self) -> None:
        """Select positions, pad and branch only if a few inputs show that this changes no answer."""

    @property
    def pad(self) -> int:
        return self.tokenizer.pad_token_id or 0

    @property
    def mask(self) -> str:
        return self.tokenizer.mask_token or ""

    def cast(self, dtype: str) -> Self:
        """A copy with its weights in this precision. Raises an error if the device cannot compute in it."""
        kind, device = getattr(torch, dtype), self.network.device
        if device.type == "cpu" and _seconds(kind) > TIMES * _seconds(torch.float32):
            raise ModelError(f"{dtype} cannot be tried: this CPU cannot compute in it.")
        try:
            other = copy.deepcopy(self, {id(self.tokenizer): self.tokenizer})
            for weights in other.network.parameters():
                weights.data = weights.data.to(kind).contiguous()  # half precision is slow in float32's memory layout
        except RuntimeError as error:
            raise ModelError(f"{dtype} cannot be tried on {device}: {str(error).strip().splitlines()[0]}") from error
        if not is_native(kind, device):
            without_onednn(other.network)
        other.fingerprint = f"{self.fingerprint}-{dtype}"
        other.about = {**self.about, "dtype": dtype}
        return other

    @abstractmethod
    def plan(self, questions: Sequence[Question]) -> Plan: ...

    @abstractmethod
    def _cells(self, batch: Batch) -> Tensor:
        """Run a whole batch. The values of its cells, one after another, on the network's device."""

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return answer_all(self, questions)

    def count_tokens(self, places: Sequence[tuple[str, Span]]) -> list[int]:
        encoded = encode(self.tokenizer, (text for text, _ in places), self.longest)
        return [count(encoded[text], span) for text, span in places]

    def _pair_inputs(self, inputs: Sequence[Ids], *, typed: bool = True) -> dict[str, Tensor]:
        """The network's inputs for pairs of texts."""
        joined, attention = pad_inputs(inputs, self.pad)
        ids, types = split(joined, self._size)
        arrays = {"input_ids": ids, "attention_mask": attention} | ({"token_type_ids": types} if typed else {})
        return {name: on_device(array, self.network.device) for name, array in arrays.items()}

    def _labels(self, batch: Batch, logps: Tensor) -> Tensor:
        """The log-probabilities of the labels that a batch asks for; `logps` is (inputs, labels)."""
        _, rows, labels = batch.places()  # each input has one place, since labels belong to the whole input
        where, label = on_device(np.stack([rows, split(labels, self._size)[0]]), logps.device)
        return logps[where, label]

    def stream(self, batches: Iterable[tuple[int, Batch]]) -> Iterator[tuple[int, Values]]:
        """The values of each batch, in order. A GPU runs the next batch while the last one's values are read."""
        ahead: deque[tuple[int, Callable[[], Values]]] = deque()
        for number, batch in batches:
            ahead.append((number, self._begin(batch)))
            if len(ahead) > (self.network.device.type == "cuda"):
                first, finish = ahead.popleft()
                yield first, finish()
        yield from ((number, finish()) for number, finish in ahead)

    def _begin(self, batch: Batch) -> Callable[[], Values]:
        """Start a batch, in halves if one of its size ran out of memory. The returned function waits for the values."""
        if batch.tokens >= self._too_large and len(batch.inputs) > 1:
            halves = [self._begin(half)() for half in batch.halves()]
            return lambda: [row for half in halves for row in half]
        try:
            with attention_for(len(batch.inputs[0]), self.network.device):
                values = _fetch_async(self._cells(batch))
            return lambda: self._redo_overflows(batch, _by_input(batch, values()))
        except RuntimeError as error:
            # On the CPU, running out of memory is a plain RuntimeError.
            if not isinstance(error, torch.OutOfMemoryError) and "allocate memory" not in str(error):
                raise
            if len(batch.inputs) == 1:
                raise ModelError(
                    f"'{self.name}' ran out of memory on {self.network.device} with a single input of "
                    f"{batch.tokens} tokens. Use a larger device, a smaller `dtype` or shorter texts."
                ) from error
        self._too_large = batch.tokens
        if self.network.device.type == "cuda":
            torch.cuda.empty_cache()
        return self._begin(batch)

    @contextmanager
    def _in_float32(self) -> Iterator[None]:
        """Convert weights to float32 in this block, but not buffers: some would not convert back to the same values."""
        dtype = self.network.dtype
        try:
            for weights in self.network.parameters():
                weights.data = weights.data.float()
            yield
        finally:
            for weights in self.network.parameters():
                weights.data = weights.data.to(dtype)

    def _redo_overflows(self, batch: Batch, values: Values) -> Values:
        """The values of a batch. Inputs that overflowed in half precision are counted, and run again in float32."""
        if self.network.dtype == torch.float32:
            return values
        overflowed = [row for row, logps in enumerate(values) if not all(map(math.isfinite, logps))]
        if not overflowed:
            return values
        self.overflowed += len(overflowed)
        with self._in_float32():
            again = _by_input(some := batch.only(overflowed), _fetch_async(self._cells(some))())
        corrected = list(values)
        for row, logps in zip(overflowed, again, strict=True):
            corrected[row] = logps
        return corrected

    def _close(self, first: Tensor, second: Tensor) -> bool:
        """Whether two outputs are equal up to rounding in the network's precision."""
        close = 1e-3 if self.network.dtype == torch.float32 else 0.2
        return first.shape == second.shape and torch.allclose(first, second, atol=close, rtol=0)

    def _output(self, pick: Pick | None, network: Any = None, **inputs: Any) -> Tensor:
        """The head's output at the picked positions. `network` is a wrapper to run instead of our network."""
        self._asked += [pick] if pick else []
        try:
            logits: Tensor = (network or self.network)(**inputs).logits
        finally:
            self._asked.clear()
        return logits

    def _pick_late(self) -> bool:
        """From now on select positions only between body and head. False if that was so already."""
        if self._early is None:
            return False
        self._early.remove()
        self._early = None
        return True

    def _picking_keeps(self, output: Callable[[], Tensor], close: float) -> bool:
        self._picks = False
        whole = output()
        self._picks = True
        try:
            picked = output()
            return picked.shape == whole.shape and torch.allclose(picked, whole, atol=close, rtol=close)
        except (RuntimeError, IndexError, TypeError, ValueError):  # the network needs all positions
            return False

    def _check_padding(self, alone: Tensor, padded: Tensor) -> None:
        """Plan batches of equal lengths if padding leaks into answers, as in convolutions and Fourier mixers."""
        if not self._close(alone, padded):
            self.limit = replace(self.limit, enough=0)


def _after_last_attention(body: Any) -> Any:
    """The module that takes the result of the last layer's attention; None if the network is not built like BERT."""
    layers = getattr(getattr(body, "encoder", None), "layer", None)
    return getattr(getattr(layers[-1], "attention", None), "output", None) if layers else None


def _pick_early(asked: list[Pick], module: Any, args: Any) -> Any:
    """Select positions in attention's result and in the residual. Removes the pick for the later hook."""
    return tuple(map(asked.pop(), args)) if asked else args


def _pick(asked: list[Pick], module: Any, args: Any, output: Any) -> Any:
    if not asked:
        return output
    picked = asked[0](output[0])  # (1, places, width)
    if isinstance(output, tuple):
        return picked, *output[1:]
    output.last_hidden_state = picked
    return output


def _fetch_async(cells: Tensor) -> Callable[[], list[float]]:
    """Start copying the values to the host. The returned function waits for them; the device can work meanwhile."""
    if cells.device.type != "cuda":
        return cells.tolist
    on_host = torch.empty(cells.shape, dtype=cells.dtype, pin_memory=True)
    on_host.copy_(cells, non_blocking=True)
    copied = torch.cuda.Event()  # type: ignore[no-untyped-call]
    copied.record()

    def wait() -> list[float]:
        copied.synchronize()
        values: list[float] = on_host.tolist()
        return values

    return wait


def _by_input(batch: Batch, values: Sequence[float]) -> Values:
    if all(len(cells) == 1 for cells in batch.cells):  # true for most batches
        return [(value,) for value in values]
    following = iter(values)
    return [list(islice(following, len(cells))) for cells in batch.cells]


def pad_inputs(inputs: Sequence[Ids], pad: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The inputs as one padded array, and its attention mask. The first input must be the longest."""
    shape = len(inputs), len(inputs[0])
    ids = np.full(shape, pad)
    attention = np.zeros(shape, dtype=np.int64)
    row = 0
    for length, rows in groupby(inputs, key=len):
        block = np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, length)
        ids[row : row + len(block), :length] = block
        attention[row : row + len(block), :length] = 1
        row += len(block)
    return ids, attention


def attention_for(length: int, device: torch.device) -> AbstractContextManager[None]:
    """For short inputs on a GPU, attention without cuDNN and FlashAttention, whose tiles would be mostly empty."""
    if device.type != "cuda" or length > SHORT:
        return nullcontext()
    return sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH])


def on_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """The array on the device. A GPU copies it asynchronously."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


class LanguageModel(NetworkModel):
    """A language model. Its cells are tokens at positions of an input, and its values their log-probabilities."""

    picks_before_head = True

    def logits(self, rows: Tensor, positions: Tensor, network: Any = None, **inputs: Any) -> Tensor:
        """The network's output at these places: (places, vocabulary). `network` is a wrapper to run instead of ours."""
        pick = (lambda each: each[rows, positions].unsqueeze(0)) if self._picks else None
        logits = self._output(pick, network, **inputs)
        return logits[0] if self._picks else logits[rows, positions]

    @abstractmethod
    def _logits(self, ids: NDArray[np.int64], attention: NDArray[np.int64], places: NDArray[np.int64]) -> Tensor:
        """The network's output at these places (rows and positions), in float32: (places, vocabulary)."""

    def _cells(self, batch: Batch) -> Tensor:
        ids, attention = pad_inputs(batch.inputs, self.pad)
        places, which, tokens = batch.places()
        return log_probabilities(self._logits(ids, attention, places), which, tokens)


def log_probabilities(logits: Tensor, which: NDArray[np.int64], tokens: NDArray[np.int64]) -> Tensor:
    """The log-probability of each token at the place with the index in `which`; `logits` are (places, vocabulary)."""
    where, token = on_device(np.stack([which, tokens]), logits.device)
    return logits[where, token] - logits.logsumexp(dim=-1)[where]


def is_native(kind: torch.dtype, device: torch.device) -> bool:
    """Whether the device computes in this precision natively. Some CPUs emulate half precision."""
    if device.type == "cuda":
        return kind != torch.bfloat16 or bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type != "cpu" or kind == torch.float32:
        return kind == torch.float32
    abilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # missing in older versions of torch
    if kind == torch.float16:
        return abilities.get("architecture") != "arm64"  # there oneDNN takes a hundred times as long as torch
    return any("bf16" in name and has is True for name, has in abilities.items())


def without_onednn(network: Any) -> None:
    """Run the network without oneDNN, which fails on emulated bfloat16: torch would then turn it off for good."""
    before: list[Any] = []

    def off(*_: Any) -> None:
        before.append(torch.backends.mkldnn.set_flags(False))  # type: ignore[no-untyped-call]

    def back(*_: Any) -> None:
        torch.backends.mkldnn.set_flags(*before.pop())  # type: ignore[no-untyped-call]

    for module in (network, network.base_model):  # other heads run the base model by itself
        module.register_forward_pre_hook(off)
        module.register_forward_hook(back, always_call=True)


def _seconds(kind: torch.dtype) -> float:
    """The CPU time of a small matrix product in this precision."""
    before = torch.backends.mkldnn.set_flags(is_native(kind, torch.device("cpu")))  # type: ignore[no-untyped-call]
    inputs: Tensor = torch.ones(64, 256, dtype=kind)
    weights = torch.ones(256, 256, dtype=kind)
    taken = timeit.repeat(lambda: torch.nn.functional.linear(inputs, weights), timer=process_time, repeat=3, number=1)
    torch.backends.mkldnn.set_flags(*before)  # type: ignore[no-untyped-call]
    return max(min(taken), 1e-5)
