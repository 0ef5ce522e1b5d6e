"""A gate for test suites: it raises unless a model passes."""

from pathlib import Path
from typing import Any

from evenhand.calls.audit import audit
from evenhand.core.model import Model
from evenhand.errors import BadInput
from evenhand.gate.gate import Gate
from evenhand.gate.verdict import Verdict
from evenhand.run import Run
from evenhand.runs.folder import StoredRun


class Undecided(AssertionError):
    """The verdict is neither pass nor fail."""


def assert_fair(
    subject: Run | Model | str | Path,
    policy: Gate | str | Path,
    *,
    baseline: Run | str | Path | None = None,
    allow_undecided: bool = False,
    **asked: Any,
) -> Verdict:
    """Return the verdict if the policy passes; otherwise raise AssertionError with a line for each rule.

    `subject` is a run or its folder, or a model as for `evenhand.audit`, which is then called with `asked`. An
    undecided verdict raises `Undecided`, an AssertionError too, unless `allow_undecided` is given.
    """
    gate = Gate.load(policy, baseline) if isinstance(policy, str | Path) else policy
    if isinstance(subject, str | Path) and (Path(subject) / "run.json").is_file():
        subject = Run.load(subject)
    if not isinstance(subject, StoredRun):
        subject = audit(subject, gate=gate, baseline=baseline, **asked)
    elif asked:
        raise BadInput(
            f"Parameters for measuring a model do not apply to a run. Got {', '.join(asked)}. Leave them out."
        )
    verdict = gate.judge(subject, baseline)
    message = "\n".join(verdict.lines())
    if verdict.verdict == "fail":
        raise AssertionError(message)
    if verdict.verdict == "undecided" and not allow_undecided:
        raise Undecided(message)
    return verdict
