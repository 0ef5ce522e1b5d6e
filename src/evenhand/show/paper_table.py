"""One table for a paper: models by numbers, each with its interval, and a mark that says how large its lean is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.core.parameters import TableOptions, describe
from evenhand.errors import BadInput, UnknownName
from evenhand.formats.cells import latex as escaped
from evenhand.formats.cells import markdown as escaped_markdown
from evenhand.formats.cells import markdown_table
from evenhand.formats.latex import HEAD, booktabs
from evenhand.runs.comparable import distinct_names, of_two_kinds, same_task, task_names
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import dataset_words, measure_words
from evenhand.show.page import readings
from evenhand.show.page.section import Measured, ScorecardLine
from evenhand.stats.verdict import MARKS, NO_SIZE, RULE, SIZES

WIDEST = 5
"""The most numbers that are columns of the table. If there are more, numbers are rows, and models are columns."""
LETTERS = {word: rf"^{{\mathrm{{{word[0]}}}}}" for word in MARKS}
LETTERS |= {NO_SIZE: r"^{\bullet}", "◇": r"^{\diamond}", "✓": "^{+}", "*": "^{*}", "†": r"^{\dagger}"}
OTHERS = {
    "†": "no verdict, for the reason above",
    "◇": "not judged by itself",
    "✓": "as it should be",
    "*": readings.BY_CHANCE,
}
COLUMN = ["dataset", "measure", "row"]
Cell = Mapping[Any, Any]


@dataclass(frozen=True)
class PaperTable:
    """Numbers of several models: `frame` has a row for each model and number, `notes` are printed below the table."""

    frame: pd.DataFrame
    models: tuple[str, ...]
    caption: str
    notes: tuple[str, ...]

    def to_csv(self) -> str:
        """The frame, with exact numbers."""
        return str(self.frame.drop(columns=["text", "interval"]).to_csv(index=False, lineterminator="\n"))

    def to_markdown(self) -> str:
        """A table in Markdown, with the marks of the page."""
        heads, rows = self._texts()
        shown = markdown_table([*map(escaped_markdown, heads)], rows, left=["model", *COLUMN]).rstrip()
        return "\n\n".join([escaped_markdown(self.caption), shown, *map(escaped_markdown, self.notes)]) + "\n"

    def to_latex(self) -> str:
        """A booktabs table with a short caption; the notes stand below it."""
        heads, sides, cells = self._grid()
        deep = max(map(len, heads))
        stacked = [[*[""] * (deep - len(head)), *map(escaped, head)] for head in heads]
        rows = []
        for side, row in zip(sides, cells, strict=True):
            known = [cell if cell and cell["text"] != "–" else None for cell in row]
            values = [f"${c['text']}{LETTERS.get(c['size'] or c['mark'], '')}$" if c else "--" for c in known]
            spans = [rf"{{\scriptsize ${cell['interval']}$}}" if cell and cell["interval"] else "" for cell in row]
            rows += [[*map(escaped, side), *values], [""] * len(side) + spans]
        note = " ".join(self.notes)
        for word, sign in MARKS.items():
            note = note.replace(f"{sign} {word}", f"{word[0]} {word}")
        note = escaped(note)
        for sign in (NO_SIZE, "†", "◇", "✓"):
            note = note.replace(sign, f"${LETTERS[sign][2:-1]}$")
        columns, style = "l" * len(sides[0]) + "c" * len(cells[0]), r"\small\setlength{\tabcolsep}{4pt}"
        titles = [list(level) for level in zip(*stacked, strict=True)]
        shown = booktabs(escaped(self.caption), "gender-bias", columns, titles, rows, style=style, note=note)
        return "\n".join([HEAD, *shown]) + "\n"

    __str__ = to_markdown

    def _repr_html_(self) -> str:
        heads, rows = self._texts()
        return pd.DataFrame(rows, columns=heads).to_html(index=False)

    def _texts(self) -> tuple[list[str], list[list[str]]]:
        heads, sides, cells = self._grid()
        texts = [
            [" ".join(filter(None, (c["text"], c["interval"], c["mark"]))) if c else "–" for c in r] for r in cells
        ]
        return [", ".join(head) for head in heads], [[*side, *row] for side, row in zip(sides, texts, strict=True)]

    def _grid(self) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]], list[list[Cell | None]]]:
        known: dict[tuple[str, ...], Cell] = {
            (row["model"], *(row[name] for name in COLUMN)): row for row in self.frame.to_dict("records")
        }
        models: list[tuple[str, ...]] = [(name,) for name in self.models]
        columns = list(dict.fromkeys(key[1:] for key in known))
        if len(columns) <= WIDEST:
            return [("model",), *columns], models, [[known.get((*m, *c)) for c in columns] for m in models]
        cells = [[known.get((*model, *column)) for model in models] for column in columns]
        return [*((name,) for name in COLUMN), *models], columns, cells


@describe(TableOptions)
def table(
    runs: StoredRun | str | Path | Sequence[StoredRun | str | Path],
    *,
    measure: str | Sequence[str] = (),
    dataset: str | Sequence[str] = (),
    group: str | Sequence[str] = (),
    published: bool = False,
) -> PaperTable:
    """The numbers of one or more runs as one table for a paper: `to_latex()`, `to_markdown()`, `to_csv()`, `frame`.

    By default these are the main numbers: stereotype and default of each dataset, or its one number if the two cannot
    be told apart. With `published` they are the values that papers report, each named by its paper: NLI-CoAL, SS, ICAT.
    Runs must have been measured in the same way. A number that a run lacks is shown as a dash.
    """
    loaded = [StoredRun.load(run) for run in ([runs] if isinstance(runs, StoredRun | str | Path) else runs)]
    if not loaded:
        raise BadInput("A table needs at least one run. Give the folder of a run.")
    selected = {"measure": measure, "dataset": dataset, "group": group}
    wanted = {kind: [names] if isinstance(names, str) else list(names) for kind, names in selected.items()}
    tasks = {task.name: task for run in loaded for task in run.record.tasks}
    if published:
        tasks = {name: t for name, t in tasks.items() if t.measure in wanted["measure"] or _reported(t)}
        if not tasks:
            raise BadInput("No paper reports a number of these runs. Name a `measure`, or leave `published` out.")
    elif not wanted["measure"]:
        headlines = {run.headline_task(name).name for run in loaded for name in run.datasets}
        tasks = {name: task for name, task in tasks.items() if name in headlines}
    known = {"measure": {measure for _, measure in tasks}, "dataset": {dataset for dataset, _ in tasks}}
    values = [row for run in loaded for row in run.rows if not row.judged and not row.part]
    known["group"] = {label for row in values for label in row.groups.values()}
    for kind, names in wanted.items():
        if unknown := [name for name in names if name not in known[kind]]:
            raise UnknownName(f"{kind} of these runs", unknown[0], sorted(known[kind]))
    measures, datasets = (wanted[kind] or known[kind] for kind in ("measure", "dataset"))
    chosen = [_section(loaded, task) for (d, m), task in tasks.items() if m in measures and d in datasets]
    lines = [(s, line) for s in chosen for line in (s.published_lines if published else s.lines_of)(wanted["group"])]
    rows = [row for s, line in lines for row in _rows(s, line, (published and s.values.published) or s.measure)]
    if not rows:
        raise BadInput("The runs have no number with this `dataset`, `measure` and `group` together. Omit one of them.")
    names = distinct_names(loaded)
    models = f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
    notes = tuple(_notes(loaded, pd.DataFrame(rows), {s.key: s.task for s, _ in lines}))
    return PaperTable(pd.DataFrame(rows), tuple(names), f"Gender bias of {models}: values and 95 % intervals.", notes)


def _section(runs: Sequence[StoredRun], task: TaskRecord) -> Measured:
    """The results of a task in the runs that have it."""
    having = [(run, name) for run, name in zip(runs, distinct_names(runs), strict=True) if task.name in task_names(run)]
    same_task([run for run, _ in having], *task.name)
    return Measured([run for run, _ in having], [name for _, name in having], task)


def _reported(task: TaskRecord) -> bool:
    """Whether the paper that defines the measure reports its value on this dataset: both cite the same work."""
    words, of_dataset = measure_words(task), dataset_words(task.dataset).get("cites", ())
    return "published" in words and not set(words["cites"]).isdisjoint(of_dataset)


def _rows(section: Measured, line: ScorecardLine, measure: str) -> Iterator[Cell]:
    """The rows of the frame for one number of the measure, by the name that is shown: a row for each model."""
    for model, number, verdict in zip(section.names, line.numbers, line.verdicts, strict=True):
        mark = "†" if number.unmeasured else "*" * verdict.short.endswith("*")
        yield {
            "model": model,
            "dataset": section.dataset,
            "measure": measure,
            "row": line.label or "all",
            **{name: getattr(number, name) for name in ("value", "low", "high", "neutral", "n", "unscored", "p_holm")},
            "verdict": verdict.short,
            "lean": verdict.tone == "leans",
            "size": verdict.size,
            "mark": mark if number.unmeasured or verdict.tone in ("undecided", "none") else verdict.mark,
            "trust": line.trust.level,
            "why": line.trust.why,
            "text": number.text,
            "interval": number.brackets if number.spans else "",
        }


def _notes(
    runs: Sequence[StoredRun], frame: pd.DataFrame, tasks: Mapping[tuple[str, str], TaskRecord]
) -> Iterator[str]:
    for name, run in zip(distinct_names(runs), runs, strict=True):
        if could_not := run.could_not({dataset for dataset, _ in tasks}):
            yield f"{name} {could_not}"
    yield f"A value is marked where it leans: {RULE}. {SIZES}."
    for (dataset, measure), task in tasks.items():
        sample = f", a sample of at most {task.limit} items" if task.partial else ""
        versions = f"{measure} (version {task.measure_version}) on {dataset} (version {task.dataset_version}{sample})"
        yield f"{versions}: {task.reading}."
    if others := [f"{sign} {says}" for sign, says in OTHERS.items() if (frame["mark"] == sign).any()]:
        yield f"{'; '.join(others)}."
    for key, part in frame[frame["lean"]].groupby(["dataset", "row", "verdict"], sort=False):
        yield "{}, {}: {} ({}).".format(*key, ", ".join(part["model"]))
    if frame["row"].str.contains("stereotype").any():
        yield "Stereotype: what is taken for women's goes with women, men's with men; default: one gender next to both."
    for (level, why), part in frame[frame["trust"] != "fine"].groupby(["trust", "why"], sort=False):
        values = dict.fromkeys(f"{row['dataset']}, {row['row']}" for row in part.to_dict("records"))
        yield f"Trust, {level} ({why}): {'; '.join(values)}."
    if of_two_kinds(runs):
        yield "Values of causal and of other models are not comparable."
    models = zip(distinct_names(runs), runs, strict=True)
    prints = "; ".join(f"{name} {run.record.fingerprint[:12]}" for name, run in models)
    yield f"Fingerprints: {prints}. Measured with evenhand {runs[0].record.evenhand}."
