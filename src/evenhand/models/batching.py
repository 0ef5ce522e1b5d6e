"""From questions to batches: every distinct input once, in batches of similar length, planned before any is run.

    questions -> readings -> distinct inputs -> batches -> values -> answers

The plan depends on the questions and the limit alone. So a run that was stopped, or is shared among workers, makes
the same batches as an undisturbed one, and its numbers are the same to the last bit.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from tqdm.auto import tqdm

from evenhand.questions import Answer

log = logging.getLogger(__name__)

Ids = tuple[int, ...]
Cell = tuple[int, int]
"""A position in an input, and the token (or label) whose log-probability is read there."""

Values = Sequence[Sequence[float]]
"""For each input of a batch, the log-probabilities of its cells."""

NOT_FINITE = "not a finite number"
WORTH_SAYING = 5.0  # seconds: work shorter than this needs no announcement


@dataclass(frozen=True, slots=True)
class Read:
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

    def halves(self) -> tuple["Batch", "Batch"]:
        """The same work in two."""
        half = len(self.inputs) // 2
        return (
            Batch(self.inputs[:half], self.cells[:half]),
            Batch(self.inputs[half:], self.cells[half:]),
        )


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


class Plan:
    """The batches that answer a list of questions, and the way back from their values to the answers."""

    def __init__(self, readings: Sequence[Reading], limit: Limit) -> None:
        wanted: dict[Ids, dict[Cell, None]] = {}
        for reading in readings:
            for read in reading.reads:
                wanted.setdefault(read.ids, {}).update(dict.fromkeys(read.cells))
        self.readings = readings
        self.inputs = len(wanted)
        self.batches = [Batch(inputs, tuple(tuple(wanted[ids]) for ids in inputs)) for inputs in _split(wanted, limit)]
        home = {ids: number for number, batch in enumerate(self.batches) for ids in batch.inputs}
        self.needs = [sorted({home[read.ids] for read in reading.reads}) for reading in readings]
        """For each question, the numbers of the batches it waits for."""
        self._waiting: list[list[int]] = [[] for _ in self.batches]
        for question, numbers in enumerate(self.needs):
            for number in numbers:
                self._waiting[number].append(question)
        self._open = [len(numbers) for numbers in self.needs]
        self._values: dict[Ids, dict[Cell, float]] = {}

    def unanswerable(self) -> Iterator[tuple[int, Answer]]:
        """The questions that no batch can answer, by index."""
        for question, reading in enumerate(self.readings):
            if not reading.reads:
                yield question, Answer.none(reading.note)

    def settle(self, number: int, values: Values) -> Iterator[tuple[int, Answer]]:
        """Take the values of a batch; the questions that are now answered, by index."""
        batch = self.batches[number]
        for ids, cells, row in zip(batch.inputs, batch.cells, values, strict=True):
            self._values[ids] = dict(zip(cells, row, strict=True))
        for question in self._waiting[number]:
            self._open[question] -= 1
            if not self._open[question]:
                yield question, self._answer(self.readings[question])

    def _answer(self, reading: Reading) -> Answer:
        found = [tuple(self._values[read.ids][cell] for cell in read.cells) for read in reading.reads]
        logps = reading.finish(found)
        return Answer(logps) if np.isfinite(logps).all() else Answer.none(NOT_FINITE)


def paced(plan: Plan, numbers: Iterable[int]) -> Iterator[tuple[int, Batch]]:
    """These batches of the plan, with a progress bar on a terminal, and a word on how long it will take."""
    batches = [(number, plan.batches[number]) for number in numbers]
    total = sum(batch.tokens for _, batch in batches)
    done, told, start = 0, False, time.monotonic()
    with tqdm(total=total, unit=" tokens", disable=None, leave=False, dynamic_ncols=True) as bar:
        for number, batch in batches:
            yield number, batch
            done += batch.tokens
            bar.update(batch.tokens)
            taken = time.monotonic() - start
            if not told and taken > 1:  # a batch that was kept takes no time, and says nothing about the others
                told, to_go = True, taken * (total - done) / done
                if to_go > WORTH_SAYING:
                    log.info("About %s to go.", duration(to_go))


def work_through(plan: Plan, run: Callable[[Batch], Values]) -> list[Answer]:
    """Run every batch of the plan; the answers in the order of the questions."""
    answers = dict(plan.unanswerable())
    for number, batch in paced(plan, range(len(plan.batches))):
        answers.update(plan.settle(number, run(batch)))
    return [answers[i] for i in range(len(plan.readings))]


def duration(seconds: float) -> str:
    """Seconds as people say them: "40 s", "3 min", "2.5 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _split(wanted: dict[Ids, dict[Cell, None]], limit: Limit) -> Iterator[tuple[Ids, ...]]:
    """The inputs, longest first, in batches within the limit; an input that is over it alone goes alone."""
    batch: list[Ids] = []
    positions = 0
    for ids in sorted(wanted, key=len, reverse=True):
        asked = len({position for position, _ in wanted[ids]})
        if batch and (
            (len(batch) + 1) * len(batch[0]) > limit.tokens
            or len(batch) == limit.inputs
            or positions + asked > limit.positions
            or (8 * len(ids) <= 7 * len(batch[0]) and len(batch) * len(batch[0]) >= limit.enough)
            or (limit.alike and len(ids) != len(batch[0]))
        ):
            yield tuple(batch)
            batch, positions = [], 0
        batch.append(ids)
        positions += asked
    if batch:
        yield tuple(batch)
