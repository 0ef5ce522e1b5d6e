"""The command that measures again what a run has."""

import shlex
from collections.abc import Iterator
from typing import Any

from evenhand import datasets, measures
from evenhand.models.loading.names import named
from evenhand.runs.record import AuditRecord, RunRecord
from evenhand.suites import DEFAULTS

FILES = ("templates", "pairs")
"""Datasets that are made from a user's file."""


def commands(record: RunRecord) -> list[str]:
    """A command for each audit of a run, the earliest first.

    A run does not record where a local model is, only its name: put the folder in its place. Results that were measured
    again later are in the later audit.
    """
    found = [
        shlex.join(["evenhand", "audit", *_model(record, audit), *_what(audit), *_how(audit)])
        for audit in record.audits
    ]
    return list(dict.fromkeys(found))


def _model(record: RunRecord, audit: AuditRecord) -> Iterator[str]:
    source = str(audit.loaded.get("source", "folder"))
    on_hub = source != "folder"
    yield source if on_hub else record.model if record.model in named() else f"PATH/TO/{record.model}"
    if on_hub and audit.loaded.get("revision"):
        yield from ("--revision", str(audit.loaded["revision"]))


def _what(audit: AuditRecord) -> Iterator[str]:
    languages = list(dict.fromkeys(task.language for task in audit.tasks))
    if audit.suite is not None:
        yield from (word for suite in audit.suite.split(", ") if suite != "all" for word in ("--suite", suite))
        yield from (word for language in languages if language != "en" for word in ("--lang", language))
    else:
        for builder, file in dict.fromkeys((t.dataset_builder, t.dataset_options.get("file")) for t in audit.tasks):
            yield from (f"--{builder}", str(file)) if builder in FILES else ("--dataset", builder)
        for measure in dict.fromkeys(task.measure for task in audit.tasks):
            yield from ("--measure", measure)
    yield from (word for option in _options(audit) for word in ("--option", option))


def _options(audit: AuditRecord) -> list[str]:
    """The options of datasets and measures that are not their defaults."""
    found: dict[str, Any] = {}
    usual = DEFAULTS.get(audit.kind, {})
    for task in audit.tasks:
        known = datasets.defaults_of(task.dataset_builder) if task.dataset_builder in datasets.BUILDERS else {}
        found |= {k: v for k, v in task.dataset_options.items() if k not in ("file", "sha256") and v != known.get(k, v)}
        if task.measure in measures.MEASURES:
            own = measures.defaults_of(measures.MEASURES[task.measure]()) | usual
            found |= {k: v for k, v in task.measure_options.items() if v != own.get(k, v)}
    return [f"{name}={value}" for name, value in found.items()]


def _how(audit: AuditRecord) -> Iterator[str]:
    task = audit.tasks[0]
    if task.limit:
        yield from ("--limit", str(task.limit))
    if task.seed:
        yield from ("--seed", str(task.seed))
    asked = audit.loaded.get("dtype_asked", audit.loaded.get("dtype", "float32"))
    if asked != "float32":
        yield from ("--dtype", str(asked))
    if (size := audit.loaded.get("batch_size", "auto")) != "auto":
        yield from ("--batch-size", str(size))
