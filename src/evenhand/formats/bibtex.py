"""BibTeX entries of the works to cite for a run."""

import csv
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from evenhand.errors import check_known
from evenhand.formats.cells import latex as escaped
from evenhand.formats.cells import one_line
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import cited_with_datasets, dataset_words, measure_words

DATA = files("evenhand.formats") / "data"
OWN = "evenhand"


@cache
def works() -> dict[str, dict[str, str]]:
    """The fields of each work, by key."""
    return tomllib.loads((DATA / "references.toml").read_text(encoding="utf-8"))


@cache
def citations() -> dict[tuple[str, str], tuple[str, ...]]:
    """The keys of the works to cite for options, intervals and corpora, by kind and name."""
    lines = (DATA / "cited.tsv").read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(lines, delimiter="\t")
    return {(row["kind"], row["name"]): tuple(row["references"].split()) for row in rows}


def reasons(task: TaskRecord) -> Iterator[tuple[str, Sequence[str]]]:
    """The reasons to cite works for a task, each with the keys of the works; a user's own data has no keys."""
    dataset, measure = task.dataset_builder or task.dataset, task.measure
    words = measure_words(task)
    yield f"measure {measure}", words.get("cites", ())
    for option, value in task.measure_options.items():
        yield f"{option}={value} of {measure}", citations().get(("option", f"{option}={value}"), ())
    yield f"dataset {task.dataset}", dataset_words(dataset).get("cites", ())
    yield "intervals", citations()["interval", "clustered"]
    if task.crossed:
        reason = f"intervals of {task.dataset}, clustered by {task.cluster} and {task.crossed}"
        yield reason, citations()["interval", "crossed"]
    yield f"intervals of {measure}, a share", words.get("cites_interval", ())
    if "gender" in task.by and (tests := words.get("contrast", {}).get("cites")):
        yield "the tests of women against men on the scorecard, where you report them", tests


AS_IT_IS = ("author", "doi", "pages", "url")
"""Fields that are written without escapes: they hold LaTeX, or BibTeX styles print them verbatim."""


def bibtex(runs: Sequence[StoredRun], *, cite: Sequence[str] = ()) -> str:
    """An entry for each work that the runs rely on, below a comment that says what it is cited for.

    evenhand itself comes first, then the works on measures, datasets and statistics, in the order of the tasks. `cite`
    names corpora that the model was trained on, such as gap, since a run does not record them.
    """
    why: dict[str, list[str]] = {OWN: ["the measurements"]}
    uncited: list[str] = []
    for run in runs:
        for task in run.record.tasks:
            for reason, keys in reasons(task):
                if not keys and reason.startswith(("dataset ", "measure ")):
                    uncited.append(reason)
                for key in keys:
                    why.setdefault(key, []).append(reason)
    known = cited_with_datasets() | {name: keys for (kind, name), keys in citations().items() if kind == "corpus"}
    for corpus in cite:
        check_known("corpus to cite", [corpus], known)
        for key in known[corpus]:
            why.setdefault(key, []).append(f"corpus {corpus}")
    versions = dict.fromkeys(str(run.record.evenhand) for run in runs)
    lines = [_comment(f"{run.record.model} ({run.record.fingerprint}). {run.record.sample}".rstrip()) for run in runs]
    lines += [f"{_comment(name)}: not evenhand's; cite it as its author asks" for name in dict.fromkeys(uncited)]
    for key, behind in why.items():
        fields = dict(works()[key]) | ({"note": f"Version {', '.join(versions)}"} if key == OWN else {})
        lines += ["", _comment(f"For {'; '.join(dict.fromkeys(behind))}"), *_entry(key, fields)]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    """The text as a comment. BibTeX skips text outside of entries, but would take an at sign for a new entry."""
    return f"% {one_line(text).replace('@', '(at)')}"


def _entry(key: str, fields: Mapping[str, str]) -> Iterator[str]:
    yield f"@{fields['type']}{{{key},"
    for name, text in fields.items():
        if name != "type":
            shown = text if name in AS_IT_IS else escaped(text)
            yield f"  {name} = {{{{{shown}}}}}," if name == "title" else f"  {name} = {{{shown}}},"
    yield "}"
