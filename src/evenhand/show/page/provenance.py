"""The provenance of the numbers: all that is needed to reproduce and to cite them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.core.files import from_json, public_path, read_parsed, real_path
from evenhand.gate.verdict import CODES, worst_verdict
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import AuditRecord, TaskRecord
from evenhand.runs.rows import row_label


def facts(run: StoredRun) -> list[tuple[str, str]]:
    """The facts about a run, by name."""
    return [(name, str(value)) for name, value in _facts(run) if value not in (None, "", [])]


def _facts(run: StoredRun) -> Iterator[tuple[str, Any]]:
    about = run.record
    yield "model", about.model
    yield "asked", about.asked.description(*(field for field in about.asked.options if field != "system"))
    yield "system prompt", about.asked.system
    yield "system prompt from", about.asked.file
    imported, served = any(audit.imported for audit in about.audits), about.audits[-1].served
    loaded = about.loaded
    whose = "name, how it is asked" if served else "name, file" if imported else "weights, tokenizer, dtype"
    yield f"fingerprint ({whose})", about.fingerprint
    for name in (
        *("source", "revision", "architecture", "dtype", "device", "attention", "batch_size", "threads"),
        "mitigation",
        *("server", "answered_by", "gives", "start", "temperature", "two_askings_differ_by", "samples", "unclear"),
        "settings",
    ):
        yield name.replace("_", " "), loaded.get(name)
    if parameters := loaded.get("parameters"):  # a user's own model may give any type
        yield "parameters", f"{parameters:,}" if isinstance(parameters, int) else parameters
    if isinstance(requests := loaded.get("requests"), int):
        prompts, replies = (loaded.get(f"{part}_tokens", 0) for part in ("prompt", "completion"))
        yield "sent so far", f"{requests:,} requests, {prompts:,} tokens of prompts, {replies:,} of replies"
    for audit in about.audits:
        where = f", {', '.join(dict.fromkeys(task.dataset for task in audit.tasks))}" if len(about.audits) > 1 else ""
        yield from ((f"{name}{where}", value) for name, value in _audit_facts(audit))
    yield "run folder", public_path(run.path)


def _audit_facts(audit: AuditRecord) -> Iterator[tuple[str, Any]]:
    task, work = audit.tasks[0], audit.work
    yield "suite", audit.suite
    sample = f"a sample of at most {task.limit:,}" if task.limit else "all"
    yield "items of each dataset", sample if task.budget is None else f"what a budget of {task.budget:,} allows"
    yield "seed", task.seed
    if audit.imported:
        yield "scores", audit.imported.description
        yield "SHA-256 of the file", audit.imported.sha256
        yield "imported", audit.started
    else:
        yield "questions", f"{work.questions:,}, {work.inputs:,} distinct inputs"
        yield "measured", f"{audit.started}, in {audit.seconds} s"
    yield "scored again", audit.rescored
    loaded = {name: audit.loaded.get(name) for name in ("torch", "transformers")}
    versions = {"evenhand": audit.evenhand, **audit.versions, **loaded}
    yield "versions", ", ".join(f"{name} {value}" for name, value in versions.items() if value)


def sources(tasks: Sequence[TaskRecord]) -> list[dict[str, str]]:
    """The datasets: name, version, measures with their versions, options, source, licence."""
    rows: dict[str, dict[str, str]] = {}
    for task in tasks:
        new = {
            "dataset": f"{task.dataset}, version {task.dataset_version}",
            "options": _options(task.dataset_options),
            **{name: getattr(task, name) or "" for name in ("about", "source", "licence")},
        }
        row = rows.setdefault(task.dataset, new)
        options = _options(task.measure_options)
        measured = f"{task.measure}, version {task.measure_version}" + (f" ({options})" if options else "")
        row["measures"] = f"{row['measures']}; {measured}" if "measures" in row else measured
    return list(rows.values())


def _options(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items() if value not in ("", None))


DEBIASED, GATE = "debias.json", "gate.json"
RULE = {"rule", "verdict", "says"}


def debiasing(runs: Sequence[StoredRun]) -> Mapping[str, Any] | None:
    """The record of the debiasing that made the model of the second of two runs from that of the first, or None.

    The record is in the folder that contains both runs, and names them by the fingerprints of their models.
    """
    if len(runs) != 2:
        return None
    try:
        parent = Path(os.path.commonpath([real_path(run.path) for run in runs]))
    except ValueError:  # on two drives
        return None
    record = _read(parent / DEBIASED)
    fingerprints = [run.record.fingerprint for run in runs]
    return record if record and [record.get("before"), record.get("after")] == fingerprints else None


def gate(run: StoredRun) -> Mapping[str, Any] | None:
    """The contents of the run's gate.json; None if it is missing or damaged."""
    record = _read(run.path / GATE)
    rules = record.get("rules") if record else None
    complete = isinstance(rules, list) and all(isinstance(r, dict) and set(r) >= RULE for r in rules)
    return record if record and "verdict" in record and complete else None


def judged_rows(run: StoredRun, dataset: str) -> dict[tuple[str, str], str]:
    """The verdict of a gate's policy on each value of a run, by measure and row: pass, fail or undecided."""
    verdicts_of: dict[tuple[str, str], list[str]] = {}
    for rule in (gate(run) or {"rules": ()})["rules"]:
        if (rule.get("on"), rule.get("dataset")) == ("value", dataset):
            group = "" if rule.get("group") == "all" else str(rule.get("group"))
            row = row_label({"": group}, str(rule.get("estimand", "")))
            verdicts_of.setdefault((str(rule.get("measure")), row), []).append(str(rule["verdict"]))
    return {key: worst_verdict(verdicts) for key, verdicts in verdicts_of.items() if set(verdicts) <= set(CODES)}


def _read(path: Path) -> dict[str, Any] | None:
    try:
        record = read_parsed(path, from_json)
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None
