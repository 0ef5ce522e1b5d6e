"""The steps of an audit that can be left out: the doctor and the page."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import BadInput, Gate, Rule, Run, Table
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.model import NOT_EXAMINED, Finding
from helpers.audited_runs import audited, leaning, pairs

RULE = Rule(measure="likelihood-lean", within=9.0)


def test_without_its_page_a_run_is_complete(tmp_path: Path) -> None:
    run = audited(tmp_path, "mine", 1.0, page=False)
    assert run.results
    assert not (run.path / "report.html").exists()
    audited(tmp_path, "mine", 1.0)
    assert (run.path / "report.html").exists()
    audited(tmp_path, "mine", 1.0, page=False)  # a page of other results must not stay
    assert not (run.path / "report.html").exists()


def test_without_the_doctor_numbers_have_no_verdict_and_the_record_says_so(tmp_path: Path) -> None:
    run, examined = audited(tmp_path, "mine", 1.0, doctor=False, page=False), audited(tmp_path, "known", 1.0)
    assert {row["lean"] for row in examined.results} - {"untested"} == {"above"}
    assert {row["lean"] for row in run.results} == {"not examined"}
    assert [row["value"] for row in run.results] == [row["value"] for row in examined.results]
    assert not run.record.audits[0].examined
    assert "The doctor was left out" in run.could_not()
    assert run.record.audits[0].diagnosis == "not checked: the doctor was left out"


def test_without_the_doctor_a_gate_decides_only_if_unfit_models_are_allowed(tmp_path: Path) -> None:
    run = audited(tmp_path, "mine", 1.0, doctor=False, page=False)
    assert Gate([RULE]).judge(run).verdict == "undecided"
    assert "The doctor was left out" in Gate([RULE]).judge(run).rules[0].says
    assert Gate([RULE], allow_unfit=True).judge(run).verdict == "pass"


def test_the_doctor_is_asked_when_the_audit_is_repeated_with_it(tmp_path: Path) -> None:
    audited(tmp_path, "mine", 1.0, doctor=False, page=False)
    assert audited(tmp_path, "mine", 1.0, page=False).record.audits[0].examined
    again = audited(tmp_path, "mine", 1.0, doctor=False, page=False)  # the same tasks: what was found is still known
    assert again.record.audits[0].examined


def test_models_that_were_not_examined_are_not_compared_with_a_verdict(tmp_path: Path) -> None:
    runs = [audited(tmp_path, f"m{lean}", lean, page=False, doctor=lean > 1) for lean in (1.0, 2.0)]
    assert not any(row.moved for row in evenhand.compare(*runs).rows)
    assert "m1.0 has no verdict. The doctor was left out" in " ".join(evenhand.compare(*runs).unmeasured)


def test_the_command_leaves_out_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["audit", "--dataset", "tbd", "--measure", "pronoun", "--limit", "4", "--no-page", "--no-doctor"]
    assert run_command(app, [*asked, "--out", str(tmp_path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Page:" not in shown
    assert "mini-en: has no verdict. The doctor was left out" in shown
    assert not Run.load(tmp_path / "mini-en").record.audits[0].examined


def test_a_run_is_known_to_be_unexamined_whatever_the_words_of_its_finding(tmp_path: Path) -> None:
    run = audited(tmp_path, "mine", 1.0, doctor=False, page=False)
    (audit,) = run.record.audits
    older = replace(audit, doctor=(replace(audit.doctor[0], says="As an older version said it."),))
    assert not older.examined


def test_a_gate_that_compares_needs_an_examined_baseline(tmp_path: Path) -> None:
    baseline = audited(tmp_path, "before", 1.0, page=False, doctor=False)
    rule = Rule(measure="likelihood-lean", worse_by_at_most=9.0)
    run = audited(tmp_path, "after", 1.5, page=False)
    assert Gate([rule], baseline=baseline).judge(run).verdict == "undecided"
    assert Gate([rule], baseline=baseline, allow_unfit=True).judge(run).verdict == "pass"


@pytest.mark.parametrize("doctor", [True, False])
def test_each_measure_of_a_dataset_is_examined_by_itself(doctor: bool, tmp_path: Path) -> None:
    file, runs = pairs(tmp_path), []
    for name, more in (("before", 1.0), ("after", 3.0)):
        audited(tmp_path, name, more, file, measure="stereotype-share", page=False)
        runs.append(audited(tmp_path, name, more, file, measure="likelihood-lean", page=False, doctor=doctor))
    assert ("likelihood-lean" in {row.measure for row in evenhand.compare(*runs).rows if row.moved}) == doctor


def test_a_model_cannot_say_that_the_doctor_was_left_out(tmp_path: Path) -> None:
    class Sure(Table):
        def findings(self, language: str) -> list[Finding]:
            return [Finding(NOT_EXAMINED.check, "fine", "It is fit.")]

    with pytest.raises(BadInput, match="another name"):
        evenhand.audit(Sure(leaning(1.0), name="sure"), pairs=pairs(tmp_path), out=tmp_path)


@pytest.mark.parametrize("step", ["doctor", "page"])
def test_a_curve_leaves_out_no_step(step: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {step: False}
    with pytest.raises(BadInput, match=f"no `{step}`"):
        evenhand.track(["mini-en"], out=tmp_path, **given)
