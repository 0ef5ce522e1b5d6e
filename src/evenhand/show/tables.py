"""Tables for the terminal, except the scorecard of a run."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evenhand.analysis.change import ONE_TRAINING
from evenhand.core.model import Finding
from evenhand.show.page import readings
from evenhand.stats.estimate import Estimate


def line(text: str, style: str) -> Text:
    """A line that is never wrapped: a path that is cut in two cannot be copied."""
    return Text(text, style=style, no_wrap=True, overflow="ignore")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, left: Collection[str], **look: Any) -> Table:
    """A table for the terminal; columns in `left` are words, the others numbers. Cells are text, never markup."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, **look)
    for head in heads:
        shown.add_column(Text(head), justify="left" if head in left else "right", no_wrap=True)
    for row in rows:
        shown.add_row(*map(Text, row))
    return shown


def framed(frame: pd.DataFrame, formats: Mapping[str, str]) -> Table:
    """A table of the columns in `formats`, each in its format; a column with an empty format is text."""
    rows = ([cell(row[column], form) for column, form in formats.items()] for _, row in frame.iterrows())
    return table(list(formats), rows, left=[column for column, form in formats.items() if not form])


P = ".4f"
"""The format of p-values."""
RANKS = "ranks"
"""The format of a sum of ranks: four digits. More digits depend on the machine, since float32 rounding decides which of
two nearly equal differences is larger; rounding the differences first only moves the problem to other values."""


def cell(value: Any, form: str) -> str:
    """The value in its format; a dash where there is none."""
    if form == P and value < 0.0001:
        return "<0.0001"
    if form == RANKS and not pd.isna(value):
        value, form = float(f"{value:.4g}"), ",.15g"
    return "–" if pd.isna(value) else format(value, form)


def estimate(row: Mapping[Any, Any], value: str = "value", prefix: str = "") -> Estimate:
    """The value in a row of a frame, with its interval from the columns `low` and `high` (after `prefix`)."""
    return Estimate(row[value], row[f"{prefix}low"], row[f"{prefix}high"])


UNFIT = {"unfit": "the model could not be measured here", "not examined": "the doctor was left out"}
"""The marks of models of which nothing is judged."""
VERDICTS = {"fine": "green", "not tested": "dim", "careful": "yellow", "unfit": "bold red"}


def findings_table(model: str, findings: Sequence[Finding], width: int) -> RenderableType:
    """The doctor's findings: a row for each check, then the number of each verdict; no wider than `width`."""
    shown = table(heads := ("check", "verdict"), (), left=heads, width=width)
    shown.add_column("what it says, what to do", ratio=1)
    for finding in findings:
        advice = Text(finding.says).append(f"\n→ {finding.do}" if finding.do else "", "italic")
        shown.add_row(finding.check, Text(finding.verdict, VERDICTS[finding.verdict]), advice)
    counts = Counter(str(finding.verdict) for finding in findings)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    return Group(shown, line(f"{model}: {summary}.", "bold"))


def models(rows: pd.DataFrame, dataset: str, measure: str, reading: str = "") -> RenderableType:
    """Models side by side (Barza 2023, Table 3): groups by models; best and worst are marked if they are shown."""
    names = list(dict.fromkeys(rows["model"]))
    groups = list(rows.columns[: rows.columns.get_loc("model")])
    shown = [group for group in groups if rows[group].nunique() > (2 if group != groups[0] else 0)]
    lines = [
        [*(readings.group(group, str(part[group].iloc[0])) for group in shown), *_by_model(part, names)]
        for _, part in rows.groupby(["total", *groups], sort=False)
    ]
    title = line(f"{readings.dataset(dataset)} · {dataset} · {measure}: models side by side", "bold")
    marks = set(rows["mark"]) - {""}
    notes = ["best and worst: every comparison passes the test, adjusted over the table"] if marks - {*UNFIT} else []
    notes += [f"{mark}: {why}" for mark, why in UNFIT.items() if mark in marks]
    remarks = [line(note, "dim") for note in notes or ["no model is shown to be best or worst"]]
    return Group(title, line(reading, "dim"), table([*shown, *names], lines, left=shown), *remarks)


def _by_model(part: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """The value of each model with its interval and, if it has one, its mark."""
    rows = {row["model"]: row for row in part.to_dict("records")}
    return [f"{estimate(rows[name]).brief('.2f')} {rows[name].get('mark', '')}".rstrip() for name in names]


def debiasing_results(
    balance: pd.DataFrame,
    changes: pd.DataFrame,
    language: Mapping[str, float],
    alarms: Sequence[str],
    *,
    trained: bool = True,
) -> RenderableType:
    """The results of a debiasing: the corpus if its texts were changed, the changes of the model, and alarms."""
    formats = {"dataset": "", "measure": "", "group": ""}
    formats |= dict.fromkeys(("before", "after", "change", "low", "high"), "+.3f") | {"p_holm": ".4f", "moved": ""}
    parts: list[RenderableType] = []
    if not balance.empty:
        parts.append(line("Gendered words of the corpus, before and after substitution", "bold"))
        parts.append(framed(balance, {"corpus": "", "female": ",", "male": ",", "share": ".3f"}))
    parts += [
        line("The model before and after, item by item (95 % intervals; p adjusted by Holm)", "bold"),
        framed(changes[changes["needed"] > 0], formats),
    ]
    parts += [line(ONE_TRAINING, "dim")] if trained else []
    if language:
        moved = f"{language['before']:.2f} before, {language['after']:.2f} after"
        text = f"Pseudo-perplexity on {language['sentences']:.0f} held-out sentences: {moved}"
        parts.append(line(f"{text} (change of the log {estimate(language, 'change').shown()})", ""))
    return Group(*parts, *(line(f"Careful: {alarm}", "yellow") for alarm in alarms))


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
        names = list(dict.fromkeys(frame["model"]))
        rows = [[str(group), *_by_model(part, names)] for group, part in frame.groupby("group", sort=False)]
        parts += [line(title, "dim"), table(["pairs", *names], rows, left=["pairs"])]
    for row in changes[changes["group"] == changes["group"].iloc[-1]].to_dict("records"):
        says = {"above": "more", "below": "less"}.get(row["lean"], "no difference shown")
        parts.append(line(f"{row['of']} against {row['against']}: {estimate(row).shown('+.2f')}, {says}", ""))
    if asld["draws"].max() == 1:
        note = "One draw each: intervals are over pairs alone. Another sample may differ: draw several."
        parts.append(line(note, "dim"))
    return Group(*parts)


def dose_response(model: str, follows: pd.DataFrame, notes: Sequence[str]) -> RenderableType:
    """How far measures follow the rate of bias (Anantaprayoon et al. 2024, Table 2)."""
    rows = []
    for row in follows.to_dict("records"):
        pearson, spearman, slope = (
            estimate(row, name, f"{name}_").brief() for name in ("pearson", "spearman", "slope")
        )
        pearson += " †" if row["p"] < 0.05 else ""
        if pd.isna(row["pearson"]):
            pearson = spearman = "no correlation"
        rows.append([row["measure"], str(row["models"]), pearson, spearman, slope, cell(row["smallest"], ".2f")])
    heads = ("measure", "models", "Pearson", "Spearman", "from rate 0 to 1", "smallest change seen")
    constant = "† p < .05. No correlation: the value is the same at every rate. 95 % intervals from eight models on."
    return Group(
        line(f"{model}: what follows the rate of bias in training", "bold"),
        table(heads, rows, left=["measure"]),
        line(constant, "dim"),
        line("Smallest change seen: of the rate, within half the width of a single model's interval.", "dim"),
        *(line(note, "") for note in notes),
    )


def lint_table(pairs: int, clean: int, failing: Mapping[str, int], faults: pd.DataFrame, shown: int) -> RenderableType:
    """The number of pairs that break each rule, and the first `shown` of them."""
    rows = []
    for rule, n in failing.items():
        first = faults[faults["rule"] == rule].head(shown)
        rows.append([rule, str(n), "; ".join(f"{row['id']}: {row['what']}" for _, row in first.iterrows())])
    summary = table(("rule", "pairs", "for example"), rows, left=("rule", "for example"))
    summary.columns[-1].no_wrap = False
    return Group(summary, line(f"Clean pairs: {clean:,} of {pairs:,}.", "bold"))
