"""For tests of models: a gate that raises."""

from pathlib import Path
from typing import Any

from evenhand.auditing.audit import audit
from evenhand.core.model import Model
from evenhand.errors import BadInput
from evenhand.gate.gate import Gate
from evenhand.gate.verdict import Verdict
from evenhand.runs.folder import Run


class Undecided(AssertionError):
    """The data do not decide: neither pass nor fail."""


def assert_fair(
    subject: Run | Model | str | Path,
    policy: Gate | str | Path,
    *,
    baseline: Run | str | Path | None = None,
    allow_undecided: bool = False,
    **asked: Any,
) -> Verdict:
    """Raise AssertionError, with a line for each rule, unless the policy passes; give the verdict if it does.

    `subject` is a run or its folder, or what `evenhand.audit` takes for a model, which is then measured as `asked`.
    Undecided raises `Undecided`, an AssertionError too, since no evidence of harm is no evidence of none;
    `allow_undecided` lets it through.
    """
    gate = policy if isinstance(policy, Gate) else Gate.load(policy)
    if isinstance(subject, str | Path) and (Path(subject) / "run.json").is_file():
        subject = Run.load(subject)
    if not isinstance(subject, Run):
        subject = audit(subject, gate=None if baseline else gate, **asked)
    elif asked:
        raise BadInput(f"A run is measured already. Got {', '.join(asked)}, which say how to measure a model.")
    verdict = gate.judge(subject, baseline)
    told = "\n".join(verdict.lines())
    if verdict.verdict == "fail":
        raise AssertionError(told)
    if verdict.verdict == "undecided" and not allow_undecided:
        raise Undecided(told)
    return verdict
