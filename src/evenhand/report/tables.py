"""Tables for people, on a terminal: all but the scorecard of a run."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evenhand.analysis.hypotheses import Claim
from evenhand.formats.escaping import markdown
from evenhand.runs.record import Finding, TaskRecord
from evenhand.runs.values import ValueRecord


def line(text: str, style: str) -> Text:
    """One line however long: a path that is cut in two cannot be copied."""
    return Text(text, style=style, no_wrap=True, overflow="ignore")


def framed(frame: pd.DataFrame, formats: Mapping[str, str]) -> Table:
    """The columns named, each in its format; text to the left, numbers to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, form in formats.items():
        table.add_column(column, justify="right" if form else "left", no_wrap=True)
    for _, row in frame.iterrows():
        table.add_row(*(cell(row[column], form) for column, form in formats.items()))
    return table


def cell(value: Any, form: str) -> str:
    """The value in its format; a dash where there is none."""
    return "–" if pd.isna(value) else format(value, form)


def form(row: ValueRecord, task: TaskRecord) -> str:
    """How a value is printed: signed where it can be of either sign."""
    return "+.3f" if row.neutral == 0 and task.signed else ".3f"


VERDICTS = {"fine": "green", "careful": "yellow", "unfit": "bold red"}


def doctored(model: str, findings: Sequence[Finding], width: int) -> RenderableType:
    """What the doctor found, one row for each check, and how many are how; no wider than `width`."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, width=width)
    table.add_column("check", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("what it says, what to do", ratio=1)
    for found in findings:
        told = Text(found.says).append(f"\n→ {found.do}" if found.do else "", "italic")
        table.add_row(found.check, Text(found.verdict, VERDICTS[found.verdict]), told)
    counts = Counter(str(found.verdict) for found in findings)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    return Group(table, line(f"{model}: {summary}.", "bold"))


def claimed(claims: Sequence[Claim]) -> Iterator[Text]:
    """A line for each: hypothesis, verdict, value and interval, and the contrast with the other gender."""
    if claims:
        yield line("Hypotheses of the paper (p adjusted by Holm over these lines; H3 within +-0.1 nats)", "bold")
    for claim in claims:
        beyond = f"  against the other gender's words {claim.contrast.shown()}" if claim.contrast else ""
        yield line(f"{claim.hypothesis}  {claim.verdict:9}  {claim.claim}  {claim.found.shown()}{beyond}", "")


def reproduction(cells: pd.DataFrame, notes: Sequence[str], claims: Sequence[Claim], digits: int = 2) -> RenderableType:
    """Published | ours | difference for every cell of a paper's tables, the hypotheses, and why they differ."""
    columns = tuple(column for column in cells.columns if column not in ("low", "high"))
    first = len(columns) - 3  # published, ours, difference
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in columns[first:] else "left", no_wrap=True)
    for _, row in cells.iterrows():
        form = {"W": ",.0f", "p": ".0e"}.get(row["what"], f"+.{digits}f")
        table.add_row(*(str(row[c]) for c in columns[:first]), *(_with_interval(row, c, form) for c in columns[first:]))
    return Group(table, *claimed(claims), "", *(Text(f"- {note}") for note in notes))


def models(rows: pd.DataFrame, dataset: str, measure: str, reading: str = "") -> RenderableType:
    """Models side by side (Barza 2023, Table 3): groups by models; best and worst marked where that is no chance."""
    names = list(dict.fromkeys(rows["model"]))
    groups = list(rows.columns[: rows.columns.get_loc("model")])
    shown = [group for group in groups if rows[group].nunique() > (2 if group != groups[0] else 0)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in (*shown, *names):
        table.add_column(name, justify="left" if name in shown else "right", no_wrap=True)
    for labels, part in rows.groupby(["total", *groups], sort=False):
        found = dict(zip(groups, labels[1:], strict=True))
        cells = part.set_index("model")
        table.add_row(*(str(found[group]) for group in shown), *(_model_cell(cells.loc[name]) for name in names))
    title = line(f"{dataset} · {measure}: models side by side", "bold")
    note = "best and worst only where every comparison passes the test, adjusted over the table"
    return Group(title, line(reading, "dim"), table, line(note, "dim"))


def _model_cell(row: Any) -> str:
    if pd.isna(row["value"]):
        return "–"
    span = "" if pd.isna(row["low"]) else f" [{row['low']:.2f}, {row['high']:.2f}]"
    return f"{row['value']:.2f}{span}{' ' + row['mark'] if row['mark'] else ''}"


def debiased(
    balance: pd.DataFrame, changes: pd.DataFrame, language: Mapping[str, float], alarms: Sequence[str]
) -> RenderableType:
    """The corpus, what changed in the model, and what was lost."""
    formats = {"dataset": "", "measure": "", "group": ""}
    formats |= dict.fromkeys(("before", "after", "change", "low", "high"), "+.3f") | {"p_holm": ".4f"}
    parts: list[RenderableType] = [
        line("Gendered words of the corpus, before and after substitution", "bold"),
        framed(balance, {"corpus": "", "female": ",", "male": ",", "share": ".3f"}),
        line("The model before and after, item by item (95 % intervals; p adjusted by Holm)", "bold"),
        framed(changes, formats),
    ]
    if language:
        span = f"[{language['low']:+.3f}, {language['high']:+.3f}]"
        moved = f"{language['before']:.2f} before, {language['after']:.2f} after"
        text = f"Pseudo-perplexity on {language['sentences']:.0f} held-out sentences: {moved}"
        parts.append(line(f"{text} (change of the log {language['change']:+.3f} {span})", ""))
    return Group(*parts, *(line(f"Careful: {alarm}", "yellow") for alarm in alarms))


def counted(name: str, summary: Mapping[str, float], beside: pd.DataFrame, contexts: pd.DataFrame) -> RenderableType:
    """A corpus in numbers: its lean, professions, contexts."""
    words = f"{summary['female']:,} female and {summary['male']:,} male words"
    title = f"{name}: {summary['documents']:,} documents, {summary['sentences']:,} sentences, {words}"
    lean = f"ln(male / female words) {summary['lean']:+.3f}"
    if not pd.isna(summary["low"]):
        lean += f" [{summary['low']:+.3f}, {summary['high']:+.3f}]"
    parts: list[RenderableType] = [line(title, "bold"), line(f"{lean}; above 0 male, below 0 female", "")]
    if len(beside):
        numbers = {"female": ",", "male": ",", "ratio": "+.2f", "low": "+.2f", "high": "+.2f"}
        ordered = beside.sort_values("ratio")
        parts += [
            line("Sentences with a profession: ln(male / female), against the corpus as a whole (95 %)", "bold"),
            framed(ordered, {"profession": "", **numbers}),
            line(f"Mean size over {len(beside)} professions: {summary['score']:.2f} (0: none is gendered)", ""),
        ]
    if len(contexts):
        parts += [
            line("Words in the most female and the most male contexts (z of the log-odds)", "bold"),
            framed(contexts, {"word": "", "female": ",", "male": ",", "z": "+.1f"}),
        ]
    return Group(*parts)


def learned_table(
    sentences: Mapping[str, int], asld: pd.DataFrame, lean: pd.DataFrame, changes: pd.DataFrame
) -> RenderableType:
    """What models learned from corpora (Barza 2023, Table 4): ASLD and lean by group and model, and what differs."""
    sizes = ", ".join(f"{name} {n:,}" for name, n in sentences.items())
    parts: list[RenderableType] = [line(f"What a debiased model learns; sentences trained on: {sizes}", "bold")]
    for title, frame in (
        ("ASLD: mean |d| in nats; lower is less biased, but no model reaches 0", asld),
        ("Lean: mean d in nats, neutral at 0; above it stereotypes are likelier", lean),
    ):
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        names = list(dict.fromkeys(frame["model"]))
        for name in ("pairs", *names):
            table.add_column(name, justify="left" if name == "pairs" else "right", no_wrap=True)
        for group, part in frame.groupby("group", sort=False):
            cells = part.assign(mark="").set_index("model")
            table.add_row(str(group), *(_model_cell(cells.loc[name]) for name in names))
        parts += [line(title, "dim"), table]
    rows = changes[changes["group"] == changes["group"].iloc[-1]]
    for row in rows.to_dict("records"):
        span = f"{row['value']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]"
        told = "more" if row["low"] > 0 else "less" if row["high"] < 0 else "as much, as far as can be told"
        parts.append(line(f"{row['of']} against {row['against']}: {span}, {told}", ""))
    if asld["draws"].max() == 1:
        parts.append(
            line("One draw each: intervals are over pairs alone. Another sample may differ: draw several.", "dim")
        )
    return Group(*parts)


def dose_response(model: str, follows: pd.DataFrame, notes: Sequence[str]) -> RenderableType:
    """How far measures follow the rate of bias (Anantaprayoon et al. 2024, Table 2)."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("measure", "models", "Pearson", "Spearman", "from rate 0 to 1", "smallest change seen"):
        table.add_column(name, justify="left" if name == "measure" else "right", no_wrap=True)
    for row in follows.to_dict("records"):
        constant = pd.isna(row["pearson"])
        mark = " †" if row["p"] < 0.05 else ""
        table.add_row(
            str(row["measure"]),
            str(row["models"]),
            "no correlation" if constant else _spanned(row, "pearson", "+.3f") + mark,
            "no correlation" if constant else _spanned(row, "spearman", "+.3f"),
            _spanned(row, "slope", "+.3f"),
            "–" if pd.isna(row["smallest"]) else f"{row['smallest']:.2f}",
        )
    return Group(
        line(f"{model}: what follows the rate of bias in training", "bold"),
        table,
        line(
            "† p < .05. No correlation: the value is the same at every rate. 95 % intervals from eight models on.",
            "dim",
        ),
        line("Smallest change seen: of the rate, within half the width of a single model's interval.", "dim"),
        *(line(note, "") for note in notes),
    )


def _spanned(row: Mapping[Any, Any], name: str, form: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{row[name]:{form}}" + ("" if pd.isna(low) else f" [{low:{form}}, {high:{form}}]")


def linted(pairs: int, clean: int, failing: Mapping[str, int], faults: pd.DataFrame, shown: int) -> RenderableType:
    """How many pairs break each rule, and the first of each."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("rule", "pairs", "for example"):
        table.add_column(name, justify="right" if name == "pairs" else "left", no_wrap=name != "for example")
    for rule, n in failing.items():
        first = faults[faults["rule"] == rule].head(shown)
        table.add_row(rule, str(n), "; ".join(f"{row['id']}: {row['what']}" for _, row in first.iterrows()))
    return Group(table, line(f"{clean:,} of {pairs:,} pairs are clean.", "bold"))


def _with_interval(row: Any, column: str, form: str) -> str:
    shown = cell(row[column], form)
    has = column == "ours" and "low" in row and not pd.isna(row["low"])
    return f"{shown} [{row['low']:{form}}, {row['high']:{form}}]" if has else shown


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: Collection[str] = ()) -> str:
    """A table with its heads; columns in `left` are words, the others numbers. Cells are text, whatever they hold."""
    lines = [heads, ["---" if head in left else "--:" for head in heads]]
    shown = [[markdown(cell) for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in [*lines, *shown])
