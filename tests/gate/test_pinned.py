"""Policies of stored runs, and how they judge: whatever changes a bound or a verdict is meant, or a fault.

If it is meant: `PYTHONPATH=src:tests python -m gate.test_pinned` writes the new ones.
"""

import json
import re
import tempfile
import tomllib
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from evenhand import Gate, Run
from evenhand.errors import EvenhandError
from evenhand.gate.policy import Rule
from evenhand.gate.suggestion import suggest
from helpers.stored_runs import unpack

FILE = Path(__file__).with_name("pinned.json")
LEANS = {"measure": "likelihood-lean"}
BY_HAND: list[dict[str, Any]] = [
    *(LEANS | bound for bound in ({"within": 0.5}, {"within": 2.5}, {"low": 1, "high": 3}, {"low": 5}, {"high": 0.2})),
    *(LEANS | {"worse_by_at_most": margin} for margin in (0.01, 0.5, 2.0)),
    {"measure": "stereotype-share", "within": 0.45},
    {"measure": "crows-pairs", "high": 0.7, "max_unscored": 0.0},
]
CASES: dict[str, tuple[str, ...]] = {
    "by hand": ("base", "better", "level"),
    "before": ("before", "after"),
    "emotions": ("emotions", "before"),
    "nurses-unknown": ("nurses-unknown", "before"),
    "mini-en-emotions": ("mini-en-emotions", "emotions"),
}
"""Rules, or the run that they are made of, and the runs that they judge."""


def rules_of(name: str, stored: Path) -> list[dict[str, Any]]:
    """The rules, with those about a change, which are commented out."""
    if name == "by hand":
        return BY_HAND
    keys = "measure|dataset|estimand|group|worse_by_at_most"
    text = re.sub(rf"(?m)^# (\[\[rule\]\]|(?:{keys}) = )", r"\1", suggest(stored / name, stored))
    rules: list[dict[str, Any]] = tomllib.loads(text)["rule"]
    return rules


def found(name: str, stored: Path) -> dict[str, Any]:
    """The rules, and the first letters of their verdicts; the error's name where a run lacks what they are about."""
    rules, told = rules_of(name, stored), {}
    for one, other in permutations(CASES[name], 2):
        gate = Gate([Rule(**rule) for rule in rules], baseline=Run.load(stored / one))
        try:
            verdict = gate.judge(Run.load(stored / other))
        except EvenhandError as error:
            told[f"{other} after {one}"] = type(error).__name__
        else:
            told[f"{other} after {one}"] = "".join(rule.verdict[0] for rule in verdict.rules)
    return {"rules": rules, "verdicts": told}


@pytest.mark.parametrize("name", CASES)
def test_policies_and_verdicts_are_those_of_the_last_version(name: str, stored: Path) -> None:
    assert found(name, stored) == json.loads(FILE.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for run in {run for runs in CASES.values() for run in runs}:
            unpack(run, Path(folder))
        pinned = {name: found(name, Path(folder)) for name in CASES}
    FILE.write_text(json.dumps(pinned, indent=1) + "\n", encoding="utf-8")
