"""What `print` shows of a run, a comparison or a verdict: what the command of that name prints."""

from functools import singledispatch
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType

from evenhand.analysis.comparison import Comparison
from evenhand.analysis.tracking import Track
from evenhand.core.shown import harmless
from evenhand.gate.verdict import Verdict
from evenhand.report import comparison as compared
from evenhand.report import track as tracked
from evenhand.report.answer import WIDEST, answer
from evenhand.runs.folder import Run

LONGEST = 400
"""The width of a comparison's tables, whose rows must not be cut."""


@singledispatch
def text(what: Any) -> str:
    """An object of ours as plain text; one that no command shows as Python writes it."""
    return repr(what)


@text.register
def _(run: Run) -> str:
    return _rendered(answer(run, WIDEST), WIDEST)


@text.register
def _(comparison: Comparison) -> str:
    return _rendered(compared.terminal(comparison), LONGEST)


@text.register
def _(track: Track) -> str:
    return _rendered(tracked.terminal(track, WIDEST), WIDEST)


@text.register
def _(verdict: Verdict) -> str:
    return harmless("\n".join(verdict.lines()))


def _rendered(shown: RenderableType, width: int) -> str:
    file = StringIO()
    Console(file=file, width=width, highlight=False, markup=False, color_system=None).print(shown)
    return harmless("\n".join(line.rstrip() for line in file.getvalue().split("\n")).strip("\n"))
