"""One model asked in two ways is compared, judged and kept apart like two models."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import Answer, BadInput, Run, RunError, datasets, measures
from evenhand.auditing.spec import commands
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.questions import Choose
from evenhand.core.way import Way

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")

DATA = ["choices-decisions", "choices-decisions-control"]
CONTROL: Any = datasets.load(DATA[1]).items
RIGHT = {item.context: item.options[item.right] for item in CONTROL}


class Recruiter:
    """Knows the right answers of the control; elsewhere says yes to women less often, unless asked to be fair."""

    kind = "causal"

    def __init__(self) -> None:
        self.name, self.fingerprint, self.asked = "recruiter", "f" * 32, 0

    def answer(self, questions: Sequence[Any]) -> list[Answer]:
        self.asked += len(questions)
        return [self.choose(q) if isinstance(q, Choose) else Answer((-float(len(q.text)),)) for q in questions]

    def choose(self, question: Choose) -> Answer:
        if right := RIGHT.get(question.prompt.partition("\n")[0]):
            return Answer(tuple(-0.1 if option == right else -4.0 for option in question.options))
        words = question.prompt.lower().replace(".", " ").replace(",", " ").split()
        woman = bool({"she", "her", "woman"} & set(words)) and "fair" not in question.system
        yes = -1.0 - 0.5 * (len(words) % 2) - woman * (0.8 + len(words) % 3 / 5)
        return Answer(tuple(yes if option == "Yes" else -0.7 for option in question.options))


@pytest.fixture(autouse=True)
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "v1.txt").write_text("You are a recruiter.\n")
    (tmp_path / "fair.txt").write_text("You are a fair recruiter.\n")
    monkeypatch.chdir(tmp_path)


def audit(system: str | Path = "", model: Any = None, **more: Any) -> Run:
    how: dict[str, Any] = {"dataset": DATA, "chat": True, "system": system, "limit": 120} | more
    return evenhand.audit(model or Recruiter(), **how)


def both(**more: Any) -> tuple[Run, Run]:
    return audit(Path("v1.txt"), **more), audit(Path("fair.txt"), **more)


def test_two_system_prompts_are_two_models_with_a_run_each() -> None:
    one, other = evenhand.sweep(
        [Recruiter()], dataset=DATA, chat=True, limit=120, system=[Path("v1.txt"), Path("fair.txt")]
    )
    assert one.record.model == "recruiter, chat, system prompt from v1.txt"
    assert other.path == Path("runs/recruiter--chat--system-prompt-from-fair.txt")
    assert one.record.asked == Way(True, "You are a recruiter.", None, "v1.txt")
    assert one.record.tasks == other.record.tasks
    assert one.datasets == DATA
    assert not {"chat", "system"} & set(one.record.tasks[0].measure_options)
    assert one.record.weights == other.record.weights == "f" * 32
    assert len({one.record.fingerprint, other.record.fingerprint, "f" * 32}) == 3
    assert {row["fingerprint"] for row in one.results} == {one.record.fingerprint}
    assert Run.load(one.path).record == one.record


def test_a_change_of_the_system_prompt_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    one, other = both()
    assert run_command(app, ["compare", str(one.path), str(other.path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "recruiter, chat, system prompt from fair.txt against recruiter, chat, system prompt from v1.txt" in shown
    assert "system prompt from fair.txt: asked in chats, with the system prompt 'You are a fair recruiter.'" in shown
    assert "One training" not in shown
    rows = [row for row in evenhand.compare(one, other).rows if row.estimand == "default"]
    assert {row.moved.partition(" ")[0] for row in rows if row.measure == "decision-odds"} == {"towards"}


def test_a_policy_carries_over_and_one_way_is_the_baseline_of_the_other() -> None:
    one, other = both()
    assert run_command(app, ["gate", str(one.path), "--suggest", "--out", "policy.toml"]) == 0
    assert run_command(app, ["gate", str(other.path), "--policy", "policy.toml"]) == 0
    rule = {"measure": "decision-odds", "dataset": DATA[0], "estimand": "default", "worse_by_at_most": 0.3}
    lines = ["[[rule]]", *(f"{name} = {json.dumps(value)}" for name, value in rule.items())]
    Path("no-worse.toml").write_text("\n".join(lines))
    judged = ["gate", "--policy", "no-worse.toml", "--baseline"]
    assert run_command(app, [*judged, str(one.path), str(other.path)]) == 0
    assert run_command(app, [*judged, str(other.path), str(one.path)]) == 1


def test_another_way_does_not_join_a_run() -> None:
    audit(Path("v1.txt"), name="mine")
    for change, says in (
        ({"system": Path("fair.txt")}, "asked with the system prompt 'You are a recruiter.' .v1.txt.. This audit asks"),
        ({"system": "", "chat": False}, "asked in chats, with the system prompt .* asks with plain prompts, without"),
    ):
        with pytest.raises(RunError, match=f"{says}.*choose another `out` or `name`"):
            audit(name="mine", **change)
    replaced = audit(Path("fair.txt"), name="mine", fresh=True)
    assert replaced.record.asked.file == "fair.txt"


@pytest.mark.parametrize("first", ["tgb", DATA[0]])
def test_what_is_asked_in_no_chat_joins_a_run_of_any_way(first: str) -> None:
    model = Recruiter()
    for dataset in dict.fromkeys([first, DATA[0], "tgb"]):
        way = {} if dataset == "tgb" else {"chat": True, "system": Path("fair.txt")}
        run = evenhand.audit(model, dataset=dataset, limit=20, name="mine", **way)  # type: ignore[arg-type]
    assert set(run.datasets) == {"tgb", DATA[0]}
    assert run.record.asked.file == "fair.txt"
    assert {row["fingerprint"] for row in run.results} == {run.record.fingerprint} != {"f" * 32}


def test_answers_are_kept_and_scored_again() -> None:
    model = Recruiter()
    run = audit(Path("fair.txt"), model)
    asked = model.asked
    again = audit(Path("fair.txt"), model)
    assert model.asked == asked
    rescored = evenhand.rescore(run.path)
    assert rescored.results == again.results == run.results
    assert rescored.record.asked == run.record.asked
    assert rescored.record.fingerprint == run.record.fingerprint


def test_the_command_of_a_run_asks_in_its_way() -> None:
    (command,) = commands(both()[0].record)
    assert command.startswith("evenhand audit PATH/TO/recruiter --chat --dataset choices-decisions")
    assert "--system v1.txt" in command
    (command,) = commands(audit("Be fair.", options={"by": "digits"}).record)
    assert "--option 'system=Be fair.' --option by=digits" in command


def test_runs_of_one_name_are_told_apart_by_how_they_were_asked() -> None:
    one, other = audit(Path("v1.txt"), name="mine", out="a"), audit(Path("fair.txt"), name="mine", out="b")
    names = ["mine, chat, system prompt from v1.txt", "mine, chat, system prompt from fair.txt"]
    assert evenhand.compare(one, other).names == names


def test_an_export_has_the_system_prompt_and_the_name_of_the_model_alone() -> None:
    run = audit(Path("fair.txt"), limit=20)
    model = json.loads(str(evenhand.export(run, "every-eval-ever")))["model_info"]
    assert model["id"] == "recruiter"
    assert model["additional_details"]["asked_system"] == "You are a fair recruiter."


def test_a_curve_is_asked_in_one_way() -> None:
    with pytest.raises(
        BadInput, match="not checkpoints of one model: asked .system. with the system prompt 'You are a"
    ):
        evenhand.track([run.path for run in both(limit=20)])


def rewrite(run: Run) -> Run:
    """The run with its way of asking among the options of its measures, as 0.2.0 had it before its release."""
    plain = json.loads((run.path / "run.json").read_text())
    del plain["asked"], plain["weights"]
    plain["fingerprint"] = run.record.weights
    for task in plain["audits"][0]["tasks"]:
        task["measure_options"] |= {"chat": True, "system": "You are a recruiter."}
    (run.path / "run.json").write_text(json.dumps(plain))
    return Run.load(run.path)


def test_a_run_whose_measures_had_the_way_is_scored_again() -> None:
    run = audit(Path("v1.txt"), limit=20)
    before = rewrite(run)
    assert before.record.asked == Way()
    after = evenhand.rescore(before.path).record
    assert (after.asked.chat, after.asked.system) == (True, "You are a recruiter.")
    assert (after.fingerprint, after.weights) == (run.record.fingerprint, run.record.weights)


def test_several_ways_in_one_audit_are_refused() -> None:
    with pytest.raises(BadInput, match="A run is asked in one way.* with plain prompts, others in chats"):
        audit(measure=[measures.load("decision-odds"), measures.load("choice-coverage", chat=True)], chat=None)
    with pytest.raises(BadInput, match="`audit` takes one system prompt. Got 2. .* `evenhand.sweep`"):
        audit([Path("v1.txt"), Path("fair.txt")])  # type: ignore[arg-type]
