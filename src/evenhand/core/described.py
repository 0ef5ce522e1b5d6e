"""What a parameter says: a record, from which Python's documentation and the options of commands are made."""

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, Unpack, get_args, get_origin, get_type_hints

Named = str | Path | Sequence[str | Path] | None
"""A name or a file, or several."""
Called = TypeVar("Called", bound=Callable[..., Any])


class Says:
    """The text of a parameter; `names` are the flags of its option, where they are not its own name, and a metavar.

    `kind` is its type on the command line, where Python takes more. A parameter in backticks is there an option, too.
    """

    def __init__(self, text: str, *names: str, default: Any = None, kind: Any = None, group: str = "", **typer: Any):
        self.text, self.default, self.kind, self.group, self.typer = text, default, kind, group, typer
        self.flags = [name for name in names if name.startswith("-")]
        self.metavar = next((name for name in names if not name.startswith("-")), None)


class Several(Says):
    """What a parameter says that may be a list, which is an option that can be repeated."""


class Argument(Says):
    """What a parameter says that is typed without a flag."""


def in_group(group: str) -> Callable[[type], type]:
    """Say that the parameters of a class stand together in `--help`."""

    def group_all(subject: type) -> type:
        for record in records_of(subject).values():
            record.group = record.group or group
        return subject

    return group_all


def records_of(*subjects: type) -> dict[str, Says]:
    """What the parameters of these classes say, by name."""
    return {name: get_args(hint)[1] for subject in subjects for name, hint in subject.__annotations__.items()}


def chosen(given: Mapping[str, Any], *subjects: type) -> dict[str, Any]:
    """Those of the given parameters that are of these classes."""
    return {name: value for name, value in given.items() if name in records_of(*subjects)}


def describe(*subjects: type, **records: Says) -> Callable[[Called], Called]:
    """Add to a function's documentation what its parameters say: here, in these classes, or in one that it unpacks.

    Its signature then has all of them by name.
    """

    def add_texts(function: Any) -> Any:
        signature, parameters, known = inspect.signature(function), [], records_of(*subjects) | records
        for parameter in signature.parameters.values():
            if get_origin(parameter.annotation) is not Unpack:
                parameters.append(parameter)
                continue
            (subject,) = get_args(parameter.annotation)
            known |= records_of(subject)
            for name, hint in get_type_hints(subject, function.__globals__).items():
                default = known[name].default
                parameters.append(inspect.Parameter(name, parameter.KEYWORD_ONLY, default=default, annotation=hint))
        function.parameters = {one.name: known[one.name] for one in parameters if one.name in known}
        lines = [f"{name}: {record.text}" for name, record in function.parameters.items()]
        lines = [textwrap.fill(line, 110, initial_indent=" " * 4, subsequent_indent=" " * 8) for line in lines]
        function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__), "", "Parameters:", *lines])
        function.__signature__ = signature.replace(parameters=parameters)
        return function

    return add_texts
