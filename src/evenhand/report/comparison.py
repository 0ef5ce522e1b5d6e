"""A comparison as a table for the terminal, as markdown, as LaTeX, and as a chart."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType

from evenhand.analysis.change import FEMALE_MALE, ONE_TRAINING
from evenhand.analysis.comparison import Comparison
from evenhand.formats.escaping import latex as escaped
from evenhand.formats.escaping import markdown as escaped_markdown
from evenhand.formats.latex import HEAD, booktabs
from evenhand.report.tables import P, cell, estimate, line, markdown_table, table
from evenhand.runs.folder import StoredRun
from evenhand.stats.verdict import FAMILY

WORDS = ("dataset", "measure", "run", "group", "moved")
HEADS = ("run", "group", "before", "after", "change", "95 % interval", "p_holm", "detectable", "n", "left out", "moved")

MOVED = (
    "Moved, nearer to or farther from where it should be: the interval of the change in distance leaves out 0, and its "
    "adjusted p is below .05."
)


def terminal(comparison: Comparison) -> RenderableType:
    """A table for each dataset and measure, and how to read it."""
    parts: list[RenderableType] = [line(title(comparison), "bold")]
    heads = _heads(comparison)
    for (dataset, measure), rows in judged_rows(comparison).groupby(["dataset", "measure"], sort=False):
        parts += [
            line(f"\n{dataset} · {measure}", "bold"),
            line(_reading(comparison, str(dataset), str(measure)), "dim"),
            table(heads, _rows(comparison, rows, heads), left=WORDS),
        ]
    return Group(*parts, *(line(text, "dim") for text in _notes(comparison)))


def markdown(comparison: Comparison) -> str:
    """One table of all rows, for a pull request or a paper's appendix."""
    heads = ["dataset", "measure", *_heads(comparison)]
    shown = markdown_table(heads, _rows(comparison, judged_rows(comparison), heads), left=WORDS)
    notes = "".join(f"\n{escaped_markdown(note)}\n" for note in _notes(comparison))
    return f"{escaped_markdown(title(comparison))}\n\n{shown}{notes}"


def latex(comparison: Comparison) -> str:
    """A booktabs table for each dataset and measure; what the columns mean is in the caption."""
    heads = [head for head in _heads(comparison) if head != "detectable"]
    named = {"p_holm": "$p$ (Holm)", "n": "$n$", "95 % interval": r"95\,\% interval"}
    if len(comparison.runs) == 2:
        named |= {"before": escaped(comparison.names[0]), "after": escaped(comparison.names[1])}
    lines = [HEAD]
    for (dataset, measure), rows in judged_rows(comparison).groupby(["dataset", "measure"], sort=False):
        about = _reading(comparison, str(dataset), str(measure))
        said = [note for note in _notes(comparison) if not note.startswith(("Detectable", "Moved"))]
        notes = " ".join([f"{measure} on {dataset}: {about}.", *said, MOVED])
        columns = "".join("l" if head in WORDS else "r" for head in heads)
        cells = [[_latex_cell(*of) for of in zip(heads, row, strict=True)] for row in _rows(comparison, rows, heads)]
        titles = [[named.get(head, escaped(head)) for head in heads]]
        style = r"\footnotesize\setlength{\tabcolsep}{3pt}"
        lines += booktabs(escaped(notes), f"compare-{dataset}-{measure}", columns, titles, cells, style=style)
    return "\n".join(lines) + "\n"


def _latex_cell(head: str, text: str) -> str:
    if head == "moved" and text:
        return "nearer" if text.startswith("towards") else "farther"
    return escaped(text) if head in WORDS else f"${text}$"


def judged_rows(comparison: Comparison) -> pd.DataFrame:
    """The rows that can have a verdict; all of them where none can."""
    judged = comparison.frame[comparison.frame["needed"] > 0]
    return judged if len(judged) else comparison.frame


def title(comparison: Comparison) -> str:
    """Which runs are compared with which."""
    first, *others = comparison.names
    return f"{', '.join(others)} against {first}"


def _heads(comparison: Comparison) -> list[str]:
    one, whole = len(comparison.runs) == 2, not comparison.frame["left_out"].any()
    return [head for head in HEADS if not (head == "run" and one) and not (head == "left out" and whole)]


def _rows(comparison: Comparison, frame: pd.DataFrame, heads: Sequence[str]) -> list[list[str]]:
    cells = [_cells(comparison, row) for row in frame.to_dict("records")]
    return [[row[head] for head in heads] for row in cells]


def _cells(comparison: Comparison, row: dict[Any, Any]) -> dict[str, str]:
    task = comparison.runs[0].task(row["dataset"], row["measure"].removesuffix(FEMALE_MALE))
    signed = row["neutral"] == 0 and (task.signed or row["measure"].endswith(FEMALE_MALE) or bool(row["estimand"]))
    return {
        **{name: str(row[name]) for name in WORDS},
        **{name: cell(row[name], "+.3f" if signed else ".3f") for name in ("before", "after")},
        "change": cell(row["change"], "+.3f"),
        "95 % interval": estimate(row, "change").interval(),
        "p_holm": cell(row["p_holm"], P),
        "detectable": cell(row["detectable"], ".3f"),
        "n": f"{row['n']:,}",
        "left out": f"{row['left_out']:,}",
    }


def _reading(comparison: Comparison, dataset: str, measure: str) -> str:
    if measure.endswith(FEMALE_MALE):
        name = measure.removesuffix(FEMALE_MALE)
        return f"{name} of female words minus that of male ones, pair by pair; neutral at 0"
    task, frame = comparison.runs[0].task(dataset, measure), comparison.frame
    if frame[(frame["dataset"] == dataset) & (frame["measure"] == measure)]["estimand"].any():
        women, logs = ("below", ", in logarithms") if task.unit == "ratio" else ("above", "")
        return f"stereotype: followed above neutral{logs}; default: women preferred {women} neutral"
    return task.reading


def _unfit(comparison: Comparison, run: StoredRun) -> bool:
    """Whether the doctor calls the model unfit for something that is compared."""
    compared = set(comparison.frame["dataset"])
    return any(run.record.unfit(task) for task in run.record.tasks if task.dataset in compared)


def _notes(comparison: Comparison) -> Iterator[str]:
    first, *others = comparison.names
    after = others[0] if len(others) == 1 else "the run named"
    yield f"Before is {first}, after is {after}; change = after - before, item by item."
    yield f"p_holm: {FAMILY}."
    yield "Detectable: the smallest change that such data would show four times in five."
    yield "Moved: the interval of the change in distance from neutral leaves out 0, and its adjusted p is below .05."
    if comparison.frame["estimand"].any():
        yield "Stereotype: half of how far women minus men differs between the kinds; default: its mean over both."
    yield ONE_TRAINING
    both = comparison.frame[comparison.frame["estimand"] != ""][["dataset", "measure"]].drop_duplicates()
    if not all(comparison.runs[0].task(*name).by_gender for name in both.itertuples(index=False, name=None)):
        yield "Values that mix stereotype and default get no verdict, and are left to --as csv or json."
    unfit = [name for name, run in zip(comparison.names, comparison.runs, strict=True) if _unfit(comparison, run)]
    if unfit:
        yield f"Careful: {' and '.join(unfit)} is unfit to be measured, so nothing is said to have moved there."
    if comparison.of_another_kind:
        which = ", ".join(comparison.of_another_kind)
        yield f"Careful: {which} is causal, the others are not. Values of causal and masked models are not comparable."
    for dataset, n in comparison.shared.items():
        yield f"{dataset}: the runs are of different samples, and compared by the {n:,} items that both have."
    if comparison.frame["left_out"].any():
        yield "Left out: items that one of the two runs could not score."
    for missing in comparison.left_out:
        yield f"Not compared: {missing['measure']} on {missing['dataset']}, only in {', '.join(missing['only_in'])}."
    if comparison.runs[0].record.partial:
        yield comparison.runs[0].record.sample
