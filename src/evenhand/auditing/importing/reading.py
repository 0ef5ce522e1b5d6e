"""Scores from a file or a data frame, in whatever format: rows that are not matched with items yet.

Samples of lm-evaluation-harness, which it writes with --log_samples, have the requests of a document as `arguments`, a
context and its continuation each, and as `resps` the log-likelihoods of the continuations (natural logarithms), in the
same order; since 0.4 the numbers are strings. Documents of tasks that evenhand exported name their dataset and item.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.auditing.importing.row_scores import SCORE, ScoredRow, numbers
from evenhand.core.dataset import Dataset, base_name
from evenhand.core.files import from_json, json_lines, read_given
from evenhand.core.items import Pair
from evenhand.core.loop import Task
from evenhand.core.measure import Traits
from evenhand.datasets import BUILDERS
from evenhand.datasets.files.rows import SUFFIXES, rows
from evenhand.errors import BadInput, check_known
from evenhand.measures import MEASURES
from evenhand.runs.record import Imported
from evenhand.stats.estimate import number_fault

KNOWN_BY = ("id", "text", "other")
"""Columns that an item is known by; `other` is the second text of a pair."""
HINT = "Name yours with `columns`, as in id=COLUMN."
TASKS = ("intrasentence", "intersentence")
SHAPE = '{"intrasentence": [{"id": ..., "score": ...}, ...], "intersentence": [...]}'
SAMPLE = ("arguments", "doc", "resps")
EXPORTED = ("id", "dataset", "version", "choices")
"""What a document of an exported task has."""


def told(scores: Path | pd.DataFrame) -> tuple[str, str]:
    """The kind of model and the dataset; empty where the format does not say.

    Samples are of a causal model, unless our backend for masked ones says otherwise.
    """
    sample = None if isinstance(scores, pd.DataFrame) else _first_sample(scores)
    if sample is None or isinstance(scores, pd.DataFrame):
        return "", ""
    doc = sample["doc"]
    return _model_kind(scores) or "causal", str(doc["dataset"]) if _is_exported(doc) else ""


def read(
    scores: Path | pd.DataFrame, columns: Mapping[str, str], tasks: Sequence[Task]
) -> tuple[list[ScoredRow], Imported]:
    """The rows of a file or data frame with scores of these tasks, all of one dataset; `columns` are its own names.

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
    form, names = scores.suffix[1:], answers
    if scores.suffix == ".txt":
        form, names, found = "column of numbers", SCORE, _read_column(scores)
    elif scores.suffix == ".json":
        form, found = "StereoSet's predictions", list(_read_predictions(scores, tasks[0]))
    elif scores.suffix not in SUFFIXES:
        raise BadInput(f"Scores come in {', '.join((*SUFFIXES, '.txt', '.json', '.eval'))} files. Got '{scores}'.")
    elif _first_sample(scores):
        form = "samples of lm-evaluation-harness"
        try:
            found = list(_read_samples(scores, tasks[0].dataset))
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"'{scores}' cannot be read: {error}. Is it a UTF-8 .jsonl file?") from error
    else:
        head = next((list(row) for _, row in rows(scores, ())), [])
        place = "row" if scores.suffix == ".parquet" else "line"
        found_rows = rows(scores, tuple(columns.values()), hint=HINT)
        listed = ((f"{scores}, {place} {number}", row) for number, row in found_rows)
        found, names = _read_table(listed, head, columns, tasks, f"'{scores}'")
    return found, Imported(scores.name, digest, form, names, len(found), 0)


def _read_column(path: Path) -> list[ScoredRow]:
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
    scores: dict[str, dict[str, float]] = {task: {} for task in TASKS if task in found}
    for task, of in scores.items():
        if not isinstance(found[task], list):
            got = type(found[task]).__name__
            raise BadInput(f"'{path}': {task} must be a list of sentences with id and score. Got {got}.")
        for number, row in enumerate(found[task], start=1):
            where = f"'{path}', sentence {number} of {task}"
            if not isinstance(row, dict) or not isinstance(row.get("id"), str):
                raise BadInput(f"{where}: it needs the id of a sentence and a score. Got {str(row)[:100]!r}.")
            id, score = row["id"], row.get("score")
            if not isinstance(score, int | float) or isinstance(score, bool) or number_fault(score):
                raise BadInput(f"{where}: the score of '{id}' must be a number. Got {score!r}.")
            if id in of:
                raise BadInput(f"{where}: the id '{id}' occurred before. Each sentence has one score.")
            of[id] = float(score)
    return scores


def _read_predictions(path: Path, task: Task) -> Iterator[ScoredRow]:
    """A row for each item of StereoSet, whose sentences have ids of their own; and for each sentence of no item."""
    predicted = predictions(path)
    table = task.dataset.table()
    ids = [f"{label} id" for label in ("stereotype", "anti-stereotype", "unrelated")]
    if not set(ids) <= set(table.columns):
        known = "stereoset, stereoset-intrasentence or stereoset-intersentence"
        raise BadInput(
            f"'{path}' has StereoSet's predictions, which are of {known}. Got `dataset` '{task.dataset.name}'."
        )
    left = {(kind, id) for kind in dict.fromkeys(table["task"]) for id in predicted.get(kind, {})}
    for item, row in zip(table.index, table.to_dict("records"), strict=True):
        of, own = predicted.get(row["task"], {}), [row[name] for name in ids]
        found = [of[id] for id in own if id in of]
        left -= {(row["task"], id) for id in own}
        if found:
            yield ScoredRow(f"{path}, item {item}", tuple(found) if len(found) == len(ids) else (), str(item))
    for kind, id in sorted(left):
        yield ScoredRow(f"{path}, {kind}", (), id)


def _first_sample(path: Path) -> dict[str, Any] | None:
    """The first line of lm-evaluation-harness's samples; None if the file is something else, or damaged."""
    with suppress(OSError, ValueError):  # its reader says what is wrong
        first = next((row for _, row in json_lines(path)), None) if path.suffix == ".jsonl" else None
        return first if _is_sample(first) else None
    return None


def _is_sample(row: object) -> bool:
    return isinstance(row, dict) and all(name in row for name in SAMPLE)


def _is_exported(doc: object) -> bool:
    return isinstance(doc, dict) and all(name in doc for name in EXPORTED)


def _model_kind(path: Path) -> str:
    """The kind of model that our backend wrote to the results beside the samples; empty for other backends."""
    date = path.stem.rpartition("_")[2]
    with suppress(OSError, ValueError, LookupError, TypeError):
        results = from_json(path.with_name(f"results_{date}.json").read_text(encoding="utf-8"))
        return str(results["config"]["model_kind"])
    return ""


def _read_samples(path: Path, dataset: Dataset) -> Iterator[ScoredRow]:
    """Each sample: its texts, context and continuation together, and the log-likelihood of each."""
    filters: set[str] = set()
    may_lack = bool(_model_kind(path))  # NaN of our backend is an item without a score; elsewhere something went wrong
    for line, sample in json_lines(path):
        where = f"{path}, line {line}"
        if not _is_sample(sample):
            raise BadInput(f"{where} is not a sample of lm-evaluation-harness: {', '.join(SAMPLE)} are needed.")
        filters.add(str(sample.get("filter", "none")))
        if len(filters) > 1:
            several = ", ".join(sorted(filters))
            raise BadInput(f"{where}: the file has samples of several filters, {several}. Keep those of one.")
        id = _exported_id(where, sample["doc"], dataset)
        asked = [_request_text(where, request) for request in _as_list(sample["arguments"])]
        answered = _as_list(sample["resps"])
        if len(asked) != len(answered) or not asked:
            raise BadInput(f"{where}: a response is needed for each request. Got {len(answered)} for {len(asked)}.")
        for place, response in enumerate(answered):  # nested: [["-57.3", "False"]]
            while isinstance(response, list) and response:
                response = response[0]
            answered[place] = response
        names = [f"the log-likelihood of {text[:40]!r}" for text in asked]
        found = () if may_lack and "nan" in answered else numbers(where, names, answered)
        known_by_text = not id or isinstance(dataset.items[0], Pair)
        yield ScoredRow(where, found, id, tuple(asked) if known_by_text else ())


def _exported_id(where: str, doc: Any, dataset: Dataset) -> str:
    """The id of the item, if it is the document of a task that evenhand exported; it must be of this dataset."""
    if not _is_exported(doc):
        return ""
    if not isinstance(options := doc.get("options", {}), dict):
        raise BadInput(f"{where}: the document's options must be an object. Got {str(options)[:40]!r}.")
    of, wanted = (doc["dataset"], doc["version"]), (base_name(dataset.name), dataset.version)
    if of != wanted:
        theirs, ours = (f"'{name}', version {version}" for name, version in (of, wanted))
        raise BadInput(f"{where} is of the dataset {theirs}, not {ours}. Name its own: `dataset`.")
    for name, value in options.items():
        if (here := str(dataset.options.get(name))) != value:
            raise BadInput(f"{where}: the task was exported with {name}={value}, not {here}. Give it: `option`.")
    return str(doc["id"])


def _as_list(given: Any) -> list[Any]:
    """A list, or the values of an object whose keys number them: `gen_args_0`, `gen_args_1`, ..."""
    if isinstance(given, dict):
        return [given[key] for key in sorted(given, key=lambda key: (len(key), key))]
    return given if isinstance(given, list) else []


def _request_text(where: str, request: Any) -> str:
    parts = _as_list(request)
    if len(parts) < 2 or not all(isinstance(part, str) for part in parts[:2]):
        raise BadInput(
            f"{where}: a request must be a context and a continuation. Got {str(request)[:60]!r}: samples of generated "
            "text have no likelihoods."
        )
    return f"{parts[0]}{parts[1]}"


def _read_table(
    records: Iterable[tuple[str, Mapping[Any, Any]]],
    head: Sequence[str],
    columns: Mapping[str, str],
    tasks: Sequence[Task],
    of: str,
) -> tuple[list[ScoredRow], tuple[str, ...]]:
    """The rows of a table, whose items are known by `id`, or by `text` and `other`; and the names of its numbers.

    An error where a row says that it is of another dataset or measure.
    """
    if not head:
        raise BadInput(f"{of[0].upper()}{of[1:]} has no rows.")
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
