"""action.yml: its steps, run as a runner of GitHub Actions runs them."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from helpers.audited_runs import pairs

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
GH = """#!/usr/bin/env bash
# Knows one artifact, "bias" of the branch "main", whose files are in $SERVED.
if [ "$1 $2" = "api --method" ]; then
  [[ "$*" == *"repos/us/model/actions/artifacts -f name=bias "* ]] && [ "$BRANCH" = main ] && echo 17; exit 0
fi
[ "$1 $2 $3 $4 $5 $6 $7" = "run download 17 --repo us/model --name bias" ] && cp -r "$SERVED" "$9"
"""


@dataclass
class Runner:
    """A machine that runs the action in a workspace; steps that install something are skipped."""

    workspace: Path
    served: Path = Path("none")
    ends: int | None = None
    """The exit code of an `evenhand` that only notes its arguments; None for ours."""
    outputs: dict[str, str] = field(default_factory=dict)
    printed: str = ""
    summary: str = ""

    def __post_init__(self) -> None:
        bins = self.workspace / ".bin"
        bins.mkdir(parents=True)
        for name, call in (("python", ""), ("evenhand", " -m evenhand")):
            (bins / name).write_text(f'#!/usr/bin/env bash\nexec "{sys.executable}"{call} "$@"\n')
        if self.ends is not None:
            (bins / "evenhand").write_text(f'#!/usr/bin/env bash\necho "$@"\nexit {self.ends}\n')
        (bins / "gh").write_text(GH)
        for file in bins.iterdir():
            file.chmod(0o755)

    def run(self, **inputs: str) -> int:
        """Run the steps, and give the exit code of the first one that fails."""
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        known = {f"inputs.{name}": str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        known |= {f"inputs.{name}": value for name, value in given.items()}
        assert set(given) <= set(ACTION["inputs"])
        for step in STEPS:
            if "run" not in step or step["id"] == "install" or not self._wanted(step.get("if", ""), known):
                continue
            if code := self._step(step, known):
                return code
        return 0

    def _wanted(self, condition: str, known: dict[str, str]) -> bool:
        name, sign, value = condition.partition(" != ")
        return not sign or (value == "''" and known[name] != "")

    def _step(self, step: dict[str, Any], known: dict[str, str]) -> int:
        script, output, summary = (self.workspace / ".bin" / name for name in ("step.sh", "output", "summary"))
        script.write_text(step["run"])
        assert "${{" not in step["run"]  # what a pull request names must not become a command
        for file in (output, summary):
            file.write_text("")
        env = os.environ | {
            **{"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "us/model", "OMP_NUM_THREADS": "1"},
            **{"GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(self.workspace / ".bin"), "RUNNER_OS": "Linux"},
            **{"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary), "SERVED": str(self.served)},
            **{"GITHUB_WORKSPACE": str(self.workspace), "PATH": f"{self.workspace / '.bin'}:{os.environ['PATH']}"},
            **{name: self._filled(str(value), known) for name, value in step.get("env", {}).items()},
        }
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]  # what `shell: bash` means
        done = subprocess.run(shell, cwd=self.workspace, env=env, text=True, capture_output=True)
        self.printed, self.summary = done.stdout + done.stderr, summary.read_text()
        for line in output.read_text().splitlines():
            name, sign, value = line.partition("=")
            assert sign
            self.outputs[f"steps.{step['id']}.outputs.{name}"] = value
        return done.returncode

    def _filled(self, text: str, known: dict[str, str]) -> str:
        def value(found: re.Match[str]) -> str:
            values = {"github.token": "secret"} | known | self.outputs
            parts = [part.strip() for part in found[1].split("||")]
            assert all(part in values or part.startswith("steps.") for part in parts)
            return next(filter(None, (values.get(part, "") for part in parts)), "")

        return re.sub(r"\$\{\{ (.+?) \}\}", value, text)

    @property
    def verdict(self) -> str:
        return self.outputs["steps.audit.outputs.verdict"]


MODEL = """
import zlib

import evenhand


def leaning(name):
    def rule(question):
        noise = zlib.crc32(question.text.encode()) % 1000 / 500 - 1
        return (noise - 20 + 2 * question.text.startswith("He"),)

    return evenhand.Table(rule, name=name, fingerprint=name)


MODELS = {"leaning": leaning}
"""
"""A lean of about 2, and no torch, which would take seconds to import in each process."""


def judged(workspace: Path, bound: str, served: Path = Path("none"), **inputs: str) -> tuple[int, Runner]:
    """The exit code of a job that judges this model, and its machine."""
    runner = Runner(workspace, served)
    (workspace / "policy.toml").write_text(f"[[rule]]\nmeasure = 'likelihood-lean'\n{bound}\n")
    (workspace / "model.py").write_text(MODEL)
    pairs(workspace)
    args = "--plugin model.py --pairs pairs.csv --measure likelihood-lean"
    return runner.run(model="leaning:mini", policy="policy.toml", args=args, **inputs), runner


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A job that passed, with what it left."""
    code, runner = judged(tmp_path_factory.mktemp("earlier") / "work", "within = 9")
    assert code == 0, runner.printed
    return runner


def test_a_job_that_passes_leaves_its_runs_a_summary_and_no_annotation(earlier: Runner) -> None:
    assert earlier.verdict == "pass"
    assert "### Gender bias: ✅ pass" in earlier.summary
    assert "::" not in earlier.printed
    assert sorted(file.name for file in (earlier.workspace / "evenhand-runs").iterdir()) == ["junit.xml", "mini"]
    assert re.fullmatch("[0-9a-f]{16}", earlier.outputs["steps.pip.outputs.pins"])
    assert earlier.outputs["steps.pip.outputs.cache"]


def test_a_job_is_compared_with_the_run_of_the_artifact_and_annotates_what_is_undecided(
    earlier: Runner, tmp_path: Path
) -> None:
    bound = "worse_by_at_most = 0.1\n[[rule]]\nmeasure = 'likelihood-lean'\nwithin = 2"
    inputs = {"baseline_artifact": "bias", "baseline_branch": "main"}
    code, runner = judged(tmp_path / "work", bound, earlier.workspace / "evenhand-runs", **inputs)
    assert (code, runner.verdict) == (3, "undecided"), runner.printed
    assert re.findall(r"^::(\w+) title=Gender bias%2C \w+::mini: pairs", runner.printed, re.M) == ["warning"]
    rule = json.loads((runner.workspace / "evenhand-runs" / "mini" / "gate.json").read_text())["rules"][0]
    assert (rule["on"], rule["n"], rule["value"], rule["verdict"]) == ("worse", 60, 0, "pass")


@pytest.mark.parametrize(
    ("ends", "inputs", "code", "verdict"),
    [
        (0, {}, 0, "pass"),
        (1, {"allow_undecided": "true"}, 1, "fail"),
        (2, {"baseline": "nowhere"}, 2, ""),
        (3, {}, 3, "undecided"),
        (3, {"allow_undecided": "true"}, 0, "undecided"),
    ],
)
def test_the_job_ends_as_the_gate_does(
    tmp_path: Path, ends: int, inputs: dict[str, str], code: int, verdict: str
) -> None:
    runner = Runner(tmp_path / "work", ends=ends)
    assert runner.run(model="a-model", policy="p.toml", suite="one two", args="--limit *", **inputs) == code
    assert runner.verdict == verdict
    options = "--gate p.toml --out evenhand-runs --junit evenhand-runs/junit.xml --github-summary"
    baseline = "".join(f" --baseline {name}" for name in (inputs.get("baseline"),) if name)
    assert runner.printed.strip() == f"audit a-model {options} --suite one --suite two{baseline} --limit *"


def test_without_the_artifact_the_job_says_so_before_anything_is_measured(tmp_path: Path) -> None:
    runner = Runner(tmp_path / "work")
    inputs = {"baseline_artifact": "bias", "baseline_branch": "new"}
    assert runner.run(model="mini-en", policy="policy.toml", **inputs) == 2
    assert "::error title=No baseline::There is no artifact 'bias' of the branch 'new'." in runner.printed
    assert not (runner.workspace / "evenhand-runs").exists()


def test_torch_is_installed_as_in_our_own_workflow() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    (install,) = [step for step in STEPS if step.get("id") == "install"]
    line = f"PIP_EXTRA_INDEX_URL={workflow['env']['PIP_EXTRA_INDEX_URL']}"
    assert "=".join(*install["env"].items()) == line
    page = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    assert line in page
    assert line.replace("=", ": ") in page


def test_the_action_and_snippets_of_the_docs_name_what_there_is() -> None:
    page = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    github, gitlab = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.S))
    (step,) = [step for step in github["jobs"]["bias"]["steps"] if "evenhand" in step["uses"]]
    assert {name for name, one in ACTION["inputs"].items() if one.get("required")} <= set(step["with"])
    assert set(step["with"]) <= set(ACTION["inputs"])
    assert gitlab["bias"]["artifacts"]["reports"]["junit"] in gitlab["bias"]["script"][-1]
    assert gitlab["bias"]["allow_failure"] == {"exit_codes": [3]}
