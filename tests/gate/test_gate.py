"""Policies judged on intervals: pass, fail or undecided, through every door."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand
from evenhand import Answer, BadInput, Gate, Likelihood, Run
from evenhand.cli.app import app
from evenhand.cli.measure import Outlets
from evenhand.cli.terminal import as_flags
from evenhand.cli.terminal import run as run_command
from evenhand.core.model import Finding
from evenhand.gate.policy import Rule
from evenhand.gate.verdict import CODES, Judged, Verdict, annotations, judge_interval, junit, summary
from evenhand.testing import Undecided, assert_fair
from helpers.audited_runs import audited, leaning, noise, pairs
from helpers.fuzzing import contents
from helpers.made_scores import PAPER, scores
from helpers.made_scores import run as made_run
from helpers.typed import only
from helpers.written_runs import record, task, with_fields

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")

ORDER = ("fail", "undecided", "pass")
LEANS = "likelihood-lean"
LEAN = f'[[rule]]\nmeasure = "{LEANS}"\n'


@pytest.fixture(scope="module")
def runs(stored: Path) -> list[Run]:
    """The lean is about 2, and about 0.5; the third is the first once more."""
    return [Run.load(stored / name) for name in ("base", "better", "twin")]


def policy(folder: Path, text: str) -> str:
    file = folder / "policy.toml"
    file.write_text(text)
    return str(file)


def verdicts(run: Run, **rule: Any) -> list[str]:
    return [judged.verdict for judged in Gate([Rule(measure=LEANS, **rule)]).judge(run).rules]


def test_three_answers_on_the_interval(runs: list[Run]) -> None:
    assert verdicts(runs[0], within=5) == ["pass"]
    assert verdicts(runs[0], within=0.5) == ["fail"]
    assert verdicts(runs[0], within=2) == ["undecided"]
    assert verdicts(runs[0], low=1, high=3) == ["pass"]
    assert verdicts(runs[0], low=5) == ["fail"]
    assert verdicts(runs[0], high=1, group="each") == ["fail", "fail"]


def test_the_verdict_says_where_the_doctor_calls_the_model_unfit(runs: list[Run]) -> None:
    def unfit(do: str) -> Run:
        found = (Finding("head", "unfit", "head is unfit.", do), Finding("length", "fine", "length is fine."))
        return Run(runs[0].path, with_fields(runs[0].record, doctor=found))

    gate = Gate([Rule(measure=LEANS, within=5)])
    assert gate.judge(runs[0]).notes == ()
    for do, advice in (("", ""), ("Ask it more questions.", ". Ask it more questions.")):
        verdict = gate.judge(unfit(do))
        assert verdict.notes == (f"base could not be measured. head is unfit. {do}".rstrip(),)
        assert verdict.lines()[0] == verdict.notes[0]
        assert verdict.verdict == "undecided"
        assert verdict.rules[0].says.endswith(f"; the model is unfit to be measured{advice}")
    allowed = replace(gate, allow_unfit=True).judge(unfit(do))
    assert (allowed.verdict, allowed.notes) == ("pass", verdict.notes)


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=2), st.floats(0, 3), st.floats(0, 3))
def test_a_wider_bound_never_judges_harder(ends: list[float], bound: float, more: float) -> None:
    low, high = sorted(ends)
    narrow, wide = (judge_interval(low, high, -b, b) for b in (bound, bound + more))
    assert ORDER.index(narrow) <= ORDER.index(wide)


def test_no_worse_than_a_baseline(runs: list[Run]) -> None:
    base, better, twin = runs
    gate = Gate([Rule(measure=measure, worse_by_at_most=0.0) for measure in (LEANS, "crows-pairs")])
    assert {judged.verdict for judged in gate.judge(twin, base).rules} == {"pass"}  # the same model is no worse
    assert gate.judge(better, base).rules[0].verdict == "pass"
    assert gate.judge(base, better).rules[0].verdict == "fail"
    with pytest.raises(BadInput, match="needs a baseline"):
        gate.judge(base)
    with pytest.raises(BadInput, match="the run itself"):
        gate.judge(base, base.path)


@settings(max_examples=10)  # each is a comparison
@given(st.floats(0, 3))
def test_a_copy_never_fails_against_its_original(runs: list[Run], margin: float) -> None:
    gate = Gate([Rule(measure="stereotype-share", worse_by_at_most=margin, group="each")])
    assert gate.judge(runs[2], runs[0]).verdict == "pass"


def test_what_cannot_be_known_is_undecided_with_the_reason(tmp_path: Path) -> None:
    blind = audited(tmp_path, "blind", 0.0, measure=LEANS, lost=lambda i: i < 20)
    rule = Rule(measure=LEANS, within=9)
    assert "33.3% of 60 items unscored, more than 10.0%" in Gate([rule]).judge(blind).rules[0].says
    assert Gate([replace(rule, max_unscored=0.4)]).judge(blind).verdict == "pass"
    assert Gate([rule], max_unscored=0.4).judge(blind).verdict == "pass"
    nothing = audited(tmp_path, "nothing", 0.0, measure=LEANS, lost=lambda i: i % 2 == 0)
    verdict = Gate([replace(rule, group="jobs")]).judge(nothing)
    assert (verdict.verdict, verdict.rules[0].says) == ("undecided", "no scored items")
    few = audited(tmp_path, "few", 0.0, measure=LEANS, limit=1)
    verdict = Gate([rule]).judge(few)
    assert "no interval" in verdict.rules[0].says
    assert verdict.notes == ("Partial: a sample of at most 1 items of each dataset.",)
    assert few.values["low"].isna().all()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no rules"),
        ("rule = []", "no rules"),
        ("[rule]\nmeasure = 'pronoun'", r"\[\[rule\]\]"),
        ("[[rule", "cannot be read"),
        ("[[rules]]\nmeasure = 'pronoun'", "'rules'.*'rule'"),
        (f"max_unscoerd = 1\n{LEAN}within = 1", "'max_unscoerd'.*'max_unscored'"),
        (f"max_unscored = 2\n{LEAN}within = 1", "share"),
        (f"baseline = 3\n{LEAN}within = 1", "'baseline'"),
        (f"baseline = 'nowhere'\n{LEAN}within = 1", "nowhere"),
        (f"{LEAN}witin = 1", "rule 1: .*'witin'.*'within'"),
        (f"{LEAN}within = -1", "at least 0"),
        (f"{LEAN}within = true", "number"),
        (f"{LEAN}within = nan", "number"),
        (f"{LEAN}within = '1'", "number"),
        (LEAN, "Got none"),
        (f"{LEAN}within = 1\nhigh = 2", "Got within, high"),
        (f"{LEAN}low = 1\nhigh = 0", "'low' .*'high'"),
        (f"{LEAN}within = 1\ngroup = 3", "'group'"),
        ("[[rule]]\nwithin = 1", "Got within"),
        ("[[rule]]\nmeasure = 'pronuon'\nwithin = 1", "'pronoun'"),
        ("[[rule]]\nmeasure = 'singular-they'\nwithin = 1", "no neutral value"),
        (
            "[[rule]]\nmeasure = 'stereotype-share'\nwithin = 5",
            "fail, since stereotype-share is at least 0 and at most 1",
        ),
        ("[[rule]]\nmeasure = 'stereotype-share'\nlow = 0", "No run could fail"),
        ("[[rule]]\nmeasure = 'pronoun'\nlow = 1.5", "No run could pass, .* at least -1 and at most 1"),
        ("[[rule]]\nmeasure = 'singular-they'\nlow = 0\nhigh = 1", "No run could fail"),
        ("[[rule]]\nmeasure = 'likelihood-difference'\nlow = 0", "likelihood-difference is at least 0. "),
        ("[[rule]]\nmeasure = 'pronoun, female - male'\nwithin = 2", "at least -2 and at most 2"),
        ("[[rule]]\nmeasure = 'fraction-entailment'\nestimand = 'default'\nlow = -1", "at least -1 and at most 1"),
        ("[[rule]]\nmeasure = 'gender-agreement'\nwithin = 0.9", "far above 0"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(evenhand.EvenhandError, match=says):
        Gate.load(policy(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[rule]]\nmeasure = 'pronoun'\nwithin = 0.9", "measure 'pronoun'.* crows-pairs"),
        ("[[rule]]\nmeasure = 'likelihood-lean, female - male'\nwithin = 1", "'likelihood-lean, female - male'"),
        (f"{LEAN}within = 1\ndataset = 'pears'", "'pears'.*'pairs'"),
        (f"{LEAN}within = 1\ngroup = 'job'", "'job'.*'jobs'"),
    ],
)
def test_what_the_run_has_not_is_an_error_before_anything_is_measured(
    tmp_path: Path, runs: list[Run], text: str, says: str
) -> None:
    gate = Gate.load(policy(tmp_path, text))
    with pytest.raises(BadInput, match=says):
        gate.judge(runs[0])
    unasked = evenhand.Table(lambda q: pytest.fail("was asked"), name="unasked")
    with pytest.raises(BadInput, match=says):
        evenhand.audit(unasked, pairs=pairs(tmp_path), gate=gate, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_measure_on_two_datasets_needs_its_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="tbd and tbd-gendered"):
        evenhand.audit("mini-en", suite="gbef", gate=Gate([Rule(measure="pronoun", within=0.1)]), out=tmp_path)
    pairs_only = Gate([Rule(measure="association", worse_by_at_most=0.1)], baseline=Run(tmp_path, record()))
    with pytest.raises(BadInput, match="association, female - male"):
        evenhand.audit("mini-en", suite="becpro", gate=pairs_only, out=tmp_path)
    no_kinds = Gate([Rule(measure="singular-they", estimand="default", high=0.1)])
    with pytest.raises(BadInput, match="default 'singular-they'.*pronoun"):
        evenhand.audit("mini-en", suite="gbef", gate=no_kinds, out=tmp_path)


def test_female_minus_male_can_be_bounded(stored: Path) -> None:
    run = Run.load(stored / "emotions")
    rule = Rule(measure="association, female - male", group="each", within=0.01)
    found = Gate([rule]).judge(run).rules
    assert len(found) == 4
    assert Gate([replace(rule, group=None)]).judge(run).rules == found  # there is no value of all
    with pytest.raises(BadInput, match="'all'.* anger, each, fear"):
        Gate([replace(rule, group="all")]).judge(run)


@pytest.fixture
def copied(runs: list[Run], tmp_path: Path) -> Path:
    """A run folder that a test may write to."""
    return Path(shutil.copytree(runs[0].path, tmp_path / "run"))


@pytest.mark.parametrize(("most", "code"), [(9, 0), (0.1, 1), (2, 3)])
def test_the_gate_command_ends_with_the_verdict(
    tmp_path: Path, copied: Path, most: float, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{LEAN}within = {most}\n{LEAN}low = -99\n"
    command = ["gate", str(copied), "--policy", policy(tmp_path, text), "--write"]
    assert run_command(app, [*command, "--junit", str(tmp_path / "j.xml")]) == code
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:2]] == [{v: k for k, v in CODES.items()}[code], "pass"]
    suite = Xml.parse(tmp_path / "j.xml").getroot()[0]
    counted = [int(suite.get(name, "")) for name in ("tests", "failures", "errors", "skipped")]
    assert counted == [2, int(code == 1), int(code == 3), 0]
    kept = json.loads((copied / "gate.json").read_text())
    assert kept["verdict"] == lines[-1].split()[-1]
    first, row = kept["rules"][0], next(row for row in Run.load(copied).results if row["measure"] == LEANS)
    for name in ("value", "low", "high", "n", "unscored", "dataset", "measure"):
        assert first[name] == row[name]
    assert [first[name] for name in ("group", "on", "least", "most")] == ["all", "value", -most, most]
    assert [kept["rules"][1][name] for name in ("least", "most")] == [-99, None]
    assert run_command(app, [*command, "--json"]) == code
    assert json.loads(capsys.readouterr().out)[0] == kept


def test_a_page_shows_the_verdict_and_a_run_without_one_gets_none(
    tmp_path: Path, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []
    monkeypatch.setattr("evenhand.show.page.runs.write", lambda runs, path: written.append(path))
    page = copied / "report.html"
    command = ["gate", str(copied), "--policy", policy(tmp_path, f"{LEAN}within = 9"), "--write"]
    assert run_command(app, command) == 0
    assert written == []
    page.write_text("the page of the audit")
    assert run_command(app, command) == 0
    assert written == [page]


def test_judging_a_run_leaves_it_as_it_is(tmp_path: Path, copied: Path) -> None:
    (copied / "report.html").write_text("the page of the audit")
    before = contents(copied)
    assert run_command(app, ["gate", str(copied), "--policy", policy(tmp_path, f"{LEAN}within = 9")]) == 0
    assert contents(copied) == before


def test_junit_xml_replaces_that_of_a_gate_and_nothing_else(
    tmp_path: Path, copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "j.xml"
    command = ["gate", str(copied), "--policy", policy(tmp_path, f"{LEAN}within = 9"), "--junit", str(file)]
    assert [run_command(app, command), run_command(app, command)] == [0, 0]
    file.write_text("<testsuites/>")
    assert run_command(app, command) == 2
    assert "is not the verdict of a gate" in capsys.readouterr().err
    assert file.read_text() == "<testsuites/>"


def test_the_audit_judges_what_it_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "[[rule]]\nmeasure = 'likelihood-difference'\nhigh = 0\n[[rule]]\nmeasure = 'likelihood-lean'\nhigh = 99\n"
    command = ["audit", "--pairs", str(pairs(tmp_path)), "--limit", "12", "--out", str(tmp_path / "runs")]
    judged = [*command, "--gate", policy(tmp_path, text), "--github-summary"]
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert run_command(app, judged) == 2
    assert run_command(app, [*command, "--junit", "j.xml"]) == 2  # no verdict without a gate
    assert run_command(app, [*command, "--gate", policy(tmp_path, "[[rule]]\nmeasur = 'x'")]) == 2
    assert not (tmp_path / "runs").exists()
    policy(tmp_path, text)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    capsys.readouterr()
    assert run_command(app, judged) == 1
    lines = capsys.readouterr().out.splitlines()[-4:]
    assert lines[0] == "Partial: a sample of at most 12 items of each dataset."
    assert [line.split()[0] for line in lines[1:3]] == ["fail", "pass"]
    assert Verdict.load(tmp_path / "runs" / "mini-en").verdict == "fail"
    assert "likelihood-lean" in (tmp_path / "summary.md").read_text()
    assert run_command(app, [*judged, "--json"]) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)  # lines and annotations go to stderr
    assert found["values"][0]["model"] == "mini-en"
    assert [verdict["verdict"] for verdict in found["verdicts"]] == ["fail"]
    assert found["verdicts"][0]["rules"][0]["most"] == 0
    assert [line for line in err.splitlines() if line.startswith("::")] == [
        f"::error title=Gender bias%2C fail::mini-en: {line.removeprefix('fail').strip()}"
        for line in err.splitlines()
        if line.startswith("fail")
    ]


def test_a_baseline_of_the_command_line_replaces_the_policys(
    tmp_path: Path, runs: list[Run], capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = str(pairs(tmp_path)), str(tmp_path / "runs")
    command = ["audit", "--pairs", file, "--measure", "likelihood-lean", "--limit", "12", "--out", folder]
    relative = policy(tmp_path, f"baseline = 'not-there'\n{LEAN}worse_by_at_most = 9")
    assert run_command(app, [*command, "--baseline", folder]) == 2
    assert "there is no --gate. Add --gate" in worded(capsys)
    assert run_command(app, [*command, "--name", "first"]) == 0
    first = str(tmp_path / "runs" / "first")
    judged = [*command, "--gate", relative, "--baseline", first]
    assert run_command(app, [*command, "--gate", relative]) == 2
    assert "There is no run folder" in worded(capsys)
    assert run_command(app, judged) == 0
    (rule,) = Verdict.load(tmp_path / "runs" / "mini-en").rules
    assert (rule.on, rule.value, rule.least, rule.most) == ("worse", 0, None, 9)
    assert run_command(app, [*judged, "--name", "first"]) == 2
    assert "the baseline is the run itself" in worded(capsys)
    gate = ["gate", str(tmp_path / "runs" / "mini-en"), "--policy", relative, "--baseline", first]
    assert run_command(app, gate) == 0
    policy(tmp_path, f"{LEAN}within = 9")
    capsys.readouterr()
    assert run_command(app, judged) == 0
    assert "Nothing is compared with the baseline: no rule has worse_by_at_most." in capsys.readouterr().out
    with pytest.raises(BadInput, match="`baseline`"):
        evenhand.audit(evenhand.Table(lambda q: [0.0]), pairs=file, baseline=first)


def test_a_baseline_of_another_sample_is_compared_by_what_both_have_or_refused_first(tmp_path: Path) -> None:
    gate = Gate([Rule(measure=LEANS, worse_by_at_most=9)])
    asked: list[object] = []

    def answer(question: Any) -> Answer:
        asked.append(question)
        return leaning(0.0)(question)

    def audit(name: str, baseline: Run | None = None, **how: Any) -> Run:
        model = evenhand.Table(answer, name=name)
        given: dict[str, Any] = {"gate": gate, "baseline": baseline} if baseline else {}
        how |= {"measure": LEANS, "out": tmp_path}
        return evenhand.audit(model, pairs=pairs(tmp_path), **how, **given)

    whole = audit("whole")
    part = audit("part", whole, limit=20)
    verdict = Verdict.load(part.path)
    assert verdict.rules[0].n == 20
    assert "pairs: compared with the baseline by the 20 items that both have." in verdict.notes
    asked.clear()
    with pytest.raises(BadInput, match=r"\d+ of the 20 items of pairs"):
        audit("other", part, limit=20, seed=3)
    assert asked == []


def worded(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed to stderr, with parameters as options."""
    return as_flags(capsys.readouterr().err, typer.main.get_command(app), "audit")


def test_a_verdict_of_0_1_0_is_read_and_has_no_numbers(tmp_path: Path) -> None:
    rule = {"rule": "pairs · likelihood-lean · all · within 1 of 0", "verdict": "pass", "says": "+0.1 [+0.0, +0.2]"}
    old = {"policy": "p", "verdict": "pass", "model": "m", "notes": [], "rules": [rule]}
    (tmp_path / "gate.json").write_text(json.dumps(old))
    found = Verdict.load(tmp_path)
    assert found.lines()[0] == f"pass       {rule['rule']}: {rule['says']}"
    assert found.rules[0].value is None
    found.save(tmp_path)
    assert Verdict.load(tmp_path) == found


@pytest.mark.parametrize(
    ("damage", "says"), [({"verdict": "great"}, r"rules\[0\].verdict"), ({"value": "x"}, r"rules\[0\].value")]
)
def test_a_damaged_verdict_is_an_error_that_names_the_field(tmp_path: Path, damage: dict[str, str], says: str) -> None:
    Verdict("m", "p", (Judged("r", "pass", "fine"),)).save(tmp_path)
    data = json.loads((tmp_path / "gate.json").read_text())
    data["rules"][0] |= damage
    (tmp_path / "gate.json").write_text(json.dumps(data))
    with pytest.raises(evenhand.RunError, match=says):
        Verdict.load(tmp_path)
    (tmp_path / "gate.json").write_text(json.dumps(data | {"rules": []}))
    with pytest.raises(evenhand.RunError, match="rules"):
        Verdict.load(tmp_path)


def test_annotations_are_lines_of_their_own_whatever_the_names() -> None:
    rule = Judged("a\nb%:,", "undecided", "::error::x\r")
    assert annotations([Verdict("m", "p", (rule, Judged("r", "pass", "fine")))]) == [
        "::warning title=Gender bias%2C undecided::m: a%0Ab%25:,: ::error::x%0D\n"
    ]


def test_the_worst_of_several_counts(capsys: pytest.CaptureFixture[str]) -> None:
    one, two, three = (Verdict("m", "p", (Judged("r", verdict, ""),)) for verdict in ORDER)
    give = Outlets(None, None).give
    assert [give([three, three]), give([three, two]), give([two, one, three])] == [0, 3, 1]


def test_new_results_take_the_old_verdict_away(tmp_path: Path) -> None:
    gate = Gate([Rule(measure=LEANS, within=9)])
    run = audited(tmp_path, "one", 1.0, gate=gate)
    assert Verdict.load(run.path).verdict == "pass"
    evenhand.rescore(run.path)
    with pytest.raises(evenhand.RunError, match="evenhand gate"):
        Verdict.load(run.path)


def test_in_a_test_fail_and_undecided_raise(tmp_path: Path, runs: list[Run]) -> None:
    assert assert_fair(runs[0], policy(tmp_path, f"{LEAN}within = 9")).verdict == "pass"
    with pytest.raises(AssertionError, match=r"fail .*likelihood-lean") as failed:
        assert_fair(runs[0].path, Gate([Rule(measure=LEANS, within=0.1)]))
    assert not isinstance(failed.value, Undecided)
    unsure = Gate([Rule(measure=LEANS, within=2)])
    with pytest.raises(Undecided):
        assert_fair(runs[0], unsure)
    assert assert_fair(runs[0], unsure, allow_undecided=True).verdict == "undecided"
    no_worse = Gate([Rule(measure=LEANS, worse_by_at_most=0)])
    assert assert_fair(runs[1], no_worse, baseline=runs[0]).verdict == "pass"
    with pytest.raises(BadInput, match="apply"):
        assert_fair(runs[0], unsure, limit=3)
    model = evenhand.Table(only(Likelihood, lambda q: (noise(q.text) - 2,)), name="level")
    assert assert_fair(model, Gate([Rule(measure=LEANS, within=1)]), pairs=pairs(tmp_path), out=tmp_path)


def test_hostile_labels_stay_text() -> None:
    rule = Judged('a<b>&"|\x00\ud800', "undecided", "]]></error>|<img src=x>")
    verdict = Verdict("m|<i>", "p", (rule, Judged("r", "pass", "fine")))
    root = Xml.fromstring(junit([verdict]))
    assert root[0][0][0].get("message") == rule.says
    assert root[0].get("errors") == "1"
    text = summary([verdict])
    assert "<img" not in text.replace(r"\<img", "")
    assert "undecided" in text.splitlines()[0]


def test_pairs_of_a_dataset_without_groups_are_judged_as_all() -> None:
    bare = made_run(scores(PAPER), [task("becpro-en", "association", by=(), cluster="", within="")])
    bare = Run(bare.path, replace(bare.record, schema=3))
    bare.__dict__["scores"] = scores(PAPER)
    bare.__dict__["_values"] = bare._complete([], bare.record.tasks[0])
    rule = Rule(measure="association, female - male", within=9)
    (judged,) = Gate([rule]).judge(bare).rules
    assert (judged.rule.split(" · ")[2], judged.verdict) == ("all", "pass")
