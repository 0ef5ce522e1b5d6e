"""Records of older schemas as the present one.

Until schema 2 a run was one audit, and seed and limit were the run's; in schema 1, whether it was partial, too.
"""

from collections.abc import Mapping
from typing import Any

from evenhand.core.measure import Traits
from evenhand.measures import MEASURES

SAMPLE = ("seed", "limit", "partial")


def migrated(run: Mapping[str, Any]) -> dict[str, Any]:
    """A record of schema 1 or 2 as one audit; tasks get what was the run's, or was not recorded at all."""
    whole = {name: run[name] for name in ("model", "fingerprint", "sha256") if name in run}
    sample = {name: run[name] for name in SAMPLE if name in run}
    audit = {name: value for name, value in run.items() if name not in (*whole, *sample, "schema", "languages")}
    if isinstance(tasks := run.get("tasks"), list):
        audit["tasks"] = [_migrated_task(task, sample) if isinstance(task, dict) else task for task in tasks]
        of_inference = any(isinstance(task, dict) and task.get("by") == ["set"] for task in tasks)
        audit["kind"] = "causal" if run.get("apart") else "nli" if of_inference else "masked"
    return {**whole, "audits": [audit]}


def _migrated_task(task: dict[str, Any], sample: Mapping[str, Any]) -> dict[str, Any]:
    known = MEASURES.get(str(task.get("measure")))
    told = {"dataset_builder": task.get("dataset"), **(Traits.of(known).recorded if known else {})}
    return {**told, "partners": _partners(task), **sample, **task}


def _partners(task: Mapping[str, Any]) -> dict[str, Any] | None:
    """The partners of a dataset of ours, which were not recorded until schema 2."""
    if task.get("by") == ["set"]:
        return {"group": "set", "one": "pro", "other": "anti", "differ": ["gender"]}
    by, options = task.get("by"), task.get("dataset_options")
    if not isinstance(by, list) or "gender" not in by or task.get("dataset") == "eec":
        return None
    crossed = isinstance(options, dict) and options.get("forms") == "crossed"
    agreeing = task.get("dataset") == "becpro-de" and not crossed
    return {"group": "gender", "one": "female", "other": "male", "differ": ["person", *(["form"] if agreeing else [])]}
