"""Scores from a log of inspect_ai with one of our tasks, which says itself what was asked of which model."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from evenhand.auditing.importing.inspect_log import MODEL_ARGS, Log
from evenhand.auditing.importing.matching import match
from evenhand.auditing.importing.row_scores import Foreign, Scored, scores_of
from evenhand.auditing.importing.rows import ScoredRow
from evenhand.auditing.spec import PlannedTask, caveats
from evenhand.checks.fit import flawed
from evenhand.core.dataset import Dataset
from evenhand.core.items import Item
from evenhand.core.loop import questions_of
from evenhand.core.measure import Traits
from evenhand.errors import BadInput
from evenhand.models.planning.sequences import USUAL
from evenhand.runs.origin import Imported

NO_PROBABILITIES = "no log-probabilities in the log"
REPLIES = (
    "Asked by inspect_ai: an answer is the option that a reply names, not the likeliest one. Values are not comparable "
    "with those of log-probabilities, or with an NLI classifier's."
)


def of_log(log: Log, foreign: Foreign) -> Scored:
    """The scores of the answers in a log, for each of its datasets, or those that are named.

    Items that are not in it were left out by inspect's limit: what is there is a sample. Measures of probabilities are
    left out if the log has none.
    """
    file, kind, dataset = log.path.name, foreign.kind or "causal", foreign.dataset
    if foreign.columns or foreign.options:
        raise BadInput(f"{file} is a log of inspect_ai, which says what was asked: leave out `columns` and `option`.")
    named = {str(one) for one in ([dataset] if isinstance(dataset, str | Path | Dataset) else dataset or ())}
    if named - log.datasets.keys():
        raise BadInput(f"{file} is a log of {' and '.join(log.datasets)}. Got `dataset` {', '.join(sorted(named))}.")
    numbers = ("log-probabilities",) if log.probable else ("answers",)
    asked, scores, warnings, rows, matched = [], [], list[str](), 0, 0
    for name in [name for name in log.datasets if (name in named if named else log.rows[name])]:
        tasks = _tasks(log, name, foreign, kind)
        whole = tasks[0].whole.dataset
        found = match(log.rows[name], whole, file)
        there = [(item, row) for item, row in zip(whole.items, found.rows, strict=True) if row is not None]
        if len(there) < len(whole.items):
            tasks = [_sampled(one, [item for item, _ in there]) for one in tasks]
        asked += tasks
        scores += [scores_of(one.task, [_row(log, one, row) for _, row in there], file, numbers) for one in tasks]
        warnings += flawed(whole)
        rows += len(log.rows[name])
        matched += len(there)
    sha256 = hashlib.sha256(log.path.read_bytes()).hexdigest()
    told = caveats(kind, [one.task for one in asked]) if log.probable else [REPLIES]
    if log.epochs > 1:
        how = "the mean of its probabilities" if log.probable else "the most frequent one"
        told.append(f"Each item was asked {log.epochs} times. Its answer is {how}.")
    origin = Imported(file, sha256, "log of inspect_ai", numbers, rows, matched)
    words = () if log.labels == USUAL else log.labels  # so that NLI and BBQ can be of one run
    identity = json.dumps([log.model, words, log.settings], sort_keys=True, default=str)
    known = [f"{name}={value}" for name, value in log.settings.items() if name != MODEL_ARGS]  # which may have paths
    settings = ", ".join([*known, *([f"labels={','.join(log.labels)}"] if log.labels else [])]) or "the provider's own"
    return Scored(asked, scores, origin, identity, kind, warnings, told, settings)


def _tasks(log: Log, name: str, foreign: Foreign, kind: str) -> list[PlannedTask]:
    """The tasks on one dataset of the log: the measures that ask what inspect asked, and need no more than there is."""
    about = log.datasets[name]
    options = dict(about["options"])
    if not log.labels:
        options |= {"chat": True, "system": str(log.settings.get("system_message", ""))}
    spec = foreign.spec(name, options)
    tasks = spec.tasks_for(kind)
    dataset = tasks[0].task.dataset
    if dataset.version != about["version"]:
        raise BadInput(
            f"{log.path.name} has version {about['version']} of dataset '{name}', this evenhand has version "
            f"{dataset.version}. Run inspect again, or use the evenhand that it was run with."
        )
    item = dataset.items[0]
    question = questions_of(item, tasks[0].task.measure)
    same = [one for one in tasks if questions_of(item, one.task.measure) == question]
    kept = same if log.probable else [one for one in same if not _of_probabilities(one)]
    if spec.measures and (lost := [one.task.measure.name for one in tasks if one not in kept]):
        raise BadInput(
            f"{', '.join(lost)} cannot be had from {log.path.name}: its answers are what replies say. Measures of "
            "probabilities need a provider that gives them: inspect eval ... --logprobs --top-logprobs 20."
        )
    return kept


def _of_probabilities(one: PlannedTask) -> bool:
    return Traits.of(one.task.measure).unit == "probability"


def _sampled(one: PlannedTask, items: list[Item]) -> PlannedTask:
    part = replace(one.task, dataset=replace(one.task.dataset, items=items))
    return replace(one, task=part, record=replace(one.record, limit=len(items), partial=True))


def _row(log: Log, one: PlannedTask, row: ScoredRow) -> ScoredRow:
    """The row, without its numbers where they are no probabilities and the measure needs these."""
    if row.id in log.probable or not _of_probabilities(one):
        return row
    return replace(row, numbers=(), note=row.note or NO_PROBABILITIES)
