"""Time two sides in turn, part by part, so that whatever else the machine does falls on both."""

import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import torch

from evenhand.core.questions import Answer, Question
from evenhand.models.base import Planned
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.planning.plan import Batch

Part = Callable[[], list[float]]
CLOCKS = ("wall", "cpu")
_clock = "wall"


def use(clock: str) -> None:
    """Time by the clock on the wall, or by what processors spent on us and our children: that a busy machine leaves."""
    global _clock
    _clock = clock


def now() -> float:
    """Seconds from some moment on."""
    if _clock == "wall":
        return time.perf_counter()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@dataclass
class Side:
    """What one of the sides took for each part, and all it answered."""

    seconds: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)

    @property
    def total(self) -> float:
        return sum(self.seconds)


def in_turn(*sides: Sequence[Part]) -> list[Side]:
    """The first part of every side, then the second of every side, and so on."""
    timed = [Side() for _ in sides]
    for parts in zip(*sides, strict=True):
        for side, part in zip(timed, parts, strict=True):
            start = now()
            side.answers += part()
            side.seconds.append(now() - start)
    return timed


def ratios(peer: Side, ours: Side, scales: Sequence[float]) -> list[float]:
    """How many times longer the peer takes, part by part; a scale is the part's work over the sample the peer did."""
    return [p * scale / o for p, scale, o in zip(peer.seconds, scales, ours.seconds, strict=True)]


def largest(one: Sequence[float], other: Sequence[float]) -> float:
    """The largest difference; answers that only one of the two gives are refused."""
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def gemm(width: int, dtype: torch.dtype = torch.float32, device: str = "cpu", rows: int = 2048) -> float:
    """Multiplications and additions a second of a matrix product as in the network's widest layer: the best of six."""
    left = torch.randn(rows, width, device=device).to(dtype)
    best = 0.0
    for right in (torch.randn(4 * width, width).t(), torch.randn(width, 4 * width)):  # whichever layout is faster
        right = right.to(device, dtype)
        for _ in range(4):
            start = now()
            left @ right
            if device != "cpu":
                torch.cuda.synchronize()
            best = max(best, 8 * rows * width**2 / (now() - start))
    return best


def arithmetic(model: MaskedLM, batches: Sequence[Batch]) -> float:
    """Multiplications and additions in the matrix products that a BERT's answers need; padding is not counted.

    The last layer works on the asked positions alone once its attention is done, and so does the head.
    """
    config = model.network.config
    width: int = config.hidden_size
    inner: int = config.intermediate_size
    layers: int = config.num_hidden_layers
    lengths = [len(ids) for batch in batches for ids in batch.inputs]
    asked = sum(len({position for position, _ in cells}) for batch in batches for cells in batch.cells)
    after_attention = width**2 + 2 * width * inner
    everywhere = layers * 3 * width**2 + (layers - 1) * after_attention
    head: int = width**2 + width * config.vocab_size
    attention = 2 * layers * width * sum(n**2 for n in lengths)
    return 2.0 * (sum(lengths) * everywhere + asked * (after_attention + head) + attention)


class Shares:
    """A model's work on some questions in n parts: planned as a whole, as ever, with the planning in the first part."""

    def __init__(self, model: Planned, ask: Callable[[], list[Question]], n: int) -> None:
        self.model = model
        self.ask = ask
        self.plan = model.plan(ask())
        self.answers: dict[int, Answer] = {}
        total, done = sum(batch.tokens for batch in self.plan.batches), 0
        self.numbers: list[list[int]] = [[] for _ in range(n)]
        for number, batch in enumerate(self.plan.batches):
            self.numbers[min(n - 1, done * n // total)].append(number)
            done += batch.tokens

    def parts(self) -> list[Part]:
        """One for each share."""
        return [partial(self._run, share) for share in range(len(self.numbers))]

    def _run(self, share: int) -> list[float]:
        if share == 0:
            self.model.plan(self.ask())
        numbers = self.numbers[share]
        for number, values in self.model.stream([(n, self.plan.batches[n]) for n in numbers]):
            self.answers.update(self.plan.settle(number, values))
        return []


def share(arithmetic: float, ours: Side, rates: Side) -> float:
    """The share of the matrix rate that we reach, by the median of rates measured between the parts."""
    return arithmetic / ours.total / statistics.median(rates.answers)
