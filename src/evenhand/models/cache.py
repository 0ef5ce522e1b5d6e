"""A model that keeps its answers: nothing is asked twice, and a stopped run goes on where it was."""

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import numpy as np

from evenhand.core.model import Model, Work
from evenhand.core.questions import Answer, Question, key
from evenhand.errors import RunError
from evenhand.models.base import Planned
from evenhand.models.planning.plan import Batch, Values
from evenhand.models.planning.running import paced, set_aside

log = logging.getLogger(__name__)

TABLES = """
CREATE TABLE IF NOT EXISTS answers (
    fingerprint TEXT, question TEXT, logps BLOB NOT NULL, note TEXT NOT NULL, PRIMARY KEY (fingerprint, question)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (  -- finished, though some question waits for another batch still
    fingerprint TEXT, batch TEXT, logps BLOB NOT NULL, PRIMARY KEY (fingerprint, batch)
) WITHOUT ROWID;
"""


class Remembering:
    """Wraps a model; answers lie in an SQLite file, by the model's fingerprint and the question.

    They are written as each batch finishes. The plan is made from all questions, kept ones included, and finished
    batches are skipped: so a resumed run has the numbers of an undisturbed one.
    """

    def __init__(self, model: Model, path: Path) -> None:
        self.model = model
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.path = path
        self.work = Work()

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer for each question, in order: kept ones first, the rest from the model."""
        with opened(self.path) as store:
            answers = dict(recall(store, self.fingerprint, questions))
            self.work += Work(len(questions), len(answers))
            if len(answers) < len(questions):
                if isinstance(self.model, Planned):
                    self._work_through(self.model, questions, answers, store)
                else:
                    rest = [i for i in range(len(questions)) if i not in answers]
                    fresh = list(zip(rest, self.model.answer([questions[i] for i in rest]), strict=True))
                    self._keep(store, questions, fresh)
                    answers.update(fresh)
        return [answers[i] for i in range(len(questions))]

    def _work_through(
        self,
        model: Planned,
        questions: Sequence[Question],
        answers: dict[int, Answer],
        store: sqlite3.Connection,
    ) -> None:
        plan = model.plan(questions)
        needed = sorted({n for i, numbers in enumerate(plan.needs) if i not in answers for n in numbers})
        log.info(f"{len(questions):,} questions, {plan.inputs:,} distinct inputs, {len(needed):,} batches.")
        fresh = [(i, answer) for i, answer in plan.unanswerable() if i not in answers]
        self._keep(store, questions, fresh)
        answers.update(fresh)
        finished = {n: values for n in needed if (values := self._finished(store, plan.batches[n])) is not None}
        rest = [number for number in needed if number not in finished]
        with set_aside():
            for number, values in chain(finished.items(), paced(plan, rest, model.stream)):
                fresh = [(i, answer) for i, answer in plan.settle(number, values) if i not in answers]
                self._keep(store, questions, fresh, plan.batches[number], values)
                answers.update(fresh)
        self.work += Work(inputs=plan.inputs, batches=len(rest))
        with store:
            store.execute("DELETE FROM batches WHERE fingerprint = ?", (self.fingerprint,))

    def _finished(self, store: sqlite3.Connection, batch: Batch) -> Values | None:
        found = store.execute(
            "SELECT logps FROM batches WHERE fingerprint = ? AND batch = ?", (self.fingerprint, batch.key)
        ).fetchone()
        if found is None:
            return None
        values = iter(_unpack(found[0]))
        return [[next(values) for _ in cells] for cells in batch.cells]

    def _keep(
        self,
        store: sqlite3.Connection,
        questions: Sequence[Question],
        fresh: Iterable[tuple[int, Answer]],
        batch: Batch | None = None,
        values: Values = (),
    ) -> None:
        """Write a batch and all that it answered, or nothing of it."""
        rows = [(self.fingerprint, key(questions[i]), _pack(a.logps), a.note) for i, a in fresh]
        with store:
            store.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", rows)
            if batch is not None:
                flat = [value for row in values for value in row]
                store.execute(
                    "INSERT OR REPLACE INTO batches VALUES (?, ?, ?)",
                    (self.fingerprint, batch.key, _pack(flat)),
                )


class Kept:
    """The answers of a run, without its model: for scoring again."""

    def __init__(self, path: Path, name: str, fingerprint: str) -> None:
        self.path = path
        self.name = name
        self.fingerprint = fingerprint

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """The kept answers, in order; an error if any is missing."""
        if not self.path.is_file():
            raise RunError(f"'{self.path}' does not exist: there are no answers to score again. Run the audit.")
        with opened(self.path) as store:
            answers = dict(recall(store, self.fingerprint, questions))
        if missing := len(questions) - len(answers):
            raise RunError(
                f"{missing} of {len(questions)} answers are not in '{self.path}': the run was stopped, or the dataset "
                "has changed since. Run the audit again; it goes on from what is kept."
            )
        return [answers[i] for i in range(len(questions))]


def recall(store: sqlite3.Connection, fingerprint: str, questions: Sequence[Question]) -> Iterator[tuple[int, Answer]]:
    """The answers that are kept, by index of the question."""
    for i, question in enumerate(questions):
        found = store.execute(
            "SELECT logps, note FROM answers WHERE fingerprint = ? AND question = ?",
            (fingerprint, key(question)),
        ).fetchone()
        if found is not None:
            yield i, Answer(tuple(_unpack(found[0])), found[1])


def fingerprints(path: Path) -> set[str]:
    """Whose answers lie in the file."""
    if not path.is_file():
        return set()
    with opened(path) as store:
        return {row[0] for row in store.execute("SELECT DISTINCT fingerprint FROM answers")}


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The file of answers, made if it is not there; trouble with it comes out as a `RunError`."""
    store = None
    try:
        store = sqlite3.connect(path, timeout=60)
        store.executescript(TABLES)
        yield store
    except sqlite3.Error as error:
        raise RunError(
            f"The answers in '{path}' cannot be read or written: {error}. What was kept before is still there. "
            "Make room or check the folder's rights; if the file is damaged, delete it."
        ) from error
    finally:
        if store is not None:
            store.close()


def _pack(logps: Sequence[float]) -> bytes:
    return np.asarray(logps, dtype="<f8").tobytes()


def _unpack(blob: bytes) -> list[float]:
    return [float(value) for value in np.frombuffer(blob, dtype="<f8")]
