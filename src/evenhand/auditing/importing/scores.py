"""Runs of scores that were computed elsewhere."""

import hashlib
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from evenhand._version import __version__
from evenhand.auditing.audit import run_folder
from evenhand.auditing.importing import inspect_log
from evenhand.auditing.importing.reading import read, told
from evenhand.auditing.importing.row_scores import SCORE, Foreign, Scored, match, same_questions, scores_of
from evenhand.auditing.importing.texts import is_of_prompts, score_texts
from evenhand.auditing.merging import audits_to_keep, check_overwrite, existing_record, finish, output_folder, scored
from evenhand.auditing.spec import PlannedTask, Reader, caveats
from evenhand.checks.fit import flaw_warnings
from evenhand.core.loop import result
from evenhand.core.measure import Traits
from evenhand.core.model import KINDS, Work
from evenhand.errors import BadInput, check_known
from evenhand.models.table import Table
from evenhand.runs import folder
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import AuditRecord, RunRecord, read_record

log = logging.getLogger(__name__)


def import_scores(
    source: pd.DataFrame | Path, foreign: Foreign, reader: Reader, *, name: str | None, out: Path, fresh: bool
) -> StoredRun:
    """Make a run of scores that were computed elsewhere: see `evenhand.from_scores`."""
    started, clock = datetime.now(UTC), time.monotonic()
    if name is None and isinstance(source, pd.DataFrame):
        raise BadInput("Scores of a data frame need the name of their model: give `name`.")
    check_known("kind of model", [foreign.kind] if foreign.kind is not None else [], KINDS)
    if isinstance(source, Path) and not source.is_file():
        raise BadInput(f"There is no file '{source}'. Give a file with a score for each item.")
    of_texts = is_of_prompts(foreign)
    logged = None if isinstance(source, pd.DataFrame) or of_texts else inspect_log.read(source)
    name = name or name_of(Path(str(source)))
    path = run_folder(name, out)
    if of_texts:
        found = score_texts(source, foreign)
    else:
        found = inspect_log.score_log(logged, foreign) if logged else _score_rows(source, foreign)
    tasks, records = [one.task for one in found.asked], [one.record for one in found.asked]
    model = Table({}, name, hashlib.sha256(f"{name}\n{found.identity}".encode()).hexdigest())  # never asked
    results = [result(model, *each, seed=foreign.seed) for each in zip(tasks, found.scores, strict=True)]
    for line in found.warnings:
        log.warning(line)
    audited = AuditRecord(
        evenhand=__version__,
        kind=found.kind or "unknown",
        loaded={"settings": found.settings} if found.settings else {},
        tasks=tuple(records),
        work=Work(),
        tokens={},
        warnings=(f"The scores were {found.origin.description}. No model was asked or checked.", *found.warnings),
        caveats=tuple(found.caveats),
        started=started.isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - clock, 1),
        imported=found.origin,
    )
    if not fresh:
        check_overwrite(path, read_record(path), records)
    with output_folder(path), folder.lock_folder(path):
        stays = () if fresh else audits_to_keep(existing_record(path, model), records)
        before = StoredRun.load(path) if stays else None
        audits = (*stays, scored(audited, tasks, results))
        record = RunRecord(model=name, fingerprint=model.fingerprint, audits=audits, sha256={})
        done = finish(path, record, tasks, results, reader, before)
        (path / folder.ANSWERS).unlink(missing_ok=True)  # of a run that was here, if this one is `fresh`
        return done


def name_of(file: Path) -> str:
    """The model's name where none is given: the one in a log of inspect_ai, or the file's."""
    return inspect_log.model_of(file.expanduser()) or file.stem


def _score_rows(source: pd.DataFrame | Path, foreign: Foreign) -> Scored:
    known_kind, known_dataset = told(source)
    spec = foreign.spec(foreign.dataset or known_dataset or None, foreign.options)
    if len(spec.sources) != 1:
        raise BadInput(f"Scores are of one dataset: `dataset`. Got {len(spec.sources) or 'none'}.")
    kind = foreign.kind or known_kind
    possible = spec.tasks_for(kind or "masked")
    rows, origin = read(source, foreign.columns, [one.task for one in possible])
    names, file = origin.numbers, origin.file
    asked = _fitting_tasks(names, possible, spec.measures)
    tasks = [one.task for one in asked]
    matched = match(rows, tasks[0].dataset, file)
    return Scored(
        asked,
        [scores_of(task, matched.rows, file, names, kind) for task in tasks],
        replace(origin, numbers=names or ("likelihoods",), matched=len(rows) - len(matched.left_out)),
        origin.sha256,
        kind,
        [*matched.warnings(tasks[0].dataset, file), *flaw_warnings(tasks[0].dataset)],
        caveats(kind, tasks),
    )


def _fitting_tasks(names: tuple[str, ...], asked: Sequence[PlannedTask], named: Sequence[object]) -> list[PlannedTask]:
    """The tasks that the numbers can belong to: one for scores; for answers, all that ask the same as the first."""
    if names == SCORE:
        if len(asked) > 1:
            several = ", ".join(one.task.measure.name for one in asked)
            raise BadInput(f"A score is of one measure. Say which: `measure`, one of {several}.")
        return list(asked)
    same = [one for one in same_questions(asked) if Traits.of(one.task.measure).answers == names]
    if named and (others := [one.task.measure.name for one in asked if one not in same]):
        first = asked[0].task.measure.name
        raise BadInput(f"{', '.join(others)} asks something else than {first}. Import them one by one.")
    return same
