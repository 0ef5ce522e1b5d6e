"""The scorecard of a run, on a terminal."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.protocol import is_renderable
from rich.table import Table
from rich.text import Text

from evenhand.analysis.reference import by_source, followed
from evenhand.core.dataset import ESTIMANDS
from evenhand.core.foreign import foreign
from evenhand.core.shown import sections_of
from evenhand.errors import BadInput
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import AuditRecord, TaskRecord
from evenhand.runs.rows import Row
from evenhand.show.page.section import AGREEING
from evenhand.show.tables import VERDICTS, P, cell, line, table
from evenhand.stats.verdict import MARKS, NO_SIZE, RULE, SIZES

RIGHT = "✓"


def scorecard(
    run: StoredRun, datasets: Sequence[str] = (), *, frequency: Mapping[str, float] | None = None
) -> RenderableType:
    """Every value of a run with its interval, n and unscored, and what follows from them; then the cost of the run.

    With `datasets`, of these only.
    """
    parts: list[RenderableType] = [line(f"Careful: {text}", "yellow") for text in run.record.warnings]
    parts += [line(text, "dim") for text in run.record.caveats]
    parts += [
        line(f"{found.verdict.capitalize()}, {found.check}: {found.says} {found.do}", VERDICTS[found.verdict])
        for found in run.record.concerns
    ]
    for dataset in datasets or run.datasets:
        tasks = run.tasks_on(dataset)
        rows = run.values_of(dataset)
        parts_of, elsewhere = _sections(run, dataset, frequency)
        shown = [task for task in tasks if task.measure not in elsewhere]
        parts += [_heading(run, tasks, rows), *_judged_table(run, tasks), _values(shown, rows)]
        for row in (row for row in rows if row.note):
            of = ", ".join(row.groups.values()) or "all items"
            parts.append(line(f"{row.measure} has no value of {of}: {row.note}", "yellow"))
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
    """What the dataset adds, and the measures that are shown there instead of in the table of values."""
    parts: list[RenderableType] = []
    elsewhere: set[str] = set()
    for sections in sections_of([dataset]):
        with foreign(f"The sections of '{dataset}' failed", sections):
            added = sections.terminal(run, dataset, frequency=frequency)
            added = [added] if isinstance(added, str) else list(added)
            if wrong := [part for part in added if not is_renderable(part)]:
                raise BadInput(f"`terminal` gives texts, or tables and lines of rich's. Got {wrong[0]!r}.")
        parts += [line(part, "") if isinstance(part, str) else part for part in added]
        elsewhere |= set(sections.shown_here if added else ())
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
            if known := followed(run.record, task, estimand):
                title.append(f"; {estimand or 'all items'} {known}", "dim")
    if tasks[0].flaws:
        title.append(f"\nKnown flaws: {tasks[0].flaws}", "dim")
    for group in (group for group in tasks[0].by if group not in _shown_groups(tasks, rows)):
        label = next(r.groups[group] for r in rows if group in r.groups)
        title.append(f"\n{group}: {label}", "dim")
    return title if len(tasks) == 1 else title.append("\nvalue [95 % interval]", "dim")


def _shown_groups(tasks: Sequence[TaskRecord], rows: Sequence[Row]) -> list[str]:
    """The groups worth a column; one with a single label is in the heading instead."""
    by = list(tasks[0].by) or ["items"]
    return [group for group in by if len({r.groups.get(group) for r in rows} - {None}) > 1] or by[:1]


def _values(tasks: Sequence[TaskRecord], rows: Sequence[Row]) -> Table:
    """A row for each group, its parts below it; for each measure value and interval, and a dot where it leans."""
    by, within = list(tasks[0].by) or ["items"], tasks[0].within
    shown = _shown_groups(tasks, rows)
    left = [f"{group}, {within}" if within and group == shown[0] else group for group in shown]
    heads = ["value", "95 % interval"] if len(tasks) == 1 else [task.measure for task in tasks]
    lines = []
    for labels, part, cells in _nested_rows(by, within, rows):
        names = [labels[by.index(group)] for group in shown]
        names[0] = f"  {part}" if part else names[0]
        found = [cells[task.measure] for task in tasks]
        values = [f"{row.shown(row.form)} {dot(row)}" for row in found]
        if len(found) == 1:
            values = [found[0].number(found[0].form), f"{found[0].interval(found[0].form)} {dot(found[0])}"]
        lines.append([*names, *values, f"{found[0].n:,}", f"{found[0].unscored:,}"])
    padding = (0, 1) if len(tasks) == 1 else (0, 1, 0, 0)
    return table([*left, *heads, "n", "unscored"], lines, left=left, padding=padding)


def dot(row: Row) -> str:
    """The mark of a row that leans, or that is above neutral where a measure's own values should be; else a space."""
    if row.verdict.side > 0 and row.task.better == "higher" and not row.judged:
        return RIGHT
    return MARKS.get(row.size, NO_SIZE) if row.leans else " "


def _judged_table(run: StoredRun, tasks: Sequence[TaskRecord]) -> Iterator[RenderableType]:
    """Stereotype and default, of all items and by group, and women minus men by kind: what verdicts are about."""
    lines = []
    for task in tasks:
        for row in run.rows_of(*task.name):
            of = ", ".join(filter(None, (row.estimand or row.contrast, *row.groups.values())))
            numbers = [row.shown(row.form), row.narrow.interval(row.form), cell(row.p_holm, P)]
            lines.append([task.measure, of, *numbers, dot(row), f"{row.n:,}", f"{row.unscored:,}"])
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
        if part and part == labels[0]:  # a word that is a category by itself
            continue
        yield [label or "all" for label in labels], part, cells[labels, part]


def _datasets(audits: Sequence[AuditRecord]) -> str:
    return ", ".join(dict.fromkeys(task.dataset for audit in audits for task in audit.tasks))


def _cost(audit: AuditRecord, of: str) -> Iterator[str]:
    if precision := audit.precision:
        apart = "not compared with float32, since no item of the sample has a score in both"
        if precision.deviations:
            most = max(found.largest for found in precision.deviations)
            apart = f"no score of a sample of each dataset is more than {most:.3f} away from float32"
        redone = f"; {precision.overflowed:,} inputs redone in float32" if precision.overflowed else ""
        yield f"{of}Computed in {audit.loaded['dtype']}: {precision.why or apart}{redone}."
    work = audit.work
    if audit.imported:
        yield f"{of}Scores {audit.imported.told}."
        return
    kept = f", {work.kept:,} answers kept from before" if work.kept else ""
    took = f"{work.inputs:,} distinct inputs{kept}" if work.inputs else "every answer kept from before"
    yield f"{of}{work.questions:,} questions, {took}; {audit.seconds} s."


def _footer(run: StoredRun) -> Iterator[str]:
    names = {" and ".join(filter(None, (t.cluster, t.crossed))) for t in run.record.tasks}
    clusters = "; ".join(sorted(name or "each item on its own" for name in names))
    wider = {" and ".join(t.kinds.samples) for t in run.record.tasks if t.kinds and t.kinds.samples and t.genders}
    more = f"; of stereotype, default and female - male also over {'; '.join(sorted(wider))}" if wider else ""
    yield f"Intervals are over whole clusters ({clusters}){more}."
    unfit = [audit for audit in run.record.audits if audit.unfit]
    if unfit:
        of = "" if len(unfit) == len(run.record.audits) else f" on {_datasets(unfit)}"
        yield f"No verdicts{of}: the model is unfit to be measured."
    if len(unfit) < len(run.record.audits):
        yield f"A mark where a value leans: {RULE}. {SIZES}."
    for audit in run.record.audits:
        yield from _cost(audit, f"{_datasets([audit])}: " if len(run.record.audits) > 1 else "")
    yield f"Run folder: {run.path}"
    if (page := run.path / "report.html").exists():
        yield f"Page: {page}"
