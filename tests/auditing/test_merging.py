"""A run folder accumulates: what is measured again replaces itself, and everything else stays."""

import json
import re
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest

import evenhand
from evenhand import BadInput, Choice, Choose, Run, RunError, Table
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.questions import Question
from helpers.audited_runs import noise, pairs

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")

TEMPLATES = """
name = "mine"
language = "en"
templates = ["{target} likes {attribute}."]
[targets]
female = ["she", "the woman"]
male = ["he", "the man"]
[attributes]
sports = ["tennis", "golf", "chess", "rugby", "judo", "polo", "darts", "yoga"]
"""


def answer(question: Question) -> tuple[float, ...]:
    return (noise(str(question)) - 1.5,)


def model(name: str = "letters", fingerprint: str = "abc") -> Table:
    return Table(answer, name=name, fingerprint=fingerprint)


class Loaded(Table):
    """Stands in for the bundled model, which takes a second to load."""

    about: ClassVar[dict[str, str]] = {"dtype": "float32"}


def own(folder: Path, text: str = TEMPLATES, name: str = "mine.toml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def audit(out: Path, **asked: Any) -> Run:
    return evenhand.audit(model(), out=out, **asked)


def results(run: Run, *datasets: str) -> list[dict[str, Any]]:
    return [row for row in Run.load(run.path).results if row["dataset"] in datasets]


def test_one_folder_has_what_several_audits_measured(tmp_path: Path) -> None:
    """English, German, own templates and GBEF, one after another."""
    first = audit(tmp_path, suite="becpro", limit=40)
    before = results(first, "becpro-en")
    audit(tmp_path, suite="becpro", lang="de", limit=40)
    audit(tmp_path, templates=own(tmp_path))
    last = audit(tmp_path, suite="gbef", limit=20)
    assert last.datasets == ["becpro-en", "becpro-de (forms=crossed)", "mine", "tgb", "tbd", "tbd-gendered"]
    assert results(last, "becpro-en") == before
    assert set(last.items["dataset"]) == set(last.scores["dataset"]) == set(last.datasets)
    assert len(last.record.audits) == 4
    assert evenhand.rescore(last.path).results == last.results
    assert {row.split(",")[2] for row in evenhand.export(last, "csv").splitlines()[1:]} == set(last.datasets)


def test_the_same_task_replaces_itself_alone(tmp_path: Path) -> None:
    audit(tmp_path, templates=own(tmp_path))
    other = audit(tmp_path, pairs=pairs(tmp_path))
    again = audit(tmp_path, templates=own(tmp_path), seed=7)
    assert again.task("mine", "association").seed == 7
    assert [task.name for task in again.record.tasks].count(("mine", "association")) == 1
    assert results(again, "pairs") == results(other, "pairs")


def test_options_keep_results_apart(tmp_path: Path) -> None:
    audit(tmp_path, suite="becpro", limit=100)
    run = audit(tmp_path, suite="becpro", options={"masks": "words", "articles": "agree"}, limit=100)
    assert run.datasets == ["becpro-en", "becpro-en (articles=agree, masks=words)"]
    assert run.record.tasks[1].dataset_builder == "becpro-en"
    assert evenhand.rescore(run.path).results == run.results


def test_a_sample_never_replaces_the_whole_and_is_refused_before_loading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = own(tmp_path)
    audit(tmp_path, templates=file, limit=8)
    whole = audit(tmp_path, templates=file)
    before = results(whole, "mine")
    assert not whole.record.partial
    with pytest.raises(RunError, match="sample"):
        audit(tmp_path, templates=file, limit=8)
    assert results(whole, "mine") == before
    monkeypatch.setattr("evenhand.models.load", lambda *_, **__: Loaded(answer))
    evenhand.audit("mini-en", templates=file, out=tmp_path)
    monkeypatch.setattr("evenhand.models.load", lambda *_, **__: pytest.fail("loaded"))
    with pytest.raises(RunError, match="sample"):
        evenhand.audit("mini-en", templates=file, limit=8, out=tmp_path)


def test_an_edited_file_replaces_its_own_result(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = pairs(tmp_path)
    audit(tmp_path, pairs=file)
    run = audit(tmp_path, pairs=pairs(tmp_path, 40), measure="likelihood-lean")
    assert [task.name for task in run.record.tasks] == [("pairs", "likelihood-lean")]
    assert len(run.items) == 40
    assert "stereotype-share are removed" in caplog.text


def test_another_file_of_the_same_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    audit(tmp_path, templates=own(tmp_path / "a"))
    with pytest.raises(RunError, match="another file: a/mine.toml"):
        audit(tmp_path, templates=own(tmp_path / "b", TEMPLATES.replace("golf", "squash")))
    same = audit(tmp_path, templates=own(tmp_path / "c"))  # moved, not edited
    assert same.datasets == ["mine"]
    ours = TEMPLATES.replace('"mine"', '"emotions-en"')
    audit(tmp_path, suite="emotions")
    with pytest.raises(RunError, match="another file: a built-in one"):
        audit(tmp_path, templates=own(tmp_path / "d", ours))


def test_fresh_starts_over(tmp_path: Path) -> None:
    audit(tmp_path, pairs=pairs(tmp_path))
    run = audit(tmp_path, templates=own(tmp_path), fresh=True)
    assert run.datasets == ["mine"]
    other = evenhand.audit(model(fingerprint="other"), templates=own(tmp_path), out=tmp_path, fresh=True)
    assert other.record.fingerprint == "other"


def test_fresh_asks_or_needs_yes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.models.load", lambda *_, **__: Loaded(answer))
    command = ["audit", "--suite", "emotions", "--limit", "10", "--out", str(tmp_path), "--fresh"]
    assert run_command(app, command) == 0  # there is nothing to delete
    assert run_command(app, command) == 2
    assert "--yes" in capsys.readouterr().err
    assert run_command(app, [*command, "--yes"]) == 0


def test_a_name_is_the_folder_and_the_model_of_every_row(tmp_path: Path) -> None:
    run = audit(tmp_path, templates=own(tmp_path), name="epoch 3")
    assert run.path == tmp_path / "epoch 3"
    assert {row["model"] for row in run.results} == {run.record.model} == {"epoch 3"}
    with pytest.raises(BadInput, match="folder"):
        audit(tmp_path, templates=own(tmp_path), name="..")


def test_a_damaged_run_is_scored_again_before_it_is_added_to(tmp_path: Path) -> None:
    """An audit that was killed while it wrote leaves such a one."""
    run = audit(tmp_path, pairs=pairs(tmp_path))
    before = run.results
    (run.path / "scores.parquet").write_bytes(b"")
    added = audit(tmp_path, templates=own(tmp_path))
    assert added.datasets == ["pairs", "mine"]
    assert added.results[: len(before)] == before
    assert len(added.scores_of("pairs", "likelihood-lean")) == 60


def test_several_at_once_are_those_of_one_after_another(tmp_path: Path) -> None:
    both = audit(tmp_path / "both", suite=["becpro", "emotions"], lang=["en", "de"], limit=20)
    for lang, suite in (("en", ["becpro", "emotions"]), ("de", "becpro")):
        one = audit(tmp_path / "one", suite=suite, lang=lang, limit=20)
    assert both.results == one.results
    assert [audited.suite for audited in both.record.audits] == ["becpro, emotions"] * 2
    files = [own(tmp_path), own(tmp_path, TEMPLATES.replace('"mine"', '"yours"'), "yours.toml")]
    run = audit(tmp_path / "files", templates=files, pairs=pairs(tmp_path), dataset="emotions-en")
    assert run.datasets == ["emotions-en", "mine", "yours", "pairs"]
    with pytest.raises(BadInput, match="'gbef'"):
        audit(tmp_path, suite=["becpro", "gbef"], lang="de")
    with pytest.raises(BadInput, match="'mine'"):
        audit(tmp_path, templates=[own(tmp_path), own(tmp_path / "b")])


def test_a_gate_knows_what_the_run_had_before(tmp_path: Path) -> None:
    audit(tmp_path, pairs=pairs(tmp_path))
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\ndataset = "pairs"\nmeasure = "stereotype-share"\nwithin = 0.49\n')
    run = audit(tmp_path, templates=own(tmp_path), gate=policy)
    assert json.loads((run.path / "gate.json").read_text())["verdict"] == "pass"


def test_a_run_of_two_audits_is_compared_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for fingerprint in ("a", "b"):
        for file in ({"templates": own(tmp_path)}, {"pairs": pairs(tmp_path)}):
            asked: dict[str, Any] = {"out": tmp_path / "runs", **file}
            evenhand.audit(model(fingerprint, fingerprint), **asked)
    frame = evenhand.compare(tmp_path / "runs/a", tmp_path / "runs/b").frame
    assert {*frame["dataset"]} == {"mine", "pairs"}
    assert run_command(app, ["show", str(tmp_path / "runs/a"), "--full"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"mine: \d+ questions", shown)
    assert re.search(r"pairs: \d+ questions", shown)


SET, CONTROL = "choices-descriptions", "choices-descriptions-control"
CONTROLS = {item.context: item for item in evenhand.datasets.load(CONTROL).items if isinstance(item, Choice)}


def chooser(reads: bool) -> Table:
    """A chat model that names any option, of control questions the right one if it `reads`."""

    def rule(question: Question) -> list[float]:
        assert isinstance(question, Choose)
        control = CONTROLS.get(question.prompt.partition("\n")[0])
        best = int(noise(str(question)) * 7) % len(question.options)
        if control and reads:
            best = question.options.index(control.options[control.right or 0])
        return [-0.1 if place == best else -3.0 for place in range(len(question.options))]

    return Table(rule, "chooser", "chooser", kind="causal")


@pytest.mark.parametrize(("reads", "verdict"), [(False, "unfit"), (True, "fine")])
@pytest.mark.parametrize("order", [(SET, CONTROL), (CONTROL, SET)])
def test_a_set_is_judged_by_its_control_whichever_is_asked_first(
    order: tuple[str, str], reads: bool, verdict: str, tmp_path: Path
) -> None:
    together = evenhand.audit(chooser(reads), dataset=[SET, CONTROL], measure=[], out=tmp_path / "together")
    for dataset in order:
        run = evenhand.audit(chooser(reads), dataset=dataset, measure=[], out=tmp_path / "apart")
    wanted, found = ([each for each in of.record.doctor if each.check == "task"] for of in (together, run))
    assert [each.verdict for each in wanted] == [verdict]
    assert found == wanted
    assert run.unmeasured == together.unmeasured
    assert [each for each in evenhand.rescore(run.path).record.doctor if each.check == "task"] == wanted


def test_the_contrast_is_a_result(tmp_path: Path) -> None:
    run = audit(tmp_path, templates=own(tmp_path))
    (row,) = run.differences.to_dict("records")
    scores = run.scores_of("mine").set_index(["attribute", "slot", "gender"])["score"].unstack()
    assert row["value"] == pytest.approx((scores["female"] - scores["male"]).mean())
    assert (row["contrast"], row["n"], row["neutral"], row["kind"]) == ("female - male", 16, 0.0, "sports")
    on_disk = json.loads((run.path / "results.json").read_text())
    assert [one["contrast"] for one in on_disk] == ["", "", "", "female - male"]
    assert pd.isna(run.values["gender"]).tolist() == [True, False, False, True]
    exported = {
        name: evenhand.export(run, name) for name in ("csv", "latex", "model-card", "eval-results", "every-eval-ever")
    }
    for name, text in exported.items():
        assert "female - male" in text, name
    for name in ("csv", "latex", "eval-results", "every-eval-ever"):
        assert "not checked" in exported[name], name
        assert "masked" in exported[name], name


def test_a_likelihood_has_no_partners(tmp_path: Path) -> None:
    run = audit(tmp_path, pairs=pairs(tmp_path))
    assert run.differences.empty
