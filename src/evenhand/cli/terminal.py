"""What all commands share: printing, log lines, exit codes, messages that name flags, and common options."""

import errno
import io
import json
import logging
import os
import re
import shutil
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.core.files import from_json, write_whole
from evenhand.core.parameters import OUTPUT, RESULTS, WHAT, Says, Several
from evenhand.core.shown import UNSEEN, replace_control_characters
from evenhand.errors import BadInput, EvenhandError, RunError
from evenhand.training import is_worker_rank

OK, BAD_INPUT, OUR_FAULT, INTERRUPTED, CLOSED_PIPE = 0, 2, 70, 130, 141
WIDTH, WIDEST = 120, 1000
USER_ERRORS = (errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES, errno.ENOSPC, errno.EROFS)
"""Errors of the operating system that the user can fix, about a path or its disk."""
NAMED = re.compile(r"(option )?`([a-z_]+)(?:=['\"]?([^`'\"]*)['\"]?)?`")
"""A parameter in a message, alone or with its value, or an option: `name`, `name=value` or option `name=value`."""
_REWORD: ContextVar[Callable[[str], str]] = ContextVar("reword", default=str)
"""The `reword` of the running command."""
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
    Paths, Several(OWN_CODE, "--plugin", "FILE.py", kind=list[Path], group=WHAT, callback=_load_plugins, is_eager=True)
]


def run(
    app: Callable[[Sequence[str] | None], object], arguments: Sequence[str] | None, reword: Callable[[str], str] = str
) -> int:
    """Run the application and give the exit code: 0 fine, 2 bad input, 70 a bug, 130 interrupted, 141 closed pipe.

    A command may end with another code of its own. `reword` is applied to messages and log lines.
    """
    _REWORD.set(reword)
    log, sys.stderr = logging.getLogger("evenhand"), sys.stderr or io.StringIO()  # None if it is closed
    if not log.handlers:
        log.addHandler(_Handler(reword))
        log.setLevel(logging.ERROR if is_worker_rank() else logging.INFO)
    if not sys.stderr.isatty():  # a log has no room for the progress bars of libraries
        os.environ |= {"TQDM_DISABLE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"} | os.environ
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a character that the terminal cannot show becomes ?
    try:
        app(arguments)
    except SystemExit as end:  # how typer ends, also after wrong usage (2) or an interrupt (130)
        code = end.code if isinstance(end.code, int) else BAD_INPUT  # Typer's own codes are numbers
    except EvenhandError as error:
        return _print_error(reword(str(error)), BAD_INPUT)
    except BaseException as error:  # a library's panic is no Exception, and Python would end with 1: a gate that fails
        if _is_interrupt(error):
            return _print_error("Interrupted.", INTERRUPTED)
        if isinstance(error, OSError) and error.errno in USER_ERRORS:
            why = BadInput(f"'{error.filename}': {error.strerror}. Choose another place or name.")
            return _print_error(str(why), BAD_INPUT)
        traceback.print_exc()
        return _print_error("This is a bug in evenhand, not a fault of your input. Please report it.", OUR_FAULT)
    if code == INTERRUPTED:
        return _print_error("Interrupted. Answers are kept: the same command resumes from there.", code)
    return code


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused the error: a library that is interrupted while it is imported may raise another one."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _print_error(message: str, code: int) -> int:
    with suppress(OSError):  # stderr is full
        print(f"evenhand: {replace_control_characters(message)}", file=sys.stderr)
    return code


class _Handler(logging.Handler):
    """Prints log lines to stderr above a progress bar, after `reword`."""

    def __init__(self, reword: Callable[[str], str]) -> None:
        super().__init__()
        self.reword = reword
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm.auto import tqdm

        self.lines.append(record.getMessage())
        with suppress(OSError):  # stderr is closed or full
            tqdm.write(replace_control_characters(self.reword(self.format(record))), file=sys.stderr)


def logged_lines() -> str:
    """The log lines that whoever reads the output has seen: none unless both go to a terminal."""
    seen = all(stream and stream.isatty() for stream in (sys.stdout, sys.stderr))
    handlers = (each for each in logging.getLogger("evenhand").handlers if isinstance(each, _Handler) and seen)
    return "\n".join(line for handler in handlers for line in handler.lines)


class _LogFile(logging.FileHandler):
    """A log file. If it can no longer be written, one line says so, and the work goes on without it."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        log, error = logging.getLogger("evenhand"), sys.exc_info()[1]
        log.removeHandler(self)
        with suppress(OSError):
            self.close()
        log.warning(f"--log-file '{self.baseFilename}' ends here: {getattr(error, 'strerror', error)}.")


def log_as(*, quiet: bool, verbose: bool, file: Path | None) -> None:
    """Print only errors (`quiet`) or debug messages too (`verbose`); append all messages with the time to `file`."""
    log = logging.getLogger("evenhand")
    if quiet and verbose:
        raise BadInput("--quiet and --verbose contradict one another. Give one of them.")
    level = logging.ERROR if quiet else logging.DEBUG if verbose else logging.INFO
    for handler in log.handlers:
        handler.setLevel(level)
    if file:
        try:
            to_file = _LogFile(file, encoding="utf-8")
        except OSError as error:
            raise BadInput(f"--log-file '{file}' cannot be written: {error.strerror}. Choose another file.") from error
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

    With `width`, lines are wrapped there; without it, tables and lines keep their full width. Lines have flags in place
    of `parameters`.
    """
    from rich.console import Console, Group
    from rich.segment import Segment
    from rich.text import Text

    class Harmless(Console):
        def render(self, *args: Any, **options: Any) -> Any:
            for piece in super().render(*args, **options):
                yield piece if piece.control else Segment(replace_control_characters(piece.text), piece.style)

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the process

    if sys.stdout is None or is_worker_rank():  # stdout is closed, or another process prints
        return
    console = Harmless(highlight=False, markup=False)
    narrow = max(console.width, WIDTH)
    try:
        for thing in things:
            parts = thing.renderables if isinstance(thing, Group) else [thing]
            for text in (getattr(part, "renderable", part) for part in parts):
                if isinstance(text, Text) and "`" in text.plain:
                    text.plain = NAMED.sub(lambda name: name[0].replace("`", ""), _REWORD.get()(text.plain))
            if width:
                console.width = width
                console.print(thing, crop=False)
                continue
            for part in parts:
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
            raise typer.Exit(CLOSED_PIPE) from None
        raise RunError(f"The output cannot be written: {error.strerror}.") from error


def as_flags(message: str, command: Any, invoked: str = "") -> str:
    """A message of the library with every `parameter` or `parameter=value` replaced by the flag that a user types.

    The flags are those of a click command and its subcommands. If several subcommands have the parameter, the flag of
    the subcommand `invoked` is taken. Names that are no parameters stay as they are.
    """
    names = dict(_option_flags(command))
    if invoked in getattr(command, "commands", {}):
        names |= dict(_option_flags(command.commands[invoked]))

    def as_flag(match: re.Match[str]) -> str:
        option, name, value = match.groups(default="")
        if name not in names:
            return f"--option {name}={value}" if option and value else match[0]
        return f"{option}{names[name]}" if value in ("", "True") else f"{option}{names[name]} {value}"

    return NAMED.sub(as_flag, message)


def as_options(messages: Sequence[str], context: typer.Context) -> list[str]:
    """The messages with the flags of the running command: see `as_flags`."""
    return [as_flags(message, context.find_root().command, context.info_name or "") for message in messages]


def _option_flags(command: Any) -> Any:
    for parameter in command.params:
        if parameter.param_type_name == "option":
            yield parameter.name, next(option for option in parameter.opts if option.startswith("--"))
    for each in getattr(command, "commands", {}).values():
        yield from _option_flags(each)


def check_pages(folders: Iterable[Path]) -> None:
    """Raise a RunError if a run has no page. Its results are complete, so a log line has said why, and no more."""
    if without := [str(folder) for folder in folders if not (folder / "report.html").is_file()]:
        again = f"The results are complete. Make it again: evenhand report {without[0]}"
        raise RunError(f"The page of {', '.join(without[:3])} could not be written. {again}")


def print_json(data: object) -> None:
    """Print data as JSON, with control characters escaped."""
    text = json.dumps(data, indent=1, ensure_ascii=False)
    show(UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def print_or_write(text: str, out: Path | None) -> None:
    """Print a text, or write it to a file, which ends with a line break."""
    text = text.rstrip("\n")
    if out is None:
        show(text)
    else:
        write_whole(out, lambda file: file.write(f"{text}\n".encode()))


def json_values(options: Names, kind: str, example: str) -> dict[str, Any]:
    """The values of NAME=VALUE options, by name; a value that is valid JSON (a number, true, false) is parsed."""
    values: dict[str, Any] = dict(option_values(options, kind, example))
    for name, value in values.items():
        with suppress(ValueError):
            values[name] = from_json(value)
    return values


def option_values(options: Names, kind: str = "option", example: str = "masks=words") -> dict[str, str]:
    """The values of NAME=VALUE options, by name."""
    values: dict[str, str] = {}
    for option in options or []:
        name, _, value = option.partition("=")
        if not (name and value):
            article = "An" if kind == "option" else "A"
            raise BadInput(f"{article} {kind} must be NAME=VALUE, for example {example}. Got '{option}'.")
        if name in values:
            raise BadInput(f"The {kind} {name} is given twice. Got {name}={values[name]} and {option}: choose one.")
        values[name] = value
    return values
