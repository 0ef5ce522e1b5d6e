"""Type checks of arguments and fields, whose errors say what was wanted and what was got."""

import inspect
import re
import reprlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from evenhand.core.foreign import is_ours
from evenhand.errors import BadInput, EvenhandError

Named = str | Path | Sequence[str | Path] | None
"""A name or a file, or several."""
Given = ParamSpec("Given")
Returned = TypeVar("Returned")
NUMBERS: dict[Any, Any] = {int: Integral, float: Real}  # these include numpy's numbers


def fits(value: Any, hint: Any) -> bool:
    """Whether a value matches a type annotation; True if that cannot be checked."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType, ClassVar):
        return any(fits(value, option) for option in inner)
    if kind is Literal:
        return value in inner
    if kind in (Any, inspect.Parameter.empty) or not isinstance(kind, type):  # a type variable, or a name in quotes
        return True
    if getattr(kind, "_is_protocol", False):
        if not all(hasattr(value, name) for name in {**vars(kind), **kind.__annotations__} if name[0] != "_"):
            return False
    elif not isinstance(value, NUMBERS.get(kind, kind)) or (isinstance(value, str) and inner):
        return False  # a string is a sequence of strings, but is not accepted as a list of them
    if inner and issubclass(kind, Sequence):
        hints = inner if kind is tuple and ... not in inner else inner[:1] * len(value)
        return len(hints) == len(value) and all(map(fits, value, hints))
    parts = fields(value) if is_dataclass(type(value)) and is_ours(value) else ()
    return all(fits(getattr(value, part.name), part.type) for part in parts)


def check_types(owner: str, arguments: Iterable[tuple[str, Any, Any]]) -> None:
    """Raise BadInput for the first (name, value, annotation) whose value does not match."""
    for name, value, hint in arguments:
        if not fits(value, hint):
            types = re.sub(r"\b([a-z_]+\.)+", "", inspect.formatannotation(hint)).replace(" | ", " or ")
            raise BadInput(f"{owner}: `{name}` must be {types}. Got {reprlib.repr(value)}.")


def check_fields(instance: Any, *unchecked: str) -> None:
    """Raise BadInput if a field of a dataclass has a wrong type; fields named in `unchecked` may have any type."""
    hints = {field.name: field.type for field in fields(instance) if field.name not in unchecked}
    check_types(type(instance).__name__, ((name, getattr(instance, name), hint) for name, hint in hints.items()))


def typed(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Make a function, or `__post_init__`, raise `BadInput` if it fails and an argument has a wrong type.

    Types are checked only after an error, so calls that work cost nothing. evenhand's own errors are not changed.
    """

    @wraps(function)
    def checked_call(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        try:
            return function(*args, **kwargs)
        except EvenhandError:
            raise
        except Exception as error:
            if function.__name__ == "__post_init__":
                check_fields(args[0])
            try:
                bound = inspect.signature(function).bind(*args, **kwargs)
            except TypeError:  # too many or too few arguments: the original error says more
                known = list(inspect.signature(function).parameters)
                for close in (get_close_matches(name, known, 1) for name in kwargs if name not in known):
                    error.add_note(f"Did you mean '{close[0]}'?" if close else f"Available: {', '.join(known)}.")
                raise error from None
            for name, value in bound.arguments.items():
                parameter = bound.signature.parameters[name]
                values = value if parameter.kind is parameter.VAR_POSITIONAL else [value]
                check_types(function.__name__, ((name, value, parameter.annotation) for value in values))
            raise

    return checked_call


def as_typed(name: str, given: Any, kind: type) -> Any:
    """The option in the type of its default; the command line passes a string."""
    if kind is bool:
        flag = {"true": True, "false": False}.get(str(given).lower())
        if flag is None:
            raise BadInput(f"`{name}` must be True or False. Got {given!r}.")
        return flag
    try:
        return kind(given) if isinstance(given, str) else given
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise BadInput(f"`{name}` must be {wanted}. Got {given!r}.") from None
