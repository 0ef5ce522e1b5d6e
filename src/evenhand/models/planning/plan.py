"""Plan all batches that answer a list of questions. Equal inputs are run once, inputs of similar length together.

    questions -> readings -> distinct inputs -> batches -> values -> answers

The plan depends only on the questions and the limit. So a resumed or distributed run has the same batches as an
uninterrupted local run, and the same numbers to the last bit.
"""

import gc
import hashlib
import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.core.progress import part
from evenhand.core.questions import Answer, Question, Unplanned
from evenhand.stats.estimate import NOT_FINITE

log = logging.getLogger(__name__)

Numbers = NDArray[np.int64]
Ids = tuple[int, ...]
"""The tokens of an input, each packed with its type or its parent, if it has one: see `join`."""
Cell = tuple[int, int]
"""A position in an input, and the token or label whose log-probability is read there: see `join`."""
Values = Sequence[Sequence[float]]
"""For each input of a batch, the log-probabilities of its cells."""
PLAIN, WEIGHED, FOLLOWS = range(3)
"""The kinds of cells: see `join`."""
WORTH_SAYING = 5.0  # seconds of remaining work from which an estimate is logged


def join(tokens: Iterable[int], beside: Iterable[int], size: int) -> tuple[int, ...]:
    """Pack each token with a second number into one integer, `token + size * beside`. `split` unpacks them.

    Plans, the cache and workers compare, hash, store and send these integers without knowing what they mean. `size` is
    the number of the network's embeddings. The second number `beside` is

        in a text    0
        in a pair    the token's type: 0 in the first text, 1 in the second
        in a tree    the position of the token's parent in the row; the root, mostly the start token, is its own parent
        in a cell    PLAIN: read the log-probability of the token, or of the label of an NLI classifier
                     WEIGHED: read the log-probability of the token, times the attention that the token gets
                     FOLLOWS: read the next-sentence head's log-probability of a label: 0, it follows; 1, it does not
    """
    return tuple(token + size * second for token, second in zip(tokens, beside, strict=True))


def split(joined: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tokens, and the second numbers that `join` packed with them."""
    beside, tokens = np.divmod(joined, size)
    return tokens, beside


class Read(NamedTuple):
    """One input, and the cells of its output that a question needs."""

    ids: Ids
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """The reads that answer a question, or a note why it has no answer. `finish` makes the answer from their values."""

    reads: tuple[Read, ...] = ()
    note: str = ""
    finish: Callable[[list[tuple[float, ...]]], tuple[float, ...]] = lambda values: tuple(chain(*values))


def normalise_logps(values: list[tuple[float, ...]]) -> tuple[float, ...]:
    """The log-probability of each candidate, normalised over the candidates. `values` has those of its tokens."""
    totals = [math.fsum(logps) for logps in values]
    whole = np.logaddexp.reduce(totals)
    return tuple(float(total - whole) for total in totals)


def common_beginning(sequences: Sequence[Ids]) -> int:
    """The length of the longest beginning that all sequences share."""
    different = (n for n, column in enumerate(zip(*sequences, strict=False)) if len(set(column)) > 1)
    return next(different, min(map(len, sequences)))


@dataclass(frozen=True)
class Batch:
    """Inputs of similar length that go through the model together, and the cells to read from each input."""

    inputs: tuple[Ids, ...]
    cells: tuple[tuple[Cell, ...], ...]

    @property
    def tokens(self) -> int:
        """The number of tokens, including padding."""
        return len(self.inputs) * len(self.inputs[0])

    @cached_property
    def key(self) -> str:
        return hashlib.sha256(repr((self.inputs, self.cells)).encode()).hexdigest()

    def places(self) -> tuple[Numbers, Numbers, Numbers]:
        """The distinct places to read, as rows and positions; for each cell, the index of its place; and its token."""
        rows = np.repeat(np.arange(len(self.cells)), [len(cells) for cells in self.cells])
        positions, tokens = np.array(list(chain.from_iterable(self.cells))).T
        length = len(self.inputs[0])
        places, which = np.unique(rows * length + positions, return_inverse=True)
        return np.stack(np.divmod(places, length), axis=1), which, tokens

    def only(self, rows: Iterable[int]) -> "Batch":
        chosen = list(rows)
        return Batch(tuple(self.inputs[row] for row in chosen), tuple(self.cells[row] for row in chosen))

    def halves(self) -> tuple["Batch", "Batch"]:
        half = len(self.inputs) // 2
        return self.only(range(half)), self.only(range(half, len(self.inputs)))


@dataclass(frozen=True, slots=True)
class Limit:
    """The maximum size of a batch: tokens including padding, inputs, and positions projected onto the vocabulary.

    A batch that has `enough` tokens takes no shorter inputs, since another batch costs less than padding. With
    `enough=0`, all inputs of a batch have the same length, for networks that let padding leak into their answers.
    """

    tokens: int
    inputs: int
    positions: int
    enough: int = 2**31


class Plan:
    """The batches that answer a list of questions; `settle` turns their values into the answers."""

    def __init__(self, readings: Sequence[Reading], limit: Limit) -> None:
        self.readings = readings
        groups = {id(reading.reads): reading.reads for reading in readings}  # candidates of a blank share their reads
        self._reads, inputs, self._cells = _distinct_inputs(groups.values())
        self.inputs = len(inputs)
        self._numbers = [row.tolist() for row in _split_batches(inputs, self._cells, limit)]
        """For each batch, the numbers of its inputs."""
        self.batches = [
            Batch(tuple(map(inputs.__getitem__, numbers)), tuple(map(self._cells.__getitem__, numbers)))
            for numbers in self._numbers
        ]
        home = {number: batch for batch, numbers in enumerate(self._numbers) for number in numbers}
        needs = [sorted({home[number] for number in numbers}) for numbers in self._reads]
        group = {reads: number for number, reads in enumerate(groups)}
        self._group = [group[id(reading.reads)] for reading in readings]
        self.needs = [needs[number] for number in self._group]
        """For each question, the numbers of the batches that it needs."""
        self._waiting: list[list[int]] = [[] for _ in self.batches]
        for question, batches in enumerate(self.needs):
            for batch in batches:
                self._waiting[batch].append(question)
        self._open = [len(batches) for batches in self.needs]
        self._values: list[Sequence[float]] = [()] * self.inputs
        self._by_cell: dict[int, dict[Cell, float]] = {}
        self._by_group: dict[int, list[tuple[float, ...]]] = {}

    def unanswerable(self) -> Iterator[tuple[int, Answer]]:
        """A missing answer, with its note, for each question that no batch can answer, by index of the question."""
        for question, reading in enumerate(self.readings):
            if not reading.reads:
                yield question, Answer.none(reading.note)

    def settle(self, batch: int, values: Values) -> Iterator[tuple[int, Answer]]:
        """Take the values of the batch of this number. Yields the answers that are now complete, by index."""
        for number, row in zip(self._numbers[batch], values, strict=True):
            self._values[number] = row
        for question in self._waiting[batch]:
            self._open[question] -= 1
            if not self._open[question]:
                yield question, self._answer(question)

    def _answer(self, question: int) -> Answer:
        reading, group = self.readings[question], self._group[question]
        by_read = self._by_group.get(group)
        if by_read is None:
            by_read = self._by_group[group] = [
                self._read(number, read.cells) for number, read in zip(self._reads[group], reading.reads, strict=True)
            ]
        logps = reading.finish(by_read)
        return Answer(logps) if all(map(math.isfinite, logps)) else Answer.none(NOT_FINITE)

    def _read(self, number: int, cells: tuple[Cell, ...]) -> tuple[float, ...]:
        known, row = self._cells[number], self._values[number]
        if known == cells:
            return tuple(row)
        if number not in self._by_cell:  # several questions read different cells of this input
            self._by_cell[number] = dict(zip(known, row, strict=True))
        return tuple(map(self._by_cell[number].__getitem__, cells))


def _distinct_inputs(groups: Iterable[tuple[Read, ...]]) -> tuple[list[list[int]], list[Ids], list[tuple[Cell, ...]]]:
    """For each group, the number of the input of each read; then the distinct inputs; then all cells of each input.

    Inputs are numbered because later lookups by number are cheaper than by input.
    """
    numbers: dict[Ids, int] = {}
    cells: list[tuple[Cell, ...]] = []
    merged: dict[int, dict[Cell, None]] = {}  # of inputs whose reads have different cells
    reads = []
    for group in groups:
        in_group = []
        for ids, asked in group:
            number = numbers.setdefault(ids, len(cells))
            if number == len(cells):
                cells.append(asked)
            elif (known := cells[number]) != asked:
                merged.setdefault(number, dict.fromkeys(known)).update(dict.fromkeys(asked))
            in_group.append(number)
        reads.append(in_group)
    for number, several in merged.items():
        cells[number] = tuple(several)
    return reads, list(numbers), cells


def _split_batches(inputs: Sequence[Ids], cells: Sequence[tuple[Cell, ...]], limit: Limit) -> Iterator[Numbers]:
    """For each batch, the numbers of its inputs, longest first. An input above the limit is a batch by itself."""
    lengths = np.array([len(ids) for ids in inputs], dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    rising = -lengths[order]
    asked = [1 if len(places) == 1 else len({position for position, _ in places}) for places in cells]
    positions = np.cumsum(np.array(asked, dtype=np.int64)[order])
    start = 0
    while start < len(order):
        longest = -int(rising[start])
        before = int(positions[start - 1]) if start else 0
        fit = start + min(limit.inputs, limit.tokens // longest)
        projected = int(np.searchsorted(positions, before + limit.positions, side="right"))
        shorter = int(np.searchsorted(rising, 1 - longest))
        enough = start - (-limit.enough // longest)
        stop = max(start + 1, min(fit, projected, max(shorter, enough)))
        yield order[start:stop]
        start = stop


Stream = Callable[[Sequence[tuple[int, Batch]]], Iterable[tuple[int, Values]]]
"""Runs numbered batches, and yields the number and the values of each batch in the order in which batches finish."""


def run_batches(plan: Plan, numbers: Iterable[int], stream: Stream) -> Iterator[tuple[int, Values]]:
    """Run these batches of the plan with a progress bar, and log an estimate of the remaining time."""
    batches = [(number, plan.batches[number]) for number in numbers]
    total = sum(batch.tokens for _, batch in batches)
    done, announced, start = 0, False, time.monotonic()
    with part("Measuring", "tokens", total) as bar:
        for number, values in stream(batches):
            yield number, values
            done += plan.batches[number].tokens
            bar.update(plan.batches[number].tokens)
            taken = time.monotonic() - start
            if not announced and taken > 1:
                announced, to_go = True, taken * (total - done) / done
                if to_go > WORTH_SAYING:
                    log.info("About %s to go.", duration(to_go))


def run_plan(plan: Plan, stream: Stream) -> list[Answer]:
    """Run every batch of the plan, and return the answers in the order of the questions."""
    answers = dict(plan.unanswerable())
    with gc_frozen():
        for number, values in run_batches(plan, range(len(plan.batches)), stream):
            answers.update(plan.settle(number, values))
    return [answers[i] for i in range(len(plan.readings))]


def answer_all(model: Any, questions: Sequence[Question]) -> list[Answer]:
    """The answers of a model that plans its batches. `Unplanned` questions go to its `batched_answers`."""
    unplanned = [isinstance(question, Unplanned) and hasattr(model, "batched_answers") for question in questions]
    planned = [question for question, is_unplanned in zip(questions, unplanned, strict=True) if not is_unplanned]
    others = [question for question, is_unplanned in zip(questions, unplanned, strict=True) if is_unplanned]
    from_plan = iter(run_plan(model.plan(planned), model.stream) if planned else ())
    batched = dict(chain.from_iterable(model.batched_answers(others))) if others else {}
    following = (batched[number] for number in range(len(others)))
    return [next(following) if is_unplanned else next(from_plan) for is_unplanned in unplanned]


def duration(seconds: float) -> str:
    """Seconds in a readable unit: "40 s", "3 min", "2.5 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Disable the garbage collector, which took a third of the time of planning. New objects become old at the end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        with gc_frozen():
            pass
        if enabled:
            gc.enable()


@contextmanager
def gc_frozen() -> Iterator[None]:
    """Hide existing objects from the garbage collector, which would traverse a large plan again and again.

    Does nothing if other code has frozen objects, since unfreezing ours would unfreeze theirs too.
    """
    free = gc.get_freeze_count() == 0
    if free:
        gc.freeze()
    try:
        yield
    finally:
        if free:
            gc.unfreeze()
