"""Tables for people, on a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evenhand.analysis.distribution import distribution
from evenhand.analysis.findings import Findings
from evenhand.analysis.followed import followed
from evenhand.analysis.hypotheses import Claim
from evenhand.folder import Run

IN_DISTRIBUTION = ("fraction-entailment", "fraction-contradiction")
"""Measures that the table of labels shows, and no other."""
SET_NAMES = {"pro": "PS set", "anti": "AS set", "non": "NS set"}
UNSIGNED = {
    "likelihood-difference",
    "nli-coal",
    "nli-coal-weighted",
    "fraction-neutral",
    "fraction-entailment",
    "fraction-contradiction",
}
"""Measures that are neutral at 0 and never below."""


def scorecard(run: Run, findings: Sequence[Findings] = ()) -> RenderableType:
    """Every value of a run with its interval, n and unscored, and what follows from them; then what it took."""
    parts: list[RenderableType] = [_line(f"Careful: {text}", "yellow") for text in run.about["warnings"]]
    parts += [_line(text, "dim") for text in run.about.get("apart", ())]
    parts += [_alarm(found) for found in run.about.get("doctor", ()) if _news(found, run.about["warnings"])]
    told = {found.dataset: found for found in findings}
    results = run.results
    for dataset in dict.fromkeys(task["dataset"] for task in run.about["tasks"]):
        tasks = [task for task in run.about["tasks"] if task["dataset"] == dataset]
        rows = [r for r in results if r["dataset"] == dataset]
        labels = distribution(rows, dataset)
        shown = [task for task in tasks if labels.empty or task["measure"] not in IN_DISTRIBUTION]
        parts += [_heading(run, tasks, rows), _values(shown, rows)]
        parts += [_line(text, "yellow") for text in _without_value(rows)]
        if len(labels):
            parts += list(_distribution(labels, rows))
        parts += [_line(text, "yellow") for task in tasks for text in _unscored(run, task)]
        if dataset in told:
            parts += list(_findings(told[dataset]))
    return Group(*parts, *(_line(text, "dim") for text in _footer(run)))


VERDICTS = {"fine": "green", "careful": "yellow", "unfit": "bold red"}


def doctored(model: str, findings: Sequence[Mapping[str, str]], width: int) -> RenderableType:
    """What the doctor found, one row for each check, and how many are how; no wider than `width`."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, width=width)
    table.add_column("check", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("what it says, what to do", ratio=1)
    for found in findings:
        cell = Text(found["says"]).append(f"\n→ {found['do']}" if found["do"] else "", "italic")
        table.add_row(found["check"], Text(found["verdict"], VERDICTS[found["verdict"]]), cell)
    counts = Counter(found["verdict"] for found in findings)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    return Group(table, _line(f"{model}: {summary}.", "bold"))


def _alarm(found: Mapping[str, str]) -> Text:
    return _line(
        f"{found['verdict'].capitalize()}, {found['check']}: {found['says']} {found['do']}", VERDICTS[found["verdict"]]
    )


def _news(found: Mapping[str, str], said: Sequence[str]) -> bool:
    """Is something wrong that has not been said?"""
    return found["verdict"] != "fine" and not found["says"].startswith(tuple(said))


def _line(text: str, style: str) -> Text:
    """One line however long: a path that is cut in two cannot be copied."""
    return Text(text, style=style, no_wrap=True, overflow="ignore")


def _heading(run: Run, tasks: Sequence[Mapping[str, Any]], rows: list[dict[str, Any]]) -> Text:
    title = _line("", "").append(
        f"{run.about['model']} · {tasks[0]['dataset']} · {', '.join(task['measure'] for task in tasks)}", "bold"
    )
    options = dict(tasks[0]["dataset_options"])
    for task in tasks:
        options |= task["measure_options"]
    shown = ", ".join(f"{name}={value}" for name, value in options.items() if name != "sha256" and value != "")
    measured = ", ".join(dict.fromkeys(str(task["measure_version"]) for task in tasks))
    versions = f"{tasks[0]['dataset_version']} and {measured}"
    title.append(f"  (versions {versions}; {shown or 'no options'}; model {run.about['fingerprint'][:8]})", "dim")
    if run.about["partial"]:
        title.append(f"  (partial: a sample of {run.about['limit']} items)", "yellow")
    for task in tasks:
        title.append(f"\n{task['measure']}: {task['reading']}" if len(tasks) > 1 else f"\n{task['reading']}", "dim")
        if (known := followed(task["measure"])) and not run.about.get("apart"):  # known of masked models and of NLI
            title.append(f"; {known}", "dim")
    if tasks[0].get("flaws"):
        title.append(f"\nKnown flaws: {tasks[0]['flaws']}", "dim")
    for group in set(tasks[0]["by"]) - set(_shown(tasks, rows)):
        label = next(r["groups"][group] for r in rows if group in r["groups"])
        title.append(f"\n{group}: {label}", "dim")
    return title if len(tasks) == 1 else title.append("\nvalue [95 % interval]", "dim")


def _shown(tasks: Sequence[Mapping[str, Any]], rows: list[dict[str, Any]]) -> list[str]:
    """The groups worth a column: with one label alone, the heading says it."""
    by: list[str] = tasks[0]["by"] or ["items"]
    return [group for group in by if len({r["groups"].get(group) for r in rows} - {None}) > 1] or by[:1]


def _values(tasks: Sequence[Mapping[str, Any]], rows: list[dict[str, Any]]) -> Table:
    """A row for each group, its parts below it; for each measure value and interval."""
    by, within = tasks[0]["by"] or ["items"], tasks[0].get("within", "")
    shown = _shown(tasks, rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1) if len(tasks) == 1 else (0, 1, 0, 0))
    for group in shown:
        table.add_column(f"{group}, {within}" if within and group == shown[0] else group, no_wrap=True)
    for task in tasks:
        table.add_column("value" if len(tasks) == 1 else task["measure"], justify="right", no_wrap=True)
        if len(tasks) == 1:
            table.add_column("95 % interval", justify="right", no_wrap=True)
    for name in ("n", "unscored"):
        table.add_column(name, justify="right", no_wrap=True)
    for labels, part, cells in _nested(by, within, rows):
        names = [labels[by.index(group)] for group in shown]
        names[0] = f"  {part}" if part else names[0]
        found = [cells[task["measure"]] for task in tasks]
        apart = [text for cell in found for text in (number(cell), interval(cell))]
        values = apart if len(tasks) == 1 else [f"{number(cell)} {interval(cell)}" for cell in found]
        table.add_row(*names, *values, f"{found[0]['n']:,}", f"{found[0]['unscored']:,}")
    return table


def _nested(
    by: list[str], within: str, rows: list[dict[str, Any]]
) -> Iterator[tuple[list[str], str, dict[str, dict[str, Any]]]]:
    """The rows of all measures, by labels and part: all items first, then each group before its parts."""
    cells: dict[tuple[tuple[str, ...], str], dict[str, dict[str, Any]]] = {}
    for row in rows:
        labels = tuple(row["groups"].get(group, "") for group in by)
        cells.setdefault((labels, row["groups"].get(within, "")), {})[row["measure"]] = row
    for labels, part in sorted(cells):
        if part and part == labels[0]:  # a word that is a category by itself
            continue
        yield [label or "all" for label in labels], part, cells[labels, part]


def _distribution(labels: pd.DataFrame, rows: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Labels by set, then the two scores, as in Anantaprayoon et al. (2024), Table 3."""
    yield _line("Output distribution: labels in the sets PS (pro), AS (anti) and NS (non)", "bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("evaluation data", "Ent.", "Con.", "Neu.", "FN", "NLI-CoAL"):
        table.add_column(name, justify="left" if name == "evaluation data" else "right", no_wrap=True)
    whole = {row["measure"]: row for row in rows if not row["groups"]}
    scores = [
        f"{number(whole[name])} {interval(whole[name])}" if name in whole else "–"
        for name in ("fraction-neutral", "nli-coal")
    ]
    for group, part in labels.groupby("set", sort=False):
        cells = [f"{_cell(row['value'], '.3f')} {_span(row)}" for _, row in part.iterrows()]
        table.add_row(SET_NAMES[str(group)], *cells, *scores)
        scores = ["", ""]
    yield table


def _span(row: Any) -> str:
    return "–" if pd.isna(row["low"]) else f"[{row['low']:.3f}, {row['high']:.3f}]"


def _without_value(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        if row.get("note"):
            of = ", ".join(row["groups"].values()) or "all items"
            yield f"{row['measure']} has no value of {of}: {row['note']}"


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


def reproduction(cells: pd.DataFrame, notes: Sequence[str], claims: Sequence[Claim], digits: int = 2) -> RenderableType:
    """Published | ours | difference for every cell of a paper's tables, the hypotheses, and why they differ."""
    columns = tuple(column for column in cells.columns if column not in ("low", "high"))
    first = len(columns) - 3  # published, ours, difference
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in columns[first:] else "left", no_wrap=True)
    for _, row in cells.iterrows():
        form = ",.0f" if row["what"] == "W" else f"+.{digits}f"
        table.add_row(*(str(row[c]) for c in columns[:first]), *(_with_interval(row, c, form) for c in columns[first:]))
    return Group(table, *_claims(claims), "", *(Text(f"- {note}") for note in notes))


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
    title = _line(f"{dataset} · {measure}: models side by side", "bold")
    note = "best and worst only where every paired difference's interval leaves out 0 (95 % for a row)"
    return Group(title, _line(reading, "dim"), table, _line(note, "dim"))


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
        _line("Gendered words of the corpus, before and after substitution", "bold"),
        _frame(balance, {"corpus": "", "female": ",", "male": ",", "share": ".3f"}),
        _line("The model before and after, item by item (95 % intervals; p adjusted by Holm)", "bold"),
        _frame(changes, formats),
    ]
    if language:
        span = f"[{language['low']:+.3f}, {language['high']:+.3f}]"
        moved = f"{language['before']:.2f} before, {language['after']:.2f} after"
        text = f"Pseudo-perplexity on {language['sentences']:.0f} held-out sentences: {moved}"
        parts.append(_line(f"{text} (change of the log {language['change']:+.3f} {span})", ""))
    return Group(*parts, *(_line(f"Careful: {alarm}", "yellow") for alarm in alarms))


def counted(name: str, summary: Mapping[str, float], beside: pd.DataFrame, contexts: pd.DataFrame) -> RenderableType:
    """A corpus in numbers: its lean, professions, contexts."""
    words = f"{summary['female']:,} female and {summary['male']:,} male words"
    title = f"{name}: {summary['documents']:,} documents, {summary['sentences']:,} sentences, {words}"
    lean = f"ln(male / female words) {summary['lean']:+.3f}"
    if not pd.isna(summary["low"]):
        lean += f" [{summary['low']:+.3f}, {summary['high']:+.3f}]"
    parts: list[RenderableType] = [_line(title, "bold"), _line(f"{lean}; above 0 male, below 0 female", "")]
    if len(beside):
        numbers = {"female": ",", "male": ",", "ratio": "+.2f", "low": "+.2f", "high": "+.2f"}
        ordered = beside.sort_values("ratio")
        parts += [
            _line("Sentences with a profession: ln(male / female), against the corpus as a whole (95 %)", "bold"),
            _frame(ordered, {"profession": "", **numbers}),
            _line(f"Mean size over {len(beside)} professions: {summary['score']:.2f} (0: none is gendered)", ""),
        ]
    if len(contexts):
        parts += [
            _line("Words in the most female and the most male company (z of the log-odds)", "bold"),
            _frame(contexts, {"word": "", "female": ",", "male": ",", "z": "+.1f"}),
        ]
    return Group(*parts)


def learned_table(
    sentences: Mapping[str, int], asld: pd.DataFrame, lean: pd.DataFrame, changes: pd.DataFrame
) -> RenderableType:
    """What models learned from corpora (Barza 2023, Table 4): ASLD and lean by group and model, and what differs."""
    sizes = ", ".join(f"{name} {n:,}" for name, n in sentences.items())
    parts: list[RenderableType] = [_line(f"What a debiased model learns; sentences trained on: {sizes}", "bold")]
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
        parts += [_line(title, "dim"), table]
    rows = changes[changes["group"] == changes["group"].iloc[-1]]
    for row in rows.to_dict("records"):
        span = f"{row['value']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]"
        told = "more" if row["low"] > 0 else "less" if row["high"] < 0 else "as much, as far as can be told"
        parts.append(_line(f"{row['of']} against {row['against']}: {span}, {told}", ""))
    if asld["draws"].max() == 1:
        parts.append(
            _line("One draw each: intervals are over pairs alone. Another sample may differ: --draws 3.", "dim")
        )
    return Group(*parts)


def dial(model: str, follows: pd.DataFrame, notes: Sequence[str]) -> RenderableType:
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
        _line(f"{model}: what follows the rate of bias in training", "bold"),
        table,
        _line(
            "† p < .05. No correlation: the value is the same at every rate. 95 % intervals from eight models on.",
            "dim",
        ),
        _line("Smallest change seen: of the rate, within half the width of a single model's interval.", "dim"),
        *(_line(note, "") for note in notes),
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
    return Group(table, _line(f"{clean:,} of {pairs:,} pairs are clean.", "bold"))


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


def _with_interval(row: Any, column: str, form: str) -> str:
    shown = _cell(row[column], form)
    has = column == "ours" and "low" in row and not pd.isna(row["low"])
    return f"{shown} [{row['low']:{form}}, {row['high']:{form}}]" if has else shown


def _cell(value: Any, form: str) -> str:
    return "–" if pd.isna(value) else format(value, form)


def number(row: Mapping[str, Any]) -> str:
    """The value, signed where it can be of either sign; a dash where there is none."""
    return "–" if row["value"] is None else format(row["value"], _form(row))


def interval(row: Mapping[str, Any]) -> str:
    """Low and high; a dash where there are too few clusters for an interval."""
    return "–" if row["low"] is None else f"[{row['low']:{_form(row)}}, {row['high']:{_form(row)}}]"


def _form(row: Mapping[str, Any]) -> str:
    return "+.3f" if row["neutral"] == 0 and row["measure"] not in UNSIGNED else ".3f"


def _unscored(run: Run, task: Mapping[str, Any]) -> Iterator[str]:
    for reason, n in run.about["unscored"].get(f"{task['dataset']}/{task['measure']}", {}).items():
        yield f"{n:,} items unscored by {task['measure']}: {reason}"


def _footer(run: Run) -> Iterator[str]:
    names = {" and ".join(filter(None, (t["cluster"], t.get("crossed", "")))) for t in run.about["tasks"]}
    clusters = "; ".join(sorted(name or "each pair for itself" for name in names))
    yield f"Intervals resample whole clusters ({clusters})."
    if precision := run.about.get("precision"):
        most = max((d["largest"] for d in precision["deviations"]), default=0.0)
        apart = f"no score of a sample of each dataset is more than {most:.3f} away from float32"
        redone = f"; {precision['overflowed']:,} inputs redone in float32" if precision["overflowed"] else ""
        yield f"Computed in {run.about['loaded']['dtype']}: {precision.get('why') or apart}{redone}."
    work = run.about["work"]
    kept = f", {work['kept']:,} answers kept from before" if work["kept"] else ""
    took = f"{work['inputs']:,} distinct inputs{kept}" if work["inputs"] else "every answer kept from before"
    yield f"{work['questions']:,} questions, {took}; {run.about['seconds']} s."
    yield f"Run folder: {run.path}"
    if (page := run.path / "report.html").exists():
        yield f"Page: {page}"
