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
    results = run.results
    for dataset in dict.fromkeys(task["dataset"] for task in run.about["tasks"]):
        tasks = [task for task in run.about["tasks"] if task["dataset"] == dataset]
        rows = [r for r in results if r["dataset"] == dataset]
        parts += [_heading(run, tasks), _values(tasks, rows)]
        parts += [_line(text, "yellow") for task in tasks for text in _unscored(run, task)]
        if dataset in told:
            parts += list(_findings(told[dataset]))
    return Group(*parts, *(_line(text, "dim") for text in _footer(run)))


def _line(text: str, style: str) -> Text:
    """One line however long: a path that is cut in two cannot be copied."""
    return Text(text, style=style, no_wrap=True, overflow="ignore")


def _heading(run: Run, tasks: Sequence[Mapping[str, Any]]) -> Text:
    title = _line("", "").append(
        f"{run.about['model']} · {tasks[0]['dataset']} · {', '.join(task['measure'] for task in tasks)}", "bold"
    )
    options = dict(tasks[0]["dataset_options"])
    for task in tasks:
        options |= task["measure_options"]
    shown = ", ".join(f"{name}={value}" for name, value in options.items() if name != "sha256" and value != "")
    versions = " and ".join(map(str, dict.fromkeys((tasks[0]["dataset_version"], *(t["measure_version"] for t in tasks)))))
    title.append(f"  (versions {versions}; {shown or 'no options'}; model {run.about['fingerprint'][:8]})", "dim")
    if run.about["partial"]:
        title.append(f"  (partial: a sample of {run.about['limit']} items)", "yellow")
    for task in tasks:
        title.append(f"\n{task['measure']}: {task['reading']}" if len(tasks) > 1 else f"\n{task['reading']}", "dim")
    return title


def _values(tasks: Sequence[Mapping[str, Any]], rows: list[dict[str, Any]]) -> Table:
    """A row for each group; a column with value and interval for each measure."""
    groups = [*tasks[0]["by"], *([tasks[0]["within"]] if tasks[0].get("within") else [])]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for group in groups:
        table.add_column(group, no_wrap=True)
    for task in tasks:
        name = "value" if len(tasks) == 1 else task["measure"]
        table.add_column(name, justify="right", no_wrap=True)
        table.add_column("95 % interval" if len(tasks) == 1 else "95 %", justify="right", no_wrap=True)
    for name in ("n", "unscored"):
        table.add_column(name, justify="right", no_wrap=True)
    for labels, cells in _nested(groups, rows):
        shown = [text for task in tasks for text in (number(cells[task["measure"]]), interval(cells[task["measure"]]))]
        first = cells[tasks[0]["measure"]]
        table.add_row(*labels, *shown, f"{first['n']:,}", f"{first['unscored']:,}")
    return table


def _nested(groups: list[str], rows: list[dict[str, Any]]) -> Iterator[tuple[list[str], dict[str, dict[str, Any]]]]:
    """The rows of all measures by their group labels; a group's own row before those of its parts."""
    by_labels: dict[tuple[str, ...], dict[str, dict[str, Any]]] = {}
    for row in rows:
        labels = tuple(row["groups"].get(group, "") for group in groups)
        by_labels.setdefault(labels, {})[row["measure"]] = row
    whole = tuple("" for _ in groups)
    for labels in sorted(by_labels, key=lambda labels: (labels != whole, labels)):
        yield (["all" for _ in groups] if labels == whole else [label or "all" for label in labels]), by_labels[labels]


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


def number(row: Mapping[str, Any]) -> str:
    """The value, signed where it can be of either sign; a dash where there is none."""
    return "–" if row["value"] is None else format(row["value"], _form(row))


def interval(row: Mapping[str, Any]) -> str:
    """Low and high; a dash where there are too few clusters for an interval."""
    return "–" if row["low"] is None else f"[{row['low']:{_form(row)}}, {row['high']:{_form(row)}}]"


def _form(row: Mapping[str, Any]) -> str:
    return "+.3f" if row["neutral"] == 0 and row["measure"] != "likelihood-difference" else ".3f"


def _unscored(run: Run, task: Mapping[str, Any]) -> Iterator[str]:
    for reason, n in run.about["unscored"].get(f"{task['dataset']}/{task['measure']}", {}).items():
        yield f"{n:,} items unscored: {reason}"


def _footer(run: Run) -> Iterator[str]:
    names = {" and ".join(filter(None, (t["cluster"], t.get("crossed", "")))) for t in run.about["tasks"]}
    clusters = "; ".join(sorted(name or "each pair for itself" for name in names))
    yield f"Intervals resample whole clusters ({clusters})."
    work = run.about["work"]
    kept = f", {work['kept']:,} answers kept from before" if work["kept"] else ""
    took = f"{work['inputs']:,} distinct inputs{kept}" if work["inputs"] else "every answer kept from before"
    yield f"{work['questions']:,} questions, {took}; {run.about['seconds']} s."
    yield f"Run folder: {run.path}"
