"""A run on the terminal, as an answer on one screen or with every value; and the text that `print` shows."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.protocol import is_renderable
from rich.table import Table
from rich.text import Text

from evenhand.analysis.comparison import Comparison
from evenhand.analysis.reference import by_source, meta_evaluation
from evenhand.analysis.tracking import Track
from evenhand.core.dataset import ESTIMANDS
from evenhand.core.foreign import foreign
from evenhand.core.shown import replace_control_characters, sections_of
from evenhand.errors import BadInput
from evenhand.gate.verdict import Verdict
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import AuditRecord, TaskRecord
from evenhand.runs.rows import Row
from evenhand.show import comparison as compared
from evenhand.show import track as tracked
from evenhand.show.page import readings
from evenhand.show.page.section import AGREEING, Measured, ScorecardLine, measured_tasks
from evenhand.show.page.short import lead, main_leans, summary
from evenhand.show.tables import VERDICTS, P, cell, line, table
from evenhand.stats.verdict import MARKS, NO_SIZE, RULE, SIZES

NARROWEST, WIDEST = 80, 110
ROWS = 11
"""The most rows of the table; `--full` shows the others."""
SENTENCES = 3
"""The most leans that get a sentence each; the others are only marked in the table."""
CONCERNS = DETECTABLE = 4
SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z`'])")
WIDTHS = (7, 17, 28, 10)
"""Column widths of value, interval, verdict and trust; on a wide terminal, the verdict column is wider."""
TWO = (
    "stereotype: what is taken for women's goes with women, men's with men. default: one gender is preferred next to "
    "both (minus, or below .5: men)."
)
Cells = tuple[str, str, str, Text, Text]
"""The cells of a row: label, value, interval, verdict, trust."""


def fit_width(width: int) -> int:
    """The width of the answer on a terminal of `width` columns: between NARROWEST and WIDEST."""
    return min(WIDEST, max(NARROWEST, width))


def answer(run: StoredRun, width: int = NARROWEST, logged: str = "") -> RenderableType:
    """The page of a run in about forty lines at most, for a terminal of `width` columns.

    `logged` has the lines that stand above it: remarks among them are not repeated.
    """
    sections = measured_tasks(run)
    lines = summary(sections)
    parts = list(_lead(run, lines))
    parts += _cautions(run, sections, logged)
    shown = _rows_that_fit(lines)
    parts += [Text(" "), *_table(shown, width)]
    if legend := list(_legend(shown)):
        parts.append(Text(" ".join(legend), "dim"))
    if detectable := list(_detectable_leans(shown)):
        listed = [*detectable[:DETECTABLE], *(["more: --full"] if len(detectable) > DETECTABLE else ())]
        parts.append(Text(f"○ no lean shown; a lean that would probably have been found: {'; '.join(listed)}.", "dim"))
    parts += [_remark(f"{why}.", "dim") for why in _reasons(lines)]
    parts += [line(text, "") for text in _next_steps(run)]
    return Group(*parts)


def _legend(lines: Sequence[tuple[Measured, ScorecardLine]]) -> Iterator[str]:
    """What the words and marks of the table mean."""
    verdicts = [line.verdicts[0] for _, line in lines]
    if any(line.label == "stereotype" for _, line in lines):
        yield TWO
    if any(verdict.tone == "leans" for verdict in verdicts):
        yield f"leans: {RULE.partition(' (')[0]}."
    if any(verdict.size in MARKS for verdict in verdicts):
        yield f"{SIZES}."
    if any(verdict.short.endswith("*") for verdict in verdicts):
        yield f"* {readings.BY_CHANCE}."


def brief(run: StoredRun, logged: str = "") -> RenderableType:
    """The first lines of the answer, for output that lists several runs; for `logged`, see `answer`."""
    sections = measured_tasks(run)
    return Group(*_lead(run, summary(sections)), *_cautions(run, sections, logged), line(next(_next_steps(run)), ""))


def _lead(run: StoredRun, lines: Sequence[tuple[Measured, ScorecardLine]]) -> Iterator[RenderableType]:
    yield Text(f"{run.record.model}: {lead(lines)}", "bold")
    yield from (Padding(text, (0, 0, 0, 2)) for text in _sentences(lines))


def _rows_that_fit(lines: Sequence[tuple[Measured, ScorecardLine]]) -> list[tuple[Measured, ScorecardLine]]:
    """The main numbers, and the other rows of a dataset if all of them fit in ROWS."""
    left, datasets = ROWS - sum(row.main for _, row in lines), set[str]()
    for dataset, count in Counter(section.dataset for section, row in lines if not row.main).items():
        if count <= left:
            left, datasets = left - count, {*datasets, dataset}
    return [pair for pair in lines if pair[1].main or pair[0].dataset in datasets]


def _reasons(lines: Sequence[tuple[Measured, ScorecardLine]]) -> list[str]:
    """The most frequent reason to trust a number with care, if there is one."""
    kinds = ("careful", "not tested")
    reasons = Counter(f"trust {line.trust.level}: {line.trust.why}" for _, line in lines if line.trust.level in kinds)
    return [why for why, _ in reasons.most_common(1)]


def _detectable_leans(lines: Sequence[tuple[Measured, ScorecardLine]]) -> Iterator[str]:
    """For main numbers that show no lean, the smallest lean that such data would show in four of five cases."""
    for section, row in lines:
        smallest = readings.detectable_lean(row.numbers[0], row.reading)
        if row.main and row.verdicts[0].tone == "undecided" and smallest:
            yield f"{section.dataset}, {row.label or 'all'}, {smallest}"


def _dataset_title(section: Measured) -> str:
    """The dataset in words, and its name."""
    title = readings.dataset(section.dataset)
    return f"{title} · {section.dataset}" if title != section.dataset else title


def _sentences(lines: Sequence[tuple[Measured, ScorecardLine]]) -> Iterator[Text]:
    shown = main_leans(lines)
    for section, row in shown[:SENTENCES]:
        verdict = row.verdicts[0]
        much = f": {verdict.much}" if verdict.much else ""
        label = f", {row.label}" if row.label else ""
        yield Text(f"{verdict.mark} {_dataset_title(section)}{label}: {verdict.short}{much}.")
    if len(shown) > SENTENCES:
        yield Text(f"and {len(shown) - SENTENCES} more, marked below.")


def _cautions(run: StoredRun, sections: Sequence[Measured], logged: str) -> list[RenderableType]:
    """Remarks to read before the numbers: caveats, the doctor's concerns, warnings."""
    remarks = [Text(run.record.sample, "yellow")] if run.record.partial else []
    caveats = dict.fromkeys((s.dataset, s.caveat) for s in sections if s.caveat)
    remarks += [_remark(f"Careful, {dataset}: {text}", "yellow") for dataset, text in caveats]
    concerns = [finding for finding in run.concerns if finding.says not in logged]
    for finding in sorted(concerns, key=lambda finding: finding.verdict != "unfit"):
        advice = f" {finding.do}" if finding.verdict == "unfit" else ""
        says = f"{finding.verdict.capitalize()}, {finding.check}: {finding.says}"
        remarks.append(_remark(says, VERDICTS[finding.verdict], advice))
    remarks += [_remark(f"Careful: {text}", "yellow") for text in run.record.warnings if text not in logged]
    remarks += [_remark(text, "yellow") for text in _unscored_notes(run)]
    remarks += [_remark(text, "dim") for text in run.record.caveats[:1]]
    left = len(remarks) - CONCERNS
    more = [Text(f"{left} more remark{'s' if left > 1 else ''}: --full", "yellow")] if left > 0 else []
    return [*remarks[:CONCERNS], *more]


def _remark(text: str, style: str, more: str = "") -> Text:
    """The whole sentences of a remark that fit into three lines, at least one; then the whole of `more`, its advice."""
    shown, *others = SENTENCE_END.split(text)
    for sentence in others:
        if len(shown) + len(sentence) >= 3 * NARROWEST:
            break
        shown += f" {sentence}"
    return Text(shown + ("" if not more or shown.endswith((".", "!", "?")) else ".") + more, style)


def _unscored_notes(run: StoredRun) -> Iterator[str]:
    """How many items of each dataset have no score, by reason, for the measure with the most unscored items."""
    for dataset in run.datasets:
        by_measure = [run.record.unscored.get(f"{dataset}/{task.measure}", {}) for task in run.tasks_on(dataset)]
        most = max(by_measure, key=lambda reasons: sum(reasons.values()), default={})
        if most:
            why = "; ".join(f"{n:,} ({reason})" for reason, n in most.items())
            yield f"Items of {dataset} without a score: {why}."


def _table(lines: Sequence[tuple[Measured, ScorecardLine]], width: int) -> Iterator[RenderableType]:
    """The main numbers, under a heading for each dataset with its name and its question."""
    room = width - sum(WIDTHS) - len(WIDTHS) - 1  # for labels, as wide as the longest, and for verdicts
    label = min(room, max(len(_row_cells(row)[0]) for _, row in lines))
    sizes = label, room - label
    yield _grid([("", "value", "95 % interval", Text("verdict"), Text("trust"))], sizes, "dim")
    datasets: dict[str, list[tuple[Measured, ScorecardLine]]] = {}
    for section, row in lines:
        datasets.setdefault(section.dataset, []).append((section, row))
    for members in datasets.values():
        section = members[0][0]
        yield Text(
            f"{_dataset_title(section)} · {section.reading.title[:1].lower()}{section.reading.title[1:]}", "bold"
        )
        yield _grid([_row_cells(row) for _, row in members], sizes, "")


def _row_cells(row: ScorecardLine) -> Cells:
    number, verdict, trust = row.numbers[0], row.verdicts[0], row.trust.level
    says = Text(f"{verdict.mark} {verdict.short}")
    label = f"{'  ' if row.main else '    '}{row.label or 'all'}"
    return label, number.text, number.brackets, says, Text(trust, VERDICTS[trust])


def _grid(rows: Sequence[Cells], sizes: tuple[int, int], style: str) -> Table:
    shown = Table.grid(padding=(0, 1, 0, 0))
    shown.add_column(width=sizes[0], style=style)
    for place, wide in enumerate(WIDTHS):
        more = sizes[1] if place == 2 else 0
        shown.add_column(width=wide + more, style=style, justify="right" if place < 2 else "left")
    for label, value, interval, verdict, trust in rows:
        shown.add_row(Text(label), value, interval, verdict, trust)
    return shown


def _next_steps(run: StoredRun) -> Iterator[str]:
    if (page := run.path / "report.html").exists():
        yield f"Page: {page}"
    yield f"All numbers: evenhand show {run.path} --full"
    trainable = any(audit.kind == "masked" and not audit.imported for audit in run.record.audits)
    yield f"Next: {'evenhand debias MODEL, ' if trainable else ''}evenhand gate --suggest RUN"


RIGHT = "✓"


def scorecard(
    run: StoredRun, datasets: Sequence[str] = (), *, frequency: Mapping[str, float] | None = None
) -> RenderableType:
    """Every value of a run with its interval, n, unscored and mark; then the cost of the run.

    With `datasets`, only the values of these.
    """
    parts: list[RenderableType] = [line(f"{run.record.model} {run.could_not()}", "bold red")] if run.unmeasured else []
    parts += [line(f"Careful: {text}", "yellow") for text in run.record.warnings]
    parts += [line(text, "dim") for text in run.record.caveats]
    parts += [
        line(f"{finding.verdict.capitalize()}, {finding.check}: {finding.says} {finding.do}", VERDICTS[finding.verdict])
        for finding in run.concerns
    ]
    for dataset in datasets or run.datasets:
        tasks = run.tasks_on(dataset)
        rows = run.values_of(dataset)
        parts_of, elsewhere = _sections(run, dataset, frequency)
        shown = [task for task in tasks if task.measure not in elsewhere]
        parts += [_heading(run, tasks, rows), *_judged_table(run, tasks), _values(shown, rows)]
        for row in (row for row in rows if row.note):
            label = ", ".join(row.groups.values()) or "all items"
            parts.append(line(f"{row.measure} has no value of {label}: {row.note}", "yellow"))
        for task in tasks:
            for reason, n in run.record.unscored.get(f"{dataset}/{task.measure}", {}).items():
                parts.append(line(f"{n:,} items unscored by {task.measure}: {reason}", "yellow"))
        for task in tasks:
            for source, values in by_source(run.record, task).items():
                parts.append(line(f"Published {task.measure} ({source}): {', '.join(values)}.", "dim"))
        if any(task.partners and task.partners.agreeing for task in tasks):
            parts.append(line(AGREEING, "yellow"))
        parts += parts_of
    return Group(*parts, *(line(text, "dim") for text in _footer(run)))


def _sections(
    run: StoredRun, dataset: str, frequency: Mapping[str, float] | None
) -> tuple[list[RenderableType], set[str]]:
    """The parts that a dataset's sections add, and the measures that these show instead of the table of values."""
    parts: list[RenderableType] = []
    elsewhere: set[str] = set()
    for sections in sections_of([dataset]):
        with foreign(f"The sections of '{dataset}' failed", sections):
            added = sections.terminal(run, dataset, frequency=frequency)
            added = [added] if isinstance(added, str) else list(added)
            if wrong := [part for part in added if not is_renderable(part)]:
                raise BadInput(f"`terminal` must give texts, or tables and lines of rich. Got {wrong[0]!r}.")
            elsewhere |= set(sections.shown_here if added else ())
        parts += [line(part, "") if isinstance(part, str) else part for part in added]
    return parts, elsewhere


def _heading(run: StoredRun, tasks: Sequence[TaskRecord], rows: Sequence[Row]) -> Text:
    title = line("", "").append(
        f"{run.record.model} · {tasks[0].dataset} · {', '.join(task.measure for task in tasks)}", "bold"
    )
    options = dict(tasks[0].dataset_options)
    for task in tasks:
        options |= task.measure_options
    shown = ", ".join(f"{name}={value}" for name, value in options.items() if name != "sha256" and value != "")
    measured = ", ".join(dict.fromkeys(str(task.measure_version) for task in tasks))
    versions = f"{tasks[0].dataset_version} and {measured}"
    title.append(f"  (versions {versions}; {shown or 'no options'}; model {run.record.fingerprint[:8]})", "dim")
    if tasks[0].partial:
        title.append(f"  (partial: a sample of at most {tasks[0].limit} items)", "yellow")
    for task in tasks:
        title.append(f"\n{task.measure}: {task.reading}" if len(tasks) > 1 else f"\n{task.reading}", "dim")
        for estimand in ("", *ESTIMANDS):
            if known := meta_evaluation(run.record, task, estimand):
                title.append(f"; {estimand or 'all items'} {known}", "dim")
    if tasks[0].flaws:
        title.append(f"\nKnown flaws: {tasks[0].flaws}", "dim")
    for group in (group for group in tasks[0].by if group not in _shown_groups(tasks, rows)):
        label = next(r.groups[group] for r in rows if group in r.groups)
        title.append(f"\n{group}: {label}", "dim")
    return title if len(tasks) == 1 else title.append("\nvalue [95 % interval]", "dim")


def _shown_groups(tasks: Sequence[TaskRecord], rows: Sequence[Row]) -> list[str]:
    """The groups that have a column. A group with a single label is in the heading instead."""
    by = list(tasks[0].by) or ["items"]
    return [group for group in by if len({r.groups.get(group) for r in rows} - {None}) > 1] or by[:1]


def _values(tasks: Sequence[TaskRecord], rows: Sequence[Row]) -> Table:
    """A row for each group, with its parts below it. Each measure has its value, interval and, if it leans, a dot."""
    by, within = list(tasks[0].by) or ["items"], tasks[0].within
    shown = _shown_groups(tasks, rows)
    left = [f"{group}, {within}" if within and group == shown[0] else group for group in shown]
    heads = ["value", "95 % interval"] if len(tasks) == 1 else [task.measure for task in tasks]
    lines = []
    for labels, part, cells in _nested_rows(by, within, rows):
        names = [labels[by.index(group)] for group in shown]
        names[0] = f"  {part}" if part else names[0]
        numbers = [cells[task.measure] for task in tasks]
        values = [f"{row.shown(row.spec)} {dot(row)}" for row in numbers]
        if len(numbers) == 1:
            values = [numbers[0].number(numbers[0].spec), f"{numbers[0].interval(numbers[0].spec)} {dot(numbers[0])}"]
        lines.append([*names, *values, f"{numbers[0].n:,}", f"{numbers[0].unscored:,}"])
    padding = (0, 1) if len(tasks) == 1 else (0, 1, 0, 0)
    return table([*left, *heads, "n", "unscored"], lines, left=left, padding=padding)


def dot(row: Row) -> str:
    """The mark of a row that leans, or of a measure's own value that is above neutral as it should be; else a space."""
    if row.verdict.side > 0 and row.task.better == "higher" and not row.judged:
        return RIGHT
    return MARKS.get(row.size, NO_SIZE) if row.leans else " "


def _judged_table(run: StoredRun, tasks: Sequence[TaskRecord]) -> Iterator[RenderableType]:
    """Stereotype and default, of all items and by group, and women minus men by kind: what verdicts are about."""
    lines = []
    for task in tasks:
        for row in run.rows_of(*task.name):
            label = ", ".join(filter(None, (row.estimand or row.contrast, *row.groups.values())))
            numbers = [row.shown(row.spec), row.narrow.interval(row.spec), cell(row.p_holm, P)]
            lines.append([task.measure, label, *numbers, dot(row), f"{row.n:,}", f"{row.unscored:,}"])
    if lines:
        heads = ["measure", "what", "value [95 % interval]", "in these sentences", "p_holm", " ", "n", "unscored"]
        shown = [n for n, _ in enumerate(heads) if n != 3 or any(row[3] != "–" for row in lines)]
        cut = [[row[n] for n in shown] for row in lines]
        yield table([heads[n] for n in shown], cut, left=("measure", "what", " "), padding=(0, 1, 0, 0))


def _nested_rows(by: list[str], within: str, rows: Sequence[Row]) -> Iterator[tuple[list[str], str, dict[str, Row]]]:
    """The rows of all measures, by labels and part: all items first, then each group before its parts."""
    cells: dict[tuple[tuple[str, ...], str], dict[str, Row]] = {}
    for row in rows:
        labels = tuple(row.groups.get(group, "") for group in by)
        cells.setdefault((labels, row.groups.get(within, "")), {})[row.measure] = row
    for labels, part in sorted(cells):
        if part and part == labels[0]:  # the word is a category of its own, which has a row already
            continue
        yield [label or "all" for label in labels], part, cells[labels, part]


def _datasets(audits: Sequence[AuditRecord]) -> str:
    return ", ".join(dict.fromkeys(task.dataset for audit in audits for task in audit.tasks))


def _cost(audit: AuditRecord, prefix: str) -> Iterator[str]:
    if precision := audit.precision:
        deviates = "not compared with float32, since no item of the sample has a score in both"
        if precision.deviations:
            most = max(deviation.largest for deviation in precision.deviations)
            deviates = f"no score of a sample of each dataset is more than {most:.3f} away from float32"
        redone = f"; {precision.overflowed:,} inputs redone in float32" if precision.overflowed else ""
        yield f"{prefix}Computed in {audit.loaded['dtype']}: {precision.why or deviates}{redone}."
    work = audit.work
    if audit.imported:
        yield f"{prefix}Scores {audit.imported.description}."
        return
    from_before = f", {work.kept:,} answers kept from before" if work.kept else ""
    effort = f"{work.inputs:,} distinct inputs{from_before}" if work.inputs else "every answer kept from before"
    yield f"{prefix}{work.questions:,} questions, {effort}; {audit.seconds} s."


def _footer(run: StoredRun) -> Iterator[str]:
    names = {" and ".join(filter(None, (t.cluster, t.crossed))) for t in run.record.tasks}
    clusters = "; ".join(sorted(name or "each item on its own" for name in names))
    wider = {" and ".join(t.kinds.samples) for t in run.record.tasks if t.kinds and t.kinds.samples and t.genders}
    more = f"; of stereotype, default and female - male also over {'; '.join(sorted(wider))}" if wider else ""
    yield f"Intervals are over whole clusters ({clusters}){more}."
    if unfit := run.unmeasured:
        yield f"No verdicts on {', '.join(unfit)}."
    if len(unfit) < len(run.datasets):
        yield f"A mark where a value leans: {RULE}. {SIZES}."
    for audit in run.record.audits:
        yield from _cost(audit, f"{_datasets([audit])}: " if len(run.record.audits) > 1 else "")
    yield f"Run folder: {run.path}"
    if (page := run.path / "report.html").exists():
        yield f"Page: {page}"


LONGEST = 400
"""The width of the tables of a comparison, since their rows must not be cut."""


def text(shown: Any) -> str:
    """An object of evenhand as plain text: the output of the command that shows it, or its repr."""
    match shown:
        case StoredRun():
            return _render(answer(shown, WIDEST), WIDEST)
        case Comparison():
            return _render(compared.terminal(shown), LONGEST)
        case Track():
            return _render(tracked.terminal(shown, WIDEST), WIDEST)
        case Verdict():
            return replace_control_characters("\n".join(shown.lines()))
    return repr(shown)


def _render(shown: RenderableType, width: int) -> str:
    file = StringIO()
    Console(file=file, width=width, highlight=False, markup=False, color_system=None).print(shown)
    return replace_control_characters("\n".join(line.rstrip() for line in file.getvalue().split("\n")).strip("\n"))
