"""The record of a run: it comes back as it was written, and what is damaged is a sentence that names the field."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand import BadInput, Gate, Rule, Run, RunError
from evenhand.core.measure import Traits
from evenhand.core.model import Finding
from evenhand.errors import NewerRun
from evenhand.measures import MEASURES
from evenhand.runs.record import SCHEMA, TASK, Deviation, Precision, as_plain, check_recordable, read_record
from evenhand.show.page.runs import page
from helpers.written_runs import make, record, task

OLD = Path(__file__).parent / "made-by-0.1.0" / "all"
Damage = Callable[[Any], object]


def damaged(path: Path, name: str, damage: Damage) -> Path:
    """A copy of an old run of which one file is damaged, and vouched for all the same."""
    folder = Path(shutil.copytree(OLD, path / "run"))
    data = json.loads((folder / name).read_text(encoding="utf-8"))
    damage(data)
    (folder / name).write_text(json.dumps(data), encoding="utf-8")
    return folder


def test_it_comes_back_as_it_was_written(tmp_path: Path) -> None:
    whole = record(
        task("tgb", "pronoun", dataset_options={"file": "a.csv", "n": 3}, partial=True),
        loaded={"dtype": "float16", "revision": None},
        partial=True,
        limit=7,
        doctor=(Finding("head", "careful", "It is young.", "Wait."),),
        precision=Precision("auto", 2, (Deviation("tgb", "pronoun", 9, 0.1, None, 0.2, 0.3, ("all",)),)),
        caveats=("A causal model.",),
        tokens={"tgb": {"nurse": 2.0}},
    )
    whole.write(tmp_path)
    assert read_record(tmp_path) == whole


def test_on_disk_the_names_are_those_that_older_versions_know(tmp_path: Path) -> None:
    record(task("tgb", "pronoun"), caveats=("A causal model.",)).write(tmp_path)
    plain = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert plain["schema"] == SCHEMA == 4
    assert set(plain) == {"schema", "model", "fingerprint", "audits", "sha256", "asked", "weights"}
    (audited,) = plain["audits"]
    assert audited["apart"] == ["A causal model."]
    assert set(audited) >= {"pieces", "work", "tasks"}
    assert not set(audited) & {"caveats", "tokens"}


def test_a_run_of_schema_1_gets_what_it_did_not_say() -> None:
    assert json.loads((OLD / "run.json").read_text(encoding="utf-8"))["schema"] == 1
    found = Run.load(OLD)
    assert all(one.partial for one in found.record.tasks)
    for one in found.record.tasks:
        expected = Traits.of(MEASURES[one.measure]).recorded
        assert {name: getattr(one, name) for name in expected} == expected


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"schema": SCHEMA + 1}))
    with pytest.raises(NewerRun, match=f"schema {SCHEMA + 1}.*Upgrade"):
        read_record(tmp_path)


def set_to(value: object, *keys: str | int) -> Damage:
    def damage(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return damage


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (set_to("x", "seed"), "seed .* got 'x'"),
        (set_to({}, "work", "inputs"), "work.inputs"),
        (set_to(1, "tasks", 0, "dataset"), r"tasks\[0\].dataset "),
        (lambda data: data["tasks"][2].pop("measure_version"), r"tasks\[2\].measure_version .*missing"),
        (set_to(None, "model"), "model should"),
        (set_to([], "sha256"), "sha256 should"),
        (set_to(5, "tasks"), "tasks should"),
        (set_to(5, "tasks", 0, "by"), r"tasks\[0\].by should"),
        (set_to(5, "tasks", 0, "dataset_options"), r"tasks\[0\].dataset_options"),
        (set_to([None], "tasks"), r"tasks\[0\]"),
        (set_to("great", "doctor", 0, "verdict"), r"doctor\[0\].verdict .*'careful'"),
        (set_to(-1, "seed"), "seed .*0"),
        (set_to(float("nan"), "seconds"), "seconds"),
        (set_to(float("inf"), "loaded", "parameters"), "loaded .*finite"),
        (set_to(None, "limit"), "limit should"),
        (lambda data: data.pop("warnings"), "warnings .*missing"),
        (lambda data: data.pop("schema"), "not the record"),
        *((set_to(wrong, "schema"), f"schema .* got {wrong}") for wrong in (0, -1, True)),
        (set_to("2", "schema"), "schema .* got '2'"),
    ],
)
def test_a_damaged_record_is_an_error_that_names_the_field(tmp_path: Path, damage: Damage, says: str) -> None:
    folder = damaged(tmp_path, "run.json", damage)
    with pytest.raises(RunError, match=says) as error:
        Run.load(folder)
    assert "run.json" in str(error.value)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (set_to("x", 0, "value"), r"\[0\].value .* got 'x'"),
        (set_to(3.5, 1, "n"), r"\[1\].n .*integer"),
        (set_to({"gender": 3}, 1, "groups"), r"\[1\].groups.gender .*string"),
        (set_to(float("nan"), 0, "low"), r"\[0\].low"),
        (set_to("x", 0, "estimand"), r"\[0\].estimand .* got 'x'"),
        (set_to(1.5e308, 0, "high"), r"\[0\].high .* got '1.5e.308'"),
        (set_to("nobody", 0, "dataset"), "association on nobody"),
        (lambda data: data[0].pop("unscored"), r"\[0\].unscored .*missing"),
    ],
)
def test_damaged_values_are_an_error_that_names_the_field(tmp_path: Path, damage: Damage, says: str) -> None:
    run = Run.load(damaged(tmp_path, "results.json", damage), checked=False)
    with pytest.raises(RunError, match=says) as error:
        run.results  # noqa: B018
    assert "results.json" in str(error.value)
    assert f"evenhand rescore {run.path}" in str(error.value)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (set_to(["nonsense"], "tasks", 0, "by"), r"tasks\[0\].by names 'nonsense'"),
        (set_to(["category"], "tasks", 0, "by"), r"tasks\[0\].by names 'category'"),
        (set_to("nonsense", "tasks", 0, "cluster"), r"tasks\[0\].cluster names 'nonsense'"),
        (set_to("nonsense", "tasks", 0, "crossed"), r"tasks\[0\].crossed names 'nonsense'"),
    ],
)
def test_a_group_that_the_scores_lack_is_an_error_that_names_the_field(
    tmp_path: Path, damage: Damage, says: str
) -> None:
    run = Run.load(damaged(tmp_path, "run.json", damage))
    with pytest.raises(RunError, match=says):
        run.scores_of(*run.record.tasks[0].name)
    with pytest.raises(RunError, match="run.json"):
        page([run])
    with pytest.raises(RunError, match="run.json"):
        Gate([Rule(measure="association", within=1)]).judge(run)


@pytest.mark.parametrize("by", [[], ["nonsense"]])
def test_a_group_of_the_values_that_the_task_lacks_is_an_error_that_names_the_field(
    tmp_path: Path, by: list[str]
) -> None:
    run = Run.load(damaged(tmp_path, "run.json", set_to(by, "tasks", 0, "by")))
    with pytest.raises(RunError, match=r"tasks\[0\].by lacks"):
        run.results  # noqa: B018


@pytest.mark.parametrize(
    "text",
    ["", "{", "{}", '{"schema": 1', '{"schema": 1}', "[" * 100_000, '{"schema": 1, "tasks": ' + "[" * 9_999, "7"],
)
@pytest.mark.parametrize("name", ["run.json", "results.json"])
def test_what_is_no_json_is_an_error_that_names_the_file(tmp_path: Path, name: str, text: str) -> None:
    folder = Path(shutil.copytree(OLD, tmp_path / "run"))
    (folder / name).write_text(text)
    with pytest.raises(RunError, match=name):
        Run.load(folder, checked=False).results  # noqa: B018


def test_what_was_measured_is_the_same_whatever_is_said_of_it() -> None:
    one = task("tgb", "pronoun")
    assert replace(one, about="Other words.", reading="x", unit="y", rank=1, partial=True).identity == one.identity
    for other in (
        replace(one, dataset_version=9),
        replace(one, measure_options={"a": 1}),
        replace(one, cluster="id"),
        replace(one, by=("profession",)),
    ):
        assert other.identity != one.identity


def test_the_old_name_of_the_record_still_works_and_warns(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    with pytest.warns(DeprecationWarning, match="run.record"):
        assert run.about["model"] == run.record.model


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"better": "lower"}, "better"),
        ({"measure_version": "1"}, "measure_version"),
        ({"reading": "half \ud800"}, "surrogates"),
        ({"measure_options": {"scale": object()}}, "object"),
    ],
)
def test_what_could_not_be_read_again_is_refused_before_it_is_written(more: dict[str, Any], says: str) -> None:
    assert check_recordable("mine", TASK, task("mine", "mine")) == task("mine", "mine")
    with pytest.raises(BadInput, match=f"mine cannot be recorded: .*{says}"):
        check_recordable("mine", TASK, task("mine", "mine", **more))


def test_a_measure_that_was_not_run_has_no_scores_and_keeps_the_columns() -> None:
    found = Run.load(OLD).scores_of("tgb", "pronoun")
    assert found.empty
    assert {"id", "score", "dataset"} <= set(found)


def places(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The place of every value; of a list, of the first."""
    inner = data.items() if isinstance(data, dict) else list(enumerate(data))[:1] if isinstance(data, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from places(value, (*path, key))


WRONG: list[Any] = [None, [], {"a": [1]}, 10**40, "x", True]


@pytest.mark.parametrize("schema", [1, 3])
def test_whatever_a_field_holds_the_run_opens_or_an_error_says_why(tmp_path: Path, schema: int) -> None:
    folder = tmp_path / "run"
    make(folder) if schema == 3 else shutil.copytree(OLD.with_name("hobbies"), folder)
    for name in ("run.json", "results.json"):
        text = (folder / name).read_text(encoding="utf-8")
        for place in places(json.loads(text)):
            for value in WRONG:
                data = json.loads(text)
                set_to(value, *place)(data)
                (folder / name).write_text(json.dumps(data))
                try:
                    found = Run.load(folder, checked=False)
                    json.dumps(as_plain(found.record), allow_nan=False)  # what was read can be written again
                    assert name == "run.json" or len(found.results)
                except RunError as error:
                    assert str(folder) in str(error)  # noqa: PT017
        (folder / name).write_text(text)
