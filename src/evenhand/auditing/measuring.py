"""Measure tasks with a loaded model, after the doctor has examined it: one audit for each language."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evenhand._version import __version__
from evenhand.auditing.outcomes import with_outcomes
from evenhand.auditing.precision import compare, doubts
from evenhand.auditing.spec import PlannedTask, caveats
from evenhand.checks.doctor import preflight
from evenhand.checks.fit import fit, flaw_warnings
from evenhand.core.loop import Task, measure_all
from evenhand.core.model import NOT_EXAMINED, Finding, Model, TokenCounter, about, kind_of
from evenhand.core.scores import Result
from evenhand.models.base import Chats, count_overflows
from evenhand.models.cache import Remembering, delete_batches
from evenhand.runs.record import AuditRecord, RunRecord

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Measuring:
    """Measures tasks with a model, and keeps its answers in a file, under the `name` that the run has."""

    model: Model
    answers: Path
    name: str
    served: bool = False
    earlier: RunRecord | None = None
    """The run that is continued: what is known of the model from there is not asked again."""
    exact: Callable[[], Model] | None = None
    """Loads the model in float32, to compare half precision with it."""
    doctor: bool = True
    """Whether the doctor examines the model. If not, the record says so, and no number has a verdict."""

    def measure(self, tasks: Sequence[PlannedTask]) -> tuple[list[AuditRecord], list[Result]]:
        """Measure the tasks, one audit per language, since a model may not know every language."""
        audits, results = list[AuditRecord](), list[Result]()
        for language in dict.fromkeys(planned.task.dataset.language for planned in tasks):
            audited, new = self._measure_language([each for each in tasks if each.task.dataset.language == language])
            audits.append(audited)
            results += new
        delete_batches(self.answers)
        return audits, results

    def _measure_language(self, planned: Sequence[PlannedTask]) -> tuple[AuditRecord, list[Result]]:
        tasks, records = [each.task for each in planned], tuple(each.record for each in planned)
        measured, seed = [record.identity for record in records], records[0].seed
        audits = self.earlier.audits if self.earlier else ()
        same = next((audit for audit in audits if [task.identity for task in audit.tasks] == measured), None)
        examined = self._examine(tasks, same)
        started, clock = datetime.now(UTC), time.monotonic()
        cached = Remembering(self.model, self.answers)
        cached.name = self.name
        before = count_overflows(self.model) if hasattr(self.model, "overflowed") else None
        results = measure_all(cached, tasks, seed=seed)
        # If every answer was in the cache, the answers are of the model as the earlier run loaded it.
        unasked = not cached.work.batches
        loaded = {**(self.earlier.loaded if self.earlier and unasked else about(self.model)), **cached.costs}
        precision = None
        if self.exact and loaded.get("dtype") != "float32":
            redone = None if before is None else count_overflows(self.model) - before  # None: it does not count
            precision = same.precision if same and unasked else None
            if precision is None:
                compared = compare(cached, self.exact, tasks, results, seed)
                precision = replace(compared, asked=about(self.model).get("dtype_asked"), overflowed=redone)
            for line in doubts(precision, str(loaded["dtype"])):
                log.warning(line)
                examined["warnings"] += (line,)
        kind = kind_of(self.model)
        audited = AuditRecord(
            evenhand=__version__,
            kind=kind,
            loaded=loaded,
            tasks=records,
            work=cached.work,
            **examined,
            caveats=(*self._ways_to_ask(tasks), *caveats(kind, tasks)),
            started=started.isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - clock, 1),
            precision=precision,
        )
        return with_outcomes(audited, results), results

    def _examine(self, tasks: Sequence[Task], same: AuditRecord | None) -> dict[str, Any]:
        """The fields of the record that are known before anything is measured. Warnings and concerns are logged."""
        data = {task.dataset.name: task.dataset for task in tasks}
        counter = self.model if isinstance(self.model, TokenCounter) else None
        fits = {name: fit(counter, dataset) for name, dataset in data.items()} if counter else {}
        misfits = [line for each in fits.values() for line in each.warnings(self.model.name)]
        warnings = [*misfits, *(line for dataset in data.values() for line in flaw_warnings(dataset))]
        for line in warnings:
            log.warning(line)
        findings: tuple[Finding, ...] = (NOT_EXAMINED,)
        if same and same.examined and (same.doctor or not self.doctor):
            findings = same.doctor
        elif self.doctor:
            findings = preflight(self.model, list(data.values()), fits)
        for f in findings:
            if f.verdict != "fine" and not (misfits and f.check == "vocabulary"):  # the check would repeat the misfits
                log.warning(f"{f.check.capitalize()}, {f.verdict}: {f.says} {f.do}")
        tokens = {name: each.tokens for name, each in fits.items()}
        return {"tokens": tokens, "warnings": tuple(warnings), "doctor": findings}

    def _ways_to_ask(self, tasks: Sequence[Task]) -> Iterator[str]:
        """A sentence that says whether a chat model was asked in chats, and which option asks in the other way."""
        in_chats = any(getattr(task.measure, "chat", False) for task in tasks)
        if self.served and in_chats:
            yield "Choices and texts were asked in the server's chats: `chat=False` asks with plain prompts."
        elif not self.served and isinstance(self.model, Chats) and self.model.chats and not in_chats:
            yield "A chat model, by its chat template, asked with plain prompts: --chat asks in chats (chat=True)."
