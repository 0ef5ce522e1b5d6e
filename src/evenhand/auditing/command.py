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
    found = []
    for audit in record.audits:
        source = str(audit.loaded.get("source", "folder"))
        bundled = record.model if record.model in named() else f"PATH/TO/{record.model}"
        given = [word for option in _arguments(audit, on_hub=source != "folder") for word in option]
        found.append(shlex.join(["evenhand", "audit", bundled if source == "folder" else source, *given]))
    return list(dict.fromkeys(found))


def _arguments(audit: AuditRecord, *, on_hub: bool) -> Iterator[tuple[str, str]]:
    """The options of an audit that are not the defaults, with their values."""
    loaded, task = audit.loaded, audit.tasks[0]
    if on_hub and loaded.get("revision"):
        yield "--revision", str(loaded["revision"])
    if audit.suite is not None:
        yield from (("--suite", suite) for suite in audit.suite.split(", ") if suite != "all")
        yield from (("--lang", lang) for lang in dict.fromkeys(task.language for task in audit.tasks) if lang != "en")
    else:
        for builder, file in dict.fromkeys((t.dataset_builder, t.dataset_options.get("file")) for t in audit.tasks):
            yield (f"--{builder}", str(file)) if builder in FILES else ("--dataset", builder)
        yield from (("--measure", measure) for measure in dict.fromkeys(task.measure for task in audit.tasks))
    yield from (("--option", option) for option in _options(audit))
    dtype, size = loaded.get("dtype_asked", loaded.get("dtype", "float32")), loaded.get("batch_size", "auto")
    rest: list[tuple[str, Any, Any]] = [("--limit", task.limit, None), ("--seed", task.seed, 0)]
    rest += [("--dtype", dtype, "float32"), ("--batch-size", size, "auto")]
    yield from ((name, str(value)) for name, value, default in rest if value != default)


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
