"""What lies beside runs: the record of a debiasing, the verdict of a gate."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.runs.folder import Run

DEBIASED, GATE = "debias.json", "gate.json"
RULE = {"rule", "verdict", "says"}


def debiasing(runs: Sequence[Run]) -> Mapping[str, Any] | None:
    """The record of the debiasing that these two runs are before and after of; None where there is none.

    It lies in the folder that both are in, and names them by the fingerprints of their models.
    """
    if len(runs) != 2:
        return None
    try:
        parent = Path(os.path.commonpath([run.path.resolve() for run in runs]))
    except ValueError:  # on two drives
        return None
    found = _read(parent / DEBIASED)
    of = [run.about["fingerprint"] for run in runs]
    return found if found and [found.get("before"), found.get("after")] == of else None


def gate(run: Run) -> Mapping[str, Any] | None:
    """What a gate said of this run."""
    found = _read(run.path / GATE)
    rules = found.get("rules") if found else None
    whole = isinstance(rules, list) and all(isinstance(r, dict) and set(r) >= RULE for r in rules)
    return found if found and "verdict" in found and whole else None


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
