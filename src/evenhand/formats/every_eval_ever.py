"""Every Eval Ever, a shared format for evaluation results: one JSON record for each run."""

import json
from collections.abc import Sequence
from datetime import datetime

from evenhand.errors import RunError, check_known
from evenhand.formats.cells import exported_rows, neutral_text
from evenhand.runs.files import rescore_hint
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.runs.rows import Row

SCHEMA = "0.3.0"
RELATIONSHIPS = ("collaborative", "first_party", "other", "third_party")
DESCRIBED = {
    "stereotype": "how much scores follow stereotypes about women and men, who count equally",
    "default": "how much scores favour women, or men below neutral, on average over both kinds",
}
DIRECTIONS = {
    "lower": "lower is less biased",
    "higher": "higher is better",
    "closer": "neither: nearest to the neutral value is least biased",
    "none": "neither: a level, of which no value is the unbiased one",
}


def every_eval_ever(runs: Sequence[StoredRun], *, organization: str = "unknown", relationship: str = "other") -> str:
    """A record with the fields that version 0.3.0 of the schema documents (eval.schema.json of every-eval-ever 0.3.0).

    The record is not validated here, since the schema's package is not a dependency. There is a result for each value,
    including those of parts of groups, with its interval in `uncertainty`. A result needs a number, so missing values
    are only counted. `lower_is_better` must be true or false: where neither is right, it is false, and `direction` in
    the additional details says which values are better. Times are those of the run, so the same run gives the same
    record. `organization` is who measured, and `relationship` is its relation to the maker of the model.
    """
    check_known("relationship", [relationship], RELATIONSHIPS)
    (run,) = runs
    rows, when = exported_rows(run), _timestamp(run)
    record = {
        "schema_version": SCHEMA,
        "evaluation_id": f"evenhand/{run.record.model.replace('/', '_')}/{when}",
        "evaluation_timestamp": run.record.started or "unknown",
        "retrieved_timestamp": when,
        "source_metadata": {
            "source_name": "evenhand",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
            "additional_details": {
                "partial": run.record.sample or "no",
                "values_left_out": str(sum(not row.known for row in rows)),
                "seed": ", ".join(dict.fromkeys(str(task.seed) for task in run.record.tasks)),
                "kind_of_model": ", ".join(dict.fromkeys(audit.kind for audit in run.record.audits)),
                "doctor": "; ".join(dict.fromkeys(audit.diagnosis for audit in run.record.audits)),
            },
        },
        "eval_library": {"name": "evenhand", "version": str(run.record.evenhand)},
        "model_info": _model(run),
        "evaluation_results": [_result(row) for row in rows if row.known],
    }
    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _timestamp(run: StoredRun) -> str:
    text = max(audit.rescored or audit.started for audit in run.record.audits)
    try:
        return str(datetime.fromisoformat(text).timestamp()) if text else "unknown"
    except (TypeError, ValueError) as error:
        raise RunError(f"The time '{text}' in '{run.path}' is not a date. {rescore_hint(run.path)}") from error


def _model(run: StoredRun) -> dict[str, object]:
    name = run.record.model_alone
    loaded = {key: str(value) for key, value in run.record.loaded.items() if value is not None}
    model: dict[str, object] = {"name": name, "id": name}
    if "/" in name:
        model["developer"] = name.partition("/")[0]
    if "transformers" in loaded:
        model["inference_engine"] = {"name": "transformers", "version": loaded["transformers"]}
    fixed = {"deployment_type": "self_deployed", "model_availability": "unknown"}
    fixed |= {f"asked_{field}": str(value) for field, value in run.record.asked.options.items()}
    return {**model, "additional_details": {**loaded, **fixed, "fingerprint": run.record.fingerprint}}


def _result(row: Row) -> dict[str, object]:
    task = row.task
    samples = task.kinds.samples if task.kinds and (row.contrast or row.estimand) else ()
    clusters = " and ".join(name for name in (task.cluster, task.crossed, *samples) if name)
    whole = [row.dataset, row.measure, *(f"{group}={label}" for group, label in row.key)]
    return {
        "evaluation_result_id": "/".join(whole),
        "evaluation_name": row.dataset,
        "source_data": _source_data(task),
        "metric_config": _metric_config(row),
        "score_details": {
            "score": row.value,
            "details": {
                "of": row.of,
                **{f"group_{group}": str(label) for group, label in row.groups.items()},
                "n": str(row.n),
                "unscored": str(row.unscored),
                "fingerprint": row.fingerprint,
                "partial": f"a sample of at most {task.limit} items" if task.partial else "no",
                "verdict": row.verdict.word,
                "doctor": row.audit.diagnosis,
            },
            "uncertainty": {
                "confidence_interval": {
                    "lower": row.low,
                    "upper": row.high,
                    "confidence_level": 0.95,
                    "method": f"clustered by {clusters}" if clusters else "each item stands for itself",
                },
                "num_samples": row.n,
            },
        },
    }


def _source_data(task: TaskRecord) -> dict[str, object]:
    known = {
        "version": task.dataset_version,
        "options": json.dumps(task.dataset_options, sort_keys=True, ensure_ascii=False),
        **{key: getattr(task, key) for key in ("language", "source", "licence", "flaws")},
    }
    details = {key: str(value) for key, value in known.items() if value != ""}
    return {"dataset_name": task.dataset, "source_type": "other", "additional_details": details}


def _metric_config(row: Row) -> dict[str, object]:
    task = row.task
    low, high = task.bounds
    direction: str = task.better
    reading, name = task.reading, row.measure
    if row.contrast:
        low, high = (None, None) if low is None or high is None else (low - high, high - low)
        direction, name = "closer", f"{row.measure}, {row.contrast}"
        reading = f"the mean difference between partners, {row.contrast}, neutral at 0; of scores {reading}"
    elif row.estimand:
        direction, name = "closer", f"{row.measure}, {row.estimand}"
        low, high = (-1.0, 1.0) if task.genders and high == 1.0 else (low, high)
        reading = f"{DESCRIBED[row.estimand]}; of scores {reading}"
    elif direction == "closer":  # lower or higher, if all values are on one side of neutral
        direction = "lower" if row.neutral == low else "higher" if row.neutral == high else "closer"
    options = {k: v if isinstance(v, str | int | float | None) else str(v) for k, v in task.measure_options.items()}
    return {
        "evaluation_description": reading,
        "metric_id": f"evenhand.{row.measure}",
        "metric_name": name,
        **({"metric_unit": task.unit} if task.unit else {}),
        "metric_parameters": {"version": task.measure_version} | options,
        "lower_is_better": direction == "lower",
        "score_type": "continuous",
        "min_score": "-Infinity" if low is None else low,
        "max_score": "Infinity" if high is None else high,
        "additional_details": {
            "version": str(task.measure_version),
            "neutral": neutral_text(row.neutral),
            "direction": DIRECTIONS[direction],
            **({"asks": task.asks} if task.asks else {}),
        },
    }
