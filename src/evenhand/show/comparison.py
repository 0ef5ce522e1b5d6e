"""A comparison as a table for the terminal, as markdown, as LaTeX, and as a chart."""

import math
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from evenhand.analysis.change import ONE_TRAINING, Change, has_no_training
from evenhand.analysis.comparison import Comparison
from evenhand.formats.cells import latex as escaped
from evenhand.formats.cells import markdown as escaped_markdown
from evenhand.formats.cells import markdown_table
from evenhand.formats.latex import HEAD, booktabs
from evenhand.show.tables import P, cell, line, table
from evenhand.stats.verdict import FAMILY

WORDS = ("dataset", "measure", "run", "group", "moved")
HEADS = ("run", "group", "before", "after", "change", "95 % interval", "p_holm", "detectable", "n", "excluded", "moved")

MOVED = (
    "Moved, nearer to or farther from where it should be: the interval of the change in distance excludes 0, and its "
    "adjusted p is below .05."
)


def terminal(comparison: Comparison) -> RenderableType:
    """A table for each dataset and measure, and how to read it."""
    parts: list[RenderableType] = [line(title(comparison), "bold"), *map(Text, comparison.unmeasured)]
    heads = _heads(comparison)
    for (dataset, measure), rows in by_task(judged_rows(comparison)).items():
        parts += [
            line(f"\n{dataset} · {measure}", "bold"),
            line(_reading(comparison, rows[0]), "dim"),
            table(heads, _cells(rows, heads), left=WORDS),
        ]
    return Group(*parts, *(line(text, "dim") for text in _notes(comparison)))


def markdown(comparison: Comparison) -> str:
    """One table of all rows, for a pull request or a paper's appendix."""
    heads = ["dataset", "measure", *_heads(comparison)]
    shown = markdown_table(heads, _cells(judged_rows(comparison), heads), left=WORDS)
    notes = "".join(f"\n{escaped_markdown(note)}\n" for note in _notes(comparison))
    first = "".join(f"{escaped_markdown(text)}\n\n" for text in (title(comparison), *comparison.unmeasured))
    return f"{first}{shown}{notes}"


def latex(comparison: Comparison) -> str:
    """A booktabs table for each dataset and measure; its caption says what the columns mean."""
    heads = [head for head in _heads(comparison) if head != "detectable"]
    named = {"p_holm": "$p$ (Holm)", "n": "$n$", "95 % interval": r"95\,\% interval"}
    if len(comparison.runs) == 2:
        named |= {"before": escaped(comparison.names[0]), "after": escaped(comparison.names[1])}
    lines = [HEAD]
    for (dataset, measure), rows in by_task(judged_rows(comparison)).items():
        about = _reading(comparison, rows[0])
        remarks = [note for note in _notes(comparison) if not note.startswith(("Detectable", "Moved"))]
        notes = " ".join([*comparison.unmeasured, f"{measure} on {dataset}: {about}.", *remarks, MOVED])
        columns = "".join("l" if head in WORDS else "r" for head in heads)
        cells = [
            [_latex_cell(head, text) for head, text in zip(heads, row, strict=True)] for row in _cells(rows, heads)
        ]
        titles = [[named.get(head, escaped(head)) for head in heads]]
        style = r"\footnotesize\setlength{\tabcolsep}{3pt}"
        lines += booktabs(escaped(notes), f"compare-{dataset}-{measure}", columns, titles, cells, style=style)
    return "\n".join(lines) + "\n"


def _latex_cell(head: str, text: str) -> str:
    if head == "moved" and text:
        return "nearer" if text.startswith("towards") else "farther"
    return escaped(text) if head in WORDS else f"${text}$"


def judged_rows(comparison: Comparison) -> Sequence[Change]:
    """The rows that can have a verdict; if no row can, all rows."""
    return [row for row in comparison.rows if row.needed] or comparison.rows


def by_task(rows: Sequence[Change]) -> dict[tuple[str, str], list[Change]]:
    """The rows by dataset and measure; measures are named as in policies and tables."""
    tasks: dict[tuple[str, str], list[Change]] = {}
    for row in rows:
        tasks.setdefault((row.dataset, row.name), []).append(row)
    return tasks


def title(comparison: Comparison) -> str:
    """The names of the runs and of the baseline that they are compared with."""
    first, *others = comparison.names
    return f"{', '.join(others)} against {first}"


def _heads(comparison: Comparison) -> list[str]:
    needed = {"run": len(comparison.runs) > 2, "excluded": any(row.left_out for row in comparison.rows)}
    return [head for head in HEADS if needed.get(head, True)]


def _cells(rows: Sequence[Change], heads: Sequence[str]) -> list[list[str]]:
    cells = [
        {
            "dataset": row.dataset,
            "measure": row.name,
            "run": row.end,
            "group": row.group,
            "moved": row.moved,
            "before": cell(row.before, row.spec),
            "after": cell(row.after, row.spec),
            "change": row.difference.number(),
            "95 % interval": row.difference.interval(),
            "p_holm": cell(row.p_holm, P),
            "detectable": cell(row.detectable if row.detectable <= row.width else math.nan, ".3f"),
            "n": f"{row.n:,}",
            "excluded": f"{row.left_out:,}",
        }
        for row in rows
    ]
    return [[row[head] for head in heads] for row in cells]


def _reading(comparison: Comparison, row: Change) -> str:
    """How to read the rows that have the same dataset and measure as `row`."""
    task = row.task
    if row.contrast:
        return f"{task.measure} of female words minus that of male ones, pair by pair; neutral at 0"
    if any(other.estimand for other in comparison.rows if (other.task.name, other.name) == (task.name, row.name)):
        women, logs = ("below", ", in logarithms") if task.unit == "ratio" else ("above", "")
        return f"stereotype: followed above neutral{logs}; default: women preferred {women} neutral"
    return task.reading


def _notes(comparison: Comparison) -> Iterator[str]:
    first, *others = comparison.names
    after = others[0] if len(others) == 1 else "the run named"
    yield f"Before is {first}, after is {after}; change = after - before, item by item."
    yield f"p_holm: {FAMILY}."
    yield "Detectable: the smallest change that such data would show four times in five."
    yield "Moved: the interval of the change in distance from neutral excludes 0, and its adjusted p is below .05."
    both = [row for row in comparison.rows if row.estimand]
    if any(row.task.favours != "none" for row in both):
        yield "Stereotype: half of how far women minus men differs between the kinds; default: its mean over both."
    if not has_no_training(comparison.runs):
        yield ONE_TRAINING
    ways = [run.record.asked for run in comparison.runs]
    if any(ways[0].differences(way) for way in ways):
        yield from (f"{name}: asked {way.description()}." for name, way in zip(comparison.names, ways, strict=True))
    if not all(row.task.by_gender for row in both):
        yield "Values that mix stereotype and default get no verdict, and are left to --as csv or json."
    if causal := ", ".join(comparison.of_another_kind):
        yield f"Careful: values of causal and masked models are not comparable. Causal: {causal}."
    for dataset, n in comparison.shared.items():
        yield f"{dataset}: the runs are of different samples, and compared by the {n:,} items that both have."
    if any(row.left_out for row in comparison.rows):
        yield "Excluded: items that one of the two runs could not score."
    for missing in comparison.left_out:
        yield f"Not compared: {missing['measure']} on {missing['dataset']}, only in {', '.join(missing['only_in'])}."
    if comparison.runs[0].record.partial:
        yield comparison.runs[0].record.sample
