"""How commands are made of functions, and options and printing that several of them share."""

import inspect
import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Unpack, get_args, get_origin

import typer

from evenhand.cli import terminal
from evenhand.core.described import Argument, Says, Several, records_of
from evenhand.core.parameters import OUTPUT, RESULTS, WHAT
from evenhand.core.shown import UNSEEN
from evenhand.errors import BadInput

Names = list[str] | None
Paths = list[Path] | None
Json = Annotated[bool, Says("Print results as JSON.", "--json", group=OUTPUT)]
Yes = Annotated[bool, Says("With `fresh`: do not ask.", "--yes", group=RESULTS)]


def command(function: Callable[..., None]) -> Callable[..., None]:
    """The function with a signature that Typer can read: its own parameters, and those of the class that it unpacks.

    An unpacked parameter that has neither a value nor a default is not passed on.
    """
    own, unpacked = [], []
    for parameter in inspect.signature(function).parameters.values():
        if get_origin(parameter.annotation) is not Unpack:
            own.append(_typer_parameter(parameter.name, parameter.annotation, parameter.default))
            continue
        (subject,) = get_args(parameter.annotation)
        for name, record in records_of(subject).items():
            unpacked.append(_typer_parameter(name, subject.__annotations__[name], record.default))
    optional = {parameter.name for parameter in unpacked}

    @wraps(function)
    def call(**given: Any) -> None:
        values = {name: value for name, value in given.items() if value is not None or name not in optional}
        function(**{name: READ[name](value) if name in READ else value for name, value in values.items()})

    call.__signature__ = inspect.Signature([*unpacked, *own])  # type: ignore[attr-defined]
    return call


def _typer_parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    """A parameter as Typer reads it; one that may be a list is None if it is not given."""
    kind, record = get_args(hint) or (hint, None)
    if record is not None:
        several = isinstance(record, Several)
        kind, default = record.kind or (list[str] if several else kind), None if several else default
        how = {"help": record.text + " Repeatable." * several, "metavar": record.metavar, **record.typer}
        if isinstance(record, Argument):
            info = typer.Argument(**how)
        else:
            info = typer.Option(*record.flags, rich_help_panel=record.group or None, **how)
        hint = Annotated[kind | None if default is None else kind, info]
    default = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _load_plugins(files: Paths) -> None:
    """Load these files and the plugins of installed packages; `evenhand.plugins` is imported only if there are any."""
    if files or any(group.startswith("evenhand.") for group in entry_points().groups):
        from evenhand import plugins

        plugins.load_installed()
        for file in files or ():
            plugins.load_file(file)


Plugins = Annotated[
    Paths,
    Several(
        "Load your own measures, datasets, models or debiasing methods.",
        "--plugin",
        "FILE.py",
        kind=list[Path],
        group=WHAT,
        callback=_load_plugins,
        is_eager=True,
    ),
]


def print_json(data: object) -> None:
    """Print data as JSON, with control characters escaped."""
    text = json.dumps(data, indent=1, ensure_ascii=False)
    terminal.show(UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_or_write(text: str, out: Path | None) -> None:
    """Print a text, or write it to a file, which ends with a line break."""
    from evenhand.core.files import write_whole

    text = text.rstrip("\n")
    if out is None:
        terminal.show(text)
    else:
        write_whole(out, lambda file: file.write(f"{text}\n".encode()))


def values(given: Names, what: str, example: str) -> dict[str, Any]:
    """The values of options for other people's code, by name: what is JSON (numbers, true, false) is parsed."""
    found: dict[str, Any] = dict(parsed(given, what, example))
    for name, value in found.items():
        with suppress(ValueError):
            found[name] = json.loads(value)
    return found


def parsed(options: Names, what: str = "option", example: str = "masks=words") -> dict[str, str]:
    """The values of NAME=VALUE options, by name."""
    found: dict[str, str] = {}
    for option in options or []:
        name, sign, value = option.partition("=")
        if not (name and sign and value):
            article = "An" if what == "option" else "A"
            raise BadInput(f"{article} {what} is NAME=VALUE, as in {example}. Got '{option}'.")
        if name in found:
            raise BadInput(f"The {what} {name} is given twice. Got {name}={found[name]} and {option}: choose one.")
        found[name] = value
    return found


def _batch_size(given: str) -> int | str:
    if given != "auto" and not given.isdecimal():
        raise BadInput(f"--batch-size must be auto or a whole number from 1. Got '{given}'.")
    return given if given == "auto" else int(given)


def _benchmarks(given: list[str]) -> dict[str, str]:
    rows = [text.rpartition("=") for text in given]
    for text, (dataset, _, benchmark) in zip(given, rows, strict=True):
        if not (dataset and benchmark):
            raise BadInput(f"--hub must be DATASET=OWNER/NAME, as in tgb=me/tgb. Got '{text}'.")
    return {dataset: benchmark for dataset, _, benchmark in rows}


def _split(given: str) -> list[str]:
    return [part.strip() for part in given.split(",") if part.strip()]


def _rate(given: str) -> float:
    try:
        return float(given)
    except ValueError as error:
        raise BadInput(f"A rate of bias is a number between 0 and 1. Got '{given}'.") from error


READ: dict[str, Callable[[Any], Any]] = {
    "options": parsed,
    "model_options": partial(values, what="model option", example="temperature=0.5"),
    "columns": partial(parsed, what="column", example="text=Sentence"),
    "batch_size": _batch_size,
    "hub": _benchmarks,
    "measures": _split,
    "rates": lambda given: [_rate(rate) for rate in _split(given)],
}
"""By parameter: how its text on the command line becomes its value in Python."""
