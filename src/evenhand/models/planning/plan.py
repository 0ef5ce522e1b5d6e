"""From questions to batches: every distinct input once, in batches of similar length, planned before any is run.

    questions -> readings -> distinct inputs -> batches -> values -> answers

The plan depends on the questions and the limit alone. So a run that was stopped, or is shared among workers, makes
the same batches as an undisturbed one, and its numbers are the same to the last bit.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.core.questions import Answer

Numbers = NDArray[np.int64]
Ids = tuple[int, ...]
Cell = tuple[int, int]
"""A position in an input, and the token (or label) whose log-probability is read there."""

Values = Sequence[Sequence[float]]
"""For each input of a batch, the log-probabilities of its cells."""

NOT_FINITE = "not a finite number"


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

    A batch of `enough` tokens takes no shorter input: one more batch costs less than padding. With 0, all inputs of a
    batch are of one length: for networks that let padding leak into their answers.
    """

    tokens: int
    inputs: int
    positions: int
    enough: int = 2**31


class Plan:
    """The batches that answer a list of questions, and the way back from their values to the answers."""

    def __init__(self, readings: Sequence[Reading], limit: Limit) -> None:
        self.readings = readings
        groups = {id(reading.reads): reading.reads for reading in readings}  # candidates of a blank share their reads
        distinct = _Distinct()
        self._reads = [[distinct.number(read) for read in reads] for reads in groups.values()]
        inputs, self._cells = distinct.inputs(), distinct.cells()
        self.inputs = len(inputs)
        self._numbers = [row.tolist() for row in _split(inputs, self._cells, limit)]
        """The inputs of each batch, by number."""
        self.batches = [
            Batch(tuple(map(inputs.__getitem__, numbers)), tuple(map(self._cells.__getitem__, numbers)))
            for numbers in self._numbers
        ]
        home = [0] * self.inputs
        for batch, numbers in enumerate(self._numbers):
            for number in numbers:
                home[number] = batch
        needs = [sorted({home[number] for number in numbers}) for numbers in self._reads]
        group = {reads: number for number, reads in enumerate(groups)}
        self._group = [group[id(reading.reads)] for reading in readings]
        self.needs = [needs[number] for number in self._group]
        """For each question, the numbers of the batches it waits for."""
        self._waiting: list[list[int]] = [[] for _ in self.batches]
        for question, batches in enumerate(self.needs):
            for batch in batches:
                self._waiting[batch].append(question)
        self._open = [len(batches) for batches in self.needs]
        self._values: list[Sequence[float]] = [()] * self.inputs
        self._by_cell: dict[int, dict[Cell, float]] = {}
        self._found: dict[int, list[tuple[float, ...]]] = {}

    def unanswerable(self) -> Iterator[tuple[int, Answer]]:
        """The questions that no batch can answer, by index."""
        for question, reading in enumerate(self.readings):
            if not reading.reads:
                yield question, Answer.none(reading.note)

    def settle(self, batch: int, values: Values) -> Iterator[tuple[int, Answer]]:
        """Take the values of a batch, given by its number; the questions that are now answered, by index."""
        for number, row in zip(self._numbers[batch], values, strict=True):
            self._values[number] = row
        for question in self._waiting[batch]:
            self._open[question] -= 1
            if not self._open[question]:
                yield question, self._answer(question)

    def _answer(self, question: int) -> Answer:
        reading, group = self.readings[question], self._group[question]
        found = self._found.get(group)
        if found is None:
            found = self._found[group] = [
                self._read(number, read.cells) for number, read in zip(self._reads[group], reading.reads, strict=True)
            ]
        logps = reading.finish(found)
        return Answer(logps) if all(map(math.isfinite, logps)) else Answer.none(NOT_FINITE)

    def _read(self, number: int, cells: tuple[Cell, ...]) -> tuple[float, ...]:
        known, row = self._cells[number], self._values[number]
        if known == cells:
            return tuple(row)
        if number not in self._by_cell:  # several questions read from it, each somewhere else
            self._by_cell[number] = dict(zip(known, row, strict=True))
        return tuple(map(self._by_cell[number].__getitem__, cells))


class _Distinct:
    """Distinct inputs by number, and all that is read from each: a number is cheaper to look up than an input."""

    def __init__(self) -> None:
        self._numbers: dict[Ids, int] = {}
        self._cells: list[tuple[Cell, ...]] = []
        self._more: dict[int, dict[Cell, None]] = {}  # of inputs that are read at several places

    def number(self, read: Read) -> int:
        """The number of its input."""
        ids, cells = read
        number = self._numbers.setdefault(ids, len(self._cells))
        if number == len(self._cells):
            self._cells.append(cells)
        elif (known := self._cells[number]) != cells:
            self._more.setdefault(number, dict.fromkeys(known)).update(dict.fromkeys(cells))
        return number

    def inputs(self) -> list[Ids]:
        """All of them, in the order of their numbers."""
        return list(self._numbers)

    def cells(self) -> list[tuple[Cell, ...]]:
        """For each input, what is read from it."""
        found = list(self._cells)
        for number, cells in self._more.items():
            found[number] = tuple(cells)
        return found


def _split(inputs: Sequence[Ids], cells: Sequence[tuple[Cell, ...]], limit: Limit) -> Iterator[Numbers]:
    """The numbers of the inputs, longest first, in batches within the limit; one that is over it alone goes alone."""
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
