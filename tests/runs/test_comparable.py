"""Runs that were measured in the same way are told from those that were not, and the error says what differs."""

import json
import re
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evenhand import BadInput, Run
from evenhand.runs.comparable import distinct_names, in_common, of_two_kinds, same_task, shared_ids, task_names
from helpers.made_scores import run
from helpers.written_runs import make, task


def made(path: str = "runs/one", ids: str = "abc", **more: Any) -> Run:
    """A run of likelihood-lean on tgb with these items; `more` changes its task, or what else is known of it."""
    known = {name: more.pop(name) for name in ("caveats", "limit", "seed") if name in more}
    asked = task("tgb", "likelihood-lean", dataset_options={"file": "a.csv"}, measure_options={"total": "sum"})
    frame = pd.DataFrame({"dataset": "tgb", "measure": "likelihood-lean", "id": list(ids), "score": 0.5})
    return run(frame, [replace(asked, **more)], path, **known)


def refusal(*runs: Run) -> str:
    """What `same_task` says of these."""
    with pytest.raises(BadInput) as refused:
        same_task(runs, "tgb", "likelihood-lean")
    return str(refused.value)


def test_the_same_task_is_given() -> None:
    runs = [made(), made("runs/other")]
    found = same_task(runs, "tgb", "likelihood-lean")
    assert found == runs[0].task("tgb", "likelihood-lean")
    assert found.by == ("gender",)
    assert found.measure_options == {"total": "sum"}


@pytest.mark.parametrize("name", ["about", "asks", "flaws", "language", "licence", "reading", "source"])
def test_other_words_for_people_are_no_other_measurement(name: str) -> None:
    same_task([made(), made(**{name: "In other words."})], "tgb", "likelihood-lean")


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"dataset_version": 7}, "version of the dataset 3 and 7"),
        ({"measure_version": 1}, "version of the measure 2 and 1"),
        ({"measure_options": {"total": "mean"}}, "total sum and mean"),
        ({"measure_options": {}}, "total sum and none"),
        ({"measure_options": {"total": "sum", "within_word": True}}, "within_word none and True"),
        ({"by": ("gender", "category")}, "by gender and gender, category"),
        ({"cluster": "category"}, "cluster profession and category"),
        ({"crossed": "template"}, "crossed none and template"),
        ({"dataset_options": {"file": "b.csv"}}, "file a.csv and b.csv"),
        ({"dataset_builder": "pairs"}, "dataset_builder tgb and pairs"),
    ],
)
def test_what_differs_is_named_with_both_values(other: dict[str, Any], says: str) -> None:
    said = refusal(made(), made("runs/other", **other))
    assert said.startswith("'runs/one' and 'runs/other' ")
    assert said.partition("on tgb: ")[2].partition(". ")[0] == says  # and nothing else


def test_everything_that_differs_is_named_at_once() -> None:
    said = refusal(made(), made("runs/other", "abd", dataset_version=7, measure_options={"total": "mean"}))
    assert "version of the dataset 3 and 7; total sum and mean; samples of 3 items and 3 items, 2 in common" in said


def test_a_file_is_known_by_its_content_where_that_was_recorded() -> None:
    here = {"file": "here/pairs.csv", "sha256": "1" * 64}
    one, moved = made(dataset_options=here), made(dataset_options=here | {"file": "there/pairs.csv"})
    same_task([one, moved], "tgb", "likelihood-lean")
    edited = made("runs/other", dataset_options=here | {"sha256": "2" * 64})
    assert f"sha256 {'1' * 64} and {'2' * 64}" in refusal(one, edited)


def test_a_task_of_an_older_run_that_knew_no_such_group_is_the_same(tmp_path: Path) -> None:
    asked = task("tgb", "likelihood-lean", within="", crossed="")
    plain, older = (make(tmp_path / name, tasks=(asked,)).path for name in ("plain", "older"))
    data = json.loads((older / "run.json").read_text())
    for field in ("within", "crossed"):
        del data["audits"][0]["tasks"][0][field]
    (older / "run.json").write_text(json.dumps(data))
    runs = [Run.load(plain), Run.load(older)]
    for order in (runs, runs[::-1]):
        found = same_task(order, "tgb", "likelihood-lean")
        assert (found.within, found.crossed) == ("", "")


def test_the_order_of_items_is_no_difference() -> None:
    same_task([made(ids="abc"), made(ids="cab")], "tgb", "likelihood-lean")


def test_samples_are_told_with_their_limit_and_seed() -> None:
    said = refusal(made(ids="abcdef"), made("runs/other", "acx", limit=3, seed=5))
    assert "samples of 6 items and 3 items (limit 3, seed 5), 2 in common" in said


def test_items_of_other_tasks_do_not_count() -> None:
    one, other = made(), made()
    more = other.scores.assign(dataset="tbd", id=["x", "y", "z"])
    other.__dict__["scores"] = pd.concat([more, other.scores], ignore_index=True)
    same_task([one, other], "tgb", "likelihood-lean")


def test_the_run_that_differs_is_the_one_that_is_named() -> None:
    said = refusal(made(), made("runs/two"), made("runs/three", dataset_version=7))
    assert said.startswith("'runs/one' and 'runs/three' were not measured in the same way")


@pytest.mark.parametrize("asked", [("tbd", "likelihood-lean"), ("tgb", "pronoun")])
def test_a_run_without_the_task_is_named(asked: tuple[str, str]) -> None:
    both = run(made().scores, [task(*asked), task("tgb", "likelihood-lean")], "runs/both")
    with pytest.raises(BadInput, match=f"'runs/one' has no {asked[1]} on {asked[0]}"):
        same_task([both, made()], *asked)


def test_a_difference_that_comes_with_the_kind_of_model_is_not_blamed_on_the_command() -> None:
    causal = made("runs/gpt", caveats=("A causal model.",), measure_options={"total": "mean"})
    said = refusal(made(), causal)
    assert said.endswith("total sum and mean. One is a causal model, the other is not.")


def test_causal_models_are_a_kind_of_their_own() -> None:
    causal, masked = made(caveats=("A causal model.",)), made()
    assert of_two_kinds([masked, causal])
    assert of_two_kinds([causal, causal, masked])
    assert not of_two_kinds([causal, causal])
    assert not of_two_kinds([masked, made(caveats=())])


def asked_for(path: str, *tasks: tuple[str, str]) -> Run:
    return run(pd.DataFrame(), [task(*one) for one in tasks], path)


ONE = asked_for("runs/one", ("tgb", "likelihood-lean"), ("tbd", "pronoun"), ("tgb", "crows-pairs"))


def test_what_was_measured_is_told_in_the_runs_order() -> None:
    assert task_names(ONE) == [("tgb", "likelihood-lean"), ("tbd", "pronoun"), ("tgb", "crows-pairs")]


def test_in_common_is_what_all_have_in_the_first_ones_order() -> None:
    two = asked_for("runs/two", ("tgb", "crows-pairs"), ("tgb", "likelihood-lean"), ("tbd", "singular-they"))
    three = asked_for("runs/three", ("tgb", "crows-pairs"), ("tbd", "pronoun"))
    assert in_common([ONE]) == task_names(ONE)
    assert in_common([ONE, two]) == [("tgb", "likelihood-lean"), ("tgb", "crows-pairs")]
    assert in_common([ONE, two, three]) == [("tgb", "crows-pairs")]


def test_nothing_in_common_is_an_error_that_says_what_each_has() -> None:
    """The same measure on another dataset is not in common."""
    other = asked_for("runs/other", ("tbd", "crows-pairs"))
    said = "'runs/one' likelihood-lean on tgb, pronoun on tbd, crows-pairs on tgb; 'runs/other' crows-pairs on tbd."
    with pytest.raises(BadInput, match=re.escape(said)):
        in_common([ONE, other])


def test_names_are_distinct_by_fingerprint_then_by_position() -> None:
    a, b = (run(pd.DataFrame(), [], model="bert", fingerprint=letter * 12) for letter in "ab")
    other = run(pd.DataFrame(), [], model="gpt", fingerprint="a")
    assert distinct_names([a, other]) == ["bert", "gpt"]
    assert distinct_names([a, b, other]) == ["bert (aaaaaaaa)", "bert (bbbbbbbb)", "gpt"]
    assert distinct_names([a, b, a]) == ["bert (aaaaaaaa) (1)", "bert (bbbbbbbb)", "bert (aaaaaaaa) (3)"]


@pytest.mark.parametrize(("ids", "enough"), [("abc", True), ("abcdefxyz", True), ("axyz", False), ("abxy", True)])
def test_samples_that_share_half_of_the_smaller_one_can_be_compared(ids: str, enough: bool) -> None:
    one, other = made(ids="abcdef"), made("runs/other", ids)
    with nullcontext() if enough else pytest.raises(BadInput, match="in common"):
        same_task([one, other], "tgb", "likelihood-lean", shared=True)
    assert shared_ids(one, other, "tgb", "likelihood-lean") == set("abcdef") & set(ids)
    assert shared_ids(one, made(ids="fedcba"), "tgb", "likelihood-lean") is None


def test_naming_many_runs_takes_no_longer_for_each() -> None:
    many = [ONE] * 10_000
    began = time.process_time()
    assert len(set(distinct_names(many))) == len(many)
    assert time.process_time() - began < 4
