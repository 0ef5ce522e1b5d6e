"""What papers' datasets add to a run's page, terminal and figures (docs/extend.md, "Sections"); their tables."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evenhand import Drawing, Sections
from evenhand.papers import written
from evenhand.papers.findings import Claim, DatasetFindings, distribution, findings
from evenhand.show.tables import RANKS, cell, estimate, framed, line, table
from evenhand.stats import Estimate

SET_NAMES = {"pro": "PS set", "anti": "AS set", "non": "NS set"}


class Professions(Sections):
    """BEC-Pro: professions and the workforce, hypotheses, German forms (Bartl et al. 2020)."""

    def page(self, measured: Any) -> Iterable[Drawing]:
        from evenhand.papers.charts import workforce_on_page

        return workforce_on_page(measured)

    def terminal(self, run: Any, dataset: str, *, frequency: Mapping[str, float] | None = None) -> Iterable[Any]:
        for result in findings(run, dataset, frequency=frequency):
            yield from _findings(result)

    def figures(self, runs: Mapping[str, Any], *, marked: Collection[str] | None = None) -> Mapping[str, Any]:
        from evenhand.papers.charts import profession_figures

        return profession_figures(runs)


class Pronouns(Sections):
    """Pronoun templates and sentence pairs (Barza 2023)."""

    def page(self, measured: Any) -> Iterable[Drawing]:
        from evenhand.papers.charts import pronouns_on_page

        return pronouns_on_page(measured)

    def figures(self, runs: Mapping[str, Any], *, marked: Collection[str] | None = None) -> Mapping[str, Any]:
        from evenhand.papers.charts import pronoun_figures, sample_size_figures

        return {**pronoun_figures(runs, marked), **sample_size_figures(runs)}


class LabelSections(Sections):
    """Labels of NLI by set (Anantaprayoon et al. 2024, Table 3)."""

    shown_here = ("fraction-entailment", "fraction-contradiction")

    def page(self, measured: Any) -> Iterable[Drawing]:
        from evenhand.papers.charts import labels_on_page

        return labels_on_page(measured)

    def terminal(self, run: Any, dataset: str, *, frequency: Mapping[str, float] | None = None) -> Iterable[Any]:
        rows = run.values_of(dataset)
        if len(shares := distribution(rows)):
            yield from _distribution(shares, rows)

    def figures(self, runs: Mapping[str, Any], *, marked: Collection[str] | None = None) -> Mapping[str, Any]:
        from evenhand.papers.charts import label_figures

        return label_figures(runs)


class TargetWords(Sections):
    """The words of an association test, from one set of attributes to the other (Caliskan et al. 2017)."""

    def page(self, measured: Any) -> Iterable[Drawing]:
        from evenhand.papers.charts import words_on_page

        return words_on_page(measured)


class WrittenTexts(Sections):
    """Texts that models write: the share of women by profession, and how certain it is."""

    def page(self, measured: Any) -> Iterable[Drawing]:
        return written.on_page(measured)

    def terminal(self, run: Any, dataset: str, *, frequency: Mapping[str, float] | None = None) -> Iterable[Any]:
        for task in run.tasks_on(dataset):
            if written.is_written(scores := run.scores_of(*task.name)):
                yield line(f"{task.title or task.measure}: behind the value", "bold")
                yield from written.sentences(written.summarise(scores, task.measure_options, task.seed))


SECTIONS = (Professions(), Pronouns(), LabelSections(), TargetWords(), WrittenTexts())


def _distribution(labels: pd.DataFrame, rows: Sequence[Any]) -> Iterator[RenderableType]:
    """Labels by set, then the two scores, as in Anantaprayoon et al. (2024), Table 3."""
    yield line("Output distribution: labels in the sets PS (pro), AS (anti) and NS (non)", "bold")
    whole = {row.measure: row for row in rows if not row.groups}
    scores = [whole[name].shown(".3f") if name in whole else "–" for name in ("fraction-neutral", "nli-coal")]
    lines = []
    for group, part in labels.groupby("set", sort=False):
        cells = [estimate(row).shown(".3f") for row in part.to_dict("records")]
        lines.append([SET_NAMES[str(group)], *cells, *scores])
        scores = ["", ""]
    yield table(["evaluation data", "Ent.", "Con.", "Neu.", "FN", "NLI-CoAL"], lines, left=["evaluation data"])


def _findings(result: DatasetFindings) -> Iterator[RenderableType]:
    if result.ranks.empty:
        yield line("No two partners have both a score: a larger sample would have some.", "dim")
        return
    yield line("The paper's test of female minus male, over single pairs: no verdict rests on it", "bold")
    numbers = {"difference": "+.3f", "w": RANKS, "r": "+.2f", "r_printed": "+.2f", "p_printed": ".4f", "pairs": ","}
    yield framed(result.ranks, {result.by: "", **numbers})
    if len(result.agreement):
        effects = "women against men, agreement of form and person, the form itself, the level"
        yield line(f"German forms crossed: {effects}", "bold")
        columns = {"prof_gender": "", "effect": "", "value": "+.3f", "low": "+.3f", "high": "+.3f", "p_holm": ".4f"}
        yield framed(result.agreement, columns)
    yield from claim_lines(result.claims)
    correlated = {f"share of women, {country}": frame for country, frame in result.workforce.items()}
    correlated |= {f"confound: {name}": frame for name, frame in result.confounds.items()}
    if correlated:
        yield line("\nCorrelation over attributes of female minus male (Pearson, Spearman; 95 % intervals)", "bold")
        yield _correlations(correlated)


def _correlations(frames: Mapping[str, pd.DataFrame]) -> Table:
    lines = []
    for name, frame in frames.items():
        for row in frame.to_dict("records"):
            both = (estimate(row, kind, f"{kind}_") for kind in ("pearson", "spearman"))
            cells = [text for value in both for text in (value.number("+.2f"), value.interval("+.2f"))]
            lines.append([name, row["group"], str(row["n"]), *cells])
    heads = ["with", "group", "n", "pearson", "interval", "spearman", "interval"]
    return table(heads, lines, left=["with", "group"])


NUMBERS = ("published", "ours", "difference", "low", "high")
WIDE = 6
"""The most columns of numbers side by side; further columns of a wider table follow below."""
FORMS = {"W": ",.0f", "p": ".0e", "p, two-sided": ".2g", "rank": ".0f"}


def reproduction(
    cells: pd.DataFrame,
    notes: Sequence[str],
    claims: Sequence[Claim],
    digits: int = 2,
    across: Sequence[str] = ("what",),
) -> RenderableType:
    """The tables of a paper, then its hypotheses, and why the numbers differ.

    The columns of `cells` that `across` names become columns of a table; the other labels, except `table`, become rows.
    Each row of the paper has a line each for the published numbers, ours, the intervals and the differences.
    """
    parts: list[RenderableType] = []
    tables = cells.groupby("table", sort=False) if "table" in cells else [("", cells)]
    for name, part in tables:
        parts += _table(str(name), part, list(across), digits)
    return Group(*parts, *claim_lines(claims), "", *(Text(f"- {note}") for note in notes))


def _table(name: str, cells: pd.DataFrame, across: Sequence[str], digits: int) -> Iterator[RenderableType]:
    down = [column for column in cells.columns if column not in (*NUMBERS, *across, "table")]
    varying = [column for column in across if cells[column].nunique() > 1] or [across[-1]]
    alone = [str(cells[column].iloc[0]) for column in across if column not in varying]
    heads = list(dict.fromkeys(cells[varying].astype(str).agg(", ".join, axis=1)))
    title = ", ".join(filter(None, [f"Table {name}" if name[:1].isdigit() else name, *alone]))
    if title:
        yield line(title, "bold")
    for start in range(0, len(heads), WIDE):
        shown = heads[start : start + WIDE]
        rows = [
            cells_of_line
            for labels, part in cells.groupby(down, sort=False, dropna=False)
            for cells_of_line in _lines([str(label) for label in labels], part, varying, shown, digits)
        ]
        yield table([*down, "", *shown], rows, left=[*down, ""])


def _lines(
    labels: Sequence[str], part: pd.DataFrame, varying: Sequence[str], heads: Sequence[str], digits: int
) -> Iterator[list[str]]:
    """The lines of one row of the paper, without lines that have no number."""
    rows: dict[str, Mapping[Any, Any]] = {
        ", ".join(str(row[name]) for name in varying): row for row in part.to_dict("records")
    }
    first = True
    for what in ("published", "ours", "95 % interval", "difference"):
        numbers = [_cell(rows[head], what, digits) if head in rows else "" for head in heads]
        if any(number.strip("–") for number in numbers):
            yield [*(labels if first else [""] * len(labels)), what, *numbers]
            first = False


def _cell(row: Mapping[Any, Any], what: str, digits: int) -> str:
    form = FORMS.get(row["what"], f"+.{digits}f")
    if what == "95 % interval":
        return Estimate(row["ours"], row.get("low", math.nan), row.get("high", math.nan)).interval(form)
    return cell(row[what], form)


def claim_lines(claims: Sequence[Claim]) -> Iterator[Text]:
    """A line for each claim: hypothesis, verdict, value and interval, and the contrast with the other gender."""
    if claims:
        how = "p adjusted by Holm over these lines; intervals also over template and slot; H3 within +-0.1 nats"
        yield line(f"Hypotheses of the paper ({how})", "bold")
    for claim in claims:
        beyond = f"  against the other gender's words {claim.contrast.shown()}" if claim.contrast else ""
        yield line(f"{claim.hypothesis}  {claim.verdict:9}  {claim.claim}  {claim.estimate.shown()}{beyond}", "")
