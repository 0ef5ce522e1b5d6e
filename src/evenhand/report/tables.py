"""Tables for people, on a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evenhand.analysis.findings import Findings
from evenhand.analysis.hypotheses import Claim
from evenhand.folder import Run


def scorecard(run: Run, findings: Sequence[Findings] = ()) -> RenderableType:
    """Every value of a run with its interval, n and unscored, and what follows from them; then what it took."""
    parts: list[RenderableType] = [_line(f"Careful: {text}", "yellow") for text in run.about["warnings"]]
    told = {found.dataset: found for found in findings}
    for task in run.about["tasks"]:
        rows = [r for r in run.results if (r["dataset"], r["measure"]) == (task["dataset"], task["measure"])]
        parts += [_heading(run, task), _values(task["by"], rows)]
        parts += [_line(text, "yellow") for text in _unscored(run, task)]
        if task["dataset"] in told:
            parts += list(_findings(told[task["dataset"]]))
    return Group(*parts, *(_line(text, "dim") for text in _footer(run)))


def _line(text: str, style: str) -> Text:
    """One line however long: a path that is cut in two cannot be copied."""
    return Text(text, style=style, no_wrap=True, overflow="ignore")


def _heading(run: Run, task: Mapping[str, Any]) -> Text:
    title = _line("", "").append(f"{run.about['model']} · {task['dataset']} · {task['measure']}", "bold")
    options = {**task["dataset_options"], **task["measure_options"]}
    shown = ", ".join(f"{name}={value}" for name, value in options.items() if name != "sha256")
    version = f"versions {task['dataset_version']} and {task['measure_version']}"
    title.append(f"  ({version}; {shown or 'no options'}; model {run.about['fingerprint'][:8]})", "dim")
    if run.about["partial"]:
        title.append(f"  (partial: a sample of {run.about['limit']} items)", "yellow")
    return title.append(f"\n{task['reading']}", "dim")


def _values(by: list[str], rows: list[dict[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for group in by:
        table.add_column(group, no_wrap=True)
    for name in ("value", "95 % interval", "n", "unscored"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        labels = [row["groups"].get(group, "all") for group in by]
        table.add_row(*labels, number(row["value"]), interval(row), f"{row['n']:,}", f"{row['unscored']:,}")
    return table


def _findings(found: Findings) -> Iterator[RenderableType]:
    yield _line("Female minus male, partner by partner", "bold")
    yield _frame(
        found.differences,
        {
            found.by: "",
            "difference": "+.3f",
            "low": "+.3f",
            "high": "+.3f",
            "p_holm": ".4f",
            "detectable": ".3f",
            "w": ",.0f",
            "r": "+.2f",
            "r_printed": "+.2f",
            "pairs": ",",
        },
    )
    if len(found.agreement):
        yield _line(
            "German forms crossed: women against men, agreement of form and person, the form itself, the level", "bold"
        )
        columns = {"prof_gender": "", "effect": "", "value": "+.3f", "low": "+.3f", "high": "+.3f", "p": ".4f"}
        yield _frame(found.agreement, columns)
    yield from _claims(found.claims)
    correlated = {f"share of women, {country}": frame for country, frame in found.workforce.items()}
    correlated |= {f"confound: {name}": frame for name, frame in found.confounds.items()}
    if correlated:
        yield _line("\nCorrelation over attributes of female minus male (Pearson, Spearman; 95 % intervals)", "bold")
        yield _correlations(correlated)


def _claims(claims: Sequence[Claim]) -> Iterator[Text]:
    for claim in claims:
        span = f"{claim.value:+.3f} [{claim.low:+.3f}, {claim.high:+.3f}]"
        yield _line(f"{claim.hypothesis}  {claim.verdict:9}  {claim.claim}  {span}", "")


def reproduction(cells: pd.DataFrame, notes: Sequence[str], claims: Sequence[Claim]) -> RenderableType:
    """Published | ours | difference for every cell of a paper's tables, the hypotheses, and why they differ."""
    columns = ("table", "professions", "words", "what", "published", "ours", "difference")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in columns[4:] else "left", no_wrap=True)
    for _, row in cells.iterrows():
        form = ",.0f" if row["what"] == "W" else "+.2f"
        table.add_row(*(str(row[c]) for c in columns[:4]), *(_cell(row[c], form) for c in columns[4:]))
    return Group(table, *_claims(claims), "", *(Text(f"- {note}") for note in notes))


def _correlations(frames: Mapping[str, pd.DataFrame]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("with", "group", "n", "pearson", "interval", "spearman", "interval"):
        table.add_column(name, justify="left" if name in ("with", "group") else "right", no_wrap=True)
    for name, frame in frames.items():
        shown = frame[frame["score"] == "difference"]
        for _, row in (shown[shown["group"] == "all"] if name.startswith("confound") else shown).iterrows():
            cells = [_cell(row[kind], "+.2f") for kind in ("pearson", "spearman")]
            spans = [
                "–" if pd.isna(row[f"{k}_low"]) else f"[{row[f'{k}_low']:+.2f}, {row[f'{k}_high']:+.2f}]"
                for k in ("pearson", "spearman")
            ]
            table.add_row(name, row["group"], str(row["n"]), cells[0], spans[0], cells[1], spans[1])
    return table


def _frame(frame: pd.DataFrame, formats: Mapping[str, str]) -> Table:
    """The columns named, each in its format; text to the left, numbers to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, form in formats.items():
        table.add_column(column, justify="right" if form else "left", no_wrap=True)
    for _, row in frame.iterrows():
        table.add_row(*(_cell(row[column], form) for column, form in formats.items()))
    return table


def _cell(value: Any, form: str) -> str:
    return "–" if pd.isna(value) else format(value, form)


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
    took = f"{work['inputs']:,} distinct inputs{kept}" if work["inputs"] else "every answer kept from before"
    yield f"{work['questions']:,} questions, {took}; {run.about['seconds']} s."
    yield f"Run folder: {run.path}"
