"""Runs of scores that were computed elsewhere."""

import hashlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand.auditing import keeping
from evenhand.auditing.audit import run_folder
from evenhand.auditing.caveats import caveats
from evenhand.auditing.matching import match
from evenhand.auditing.reading import SCORE, Incoming, read, told_kind
from evenhand.auditing.rescoring import finish, scored
from evenhand.auditing.wanted import Asked, Given, Measures, Wanted
from evenhand.checks.fit import flawed
from evenhand.core.files import prepare
from evenhand.core.items import Blank, Item
from evenhand.core.loop import Task, result, score
from evenhand.core.measure import Traits, Unscored
from evenhand.core.model import Work
from evenhand.core.questions import Answer, Fill, Question, checked
from evenhand.core.scores import MacroMean, Score
from evenhand.errors import BadInput, UnknownName
from evenhand.formats.incoming.rows import ScoredRow
from evenhand.models.table import Table
from evenhand.runs import folder
from evenhand.runs.folder import Run
from evenhand.runs.origin import Imported
from evenhand.runs.record import AuditRecord, RunRecord

log = logging.getLogger(__name__)

UNKNOWN = "unknown"
KINDS = ("masked", "causal", "nli")


def from_scores(
    scores: pd.DataFrame | str | Path,
    *,
    dataset: Given,
    measure: Measures = None,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    kind: str | None = None,
    seed: int = 0,
    out: str | Path = "runs",
    fresh: bool = False,
) -> Run:
    """Make a run, in `out/<name>`, of scores that were computed elsewhere, one for each item of `dataset`.

    `scores` is a data frame or a file: csv, tsv, jsonl, parquet, samples of lm-evaluation-harness, StereoSet's
    predictions (json), or a txt file with a number on each line, in the order of the dataset. A row has the item's
    `id`, or its `text` (and `other`, the second text of a pair), and its `score` as `measure` defines it; or the
    log-probabilities that the measure asks for, as `evenhand measures` names them: stereotype and counterpart of a
    pair. `columns` are other names of these columns, `options` those of dataset and measure that the scores were
    computed with, `kind` is masked, causal or nli.

    Nothing is known of the model but its `name` (default: the file's), so another file is another model.
    """
    started, clock = datetime.now(UTC), time.monotonic()
    source = scores if isinstance(scores, pd.DataFrame) else Path(scores).expanduser()
    if name is None and isinstance(source, pd.DataFrame):
        raise BadInput("Scores of a data frame need the name of their model: give `name`.")
    if kind is not None and kind not in KINDS:
        raise UnknownName("kind of model", kind, KINDS)
    name = name or Path(str(source)).stem
    path = run_folder(name, out, name)
    wanted = Wanted.of("all", "en", dataset, measure, None, None, options, None, seed)
    if len(wanted.sources) != 1:
        raise BadInput(f"Scores are of one dataset: `dataset`. Got {len(wanted.sources)}.")
    kind = kind or told_kind(source)
    possible = wanted.asked(kind or "masked")
    incoming = read(source, columns or {}, [one.task for one in possible])
    asked = _of_numbers(incoming.names, possible, wanted.measures)
    tasks, records = [one.task for one in asked], [one.record for one in asked]
    matched = match(incoming.rows, tasks[0].dataset, incoming.file)
    model = Table({}, name, hashlib.sha256(f"{name}\n{incoming.sha256}".encode()).hexdigest())  # never asked
    results = [result(model, task, _scores(task, matched.rows, incoming, kind), seed=seed) for task in tasks]
    warnings = [*matched.warnings(tasks[0].dataset, incoming.file), *flawed(tasks[0].dataset)]
    for line in warnings:
        log.warning(line)
    rows = len(incoming.rows)
    origin = Imported(
        incoming.file,
        incoming.sha256,
        incoming.format,
        incoming.names or ("likelihoods",),
        rows,
        rows - len(matched.left_out),
    )
    audited = AuditRecord(
        evenhand=version("evenhand"),
        kind=kind or UNKNOWN,
        tasks=tuple(records),
        work=Work(),
        tokens={},
        warnings=(f"The scores were {origin.told}. No model was asked or checked.", *warnings),
        caveats=tuple(caveats(kind, tasks)),
        started=started.isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - clock, 1),
        imported=origin,
    )
    if not fresh:
        keeping.check(path, records)
    prepare(path)
    try:
        with folder.locked(path):
            stays = () if fresh else keeping.kept(keeping.of_model(path, model), records)
            before = Run.load(path) if stays else None
            audits = (*stays, scored(audited, tasks, results))
            record = RunRecord(model=name, fingerprint=model.fingerprint, audits=audits, sha256={})
            done = finish(path, record, tasks, results, before)
            (path / folder.ANSWERS).unlink(missing_ok=True)  # of a run that was here, if this one is `fresh`
            return done
    except BaseException:
        with suppress(OSError):
            path.rmdir()  # fails unless it is empty
        raise


def _of_numbers(names: tuple[str, ...], asked: Sequence[Asked], named: Sequence[object]) -> list[Asked]:
    """The tasks that the numbers can be of: one for scores; for answers, all that ask the same as the first."""
    if names == SCORE:
        if len(asked) > 1:
            several = ", ".join(one.task.measure.name for one in asked)
            raise BadInput(f"A score is of one measure. Say which: `measure`, one of {several}.")
        return list(asked)
    first = asked[0].task
    question = tuple(first.measure.ask(first.dataset.items[0]))
    same = [
        one
        for one in asked
        if Traits.of(one.task.measure).answers == names
        and tuple(one.task.measure.ask(first.dataset.items[0])) == question
    ]
    if named and (others := [one.task.measure.name for one in asked if one not in same]):
        raise BadInput(f"{', '.join(others)} asks something else than {first.measure.name}. Import them one by one.")
    return same


def _scores(task: Task, rows: Sequence[ScoredRow | None], incoming: Incoming, kind: str) -> list[Score]:
    """The score of each item, without a value where it has no row or its row no number."""
    found = []
    for item, row in zip(task.dataset.items, rows, strict=True):
        if row is None or not row.numbers:
            why = f"not in {incoming.file}" if row is None else f"no number in {incoming.file}"
            found.append(Score(item.id, nan, item.groups, why))
        elif incoming.names == SCORE:
            found.append(_score(task, item, row))
        elif hasattr(task.measure, "of_numbers"):
            found.append(_compared(task.measure.of_numbers, item, row))
        else:
            found.append(score(item, _answers(task, item, row, kind), task.measure))
    return found


def _compared(of_numbers: Callable[..., float], item: Item, row: ScoredRow) -> Score:
    """The score of numbers that are only compared, so that they may be on any scale."""
    try:
        return Score(item.id, of_numbers(*row.numbers), item.groups)
    except Unscored as reason:
        return Score(item.id, nan, item.groups, str(reason))


def _score(task: Task, item: Item, row: ScoredRow) -> Score:
    """The score as it is given, if it can be one of the measure: a single item's value is within bounds, too."""
    found, how = Score(item.id, row.numbers[0], item.groups), task.measure.summarise
    value = (how.within if isinstance(how, MacroMean) else how)([found])
    low, high = Traits.of(task.measure).bounds
    if value < low or value > high:
        raise BadInput(
            f"{row.where}: a score of {task.measure.name} is from {low:g} to {high:g}. Got {row.numbers[0]:g}: "
            "is it of another measure?"
        )
    return found


def _answers(task: Task, item: Item, row: ScoredRow, kind: str) -> list[Answer]:
    """The numbers of a row as answers to the measure's questions; an error if they cannot be log-probabilities."""
    questions, given = task.measure.ask(item), row.numbers
    if isinstance(item, Blank) and not Traits.of(task.measure).answers:
        return _among(questions, given, kind, row.where)
    answers = [Answer(given)] if len(questions) == 1 else [Answer((number,)) for number in given]
    if len(answers) != len(questions):
        wanted = ", ".join(Traits.of(task.measure).answers)
        raise BadInput(f"{row.where}: {task.measure.name} takes {wanted}. Got {len(given)} numbers.")
    for question, answer in zip(questions, answers, strict=True):
        if note := checked(question, answer).note:
            raise BadInput(
                f"{row.where}: {note}. Got {', '.join(f'{n:g}' for n in given)}. Numbers of {task.measure.name} are "
                "natural logarithms of probabilities."
            )
    return answers


def _among(questions: Sequence[Question], given: Sequence[float], kind: str, where: str) -> list[Answer]:
    """Likelihoods of the sentences with each candidate, normalised over them: what a causal model answers."""
    answers = []
    for question in questions:
        if kind != "causal" or not isinstance(question, Fill) or question.hidden or len(question.among) != len(given):
            raise BadInput(
                f"{where}: likelihoods of whole sentences, one for each pronoun, say which of them a causal model "
                "prefers. Measures of masked models, or with other questions, ask the model itself: `evenhand audit`."
            )
        logp = given[question.among.index(question.answer)] - float(np.logaddexp.reduce(given))
        answers.append(Answer((logp,)))
    return answers
