"""Scores from a file or a data frame, in whatever format: rows that are not matched with items yet."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.auditing.importing import lm_eval
from evenhand.auditing.importing.row_scores import SCORE, ScoredRow, numbers
from evenhand.core.dataset import base_name
from evenhand.core.files import from_json, json_lines, read_given
from evenhand.core.loop import Task
from evenhand.core.measure import Traits
from evenhand.datasets import BUILDERS
from evenhand.datasets.files.rows import SUFFIXES, rows
from evenhand.errors import BadInput, check_known
from evenhand.measures import MEASURES
from evenhand.runs.origin import Imported
from evenhand.stats.estimate import uncountable

KNOWN_BY = ("id", "text", "other")
"""Columns that an item is known by; `other` is the second text of a pair."""
HINT = "Name yours with `columns`, as in id=COLUMN."
TASKS = ("intrasentence", "intersentence")
SHAPE = '{"intrasentence": [{"id": ..., "score": ...}, ...], "intersentence": [...]}'


def told(scores: Path | pd.DataFrame) -> tuple[str, str]:
    """The kind of model and the dataset, where the format tells; else empty."""
    with suppress(OSError, UnicodeDecodeError):  # `read` says what is wrong
        if isinstance(scores, Path) and _has_samples(scores):
            return lm_eval.kind_and_dataset(scores)
    return "", ""


def read(
    scores: Path | pd.DataFrame, columns: Mapping[str, str], tasks: Sequence[Task]
) -> tuple[list[ScoredRow], Imported]:
    """The rows of a file or data frame with scores of these tasks, all of one dataset; `columns` are names of its own.

    A txt file has one number on each line, a json file StereoSet's predictions; a jsonl file may be one of
    lm-evaluation-harness's samples; everything else is a table.
    """
    answers = Traits.of(tasks[0].measure).answers
    check_known("column", columns, (*KNOWN_BY, *SCORE, *answers))
    if isinstance(scores, pd.DataFrame):
        frame = scores.reset_index() if scores.index.name else scores
        digest = hashlib.sha256(frame.to_csv(index=False).encode("utf-8", "surrogatepass")).hexdigest()
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        records = ((f"row {number}", row) for number, row in enumerate(frame.to_dict("records"), 1))
        found, names = _read_table(records, list(frame.columns), columns, tasks, "the data frame")
        return found, Imported("a data frame", digest, "data frame", names, len(found), 0)
    with scores.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    found, names, form = _read_file(scores, columns, tasks)
    return found, Imported(scores.name, digest, form, names, len(found), 0)


def _read_file(
    scores: Path, columns: Mapping[str, str], tasks: Sequence[Task]
) -> tuple[list[ScoredRow], tuple[str, ...], str]:
    """The rows of a file, what their numbers are, and its format."""
    answers = Traits.of(tasks[0].measure).answers
    if scores.suffix == ".txt":
        return read_column(scores), SCORE, "column of numbers"
    if scores.suffix == ".json":
        return list(_predicted(scores, tasks[0])), answers, "StereoSet's predictions"
    if scores.suffix not in SUFFIXES:
        raise BadInput(f"Scores come in {', '.join((*SUFFIXES, '.txt', '.json', '.eval'))} files. Got '{scores}'.")
    try:
        if _has_samples(scores):
            return list(lm_eval.read(scores, tasks[0].dataset)), answers, "samples of lm-evaluation-harness"
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"'{scores}' cannot be read: {error}. Is it a UTF-8 .jsonl file?") from error
    head = next((list(row) for _, row in rows(scores, ())), [])
    place = "row" if scores.suffix == ".parquet" else "line"
    listed = ((f"{scores}, {place} {number}", row) for number, row in rows(scores, tuple(columns.values()), hint=HINT))
    return *_read_table(listed, head, columns, tasks, f"'{scores}'"), scores.suffix[1:]


def read_column(path: Path) -> list[ScoredRow]:
    """The numbers, in order; an empty line between two of them is an error, since the order would be lost."""
    whole = read_given(path, str, "", "Give a UTF-8 text file with a number on each line.")
    found = []
    for line, text in enumerate(whole.removeprefix("\ufeff").rstrip().splitlines(), start=1):
        where = f"{path}, line {line}"
        if not text.strip():
            raise BadInput(f"{where} is empty. Each line is the score of one item, in the order of the dataset.")
        found.append(ScoredRow(where, numbers(where, ["the line"], [text])))
    return found


def predictions(path: str | Path) -> dict[str, dict[str, float]]:
    """The score of each sentence, higher being likelier, by task and sentence id; a task may be missing.

    Such files come from eval_discriminative_models.py and eval_generative_models.py of moinnadeem/StereoSet, and from
    bias-bench, which keeps their form.
    """
    path = Path(path).expanduser()
    found = read_given(path, from_json, "StereoSet's predictions", "Give a whole file, in JSON.")
    if not isinstance(found, dict) or not set(found) & set(TASKS):
        keys = ", ".join(map(str, found)) if isinstance(found, dict) else type(found).__name__
        raise BadInput(f"'{path}' is no file of StereoSet's predictions, which looks like {SHAPE}. Got: {keys[:200]}.")
    return {task: _scores(path, task, found[task]) for task in TASKS if task in found}


def _scores(path: Path, task: str, rows: Any) -> dict[str, float]:
    if not isinstance(rows, list):
        raise BadInput(f"'{path}': {task} must be a list of sentences with id and score. Got {type(rows).__name__}.")
    scores: dict[str, float] = {}
    for number, row in enumerate(rows, start=1):
        where = f"'{path}', sentence {number} of {task}"
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise BadInput(f"{where}: it needs the id of a sentence and a score. Got {str(row)[:100]!r}.")
        score = row.get("score")
        if not isinstance(score, int | float) or isinstance(score, bool) or uncountable(score):
            raise BadInput(f"{where}: the score of '{row['id']}' must be a number. Got {score!r}.")
        if row["id"] in scores:
            raise BadInput(f"{where}: the id '{row['id']}' occurred before. Each sentence has one score.")
        scores[row["id"]] = float(score)
    return scores


def _predicted(path: Path, task: Task) -> Iterator[ScoredRow]:
    """A row for each item of StereoSet, whose sentences are known by ids of their own; and for each other sentence."""
    predicted = predictions(path)
    table = task.dataset.table()
    ids = [f"{label} id" for label in ("stereotype", "anti-stereotype", "unrelated")]
    if not set(ids) <= set(table.columns):
        known = "stereoset, stereoset-intrasentence or stereoset-intersentence"
        raise BadInput(
            f"'{path}' has StereoSet's predictions, which are of {known}. Got `dataset` '{task.dataset.name}'."
        )
    left = {(kind, one) for kind in dict.fromkeys(table["task"]) for one in predicted.get(kind, {})}
    for item, row in zip(table.index, table.to_dict("records"), strict=True):
        of, mine = predicted.get(row["task"], {}), [row[name] for name in ids]
        found = [of[one] for one in mine if one in of]
        left -= {(row["task"], one) for one in mine}
        if found:
            yield ScoredRow(f"{path}, item {item}", tuple(found) if len(found) == len(ids) else (), str(item))
    for kind, one in sorted(left):
        yield ScoredRow(f"{path}, {kind}", (), one)


def _has_samples(path: Path) -> bool:
    with suppress(BadInput):  # `read` says what is wrong
        return path.suffix == ".jsonl" and any(lm_eval.is_samples(row) for _, row in islice(json_lines(path), 1))
    return False


def _read_table(
    records: Iterable[tuple[str, Mapping[Any, Any]]],
    head: Sequence[str],
    columns: Mapping[str, str],
    tasks: Sequence[Task],
    of: str,
) -> tuple[list[ScoredRow], tuple[str, ...]]:
    """Rows with named cells, a column or two that items are known by and one for each number; and what these are.

    An error where a row says that it is of another dataset or measure.
    """
    if not head:
        raise BadInput(f"{of.capitalize() if of.startswith('the') else of} has no rows.")
    answers = Traits.of(tasks[0].measure).answers
    named = {what: columns.get(what, what) for what in (*KNOWN_BY, *SCORE, *answers)}
    there = ", ".join(head)
    known = {what: named[what] for what in KNOWN_BY if named[what] in head}
    if not known.keys() & {"id", "text"}:
        raise BadInput(f"{of} has neither a column 'id' nor 'text', to know items by. There are: {there}. {HINT}")
    by_answers = bool(answers) and (named["score"] not in head or any(name in columns for name in answers))
    names = answers if by_answers else SCORE
    scored = [named[name] for name in names]
    if not set(scored) <= set(head):
        wanted = " or ".join(filter(None, ["'score'", " and ".join(f"'{name}'" for name in answers)]))
        raise BadInput(f"{of} needs the column {wanted}. There are: {there}. {HINT}")
    own: dict[str, tuple[str, Collection[str]]] = {
        "dataset": (tasks[0].dataset.name, BUILDERS),
        "measure": (tasks[0].measure.name, MEASURES),
    }
    needed = [*known.values(), *scored]
    found = []
    for where, row in records:
        if lacking := [name for name in needed if name not in row]:
            raise BadInput(f"{where} has no '{lacking[0]}'. Every row needs {', '.join(needed)}; a score may be empty.")
        for what, (mine, others) in own.items() if names == SCORE else ():
            other = base_name(str(row.get(what, "")))
            if other in others and other != base_name(mine):
                raise BadInput(f"{where} is of {what} '{other}', not '{mine}'. Keep the rows of one {what}.")
        texts = tuple(str(row[known[name]]) for name in ("text", "other") if name in known)
        id = str(row[known["id"]] if "id" in known else "")
        found.append(ScoredRow(where, numbers(where, scored, [row[name] for name in scored]), id, texts))
    return found, names
