"""The parts of exports: the rows of a run with their labels, and text escaped for LaTeX, Markdown and file names."""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from typing import Any

from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import Row
from evenhand.stats.estimate import Estimate

_NAMES = [
    *("backslash", "braceleft", "braceright", "asciicircum", "asciitilde"),
    *("less", "greater", "bar", "quotedbl", "asciigrave"),
]
LATEX = {letter: rf"\text{name}{{}}" for letter, name in zip('\\{}^~<>|"`', _NAMES, strict=True)}
LATEX |= {letter: rf"\{letter}" for letter in "$&%#_"} | {"–": "--"}
LATEX |= {letter: f"{{{letter}}}" for letter in "[]*"}  # a bracket or a star after \\ would be its argument
"""Braces are written by name since BibTeX counts even escaped ones. \\textquotedbl needs the T1 encoding."""
MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~$&])")
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
"""Line ends and control characters, which would break a table row."""


def one_line(text: object) -> str:
    """The text on one line, without control characters."""
    return UNSEEN.sub(" ", str(text)).strip()


def latex(text: object) -> str:
    """The text escaped for LaTeX, so that it has no commands and no ligatures such as -- or ''."""
    plain = re.sub(r"([-'])(?=\1)", "\\1\0", one_line(text))
    return "".join(LATEX.get(letter, letter) for letter in plain).replace("\0", "{}")


def markdown(text: object) -> str:
    """The text escaped for Markdown, also within a table."""
    return MARKDOWN.sub(r"\\\1", one_line(text))


def with_code(text: object) -> Any:
    """The text escaped for HTML, with what is between backticks as code."""
    from markupsafe import Markup, escape  # which the terminal does not need

    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def slug(text: object) -> str:
    """The text as a name for files, labels and ids: letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", str(text)).strip("-.") or "unnamed"


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: Collection[str] = ()) -> str:
    """A table in Markdown, with escaped cells; columns in `left` are words, the others numbers."""
    lines = [heads, ["---" if head in left else "--:" for head in heads]]
    shown = [[markdown(cell) for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in [*lines, *shown])


def exported_rows(run: StoredRun) -> list[Row]:
    """Every row of the run. A value without an interval is exported as missing, since it could be chance."""
    tasks = [(*run.rows_of(*task.name), *run.values_of(*task.name)) for task in run.record.tasks]
    return [row if row.known and row.spans else _as_missing(row) for rows in tasks for row in rows]


def rows_without_parts(run: StoredRun, task: TaskRecord | None = None) -> list[Row]:
    """Stereotype, default and contrasts, then the values of all items and by group, without parts of groups."""
    return [row for row in exported_rows(run) if not row.part and (task is None or row.task.name == task.name)]


def labels(row: Row) -> list[str]:
    """The row's label in each group column of a table. A contrast is in the column of the group that it compares.

    Stereotype and default are in the first column, and so are the labels of groups that have no column.
    """
    task = row.task
    compared = task.partners.group if task.partners and row.contrast else ""
    by = task.by or ("items",)
    shown = [row.contrast if group == compared else row.groups.get(group, "all") for group in by]
    other = [label for group, label in row.groups.items() if group not in by]
    if first := [*other, *([row.contrast] if row.contrast not in shown else []), row.estimand]:
        words = [*first, *([shown[0]] if shown[0] != "all" else [])]
        shown[0] = ", ".join(filter(None, words)) or shown[0]
    return shown


def neutral_text(value: float) -> str:
    """A neutral value as text; "none" if there is none."""
    return "none" if math.isnan(value) else f"{value:g}"


def _as_missing(row: Row) -> Row:
    why = "too few clusters for an interval" if row.n else "no item was scored"
    return replace(row, **asdict(Estimate(math.nan, n=row.n, unscored=row.unscored, note=row.note or why)))
