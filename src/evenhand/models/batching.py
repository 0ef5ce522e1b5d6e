"""From questions to batches: every distinct input once, in batches of similar length, planned before any is run.

    questions -> readings -> distinct inputs -> batches -> values -> answers

The plan depends on the questions and the limit alone. So a run that was stopped, or is shared among workers, makes
the same batches as an undisturbed one, and its numbers are the same to the last bit.
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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from evenhand.questions import Answer

log = logging.getLogger(__name__)

Numbers = NDArray[np.int64]
Ids = tuple[int, ...]
Cell = tuple[int, int]
"""A position in an input, and the token (or label) whose log-probability is read there."""

Values = Sequence[Sequence[float]]
"""For each input of a batch, the log-probabilities of its cells."""

NOT_FINITE = "not a finite number"
WORTH_SAYING = 5.0  # seconds: work shorter than this needs no announcement


class Read(NamedTuple):
    """One input, and the cells a question needs from what the model makes of it."""

    ids: Ids
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A question as the reads that answer it, or a note saying why it has no answer."""

    reads: tuple[Read, ...] = ()
    note: str = ""
    finish: Callable[[list[tuple[float, ...]]], tuple[float, ...]] = lambda values: tuple(chain(*values))


@dataclass(frozen=True)
class Batch:
    """Inputs of similar length that go through the model together, and the cells to read from each."""

    inputs: tuple[Ids, ...]
    cells: tuple[tuple[Cell, ...], ...]

    @property
    def tokens(self) -> int:
        """What it costs: tokens with padding."""
        return len(self.inputs) * len(self.inputs[0])

    @cached_property
    def key(self) -> str:
        """Names the batch by its content."""
        return hashlib.sha256(repr((self.inputs, self.cells)).encode()).hexdigest()

    def places(self) -> tuple[Numbers, Numbers, Numbers]:
        """The distinct places to read (row and position), and for each cell in turn: which of them, and the token."""
        rows = np.repeat(np.arange(len(self.cells)), [len(cells) for cells in self.cells])
        positions, tokens = np.array(list(chain.from_iterable(self.cells))).T
        length = len(self.inputs[0])
        places, which = np.unique(rows * length + positions, return_inverse=True)
        return np.stack(np.divmod(places, length), axis=1), which, tokens

    def only(self, rows: Iterable[int]) -> "Batch":
        """The work for these of its inputs."""
        chosen = list(rows)
        return Batch(tuple(self.inputs[row] for row in chosen), tuple(self.cells[row] for row in chosen))

    def halves(self) -> tuple["Batch", "Batch"]:
        """The same work in two."""
        half = len(self.inputs) // 2
        return self.only(range(half)), self.only(range(half, len(self.inputs)))


@dataclass(frozen=True, slots=True)
class Limit:
    """How large a batch may be: tokens with padding, inputs, and positions projected onto the vocabulary.

    A batch of `enough` tokens takes no input that is an eighth shorter than its first: one more batch costs less than
    padding. With `alike`, all its inputs are of one length: for networks that let padding leak into their answers.
    """

    tokens: int
    inputs: int
    positions: int
    enough: int = 2**31
    alike: bool = False


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector of cycles: planning makes many objects and no cycle, and it took a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def set_aside() -> Iterator[None]:
    """What is there already is not looked through for cycles meanwhile: a large plan was, again and again."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class Plan:
    """The batches that answer a list of questions, and the way back from their values to the answers."""

    def __init__(self, readings: Sequence[Reading], limit: Limit) -> None:
        wanted: dict[Ids, tuple[Cell, ...]] = {}
        more: dict[Ids, dict[Cell, None]] = {}  # of inputs that are read at several places
        distinct = {id(reading.reads): reading.reads for reading in readings}  # candidates of a blank share theirs
        for reads in distinct.values():
            for ids, cells in reads:
                known = wanted.setdefault(ids, cells)
                if known != cells:
                    more.setdefault(ids, dict.fromkeys(known)).update(dict.fromkeys(cells))
        wanted.update((ids, tuple(cells)) for ids, cells in more.items())
        self.readings = readings
        self.inputs = len(wanted)
        self.batches = [Batch(inputs, tuple(wanted[ids] for ids in inputs)) for inputs in _split(wanted, limit)]
        home = {ids: number for number, batch in enumerate(self.batches) for ids in batch.inputs}
        needs = {number: sorted({home[ids] for ids, _ in reads}) for number, reads in distinct.items()}
        self.needs = [needs[id(reading.reads)] for reading in readings]
        """For each question, the numbers of the batches it waits for."""
        self._waiting: list[list[int]] = [[] for _ in self.batches]
        for question, numbers in enumerate(self.needs):
            for number in numbers:
                self._waiting[number].append(question)
        self._open = [len(numbers) for numbers in self.needs]
        self._values: dict[Ids, tuple[tuple[Cell, ...], Sequence[float]]] = {}
        self._found: dict[int, list[tuple[float, ...]]] = {}

    def unanswerable(self) -> Iterator[tuple[int, Answer]]:
        """The questions that no batch can answer, by index."""
        for question, reading in enumerate(self.readings):
            if not reading.reads:
                yield question, Answer.none(reading.note)

    def settle(self, number: int, values: Values) -> Iterator[tuple[int, Answer]]:
        """Take the values of a batch; the questions that are now answered, by index."""
        batch = self.batches[number]
        self._values.update(zip(batch.inputs, zip(batch.cells, values, strict=True), strict=True))
        for question in self._waiting[number]:
            self._open[question] -= 1
            if not self._open[question]:
                yield question, self._answer(self.readings[question])

    def _answer(self, reading: Reading) -> Answer:
        found = self._found.get(id(reading.reads))
        if found is None:
            found = self._found[id(reading.reads)] = [self._read(*read) for read in reading.reads]
        logps = reading.finish(found)
        return Answer(logps) if all(map(math.isfinite, logps)) else Answer.none(NOT_FINITE)

    def _read(self, ids: Ids, cells: tuple[Cell, ...]) -> tuple[float, ...]:
        known, row = self._values[ids]
        return tuple(row) if known == cells else tuple(map(dict(zip(known, row, strict=True)).__getitem__, cells))


Stream = Callable[[Sequence[tuple[int, Batch]]], Iterable[tuple[int, Values]]]
"""Runs batches, each with its number; gives their values with the numbers, in whatever order they finish."""


def paced(plan: Plan, numbers: Iterable[int], stream: Stream) -> Iterator[tuple[int, Values]]:
    """Run these batches of the plan, with a progress bar on a terminal, and a word on how long it will take."""
    batches = [(number, plan.batches[number]) for number in numbers]
    total = sum(batch.tokens for _, batch in batches)
    done, told, start = 0, False, time.monotonic()
    with tqdm(total=total, unit=" tokens", disable=None, leave=False, dynamic_ncols=True) as bar:
        for number, values in stream(batches):
            yield number, values
            done += plan.batches[number].tokens
            bar.update(plan.batches[number].tokens)
            taken = time.monotonic() - start
            if not told and taken > 1:
                told, to_go = True, taken * (total - done) / done
                if to_go > WORTH_SAYING:
                    log.info("About %s to go.", duration(to_go))


def work_through(plan: Plan, stream: Stream) -> list[Answer]:
    """Run every batch of the plan; the answers in the order of the questions."""
    answers = dict(plan.unanswerable())
    with set_aside():
        for number, values in paced(plan, range(len(plan.batches)), stream):
            answers.update(plan.settle(number, values))
    return [answers[i] for i in range(len(plan.readings))]


def duration(seconds: float) -> str:
    """Seconds as people say them: "40 s", "3 min", "2.5 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _split(wanted: dict[Ids, tuple[Cell, ...]], limit: Limit) -> Iterator[tuple[Ids, ...]]:
    """The inputs, longest first, in batches within the limit; an input that is over it alone goes alone."""
    batch: list[Ids] = []
    most = longest = positions = 0  # inputs that fit, length of the first, positions projected
    for ids in sorted(wanted, key=len, reverse=True):
        cells = wanted[ids]
        asked = 1 if len(cells) == 1 else len({position for position, _ in cells})
        length = len(ids)
        if batch and (
            len(batch) >= most
            or positions + asked > limit.positions
            or (
                length != longest
                and (limit.alike or (8 * length <= 7 * longest and len(batch) * longest >= limit.enough))
            )
        ):
            yield tuple(batch)
            batch = []
        if not batch:
            most, longest, positions = min(limit.inputs, limit.tokens // length), length, 0
        batch.append(ids)
        positions += asked
    if batch:
        yield tuple(batch)
