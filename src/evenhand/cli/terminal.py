"""Printing, log lines, exit codes and the words of messages, for all commands; and options that several share."""

import errno
import io
import json
import logging
import os
import re
import shutil
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.core.parameters import OUTPUT, RESULTS, WHAT, Says, Several
from evenhand.core.shown import UNSEEN, replace_control_characters
from evenhand.errors import BadInput, EvenhandError, RunError
from evenhand.training import is_worker_rank

OK, BAD_INPUT, OUR_FAULT, INTERRUPTED, UNREAD = 0, 2, 70, 130, 141
WIDTH, WIDEST = 120, 1000
NOT_OURS = (errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES, errno.ENOSPC, errno.EROFS)
"""Errors of the operating system about a path that was given, or its disk: the user's to fix."""
NAMED = re.compile(r"`([a-z_]+)(?:=['\"]?([^`'\"]*)['\"]?)?`")
"""A parameter in a message, or its value."""
Names = list[str] | None
Paths = list[Path] | None
Json = Annotated[bool, Says("Print results as JSON.", "--json", group=OUTPUT)]
Yes = Annotated[bool, Says("With `fresh`: do not ask.", "--yes", group=RESULTS)]


def _load_plugins(files: Paths) -> None:
    """Load these files and the plugins of installed packages; `evenhand.plugins` is imported only if there are any."""
    if files or any(group.startswith("evenhand.") for group in entry_points().groups):
        from evenhand import plugins

        plugins.load_installed()
        for file in files or ():
            plugins.load_file(file)


OWN_CODE = "Load your own measures, datasets, models or debiasing methods."
Plugins = Annotated[
    Paths,
    Several(OWN_CODE, "--plugin", "FILE.py", kind=list[Path], group=WHAT, callback=_load_plugins, is_eager=True),
]


def run(
    app: Callable[[Sequence[str] | None], object], arguments: Sequence[str] | None, worded: Callable[[str], str] = str
) -> int:
    """Run the application, and give its exit code: 0 fine, 2 bad input, 70 a bug, 130 interrupted, 141 closed pipe."""
    log = logging.getLogger("evenhand")
    if not log.handlers:
        log.addHandler(_Handler(worded))
        log.setLevel(logging.ERROR if is_worker_rank() else logging.INFO)
    if not sys.stderr.isatty():  # a log has no room for the progress bars of libraries
        os.environ |= {"TQDM_DISABLE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"} | os.environ
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character still gets the rest
    try:
        app(arguments)
    except SystemExit as end:  # how typer ends, also after wrong usage (2) or an interrupt (130)
        code = end.code if isinstance(end.code, int) else BAD_INPUT  # Typer's own are numbers
    except EvenhandError as error:
        return _print_error(worded(str(error)), BAD_INPUT)
    except (Exception, GeneratorExit) as error:
        if _is_interrupt(error):
            return _print_error("Interrupted.", INTERRUPTED)
        if isinstance(error, OSError) and error.errno in NOT_OURS:
            why = BadInput(f"'{error.filename}': {error.strerror}. Choose another place or name.")
            return _print_error(str(why), BAD_INPUT)
        traceback.print_exc()
        return _print_error("This is a bug in evenhand, not a fault of your input. Please report it.", OUR_FAULT)
    if code == INTERRUPTED:
        return _print_error("Interrupted. Answers are kept: the same command resumes from there.", code)
    return code


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: a library that is being imported may raise its own."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _print_error(message: str, code: int) -> int:
    print(f"evenhand: {replace_control_characters(message)}", file=sys.stderr)
    return code


class _Handler(logging.Handler):
    """Prints log lines, worded for the command line, to stderr above a progress bar."""

    def __init__(self, worded: Callable[[str], str]) -> None:
        super().__init__()
        self.worded = worded

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm.auto import tqdm

        with suppress(BrokenPipeError):
            tqdm.write(replace_control_characters(self.worded(self.format(record))), file=sys.stderr)


def log_as(*, quiet: bool, verbose: bool, file: Path | None) -> None:
    """Set what is logged: only errors, or more than usual; and to a file, everything with the time."""
    log = logging.getLogger("evenhand")
    if quiet and verbose:
        raise BadInput("--quiet and --verbose contradict one another. Give one of them.")
    level = logging.ERROR if quiet else logging.DEBUG if verbose else logging.INFO
    for handler in log.handlers:
        handler.setLevel(level)
    if file:
        try:
            to_file = logging.FileHandler(file, encoding="utf-8")
        except OSError as error:
            raise BadInput(f"--log-file '{file}' cannot be written: {error.strerror}. Choose another.") from error
        to_file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        log.addHandler(to_file)
    log.setLevel(logging.DEBUG if file else level)


def confirm(question: str, *, yes: bool) -> None:
    """Ask on a terminal, and end the command unless the answer is yes; without a terminal, `yes` must be given."""
    if yes:
        return
    if not (sys.stdin and sys.stdin.isatty()):
        raise BadInput(f"{question} There is no terminal to ask on. Add --yes.")
    if not typer.confirm(question, err=True):
        raise typer.Exit(1)


def width() -> int:
    """The width of the terminal; 120 without one."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def show(*things: Any, width: int | None = None) -> None:
    """Print to stdout at once, without control characters; a closed pipe ends the command without a traceback.

    Things are wrapped at `width`; without it, tables and lines are as wide as they are.
    """
    from rich.console import Console, Group
    from rich.segment import Segment
    from rich.text import Text

    class Harmless(Console):
        def render(self, *what: Any, **how: Any) -> Any:
            for piece in super().render(*what, **how):
                yield piece if piece.control else Segment(replace_control_characters(piece.text), piece.style)

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the process

    if sys.stdout is None or is_worker_rank():  # stdout is closed, or another process prints
        return
    console = Harmless(highlight=False, markup=False)
    narrow = max(console.width, WIDTH)
    try:
        for thing in things:
            if width:
                console.width = width
                console.print(thing, crop=False)
                continue
            for part in thing.renderables if isinstance(thing, Group) else [thing]:
                if isinstance(part, str):
                    print(replace_control_characters(part))
                    continue
                # A narrow terminal wraps lines itself; rich would cut the numbers.
                uncut = all(getattr(column, "no_wrap", False) for column in getattr(part, "columns", ()))
                console.width = max(narrow, WIDEST) if uncut and not isinstance(part, Text) else narrow
                console.print(part, soft_wrap=isinstance(part, Text))
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(UNREAD) from None
        raise RunError(f"The output cannot be written: {error.strerror}.") from error


def as_flags(message: str, command: Any, invoked: str = "") -> str:
    """A message of the library with every `parameter` or `parameter=value` written as the option that a user types.

    The options are those of a click command and its subcommands; `invoked` is the subcommand whose options win.
    Other names stay as they are.
    """
    names = dict(_option_flags(command))
    if invoked in getattr(command, "commands", {}):
        names |= dict(_option_flags(command.commands[invoked]))

    def as_flag(match: re.Match[str]) -> str:
        name, value = match.groups()
        if name not in names:
            return match[0]
        return names[name] if value in (None, "True") else f"{names[name]} {value}"

    return NAMED.sub(as_flag, message)


def as_options(messages: Sequence[str], context: typer.Context) -> list[str]:
    """These messages with the options of the command that runs: see `as_flags`."""
    return [as_flags(message, context.find_root().command, context.info_name or "") for message in messages]


def _option_flags(command: Any) -> Any:
    for parameter in command.params:
        if parameter.param_type_name == "option":
            yield parameter.name, next(option for option in parameter.opts if option.startswith("--"))
    for each in getattr(command, "commands", {}).values():
        yield from _option_flags(each)


def print_json(data: object) -> None:
    """Print data as JSON, with control characters escaped."""
    text = json.dumps(data, indent=1, ensure_ascii=False)
    show(UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def print_or_write(text: str, out: Path | None) -> None:
    """Print a text, or write it to a file, which ends with a line break."""
    from evenhand.core.files import write_whole

    text = text.rstrip("\n")
    if out is None:
        show(text)
    else:
        write_whole(out, lambda file: file.write(f"{text}\n".encode()))


def json_values(options: Names, what: str, example: str) -> dict[str, Any]:
    """The values of options for other people's code, by name: what is JSON (numbers, true, false) is parsed."""
    values: dict[str, Any] = dict(option_values(options, what, example))
    for name, value in values.items():
        with suppress(ValueError):
            values[name] = json.loads(value)
    return values


def option_values(options: Names, what: str = "option", example: str = "masks=words") -> dict[str, str]:
    """The values of NAME=VALUE options, by name."""
    values: dict[str, str] = {}
    for option in options or []:
        name, _, value = option.partition("=")
        if not (name and value):
            article = "An" if what == "option" else "A"
            raise BadInput(f"{article} {what} is NAME=VALUE, as in {example}. Got '{option}'.")
        if name in values:
            raise BadInput(f"The {what} {name} is given twice. Got {name}={values[name]} and {option}: choose one.")
        values[name] = value
    return values
