"""Import scores that were computed elsewhere, from a file or a data frame, as a run.

lm-evaluation-harness writes samples with --log_samples. The `arguments` of a sample are the requests for a document, a
context and a continuation each. Its `resps` are the log-likelihoods of the continuations (natural logarithms), in the
same order; since version 0.4 these are strings. The documents of tasks that evenhand exported name dataset and item.
"""

import hashlib
import json
import logging
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand._version import __version__
from evenhand.auditing.importing import inspect_log
from evenhand.auditing.importing.predictions import is_of_predictions, score_predictions
from evenhand.auditing.importing.row_scores import (
    EXPORTED,
    SCORE,
    Foreign,
    Scored,
    ScoredRow,
    check_template,
    has_all,
    match,
    numbers,
    of_release,
    same_questions,
    scores_of,
)
from evenhand.auditing.importing.texts import is_of_prompts, score_texts
from evenhand.auditing.outcomes import with_outcomes
from evenhand.auditing.spec import PlannedTask, Reader, caveats
from evenhand.auditing.writing import check_joins, open_run, output_folder, run_folder
from evenhand.checks.fit import flaw_warnings
from evenhand.core.dataset import Dataset, base_name, table_of
from evenhand.core.files import from_json, json_lines, read_given
from evenhand.core.items import Pair
from evenhand.core.loop import Task, result
from evenhand.core.measure import Traits
from evenhand.core.model import KINDS, Work
from evenhand.core.way import Way
from evenhand.datasets import BUILDERS
from evenhand.datasets.files.rows import SUFFIXES
from evenhand.datasets.pairs import release_rows
from evenhand.errors import BadInput, check_known
from evenhand.measures import MEASURES
from evenhand.models.table import Table
from evenhand.runs import folder
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import AuditRecord, Imported, read_record
from evenhand.stats.estimate import number_fault

log = logging.getLogger(__name__)

KNOWN_BY = ("id", "text", "other")
"""The columns that identify an item; `other` is the second text of a pair."""
HINT = "Name yours with `columns`, as in id=COLUMN."
TASKS = ("intrasentence", "intersentence")
SHAPE = '{"intrasentence": [{"id": ..., "score": ...}, ...], "intersentence": [...]}'
SAMPLE = ("arguments", "doc", "resps")
OF_MODEL = ("model", "model_args", "fingerprint", "chat_template_sha", "system_instruction")
"""What the harness's results say of a model, and of how it was asked."""


def import_scores(
    source: pd.DataFrame | Path, foreign: Foreign, reader: Reader, *, name: str | None, out: Path, fresh: bool
) -> StoredRun:
    """Make a run of scores that were computed elsewhere: see `evenhand.from_scores`."""
    started, clock = datetime.now(UTC), time.monotonic()
    if name is None and isinstance(source, pd.DataFrame):
        raise BadInput("`name` is needed for a data frame: it is the name of the model that the scores are of.")
    check_known("kind of model", [foreign.kind] if foreign.kind is not None else [], KINDS)
    if isinstance(source, Path) and not source.is_file():
        raise BadInput(f"There is no file '{source}'. Give a file with a score for each item.")
    foreign = _as_stated(source, foreign) if isinstance(source, Path) else foreign
    of_texts = is_of_prompts(foreign)
    logged = None if isinstance(source, pd.DataFrame) or of_texts else inspect_log.read(source)
    name = name or name_of(Path(str(source)))
    path = run_folder(name, out)
    if of_texts:
        read = score_texts(source, foreign)
    elif is_of_predictions(foreign):
        read = score_predictions(source, foreign)
    else:
        read = inspect_log.score_log(logged, foreign) if logged else _score_rows(source, foreign)
    tasks, records = [planned.task for planned in read.planned], [planned.record for planned in read.planned]
    model = Table({}, name, hashlib.sha256(f"{name}\n{read.identity}".encode()).hexdigest())  # for its fingerprint
    results = [result(model, *each, seed=foreign.seed) for each in zip(tasks, read.scores, strict=True)]
    for line in read.warnings:
        log.warning(line)
    audited = AuditRecord(
        evenhand=__version__,
        kind=read.kind or "unknown",
        loaded={"settings": read.settings} if read.settings else {},
        tasks=tuple(records),
        work=Work(),
        tokens={},
        warnings=(f"The scores were {read.origin.description}. No model was asked or checked.", *read.warnings),
        caveats=tuple(read.caveats),
        started=started.isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - clock, 1),
        imported=read.origin,
    )
    if not fresh and (earlier := read_record(path)):
        check_joins(path, earlier, (), read.way)  # says more of another way of asking than that the model is another
    with output_folder(path), open_run(path, model, records, read.way, fresh=fresh) as run:
        stored = run.commit(name, [with_outcomes(audited, results)], tasks, results, reader)
        (path / folder.ANSWERS).unlink(missing_ok=True)  # with `fresh`, the folder may have answers of another run
        return stored


def name_of(file: Path) -> str:
    """The model's name if the user gives none: the model in a log of inspect_ai, or the name of the file."""
    return inspect_log.model_of(file.expanduser()) or file.stem


def _as_stated(source: Path, foreign: Foreign) -> Foreign:
    """With what a log says: the model, and of our tasks the dataset and the options that the user does not give."""
    sample, results = _first_sample(source) or {}, _results_beside(source)
    if said := {name: results[name] for name in OF_MODEL if name in results}:
        foreign = replace(foreign, identity=json.dumps(said, sort_keys=True, default=str))
    stated: Any = sample["doc"] if has_all(sample.get("doc"), EXPORTED) else inspect_log.texts_task(source)
    if stated is None or foreign.dataset not in (None, stated["dataset"]):
        return foreign
    if not isinstance(options := stated.get("options", {}), dict):
        raise BadInput(f"{source}: the options of the task must be an object. Got {str(options)[:40]!r}.")
    drawn = next((part for request in _as_list(sample.get("arguments")) for part in _as_list(request)[1:]), None)
    if isinstance(drawn, dict):  # a request for a text
        known = {"temperature": "temperature", "max_gen_toks": "longest"}
        options = options | {option: drawn[name] for name, option in known.items() if name in drawn}
    if str(options.get("chat")) == "True" and results.get("system_instruction"):
        options = options | {"system": str(results["system_instruction"])}
    for name, value in foreign.options.items():
        if name in options and str(value) != str(options[name]):
            raise BadInput(f"{source.name}: the task was asked with {name}={options[name]}, not {value}. Leave it out.")
    options = options | dict(foreign.options)
    return replace(foreign, dataset=str(stated["dataset"]), options=options, version=stated["version"])


def _score_rows(source: pd.DataFrame | Path, foreign: Foreign) -> Scored:
    kind, dataset, sample = foreign.kind or "", foreign.dataset or None, None
    if isinstance(source, Path) and (sample := _first_sample(source)):
        # Samples are of a causal model, unless our backend for masked models has written another kind.
        kind = kind or str(_results_beside(source).get("model_kind") or "causal")
    spec = foreign.spec(dataset, foreign.options)
    if len(spec.sources) != 1:
        raise BadInput(f"`dataset` must be the one dataset that the scores are of. Got {len(spec.sources) or 'none'}.")
    possible, columns = spec.tasks_for(kind or "masked"), foreign.columns
    if not columns:
        possible, columns = of_release(_head(source, possible[0].task.dataset), possible)
    rows, origin = _read_rows(source, columns, [planned.task for planned in possible], sample is not None)
    names, file = origin.numbers, origin.file
    fitting = _fitting_tasks(names, possible, spec.measures)
    dataset = fitting[0].task.dataset
    matched = match(rows, dataset, file)
    each = [matched.of(planned) for planned in fitting]
    return Scored(
        [planned for planned, _ in each],
        [scores_of(planned.task, of_task, file, names, kind) for planned, of_task in each],
        replace(origin, numbers=names or ("likelihoods",), matched=len(rows) - len(matched.unmatched)),
        foreign.identity or origin.sha256,
        kind,
        [*matched.warnings(dataset, file), *flaw_warnings(dataset)],
        caveats(kind, [planned.task for planned in fitting]),
        way=Way.of(foreign.options),
    )


def _fitting_tasks(names: tuple[str, ...], tasks: Sequence[PlannedTask], named: Sequence[object]) -> list[PlannedTask]:
    """The tasks that the numbers can be of: one task for scores; for answers, all tasks with the same questions."""
    if names == SCORE:
        if len(tasks) > 1:
            several = ", ".join(planned.task.measure.name for planned in tasks)
            raise BadInput(f"`measure` must be the one measure that the scores are of. Give one of {several}.")
        return list(tasks)
    same = [planned for planned in same_questions(tasks) if Traits.of(planned.task.measure).answers == names]
    if named and (others := [planned.task.measure.name for planned in tasks if planned not in same]):
        first = tasks[0].task.measure.name
        raise BadInput(f"{', '.join(others)} asks other questions than {first}. Import the measures one by one.")
    return same


def _read_rows(
    source: pd.DataFrame | Path, columns: Mapping[str, str], tasks: Sequence[Task], samples: bool
) -> tuple[list[ScoredRow], Imported]:
    """Read the rows of a data frame or file with scores of these tasks, all of one dataset.

    `columns` has the names of columns in the file. A txt file has one number on each line, a json file has StereoSet's
    predictions, and with `samples` a jsonl file has samples of lm-evaluation-harness. Other files are tables.
    """
    answers = Traits.of(tasks[0].measure).answers
    check_known("column", columns, (*KNOWN_BY, *SCORE, *answers))
    if isinstance(source, pd.DataFrame):
        frame = source.reset_index() if source.index.name else source
        digest = hashlib.sha256(frame.to_csv(index=False).encode("utf-8", "surrogatepass")).hexdigest()
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        records = ((f"row {number}", row) for number, row in enumerate(frame.to_dict("records"), 1))
        listed, names = _read_table(records, list(frame.columns), columns, tasks, "the data frame")
        return listed, Imported("a data frame", digest, "data frame", names, len(listed), 0)
    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if samples:
        form, names, listed = "samples of lm-evaluation-harness", answers, list(_read_samples(source, tasks[0].dataset))
    elif source.suffix == ".txt":
        form, names, listed = "column of numbers", SCORE, _read_column(source)
    elif source.suffix == ".json":
        form, names, listed = "StereoSet's predictions", answers, list(_read_predictions(source, tasks[0]))
    elif source.suffix in SUFFIXES:
        dataset = base_name(tasks[0].dataset.name)
        head = _head(source, tasks[0].dataset)
        form, place = source.suffix[1:], "row" if source.suffix == ".parquet" else "line"
        numbered = release_rows(source, tuple(columns.values()), dataset, HINT)
        records_of_file = ((f"{source}, {place} {number}", row) for number, row in numbered)
        listed, names = _read_table(records_of_file, head, columns, tasks, f"'{source}'")
    else:
        raise BadInput(f"Scores come in {', '.join((*SUFFIXES, '.txt', '.json', '.eval'))} files. Got '{source}'.")
    return listed, Imported(source.name, digest, form, names, len(listed), 0)


def _head(source: pd.DataFrame | Path, dataset: Dataset) -> list[str]:
    """The columns of a data frame or of a table, by its first row; none for other files."""
    if isinstance(source, pd.DataFrame):
        return [str(name) for name in source.columns]
    if source.suffix not in SUFFIXES:
        return []
    return next((list(row) for _, row in release_rows(source, (), base_name(dataset.name))), [])


def _read_column(path: Path) -> list[ScoredRow]:
    """The numbers, in order. Raise an error for an empty line between numbers: its item could not be known."""
    whole = read_given(path, str, "", "Give a UTF-8 text file with a number on each line.")
    listed = []
    for line, text in enumerate(whole.removeprefix("\ufeff").rstrip().splitlines(), start=1):
        where = f"{path}, line {line}"
        if not text.strip():
            raise BadInput(f"{where} is empty. Each line must have the score of an item, in the order of the dataset.")
        listed.append(ScoredRow(where, numbers(where, ["the line"], [text])))
    return listed


def predictions(path: str | Path) -> dict[str, dict[str, float]]:
    """The score of each sentence in a file of predictions, by task and sentence id; a task may be missing.

    A higher score means a likelier sentence. Such files are written by eval_discriminative_models.py and
    eval_generative_models.py of moinnadeem/StereoSet, and in the same format by bias-bench.
    """
    path = Path(path).expanduser()
    whole = read_given(path, from_json, "StereoSet's predictions", "Give a whole file, in JSON.")
    if not isinstance(whole, dict) or not set(whole) & set(TASKS):
        got = f"the keys {', '.join(map(str, whole))}" if isinstance(whole, dict) else f"a {type(whole).__name__}"
        raise BadInput(f"'{path}' is not a file of StereoSet's predictions, {SHAPE}. Got {got[:200]}.")
    scores: dict[str, dict[str, float]] = {task: {} for task in TASKS if task in whole}
    for task, by_id in scores.items():
        if not isinstance(whole[task], list):
            got = type(whole[task]).__name__
            raise BadInput(f"'{path}': {task} must be a list of sentences with id and score. Got {got}.")
        for number, row in enumerate(whole[task], start=1):
            where = f"'{path}', sentence {number} of {task}"
            if not isinstance(row, dict) or not isinstance(row.get("id"), str):
                raise BadInput(f"{where}: a sentence must have an id and a score. Got {str(row)[:100]!r}.")
            id, score = row["id"], row.get("score")
            if not isinstance(score, int | float) or isinstance(score, bool) or number_fault(score):
                raise BadInput(f"{where}: the score of '{id}' must be a number. Got {score!r}.")
            if id in by_id:
                raise BadInput(f"{where}: the id '{id}' occurred before. Give one score per sentence.")
            by_id[id] = float(score)
    return scores


def _read_predictions(path: Path, task: Task) -> Iterator[ScoredRow]:
    """Yield a row for each predicted item, without numbers if it is incomplete; then one for each unknown sentence."""
    predicted = predictions(path)
    with table_of(task.dataset) as table:
        items, rows = list(map(str, table.index)), table.to_dict("records")
    ids = [f"{label} id" for label in ("stereotype", "anti-stereotype", "unrelated")]
    if not {*ids, "task"} <= set(table.columns):
        known = "stereoset, stereoset-intrasentence or stereoset-intersentence"
        raise BadInput(f"For StereoSet's predictions, `dataset` must be {known}. Got '{task.dataset.name}'.")
    left = {(kind, id) for kind in dict.fromkeys(row["task"] for row in rows) for id in predicted.get(kind, {})}
    for item, row in zip(items, rows, strict=True):
        by_id, item_ids = predicted.get(row["task"], {}), [row[name] for name in ids]
        scores = tuple(by_id[id] for id in item_ids if id in by_id)
        left -= {(row["task"], id) for id in item_ids}
        if scores:
            yield ScoredRow(f"{path}, item {item}", scores if len(scores) == len(ids) else (), item)
    for kind, id in sorted(left):
        yield ScoredRow(f"{path}, {kind}", (), id)


def _first_sample(path: Path) -> dict[str, Any] | None:
    """The first line of lm-evaluation-harness's samples; None if the file is something else, or damaged."""
    with suppress(OSError, ValueError):  # the reader of the file reports what is wrong
        first = next((row for _, row in json_lines(path)), None) if path.suffix == ".jsonl" else None
        return first if has_all(first, SAMPLE) else None
    return None


def _results_beside(path: Path) -> dict[str, Any]:
    """What the harness's results next to its samples say, and of their `config`; empty if there are none."""
    date = path.stem.rpartition("_")[2]
    with suppress(OSError, ValueError, LookupError, TypeError):
        results = from_json(path.with_name(f"results_{date}.json").read_text(encoding="utf-8"))
        return {**results, **results["config"]}
    return {}


def _read_samples(path: Path, dataset: Dataset) -> Iterator[ScoredRow]:
    """Yield a row for each sample: its texts (context + continuation) and the log-likelihood of each."""
    filters: set[str] = set()
    may_lack = "model_kind" in _results_beside(
        path
    )  # our backend writes NaN for an item without a score; elsewhere it is an error
    for line, sample in json_lines(path):
        where = f"{path}, line {line}"
        if not has_all(sample, SAMPLE):
            raise BadInput(f"{where} is not a sample of lm-evaluation-harness. A sample has {', '.join(SAMPLE)}.")
        filters.add(str(sample.get("filter", "none")))
        if len(filters) > 1:
            several = ", ".join(sorted(filters))
            raise BadInput(f"{where}: the file has samples of several filters, {several}. Keep the samples of one.")
        id = _exported_id(where, sample["doc"], dataset)
        requests = [_request(where, request) for request in _as_list(sample["arguments"])]
        for context, _ in requests if id else ():
            check_template(where, sample["doc"], context)
        texts = ["".join(request) for request in requests]
        answers = _as_list(sample["resps"])
        if len(texts) != len(answers) or not texts:
            raise BadInput(f"{where}: each request must have a response. Got {len(answers)} for {len(texts)}.")
        for place, answer in enumerate(answers):  # nested: [["-57.3", "False"]]
            while isinstance(answer, list) and answer:
                answer = answer[0]
            answers[place] = answer
        names = [f"the log-likelihood of {text[:40]!r}" for text in texts]
        logps = () if may_lack and "nan" in answers else numbers(where, names, answers)
        known_by_text = not id or isinstance(dataset.items[0], Pair)
        yield ScoredRow(where, logps, id, tuple(texts) if known_by_text else ())


def _exported_id(where: str, doc: Any, dataset: Dataset) -> str:
    """The item's id in a document that evenhand exported, else empty. Raise an error if the dataset is another one."""
    if not has_all(doc, EXPORTED):
        return ""
    exported, wanted = (doc["dataset"], doc["version"]), (base_name(dataset.name), dataset.version)
    if exported != wanted:
        theirs, ours = (f"'{name}', version {version}" for name, version in (exported, wanted))
        raise BadInput(f"{where} is of the dataset {theirs}, not {ours}. Give the dataset of the file as `dataset`.")
    for name, value in (doc.get("options") or {}).items():
        if name in dataset.options and (ours := str(dataset.options[name])) != value:
            raise BadInput(f"{where}: the task was exported with {name}={value}, not {ours}. Give that as `option`.")
    return str(doc["id"])


def _as_list(given: Any) -> list[Any]:
    """A list as it is, or the values of an object with the keys `gen_args_0`, `gen_args_1`, ...; otherwise empty."""
    if isinstance(given, dict):
        return [given[key] for key in sorted(given, key=lambda key: (len(key), key))]
    return given if isinstance(given, list) else []


def _request(where: str, request: Any) -> tuple[str, str]:
    parts = _as_list(request)
    if len(parts) < 2 or not all(isinstance(part, str) for part in parts[:2]):
        raise BadInput(
            f"{where}: a request must be a context and a continuation. Got {str(request)[:60]!r}. Samples of generated "
            "text have no likelihoods to import."
        )
    return parts[0], parts[1]


def _read_table(
    records: Iterable[tuple[str, Mapping[Any, Any]]],
    head: Sequence[str],
    columns: Mapping[str, str],
    tasks: Sequence[Task],
    table: str,
) -> tuple[list[ScoredRow], tuple[str, ...]]:
    """The rows of a table, whose items are known by `id`, or by `text` and `other`; and the names of its numbers.

    `table` is the table in messages. Raise an error if a row says that it is of another dataset or measure.
    """
    if not head:
        raise BadInput(f"{table[0].upper()}{table[1:]} has no rows.")
    answers = Traits.of(tasks[0].measure).answers
    named = {name: columns.get(name, name) for name in (*KNOWN_BY, *SCORE, *answers)}
    known = {name: named[name] for name in KNOWN_BY if named[name] in head}
    hint = f"Its columns are: {', '.join(head)}. {HINT}"
    if not known.keys() & {"id", "text"}:
        raise BadInput(f"{table} needs a column 'id' or 'text' that identifies the items. {hint}")
    by_answers = bool(answers) and (named["score"] not in head or any(name in columns for name in answers))
    names = answers if by_answers else SCORE
    scored = [named[name] for name in names]
    if not set(scored) <= set(head):
        wanted = " or ".join(filter(None, ["'score'", " and ".join(f"'{name}'" for name in answers)]))
        raise BadInput(f"{table} needs the column {wanted}. {hint}")
    of_task: list[tuple[str, str, Collection[str]]] = [
        ("dataset", tasks[0].dataset.name, BUILDERS),
        ("measure", tasks[0].measure.name, MEASURES),
    ]
    needed = [*known.values(), *scored]
    listed = []
    for where, row in records:
        if lacking := [name for name in needed if name not in row]:
            raise BadInput(f"{where} has no '{lacking[0]}'. Every row needs {', '.join(needed)}; a score may be empty.")
        for column, wanted, others in of_task if names == SCORE else ():
            other = base_name(str(row.get(column, "")))
            if other in others and other != base_name(wanted):
                raise BadInput(f"{where} is of {column} '{other}', not '{wanted}'. Keep the rows of one {column}.")
        texts = tuple(str(row[known[name]]) for name in ("text", "other") if name in known)
        id = str(row[known["id"]] if "id" in known else "")
        listed.append(ScoredRow(where, numbers(where, scored, [row[name] for name in scored]), id, texts))
    return listed, names
