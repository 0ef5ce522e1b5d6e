"""Runs of scores that were computed elsewhere."""

import hashlib
import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.auditing import keeping
from evenhand.auditing.audit import run_folder
from evenhand.auditing.logged import of_log
from evenhand.auditing.matching import match
from evenhand.auditing.reading import read, told
from evenhand.auditing.rescoring import finish, scored
from evenhand.auditing.row_scores import SCORE, Scored, scores_of
from evenhand.auditing.wanted import Asked, Given, Measures, Wanted, caveats
from evenhand.checks.fit import flawed
from evenhand.core.files import prepare
from evenhand.core.loop import questions_of, result
from evenhand.core.measure import Traits
from evenhand.core.model import KINDS, Work
from evenhand.errors import BadInput, UnknownName
from evenhand.formats.incoming import inspect_log
from evenhand.models.table import Table
from evenhand.runs import folder
from evenhand.runs.folder import Run
from evenhand.runs.origin import Imported
from evenhand.runs.record import AuditRecord, RunRecord

log = logging.getLogger(__name__)

UNKNOWN = "unknown"


def from_scores(
    scores: pd.DataFrame | str | Path,
    *,
    dataset: Given = None,
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

    Nothing is known of the model but its `name` (default: the file's), so another file is another model. A log of
    inspect_ai (eval, json) with one of our tasks says dataset, options and model itself, and how the model was asked:
    logs of one model, asked in one way, are of one run.
    """
    started, clock = datetime.now(UTC), time.monotonic()
    source = scores if isinstance(scores, pd.DataFrame) else Path(scores).expanduser()
    if name is None and isinstance(source, pd.DataFrame):
        raise BadInput("Scores of a data frame need the name of their model: give `name`.")
    if kind is not None and kind not in KINDS:
        raise UnknownName("kind of model", kind, KINDS)
    if isinstance(source, Path) and not source.is_file():
        raise BadInput(f"There is no file '{source}'. Give a file with a score for each item.")
    logged = None if isinstance(source, pd.DataFrame) else inspect_log.read(source)
    name = name or (logged.model if logged else Path(str(source)).stem)
    path = run_folder(name, out, name)
    given = (dataset, measure, columns, options, kind, seed)
    found = of_log(logged, *given) if logged else _of_rows(source, *given)
    tasks, records = [one.task for one in found.asked], [one.record for one in found.asked]
    model = Table({}, name, hashlib.sha256(f"{name}\n{found.identity}".encode()).hexdigest())  # never asked
    results = [result(model, *each, seed=seed) for each in zip(tasks, found.scores, strict=True)]
    for line in found.warnings:
        log.warning(line)
    audited = AuditRecord(
        evenhand=version("evenhand"),
        kind=found.kind or UNKNOWN,
        loaded={"settings": found.settings} if found.settings else {},
        tasks=tuple(records),
        work=Work(),
        tokens={},
        warnings=(f"The scores were {found.origin.told}. No model was asked or checked.", *found.warnings),
        caveats=tuple(found.caveats),
        started=started.isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - clock, 1),
        imported=found.origin,
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


def name_of(file: Path) -> str:
    """The model's name where none is given: the one in a log of inspect_ai, or the file's."""
    logged = inspect_log.read(file.expanduser())
    return logged.model if logged else file.stem


def _of_rows(
    source: pd.DataFrame | Path,
    dataset: Given,
    measure: Measures,
    columns: Mapping[str, str] | None,
    options: Mapping[str, Any] | None,
    kind: str | None,
    seed: int,
) -> Scored:
    known_kind, known_dataset = told(source)
    wanted = Wanted.of("all", None, dataset or known_dataset or None, measure, None, None, options, None, seed)
    if len(wanted.sources) != 1:
        raise BadInput(f"Scores are of one dataset: `dataset`. Got {len(wanted.sources) or 'none'}.")
    kind = kind or known_kind
    possible = wanted.asked(kind or "masked")
    incoming = read(source, columns or {}, [one.task for one in possible])
    asked = _of_numbers(incoming.names, possible, wanted.measures)
    tasks, file = [one.task for one in asked], incoming.file
    matched = match(incoming.rows, tasks[0].dataset, file)
    rows, names = len(incoming.rows), incoming.names or ("likelihoods",)
    return Scored(
        asked,
        [scores_of(task, matched.rows, file, incoming.names, kind) for task in tasks],
        Imported(file, incoming.sha256, incoming.format, names, rows, rows - len(matched.left_out)),
        incoming.sha256,
        kind,
        [*matched.warnings(tasks[0].dataset, file), *flawed(tasks[0].dataset)],
        caveats(kind, tasks),
    )


def _of_numbers(names: tuple[str, ...], asked: Sequence[Asked], named: Sequence[object]) -> list[Asked]:
    """The tasks that the numbers can be of: one for scores; for answers, all that ask the same as the first."""
    if names == SCORE:
        if len(asked) > 1:
            several = ", ".join(one.task.measure.name for one in asked)
            raise BadInput(f"A score is of one measure. Say which: `measure`, one of {several}.")
        return list(asked)
    first = asked[0].task
    question = questions_of(first.dataset.items[0], first.measure)
    same = [
        one
        for one in asked
        if Traits.of(one.task.measure).answers == names
        and questions_of(first.dataset.items[0], one.task.measure) == question
    ]
    if named and (others := [one.task.measure.name for one in asked if one not in same]):
        raise BadInput(f"{', '.join(others)} asks something else than {first.measure.name}. Import them one by one.")
    return same
