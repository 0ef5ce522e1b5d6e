"""A policy suggested from a run: the run passes it, and it says where its bounds are from."""

import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import BadInput, Gate, Run
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.gate import suggestion
from evenhand.gate.policy import read
from evenhand.gate.suggestion import round_up, suggest
from evenhand.runs.rows import Row
from evenhand.stats.estimate import Estimate
from helpers.audited_runs import audited, pairs

OLD = Path(__file__).parents[1] / "runs" / "made-by-0.1.0"

pytestmark = pytest.mark.usefixtures("without_pages")


def written(folder: Path, text: str) -> Path:
    file = folder / "policy.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("name", ["all", "emotions", "emotions-noisy", "hobbies", "tbd-gendered"])
def test_a_run_passes_what_it_suggests_and_so_does_its_copy_with_it_as_the_baseline(tmp_path: Path, name: str) -> None:
    text = suggest(OLD / name)
    found = Gate.load(written(tmp_path, text)).judge(OLD / name)
    assert found.verdict == "pass", "\n".join(found.lines())
    opened = "\n".join(line.removeprefix("# ") if " = " in line or "[[" in line else line for line in text.splitlines())
    rules = read(written(tmp_path, opened.replace("baseline = ", "# baseline = ")))["rules"]
    assert [rule.measure for rule in rules if rule.worse_by_at_most is None] == [
        rule.measure for rule in rules if rule.worse_by_at_most
    ]


def test_bounds_are_the_far_end_of_what_was_found_with_room_and_stand_with_both() -> None:
    text = suggest(OLD / "tbd-gendered")
    assert 'measure = "gender-agreement"\ndataset = "tbd-gendered"\nlow = 0.065  # found +0.352 [+0.242,' in text
    assert "neutral at 0; room 0.1" in text
    run = Run.load(OLD / "emotions")
    rules = [rule for rule in read_text(suggest(run))["rule"] if rule["measure"] == "association"]
    found = [row for row in run.rows_of("emotions-en", "association") if row.estimand and not row.groups]
    assert [rule["estimand"] for rule in rules] == ["stereotype", "default"]
    for rule, row in zip(rules, found, strict=True):
        far, room = max(-row.low, row.high), row.detectable
        assert far + room < rule["within"] == pytest.approx(far + room, rel=0.11)  # type: ignore[operator]
    own = read_text(suggest(OLD / "hobbies"))["rule"][0]  # a user's words, which have no kinds
    assert (own["measure"], own["group"]) == ("association, female - male", "each")
    assert "the farthest of" in suggest(OLD / "hobbies")
    assert "# Partial: a sample of at most 400 items" in suggest(OLD / "emotions")


def test_of_several_trainings_the_farthest_decides_with_as_much_room_as_they_are_apart(tmp_path: Path) -> None:
    file, measure = pairs(tmp_path), "stereotype-share"
    runs = [audited(tmp_path, name, d, file, measure=measure) for name, d in (("one", 0.1), ("two", 0.3))]
    far = [max(abs(row.low - 0.5), abs(row.high - 0.5)) for row in (first_row(run) for run in runs)]
    text = suggest(runs[0], others=runs[1:])
    assert "by how much the far ends of these runs differ" in text
    assert f"room {max(far) - min(far):.3f}" in text
    judged = [Gate.load(written(tmp_path, text)).judge(run).verdict for run in runs]
    assert judged == ["pass", "pass"]


def first_row(run: Run) -> Row:
    """The row that the first rule is about."""
    (dataset,) = run.datasets
    return next(row for row in run.values_of(dataset, "stereotype-share") if not row.groups)


def read_text(text: str) -> dict[str, list[dict[str, object]]]:
    return tomllib.loads(text)


@given(st.floats(-1e6, 1e6).filter(lambda number: number == 0 or abs(number) > 1e-6))
def test_the_next_round_number_is_above_and_not_far(number: float) -> None:
    assert number < round_up(number) <= number + (abs(number) * 0.5000001 or 0.05)
    digits = f"{abs(round_up(number)):.6e}".partition("e")[0].replace(".", "").rstrip("0")
    assert len(digits) <= 3  # 0.35, or 1.05 just after 1


def test_next_to_nothing_is_rounded_as_nothing_is() -> None:
    assert round_up(5e-324) == round_up(0.0) == 0.01


def test_what_cannot_be_bounded_is_left_out_and_says_why(tmp_path: Path) -> None:
    extreme = audited(tmp_path, "extreme", 9.0, measure="stereotype-share")
    with pytest.raises(BadInput, match="every model pass: found 1.000"):
        suggest(extreme)
    blind = audited(tmp_path, "blind", 0.1, measure="stereotype-share", lost=lambda i: i < 20)
    with pytest.raises(BadInput, match="33.3% of 60"):
        suggest(blind)


def test_a_value_that_is_shown_without_room_for_a_bound_is_not_called_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = Run.load(OLD / "tbd-gendered")
    low = found.values_of("tbd-gendered", "gender-agreement")[0].low
    monkeypatch.setattr("evenhand.gate.suggestion.round_up", lambda number: number + low)
    with pytest.raises(BadInput, match="above 0 by its interval, but no bound above 0 leaves room.*found .0.352"):
        suggest(found)


def test_names_from_files_stay_names(tmp_path: Path) -> None:
    file = pairs(tmp_path).rename(tmp_path / 'a "b" # c\x7f.csv')
    run = audited(tmp_path, "odd", 0.1, file)
    assert read_text(suggest(run))["rule"][0]["dataset"] == run.datasets[0]
    assert Gate.load(written(tmp_path, suggest(run))).judge(run).verdict == "pass"


def test_the_command_prints_or_writes_and_replaces_only_by_force(
    tmp_path: Path, stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = stored / "level"
    policy, command = tmp_path / "policy.toml", ["gate", "--suggest", str(run)]
    assert run_command(app, command) == 0
    assert tomllib.loads(capsys.readouterr().out)["rule"]
    assert run_command(app, [*command, "--out", str(policy)]) == 0
    assert run_command(app, ["gate", str(run), "--policy", str(policy)]) == 0
    (named,) = [line for line in policy.read_text().splitlines() if line.startswith("# baseline = ")]
    assert (tmp_path / tomllib.loads(named.removeprefix("# "))["baseline"]).resolve() == run.resolve()
    policy.write_text("mine")
    assert run_command(app, [*command, "--out", str(policy)]) == 2
    assert policy.read_text() == "mine"
    assert run_command(app, [*command, "--out", str(policy), "--force"]) == 0
    assert policy.read_text() != "mine"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--suggest", "--policy", "p.toml"], "Leave out --policy"),
        (["--suggest", "--json", "--junit", "j.xml"], "Leave out --junit, --json"),
        (["--suggest", "--out", "nowhere/p.toml"], "'nowhere/p.toml' does not exist"),
        ([], "A policy is needed"),
        (["--policy", "p.toml", "--out", "q.toml"], "--out"),
    ],
)
def test_suggesting_and_judging_exclude_each_other(
    stored: Path, capsys: pytest.CaptureFixture[str], more: list[str], says: str
) -> None:
    assert run_command(app, ["gate", str(stored / "level"), *more]) == 2
    assert says in capsys.readouterr().err


def test_where_no_change_could_be_detected_there_is_no_rule_about_one(monkeypatch: pytest.MonkeyPatch) -> None:
    real = suggestion._decidable_values

    def without(*given: Any) -> dict[str, Estimate]:
        return {label: replace(estimate, detectable=math.nan) for label, estimate in real(*given).items()}

    monkeypatch.setattr(suggestion, "_decidable_values", without)
    text = suggest(OLD / "tbd-gendered")
    assert 'measure = "gender-agreement"' in text
    assert "room 0.000" in text
    assert "worse_by_at_most" not in text
