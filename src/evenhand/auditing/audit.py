"""Measure a model and write its run: plan the tasks, measure them, write the results, then read the run."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand import suites
from evenhand.auditing.askable import askable_tasks
from evenhand.auditing.budget import too_few_items
from evenhand.auditing.measuring import Measuring
from evenhand.auditing.spec import AuditSpec, PlannedTask, Reader
from evenhand.auditing.writing import check_joins, open_run, output_folder
from evenhand.core.model import Model, kind_of
from evenhand.core.progress import one_bar, showing
from evenhand.core.way import UNASKED
from evenhand.models import ModelSource
from evenhand.models.base import Chats, CountsRequests, Recognisable
from evenhand.models.cache import check_same_model
from evenhand.runs import folder
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import RunRecord, read_record

log = logging.getLogger(__name__)


def run_audit(
    source: ModelSource,
    spec: AuditSpec,
    path: Path,
    name: str | None,
    reader: Reader,
    *,
    fresh: bool = False,
    doctor: bool = True,
    progress: bool | None = None,
) -> StoredRun:
    """Measure the model and add the results to the run in `path`; `reader` then reads the run in the locked folder.

    See `evenhand.audit`. Tasks are checked before the model is loaded if its kind is known or they do not depend on it.
    """
    plan = AuditPlan(source, spec, path, None if fresh else read_record(path), reader)
    early = plan.before_loading()
    with output_folder(path):
        model = source.load()
        tasks, refused = askable_tasks(model, planned := plan.of_model(model, early), served=source.served)
        left = {each.record.dataset for each in tasks}
        excluded = tuple(dict.fromkeys(each.record.dataset for each in planned if each.record.dataset not in left))
        records, way = [each.record for each in tasks], suites.way_of([each.task for each in tasks], source.way.file)
        name = name or model.name + source.way.words(in_chats=source.served)
        bar = one_bar(f"Measuring {name}")
        with showing(progress), bar, open_run(path, model, records, way, fresh=fresh) as run:
            if fresh:
                folder.clear(path)
            if isinstance(model, Recognisable):
                check_same_model(path / folder.ANSWERS, model)
            _log_plan(spec, tasks)
            measuring = Measuring(
                model, path / folder.ANSWERS, name, source.served, run.earlier, source.exact, doctor=doctor
            )
            audits, results = measuring.measure(tasks)
            audits = [
                replace(audit, suite=spec.suite, warnings=(*refused, *audit.warnings), excluded=excluded)
                for audit in audits
            ]
            return run.commit(name, audits, [each.task for each in tasks], results, reader)


@dataclass(frozen=True)
class AuditPlan:
    """The tasks of an audit, checked against the run that the folder has, and by the reader."""

    source: ModelSource
    spec: AuditSpec
    path: Path
    existing: RunRecord | None
    reader: Reader

    def before_loading(self) -> list[PlannedTask]:
        """The tasks as far as they are known without the model: minutes may be spent on loading it."""
        if not self.source.kind and self.spec.needs_kind:
            return []
        served = self.source.served
        uncounted = served or isinstance(self.source.given, CountsRequests)  # only the loaded model can count
        asking = (lambda question: ()) if uncounted else None
        return self._tasks(self.source.kind or "masked", chats=served, asking=asking, quiet=not self.source.kind)

    def of_model(self, model: Model, early: list[PlannedTask]) -> list[PlannedTask]:
        """The tasks for the loaded model: those known before, unless they depend on what only it can say."""
        served, kind = self.source.served, kind_of(model)
        chats = served and isinstance(model, Chats) and model.chats
        if self.source.kind == kind and chats == served and not self.spec.budget:
            return early
        asking = model.requests if isinstance(model, CountsRequests) else None
        return self._tasks(kind, chats=chats, asking=asking, quiet=bool(early) and kind == self.source.kind)

    def _tasks(self, kind: str, *, quiet: bool, **known: Any) -> list[PlannedTask]:
        spec = replace(self.spec.in_way(self.source.way), server=self.source.served, **known)
        tasks = spec.tasks_for(kind, quiet=quiet)
        # Whether a server has chats is only known once it was asked.
        way = UNASKED if self.source.served else suites.way_of([planned.task for planned in tasks])
        if self.existing:
            check_joins(self.path, self.existing, [planned.record for planned in tasks], way)
        self.reader.check(tasks, self.path, self.existing)
        return tasks


def _log_plan(spec: AuditSpec, tasks: Sequence[PlannedTask]) -> None:
    if any(planned.record.partial for planned in tasks):
        most = f"at most {spec.limit} items" if spec.limit else f"what a budget of {spec.budget:,} allows"
        log.warning(f"A sample of {most} of each dataset: results are partial.")
    if spec.budget and (small := {each.record.dataset: each.too_few for each in tasks if each.too_few}):
        log.warning(too_few_items(spec.budget, small))
    for planned in tasks:
        items = len(planned.task.dataset.items)
        log.debug(f"{planned.record.measure} on {planned.record.dataset}: {items:,} items.")
