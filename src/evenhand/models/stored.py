"""Questions and answers as they are stored: the key of a question, and the bytes of an answer."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, is_dataclass
from numbers import Integral
from typing import Any

import numpy as np

from evenhand.core.foreign import is_ours
from evenhand.core.questions import Answer, Question
from evenhand.errors import BadInput

TEXT = "text"
"""Answers with a text are stored as JSON: the numbers, and the text."""


def key(question: Question) -> str:
    """The question as canonical JSON, the same in every process and release; a user's class by its full name."""
    if not is_ours(question):
        return _json(question, _to_jsonable)
    usual = {field.name: field.default for field in fields(question) if field.name != "masks"}  # which old keys have
    equal = {field.name for field in fields(question) if field.compare}
    told = {
        name: value for name, value in asdict(question).items() if name in equal and value != usual.get(name, object())
    }
    return _json({"ask": type(question).__name__.lower(), **told}, int)


def _json(thing: object, default: Callable[[Any], Any]) -> str:
    return json.dumps(thing, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=default)


def _to_jsonable(thing: Any) -> Any:
    """A part of a user's question as JSON: a dataclass with its full name, since another may have the same fields."""
    if is_dataclass(thing):
        kind = f"{type(thing).__module__}.{type(thing).__qualname__}"
        return {"ask": kind, "fields": {field.name: getattr(thing, field.name) for field in fields(thing)}}
    if isinstance(thing, Integral):  # numpy's
        return int(thing)
    raise BadInput(
        "A question is kept by its fields, which must be texts, Python's numbers, None, or tuples or dataclasses of "
        f"these. Got {thing!r}."
    )


def read_back(blob: bytes, note: str, form: str) -> Answer:
    """Decode a stored answer. New answers are decoded, too: a score must not depend on float32 or float64."""
    if form == TEXT:
        numbers, text = json.loads(blob)
        return Answer(tuple(numbers), note, text=text)
    return Answer(tuple(unpack(blob, form)), note)


def pack_answer(answer: Answer, form: str) -> bytes:
    """The bytes of an answer in this form."""
    if form == TEXT:
        return json.dumps([[round(n, 5) for n in answer.numbers], answer.text]).encode()
    return pack(answer.numbers, form)


def stored_form(question: Question) -> str:
    """The numpy dtype in which the numbers of its answer are stored; TEXT for an answer with a text."""
    return str(getattr(question, "stored_as", "<f8"))


def pack(numbers: Sequence[float], form: str = "<f8") -> bytes:
    """Numbers as bytes of a numpy dtype."""
    return np.asarray(numbers, dtype=form).tobytes()


def unpack(blob: bytes, form: str = "<f8") -> list[float]:
    """The numbers that `pack` made bytes of."""
    numbers: list[float] = np.frombuffer(blob, dtype=form).tolist()
    return numbers
