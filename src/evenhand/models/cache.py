"""A wrapper that stores a model's answers, so that nothing is computed twice and an interrupted run is resumed."""

import json
import logging
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields, is_dataclass
from itertools import chain, compress
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.foreign import foreign, is_ours, number
from evenhand.core.model import Model, Work, ask, check_answer, check_model
from evenhand.core.questions import Answer, Question, Unplanned
from evenhand.errors import BadInput, ModelError, RunError
from evenhand.models.base import (
    Batched,
    Metered,
    Planned,
    Recognisable,
    Selective,
    ServerChanged,
    Streams,
    largest_difference,
    refusal,
)
from evenhand.models.planning.plan import Batch, Values, gc_frozen, run_batches

TEXT = "text"
"""The form of an answer with a text: JSON of its numbers and its text."""


def key(question: Question) -> str:
    """The text a question is stored under: canonical JSON, the same in every process and release.

    A field at its default is left out, so that a new field changes no old key. A question of a user's own class has all
    its fields and the full name of the class.
    """
    if not is_ours(question):
        return _json(question, _to_jsonable)
    defaults = {field.name: field.default for field in fields(question) if field.name != "masks"}  # in every old key
    compared = {field.name for field in fields(question) if field.compare}
    values = {name: value for name, value in asdict(question).items() if name in compared}
    changed = {name: value for name, value in values.items() if value != defaults.get(name, object())}
    return _json({"ask": type(question).__name__.lower(), **changed}, int)


def _json(thing: object, default: Callable[[Any], Any]) -> str:
    return json.dumps(thing, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=default)


def _to_jsonable(thing: Any) -> Any:
    """A part of a user's question as JSON. A dataclass gets its full name, since two classes may have equal fields."""
    if is_dataclass(thing):
        kind = f"{type(thing).__module__}.{type(thing).__qualname__}"
        return {"ask": kind, "fields": {field.name: getattr(thing, field.name) for field in fields(thing)}}
    if isinstance(thing, Integral):  # numpy's
        return int(thing)
    raise BadInput(
        "Answers are stored by the fields of their question, which must be texts, Python's numbers, None, or tuples or "
        f"dataclasses of these. Got {thing!r}."
    )


def unpack_answer(blob: bytes, note: str, form: str) -> Answer:
    """Decode a stored answer. New answers are packed and decoded too, so that stored ones are equal to them."""
    if form == TEXT:
        numbers, text = json.loads(blob)
        return Answer(tuple(numbers), note, text=text)
    return Answer(tuple(unpack(blob, form)), note)


def pack_answer(answer: Answer, form: str) -> bytes:
    """The answer as bytes in the form that `stored_form` gives."""
    if form == TEXT:
        return json.dumps([[round(n, 5) for n in answer.numbers], answer.text]).encode()
    return pack(answer.numbers, form)


def stored_form(question: Question) -> str:
    """The numpy dtype in which the numbers of the question's answer are stored; `TEXT` for an answer with a text."""
    return str(getattr(question, "stored_as", "<f8"))


def pack(numbers: Sequence[float], form: str = "<f8") -> bytes:
    """The numbers as bytes of this numpy dtype."""
    return np.asarray(numbers, dtype=form).tobytes()


def unpack(blob: bytes, form: str = "<f8") -> list[float]:
    """The numbers that `pack` turned into these bytes."""
    numbers: list[float] = np.frombuffer(blob, dtype=form).tolist()
    return numbers


log = logging.getLogger(__name__)

Store = sqlite3.Connection
Answers = dict[int, Answer]
"""By index of the question."""
TABLES = """
CREATE TABLE IF NOT EXISTS answers (
    fingerprint TEXT, question TEXT, logps BLOB NOT NULL, note TEXT NOT NULL, checksum INTEGER,
    PRIMARY KEY (fingerprint, question)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (  -- finished, but some question still waits for another batch
    fingerprint TEXT, batch TEXT, logps BLOB NOT NULL, checksum INTEGER, PRIMARY KEY (fingerprint, batch)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spent (
    fingerprint TEXT, name TEXT, count INTEGER NOT NULL, PRIMARY KEY (fingerprint, name)
) WITHOUT ROWID;
"""
ADD = "INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT (fingerprint, name) DO UPDATE SET count = count + excluded.count"
WRITTEN_EVERY = 0.2
"""Seconds between writes, since a write takes longer than a fast server's answer."""
VERSION = 1
"""Version of the file format. Since version 1, every row has a checksum of its other columns."""
CHECKED = {"answers": "fingerprint, question, logps, note", "batches": "fingerprint, batch, logps"}
"""The columns of each table that go into the checksum."""


class Remembering:
    """Wraps a model and stores its answers in an SQLite file, by the model's fingerprint and the question.

    Answers are written when a batch finishes. The plan is made from all questions, answered ones included, and finished
    batches are skipped, so a resumed run has the same numbers as an uninterrupted run.
    """

    def __init__(self, model: Model, path: Path) -> None:
        check_model(model)
        self.model = model
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.path = path
        self.work = Work()

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer for each question, in order. The model is asked only for answers that are not stored."""
        unplanned = [isinstance(question, Unplanned) for question in questions]
        if any(unplanned) and not all(unplanned) and isinstance(self.model, Batched):
            batched = iter(self.answer(list(compress(questions, unplanned))))
            planned = iter(self.answer([q for q in questions if not isinstance(q, Unplanned)]))
            return [next(batched if is_unplanned else planned) for is_unplanned in unplanned]
        with open_store(self.path) as store:
            answers, damaged = read_answers(store, self.fingerprint, questions)
            if damaged:
                log.warning(f"{damaged:,} answers in '{self.path}' are damaged. The model is asked for them again.")
            self.work += Work(len(questions), len(answers))
            rest = [i for i in range(len(questions)) if i not in answers]
            if isinstance(self.model, Selective):
                refused = {i: Answer.none(why) for i in rest if (why := refusal(self.model, [questions[i]]))}
                self._keep(store, questions, answers, refused.items())
                rest = [i for i in rest if i not in refused]
            if rest and all(unplanned) and isinstance(self.model, Batched):
                with foreign(f"The model '{self.name}' failed to answer", self.model):
                    for batch in self.model.batched_answers(questions, frozenset(answers)):
                        self._keep(store, questions, answers, ((n, check_answer(questions[n], a)) for n, a in batch))
            elif rest and isinstance(self.model, Planned):
                with foreign(f"The model '{self.name}' failed to answer", self.model):
                    self._run_plan(self.model, questions, answers, store)
            elif rest and isinstance(self.model, Streams):
                self._stream(self.model, questions, rest, answers, store)
            elif rest:
                fresh = ask(self.model, [questions[i] for i in rest])
                self._keep(store, questions, answers, zip(rest, fresh, strict=True))
        return [answers[i] for i in range(len(questions))]

    @property
    def costs(self) -> dict[str, int]:
        """What the answers in the file have cost so far, over all audits, by kind: requests, tokens."""
        with open_store(self.path) as store:
            return dict(store.execute("SELECT name, count FROM spent WHERE fingerprint = ?", (self.fingerprint,)))

    def _run_plan(self, model: Planned, questions: Sequence[Question], answers: Answers, store: Store) -> None:
        plan = model.plan(questions)
        needed = sorted({n for i, numbers in enumerate(plan.needs) if i not in answers for n in numbers})
        log.info(f"{len(questions):,} questions, {plan.inputs:,} distinct inputs, {len(needed):,} batches.")
        self._keep(store, questions, answers, plan.unanswerable())
        stored = {n: values for n in needed if (values := self._stored_values(store, plan.batches[n])) is not None}
        rest = [number for number in needed if number not in stored]
        with gc_frozen():
            for number, values in chain(stored.items(), run_batches(plan, rest, model.stream)):
                self._keep(store, questions, answers, plan.settle(number, values), plan.batches[number], values)
        self.work += Work(inputs=plan.inputs, batches=len(rest))
        with store:
            store.execute("DELETE FROM batches WHERE fingerprint = ?", (self.fingerprint,))

    def _stream(
        self, model: Streams, questions: Sequence[Question], rest: Sequence[int], answers: Answers, store: Store
    ) -> None:
        fresh: list[tuple[int, Answer]] = []
        written, good, unchecked = time.monotonic(), -1, list[int]()
        try:
            for place, answer, confirmed in self._checked_answers(model, [questions[i] for i in rest]):
                if confirmed != good:
                    unchecked, good = [], confirmed
                unchecked.append(rest[place])
                fresh.append((rest[place], answer))
                if time.monotonic() - written > WRITTEN_EVERY:
                    self._keep(store, questions, answers, fresh)
                    fresh, written = [], time.monotonic()
        except ServerChanged:
            fresh = [(i, answer) for i, answer in fresh if i not in unchecked]
            with store:
                void = [(self.fingerprint, key(questions[i])) for i in unchecked]
                store.executemany("DELETE FROM answers WHERE fingerprint = ? AND question = ?", void)
            raise
        finally:  # also keeps answers that came before an error, or before Ctrl-C
            self._keep(store, questions, answers, fresh)
        if len(answers) < len(questions):
            count = len(rest) - len(questions) + len(answers)
            raise ModelError(
                f"'{self.name}' gave {count} answers to {len(rest)} questions. `answers` must give one for each."
            )
        self.work += Work(inputs=len(rest), batches=len(rest))

    def _checked_answers(self, model: Streams, questions: Sequence[Question]) -> Iterator[tuple[int, Answer, int]]:
        """Yield the number of a question, its answer, and how often the model was confirmed to be the same one."""
        stream: Iterator[tuple[int, Answer]] | None = None
        while True:
            with foreign(f"The model '{self.name}' failed to answer", model):
                stream = stream or iter(model.answers(questions))
                if (numbered := next(stream, None)) is None:
                    return
                place, answer = numbered[0], check_answer(questions[numbered[0]], numbered[1])
                confirmed = int(model.good) if isinstance(model, Recognisable) else 0
            yield place, answer, confirmed

    def _stored_values(self, store: Store, batch: Batch) -> Values | None:
        query = "SELECT logps, checksum FROM batches WHERE fingerprint = ? AND batch = ?"
        blob, checksum = store.execute(query, (self.fingerprint, batch.key)).fetchone() or (b"", None)
        if checksum != _checksum(self.fingerprint, batch.key, blob) or len(blob) != 8 * sum(map(len, batch.cells)):
            return None
        values = iter(unpack(blob))
        return [[next(values) for _ in cells] for cells in batch.cells]

    def _keep(
        self,
        store: Store,
        questions: Sequence[Question],
        answers: Answers,
        numbered: Iterable[tuple[int, Answer]],
        batch: Batch | None = None,
        values: Values = (),
    ) -> None:
        """Add the new answers, and write them with their batch and the model's costs in one transaction."""
        fresh = {i: answer for i, answer in numbered if i not in answers}
        rows = [
            (self.fingerprint, key(questions[i]), pack_answer(a, stored_form(questions[i])), a.note)
            for i, a in fresh.items()
        ]
        with store:
            insert = "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)"
            store.executemany(insert, [(*row, _checksum(*row)) for row in rows])
            if batch is not None:
                row = self.fingerprint, batch.key, pack(list(chain(*values)))
                store.execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?)", (*row, _checksum(*row)))
            if isinstance(self.model, Metered):
                with foreign(f"`spend` of the model '{self.name}' failed", self.model):
                    store.executemany(ADD, [(self.fingerprint, k, int(n)) for k, n in self.model.spend().items()])
        answers |= {
            i: unpack_answer(numbers, note, stored_form(questions[i]))
            for i, (*_, numbers, note) in zip(fresh, rows, strict=True)
        }


def check_same_model(path: Path, model: Recognisable) -> None:
    """Store the model's reference answers. Raise an error if the stored ones differ: it is then another model.

    A server may have put another model behind the same name.
    """
    with foreign(f"`reference` or `tolerance` of the model '{model.name}' cannot be read", model):
        reference = {question: check_answer(question, answer) for question, answer in model.reference.items()}
        tolerance, questions = number(model.tolerance), list(reference)
        list(map(key, questions))
    with open_store(path) as store:
        before, _ = read_answers(store, model.fingerprint, questions)
        for i, answer in before.items():
            if not (far := largest_difference(answer, reference[questions[i]])) <= tolerance:
                raise RunError(
                    f"Another model is behind the name '{model.name}' than when '{path.parent}' was begun: answers to "
                    f"one question differ by {far:.2g} nats. Choose another `name`, or start over with `fresh`."
                )
        Remembering(model, path)._keep(store, questions, dict(before), enumerate(reference.values()))


@dataclass(frozen=True)
class CachedAnswers:
    """The stored answers of a run in the place of its model, to compute its scores again."""

    path: Path
    name: str
    fingerprint: str

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        if not self.path.is_file():
            raise RunError(f"'{self.path}' does not exist, so there are no answers to score. Run the audit again.")
        with open_store(self.path, update=False) as store:
            answers, damaged = read_answers(store, self.fingerprint, questions)
        if damaged:
            raise RunError(
                f"{damaged:,} of {len(questions):,} answers in '{self.path}' are damaged: their checksums do not "
                "match. Run the audit again. It asks the model only for the damaged answers."
            )
        if missing := len(questions) - len(answers):
            raise RunError(
                f"{missing} of {len(questions)} answers are not in '{self.path}': the run was stopped, or the dataset "
                "has changed since. Run the audit again. It keeps the stored answers and asks for the others."
            )
        return [answers[i] for i in range(len(questions))]


def read_answers(store: Store, fingerprint: str, questions: Sequence[Question]) -> tuple[Answers, int]:
    """The intact stored answers by index, and the number of damaged ones."""
    of_old = _version(store) < VERSION
    checksums = "NULL" if of_old else "checksum"
    query = f"SELECT logps, note, {checksums} FROM answers WHERE fingerprint = ? AND question = ?"
    answers: Answers = {}
    damaged = 0
    for i, question in enumerate(questions):
        place = fingerprint, key(question)
        for numbers, note, checksum in store.execute(query, place):  # one row, or none
            form = stored_form(question)
            whole = isinstance(numbers, bytes) and isinstance(note, str)
            whole = whole and (form == TEXT or len(numbers) % int(form[-1]) == 0)
            if whole and (of_old or checksum == _checksum(*place, numbers, note)):
                answers[i] = unpack_answer(numbers, note, form)
            else:
                damaged += 1
    return answers, damaged


def delete_batches(path: Path) -> None:
    """Delete the batches that remain if a run was killed after its last answer."""
    with open_store(path) as store, store:
        store.execute("DELETE FROM batches")


def fingerprints(path: Path) -> set[str]:
    """The fingerprints of the models whose answers are in the file."""
    if not path.is_file():
        return set()
    with open_store(path, update=False) as store:
        return {row[0] for row in store.execute("SELECT DISTINCT fingerprint FROM answers")}


@contextmanager
def open_store(path: Path, *, update: bool = True) -> Iterator[Store]:
    """Open or create the file of answers. Errors of SQLite become a `RunError`.

    With `update`, rows of an older version get checksums; without, the file may be write-protected.
    """
    try:
        with closing(sqlite3.connect(path, timeout=60)) as store:
            store.text_factory = lambda text: text.decode(errors="replace")  # a damaged text fails its checksum
            if update:
                store.executescript(TABLES)
                _add_checksums(store)
            elif not store.execute("SELECT * FROM sqlite_master WHERE name = 'answers'").fetchall():
                store.executescript(TABLES.replace("CREATE TABLE", "CREATE TEMP TABLE"))  # the file stays as it is
            yield store
    except sqlite3.Error as error:
        raise RunError(
            f"The answers in '{path}' cannot be read or written: {error}. Free some space or check the folder's "
            "permissions. If the file is damaged, delete it and run the audit again, which computes all answers."
        ) from error


def _version(store: Store) -> int:
    return int(store.execute("PRAGMA user_version").fetchone()[0])


def _add_checksums(store: Store) -> None:
    """Add checksums to a file of an older version, and set its version."""
    if _version(store) >= VERSION:
        return
    store.create_function("checksum_of", -1, _checksum, deterministic=True)
    with store:
        store.execute("BEGIN IMMEDIATE")
        if _version(store) >= VERSION:  # another process was faster
            return
        for table, columns in CHECKED.items():
            if "checksum" not in {row[1] for row in store.execute(f"PRAGMA table_info({table})")}:
                store.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER")
            store.execute(f"UPDATE {table} SET checksum = checksum_of({columns})")
        store.execute(f"PRAGMA user_version = {VERSION}")


def _checksum(*fields: object) -> int:
    crc = 0
    for field in fields:
        crc = zlib.crc32(b"\0" + (field if isinstance(field, bytes) else str(field).encode()), crc)
    return crc
