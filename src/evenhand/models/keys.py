"""Questions as text: what an answer is stored under."""

import json
from collections.abc import Callable
from dataclasses import asdict, fields, is_dataclass
from numbers import Integral
from typing import Any

from evenhand.core.foreign import is_ours
from evenhand.core.questions import Question
from evenhand.errors import BadInput


def key(question: Question) -> str:
    """The question as canonical JSON, the same in every process and release; a user's class by its full name."""
    if not is_ours(question):
        return _json(question, _to_jsonable)
    usual = {field.name: field.default for field in fields(question) if field.name != "masks"}  # which old keys have
    told = {name: value for name, value in asdict(question).items() if name not in usual or value != usual[name]}
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
