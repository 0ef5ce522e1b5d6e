"""Between the commands and whoever started them: printing, log lines, exit codes."""

import io
import logging
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from evenhand.errors import EvenhandError, RunError
from evenhand.training.processes import is_worker_rank

OK, BAD_INPUT, OUR_FAULT, INTERRUPTED, UNREAD = 0, 2, 70, 130, 141
WIDTH = 120


def run(
    app: Callable[[Sequence[str] | None], object], arguments: Sequence[str] | None, worded: Callable[[str], str] = str
) -> int:
    """Run the application; its exit code: 0 fine, 2 bad input, 70 our own fault, 130 interrupted, 141 unread."""
    _show_log()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character still gets the rest
    try:
        app(arguments)
    except SystemExit as end:  # how typer ends, with the code of a wrong usage (2) or an interrupt (130) among others
        code = end.code if isinstance(end.code, int) else OK
    except EvenhandError as error:
        return _say(worded(str(error)), BAD_INPUT)
    except Exception as error:
        if _interrupted(error):
            return _say("Interrupted.", INTERRUPTED)
        traceback.print_exc()
        return _say("This is a fault of evenhand's own, not of your input. Please report it.", OUR_FAULT)
    if code == INTERRUPTED:
        return _say("Interrupted. What was answered is kept; the same command goes on from there.", code)
    return code


def _interrupted(error: BaseException | None) -> bool:
    """Did somebody press Ctrl-C while a library was being imported? It may come out as an error of its own."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _say(message: str, code: int) -> int:
    print(f"evenhand: {message}", file=sys.stderr)
    return code


class _BesideTheBar(logging.Handler):
    """Prints log lines to stderr without tearing a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm.auto import tqdm

        with suppress(BrokenPipeError):
            tqdm.write(self.format(record), file=sys.stderr)


def _show_log() -> None:
    log = logging.getLogger("evenhand")
    if not log.handlers:
        log.addHandler(_BesideTheBar())
        log.setLevel(logging.ERROR if is_worker_rank() else logging.INFO)


def _width(console: Any, part: Any) -> int:
    """How wide a table is when nothing is cut; long texts may wrap."""
    from rich.measure import Measurement

    unwrapped = all(getattr(column, "no_wrap", False) for column in getattr(part, "columns", ()))
    return Measurement.get(console, console.options.update(max_width=1000), part).maximum if unwrapped else 0


def show(*things: Any) -> None:
    """To stdout, at once; whoever has read enough and closed the pipe ends the command, without a traceback."""
    from rich.console import Console, Group
    from rich.text import Text

    if sys.stdout is None or is_worker_rank():  # closed by whoever started us; the first process speaks for all
        return
    console = Console(highlight=False, markup=False)
    narrow = max(console.width, WIDTH)
    try:
        for thing in things:
            for part in thing.renderables if isinstance(thing, Group) else [thing]:
                if isinstance(part, str):
                    print(part)
                    continue
                # A narrow terminal wraps lines itself; rich would cut the numbers.
                console.width = narrow if isinstance(part, Text) else max(narrow, _width(console, part))
                console.print(part, soft_wrap=isinstance(part, Text))
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise SystemExit(UNREAD) from None
        raise RunError(f"The output cannot be written: {error.strerror}.") from error
