"""What `print` shows of a run, a comparison or a verdict: the output of the matching command."""

from collections.abc import Callable
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType

from evenhand.analysis.comparison import Comparison
from evenhand.analysis.tracking import Track
from evenhand.core.shown import harmless
from evenhand.gate.verdict import Verdict
from evenhand.runs.folder import StoredRun
from evenhand.show import comparison as compared
from evenhand.show import track as tracked
from evenhand.show.answer import WIDEST, answer

LONGEST = 400
"""The width of a comparison's tables, whose rows must not be cut."""


def text(what: Any) -> str:
    """An object of evenhand as plain text; its repr if no command shows it."""
    return next((how(what) for kind, how in TEXTS.items() if isinstance(what, kind)), repr(what))


def _render(shown: RenderableType, width: int) -> str:
    file = StringIO()
    Console(file=file, width=width, highlight=False, markup=False, color_system=None).print(shown)
    return harmless("\n".join(line.rstrip() for line in file.getvalue().split("\n")).strip("\n"))


TEXTS: dict[type, Callable[[Any], str]] = {
    StoredRun: lambda run: _render(answer(run, WIDEST), WIDEST),
    Comparison: lambda comparison: _render(compared.terminal(comparison), LONGEST),
    Track: lambda track: _render(tracked.terminal(track, WIDEST), WIDEST),
    Verdict: lambda verdict: harmless("\n".join(verdict.lines())),
}
