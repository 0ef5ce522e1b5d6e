"""Migration of records from older schemas to the present one.

Tasks of schemas 1 to 3 have neither the kinds of their dataset nor the traits of their measure. A run of schema 1 or 2
is a single audit, and `seed` and `limit` are fields of the run, not of its tasks; in schema 1, so is `partial`.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from evenhand.core.measure import Traits
from evenhand.measures import MEASURES

SAMPLE = ("seed", "limit", "budget", "partial")
"""Fields of a task that describe the sample of items."""


def migrate(run: Mapping[str, Any], schema: int) -> dict[str, Any]:
    """Convert a record of any schema to the fields of the present one; `schema` stays the number in the file."""
    if schema < 3:
        run = _one_audit(run)
    if schema < 4 and isinstance(audits := run.get("audits"), list):
        run = {**run, "audits": [_with_kinds(audit) if isinstance(audit, dict) else audit for audit in audits]}
    return {**run, "schema": schema}


def _one_audit(run: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a record of schema 1 or 2 to a run of one audit; its tasks get the sample fields and missing fields."""
    whole = {name: run[name] for name in ("model", "fingerprint", "sha256") if name in run}
    sample = {name: run[name] for name in SAMPLE if name in run}
    audit = {name: value for name, value in run.items() if name not in (*whole, *sample, "schema", "languages")}
    if isinstance(tasks := run.get("tasks"), list):
        audit["tasks"] = [
            {"dataset_builder": task.get("dataset"), "partners": _partners(task), **sample, **task}
            if isinstance(task, dict)
            else task
            for task in tasks
        ]
        of_inference = any(isinstance(task, dict) and task.get("by") == ["set"] for task in tasks)
        audit["kind"] = "causal" if run.get("apart") else "nli" if of_inference else "masked"
    return {**whole, "audits": [audit]}


def _with_kinds(audit: Mapping[str, Any]) -> dict[str, Any]:
    """The audit, its tasks with the kinds and partners of their dataset and the present traits of their measure."""
    from evenhand.datasets.kinds import kinds_of

    if not isinstance(tasks := audit.get("tasks"), list):
        return dict(audit)
    with_kinds = []
    for task in tasks:
        if isinstance(task, dict):
            known, options = MEASURES.get(str(task.get("measure"))), task.get("dataset_options")
            traits = Traits.of(known).recorded if known else {}
            of_inference = task.get("by") == ["set"]
            name = "nli-" if of_inference else str(task.get("dataset_builder"))
            kinds = kinds_of(name, options if isinstance(options, dict) else {})
            partners = INFERENCE if of_inference else task.get("partners")
            task = {**task, **traits, "kinds": asdict(kinds) if kinds else None, "partners": partners}
        with_kinds.append(task)
    return {**audit, "tasks": with_kinds}


INFERENCE = {"group": "gender", "one": "female", "other": "male", "differ": ["set"]}


def _partners(task: Mapping[str, Any]) -> dict[str, Any] | None:
    """The partners of a bundled dataset, which the first schemas did not record."""
    by, options = task.get("by"), task.get("dataset_options")
    if not isinstance(by, list) or "gender" not in by or task.get("dataset") == "eec":
        return None
    crossed = isinstance(options, dict) and options.get("forms") == "crossed"
    agreeing = task.get("dataset") == "becpro-de" and not crossed
    return {"group": "gender", "one": "female", "other": "male", "differ": ["person", *(["form"] if agreeing else [])]}
