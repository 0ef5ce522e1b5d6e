"""The commands that repeat the audits of a run."""

import shlex
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
    bundled = record.model if record.model in named() else f"PATH/TO/{record.model}"
    return list(dict.fromkeys(shlex.join(_argv(audit, bundled)) for audit in record.audits))


def _argv(audit: AuditRecord, bundled: str) -> list[str]:
    """The command of an audit, with the options that are not the defaults."""
    loaded, task = audit.loaded, audit.tasks[0]
    source = str(loaded.get("source", "folder"))
    usual = {"lang": "en", "suite": "all", "seed": 0, "dtype": "float32", "batch-size": "auto", "samples": 20}
    given: list[tuple[str, Any]] = [("revision", loaded.get("revision") if source != "folder" else None)]
    if audit.suite is not None:
        given += [("suite", suite) for suite in audit.suite.split(", ")] + [("lang", t.language) for t in audit.tasks]
    else:
        for builder, file in ((t.dataset_builder, t.dataset_options.get("file")) for t in audit.tasks):
            given.append((builder, file) if builder in FILES else ("dataset", builder))
        given += [("measure", task.measure) for task in audit.tasks]
    given += [("option", option) for option in _options(audit)]
    given += [
        ("base-url", loaded.get("server")),
        ("samples", loaded.get("samples")),
        ("budget", task.budget),
        ("limit", None if task.budget else task.limit),
        ("seed", task.seed),
    ]
    given += [("dtype", loaded.get("dtype_asked", loaded.get("dtype"))), ("batch-size", loaded.get("batch_size"))]
    wanted = dict.fromkeys((name, str(value)) for name, value in given if value not in (None, "", usual.get(name)))
    words = [word for name, value in wanted for word in (f"--{name}", value)]
    return ["evenhand", "audit", bundled if source == "folder" else source, *words]


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
