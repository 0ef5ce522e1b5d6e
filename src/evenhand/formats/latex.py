"""LaTeX tables for papers: booktabs, a column for each model."""

from collections.abc import Iterator, Mapping, Sequence

from evenhand.formats.cells import labels, rows_without_parts, slug
from evenhand.formats.cells import latex as escaped
from evenhand.runs.comparable import distinct_names, same_task, task_names
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import Row
from evenhand.stats.verdict import RULE

HEAD = (
    r"% Needs \usepackage[T1]{fontenc} and \usepackage{booktabs}. Written by evenhand; change the run, not the numbers."
)
NONE = "--"


def latex(runs: Sequence[StoredRun]) -> str:
    """A table for each dataset and measure: groups by models, each value with its interval, then n and unscored.

    No value is bold, since only a paired test (`evenhand compare`) can show that a difference is more than chance. Runs
    in one table must have been measured in the same way.
    """
    tasks = {task.name: task for run in runs for task in run.record.tasks}
    for name in tasks:
        same_task([run for run in runs if name in task_names(run)], *name)
    return "\n".join([HEAD, *("\n".join(_table(runs, task)) for task in tasks.values())]) + "\n"


def _table(runs: Sequence[StoredRun], task: TaskRecord) -> Iterator[str]:
    by_run = [{row.key: row for row in rows_without_parts(run, task)} for run in runs]
    by = list(task.by) or ["items"]
    names = map(escaped, distinct_names(runs))
    rows = []
    for key in dict.fromkeys(key for facts in by_run for key in facts):
        cells = [facts.get(key) for facts in by_run]
        names_of = next(labels(row) for row in cells if row)
        rows.append(
            [*map(escaped, names_of), *map(_cell, cells), _shared_count(cells, "n"), _shared_count(cells, "unscored")]
        )
    columns = "l" * len(by) + "r" * (len(runs) + 2)
    heads = [*map(escaped, by), *names, "$n$", "unscored"]
    yield from booktabs(_caption(runs, by_run, task), f"{task.dataset}-{task.measure}", columns, [heads], rows)


def booktabs(
    caption: str,
    label: str,
    columns: str,
    heads: Sequence[Sequence[str]],
    rows: Sequence[Sequence[str]],
    *,
    style: str = r"\small",
    note: str = "",
) -> Iterator[str]:
    """The lines of a LaTeX table, with `note` below it. All texts except the label must be escaped already."""
    yield from ("", r"\begin{table}", rf"\centering{style}", rf"\caption{{{caption}}}", rf"\label{{tab:{slug(label)}}}")
    yield from (rf"\begin{{tabular}}{{{columns}}}", r"\toprule")
    yield from (" & ".join(cells) + r" \\" for cells in heads)
    yield r"\midrule"
    yield from (" & ".join(cells) + r" \\" for cells in rows)
    yield from (r"\bottomrule", r"\end{tabular}")
    if note:
        yield rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {note}}}"
    yield r"\end{table}"


def _cell(fact: Row | None) -> str:
    if fact is None or not fact.known:
        return NONE
    star = "^{*}" if fact.leans else ""
    return f"${fact.number('.3f')}{star}$ ${fact.interval('.3f')}$"


def _shared_count(cells: Sequence[Row | None], name: str) -> str:
    """The count `name` of each model, n or unscored; a single number if all models have the same."""
    counts = [NONE if fact is None else str(getattr(fact, name)) for fact in cells]
    return counts[0] if len(set(counts)) == 1 else " / ".join(counts)


def _caption(
    runs: Sequence[StoredRun], by_run: Sequence[Mapping[tuple[tuple[str, str], ...], Row]], task: TaskRecord
) -> str:
    models_of = list(zip(distinct_names(runs), runs, strict=True))
    prints = ", ".join(f"{name} {run.record.fingerprint[:12]}" for name, run in models_of)
    audits = [(name, run.record.audit_of(task)) for name, run in models_of if task.name in task_names(run)]
    models = "; ".join(f"{name} {audit.kind}, fit to be measured: {audit.diagnosis}" for name, audit in audits)
    notes = dict.fromkeys(f"{f.model}, {f.of}: {f.note}" for facts in by_run for f in facts.values() if not f.known)
    sentences = [
        f"{task.measure} (version {task.measure_version}) on {task.dataset} "
        f"(version {task.dataset_version}): value [95 % interval]; {task.reading}.",
        f"* leans: {RULE}." if any(f.leans for facts in by_run for f in facts.values()) else "",
        f"Partial: a sample of at most {task.limit} items." if task.partial else "",
        f"No value: {'; '.join(notes)}." if notes else "",
        f"Fingerprints: {prints}.",
        f"Models: {models}.",
    ]
    return escaped(" ".join(sentence for sentence in sentences if sentence))
