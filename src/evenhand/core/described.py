"""Descriptions of parameters, from which docstrings and command-line options are made."""

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, Unpack, get_args, get_origin, get_type_hints

Named = str | Path | Sequence[str | Path] | None
"""A name or a file, or several."""
Called = TypeVar("Called", bound=Callable[..., Any])


class Says:
    """The description of a parameter; `names` are the flags of its option, if not its own name, and a metavar.

    `kind` is its type on the command line, if Python accepts more. There, a parameter in backticks becomes an option.
    """

    def __init__(self, text: str, *names: str, default: Any = None, kind: Any = None, group: str = "", **typer: Any):
        self.text, self.default, self.kind, self.group, self.typer = text, default, kind, group, typer
        self.flags = [name for name in names if name.startswith("-")]
        self.metavar = next((name for name in names if not name.startswith("-")), None)


class Several(Says):
    """The description of a parameter that takes a list: an option that can be repeated."""


class Argument(Says):
    """The description of a positional argument."""


def in_group(group: str) -> Callable[[type], type]:
    """List the parameters of a class under this heading in `--help`."""

    def group_all(subject: type) -> type:
        for record in records_of(subject).values():
            record.group = record.group or group
        return subject

    return group_all


def records_of(*subjects: type) -> dict[str, Says]:
    """The descriptions of the parameters of these classes, by name."""
    return {name: get_args(hint)[1] for subject in subjects for name, hint in subject.__annotations__.items()}


def select_parameters(given: Mapping[str, Any], *subjects: type) -> dict[str, Any]:
    """The given parameters that belong to these classes."""
    return {name: value for name, value in given.items() if name in records_of(*subjects)}


def describe(*subjects: type, **records: Says) -> Callable[[Called], Called]:
    """Add descriptions of parameters to a docstring: `records`, those of `subjects`, and of a class that is unpacked.

    The signature then has all parameters by name.
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
        function.parameters = {each.name: known[each.name] for each in parameters if each.name in known}
        lines = [f"{name}: {record.text}" for name, record in function.parameters.items()]
        lines = [textwrap.fill(line, 110, initial_indent=" " * 4, subsequent_indent=" " * 8) for line in lines]
        function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__), "", "Parameters:", *lines])
        function.__signature__ = signature.replace(parameters=parameters)
        return function

    return add_texts
