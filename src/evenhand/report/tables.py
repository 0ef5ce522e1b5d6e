"""Tables for people, on a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evenhand.folder import Run


def scorecard(run: Run) -> RenderableType:
    """Every value of a run with its interval, n and unscored; then what it took and where it lies."""
    parts: list[RenderableType] = []
    for task in run.about["tasks"]:
        rows = [r for r in run.results if (r["dataset"], r["measure"]) == (task["dataset"], task["measure"])]
        parts += [_heading(run, task), _values(task["by"], rows)]
        parts += [_line(text, "yellow") for text in _unscored(run, task)]
    return Group(*parts, *(_line(text, "dim") for text in _footer(run)))


def _line(text: str, style: str) -> Text:
    """One line however long: a path that is cut in two cannot be copied."""
    return Text(text, style=style, no_wrap=True, overflow="ignore")


def _heading(run: Run, task: Mapping[str, Any]) -> Text:
    title = _line("", "").append(f"{run.about['model']} · {task['dataset']} · {task['measure']}", "bold")
    if run.about["partial"]:
        title.append(f"  (partial: a sample of {run.about['limit']} items)", "yellow")
    return title.append(f"\n{task['reading']}", "dim")


def _values(by: list[str], rows: list[dict[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for group in by:
        table.add_column(group)
    for name in ("value", "95 % interval", "n", "unscored"):
        table.add_column(name, justify="right")
    for row in rows:
        labels = [row["groups"].get(group, "all") for group in by]
        table.add_row(*labels, number(row["value"]), interval(row), f"{row['n']:,}", f"{row['unscored']:,}")
    return table


def number(value: float | None) -> str:
    """A signed value; a dash where there is none."""
    return "–" if value is None else f"{value:+.3f}"


def interval(row: Mapping[str, Any]) -> str:
    """Low and high; a dash where there are too few clusters for an interval."""
    return "–" if row["low"] is None else f"[{row['low']:+.3f}, {row['high']:+.3f}]"


def _unscored(run: Run, task: Mapping[str, Any]) -> Iterator[str]:
    for reason, n in run.about["unscored"].get(f"{task['dataset']}/{task['measure']}", {}).items():
        yield f"{n:,} items unscored: {reason}"


def _footer(run: Run) -> Iterator[str]:
    clusters = sorted({task["cluster"] for task in run.about["tasks"]})
    yield f"Intervals resample whole clusters ({', '.join(clusters)})."
    work = run.about["work"]
    kept = f", {work['kept']:,} answers kept from before" if work["kept"] else ""
    yield f"{work['questions']:,} questions, {work['inputs']:,} distinct inputs{kept}; {run.about['seconds']} s."
    yield f"Run folder: {run.path}"
