"""Audits of vectors: a file of them, and networks, from the call to page, comparison, gate and table."""

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand import BadInput, Gate, Rule, datasets
from evenhand.errors import UnfitModel
from evenhand.gate.suggestion import suggest
from helpers import tiny
from helpers.audited_runs import noise

pytestmark = pytest.mark.usefixtures("without_pages")

SIZE = 24


def vectors(folder: Path, name: str, more: float, without: tuple[str, ...] = ()) -> Path:
    """A file of vectors of all words of our sets, in which jobs lie `more` towards the gender that holds them.

    Words of one meaning in two genders differ in their gender, and little else.
    """
    words: dict[str, Any] = {}
    meanings: dict[str, str] = {}
    for topic in ("professions", "emotions", "placebo"):
        for item in datasets.load(f"weat-{topic}-en").items:
            target: Any = item
            leaning = {"X": more, "Y": -more}[target.groups["side"]] if topic == "professions" else 0.0
            words[target.place[0]] = leaning
            for side, attributes in zip((1.0, -1.0), target.attributes, strict=True):
                words |= dict.fromkeys((text for text, _ in attributes), side)
                meanings |= {text: f"pair {n}" for n, (text, _) in enumerate(attributes)}
    chosen = {word: lean for word, lean in words.items() if word not in without}
    rows = [
        [lean, *(noise(f"{meanings.get(word, word)} {n}") + noise(f"{word} {n}") / 3 for n in range(SIZE))]
        for word, lean in chosen.items()
    ]
    path = folder / f"{name}.npz"
    np.savez(path, words=np.array(list(chosen)), vectors=np.array(rows, dtype=np.float32))
    return path


@pytest.fixture(scope="module")
def runs(without_pages: Any, tmp_path_factory: pytest.TempPathFactory) -> list[evenhand.Run]:
    folder = tmp_path_factory.mktemp("vectors")
    return [
        evenhand.audit(vectors(folder, name, more), out=folder / "runs")
        for name, more in (("even", 0.0), ("biased", 2.0))
    ]


def row(run: evenhand.Run, dataset: str, estimand: str = "stereotype") -> Any:
    return next(row for row in run.rows if (row.dataset, row.name, row.estimand) == (dataset, "weat", estimand))


def test_a_planted_bias_is_found_and_nothing_else(runs: list[evenhand.Run]) -> None:
    even, biased = runs
    assert {task.measure for task in biased.record.tasks} == {"weat", "ripa", "direct-bias", "gender-direction"}
    assert row(biased, "weat-professions-en").leans
    assert row(biased, "weat-professions-en").value > 1.5
    assert not row(even, "weat-professions-en").leans
    for run in runs:
        assert not row(run, "weat-emotions-en").leans
        assert not row(run, "weat-placebo-en", "").leans
        default = row(run, "weat-professions-en", "default")
        assert default.verdict.word == "untested"
        assert default.low < default.value < default.high


def test_the_page_names_the_words_that_make_the_number(runs: list[evenhand.Run], pages: None) -> None:
    page = runs[1].report().read_text(encoding="utf-8")
    for word in ("carpenter", "nurse", "jobs held by men", "nearer to the first attributes"):
        assert word in page
    assert len(page) < 500_000


def test_runs_of_vectors_are_compared_gated_and_tabled(runs: list[evenhand.Run]) -> None:
    even, biased = runs
    change = next(
        of
        for of in evenhand.compare(even, biased).rows
        if (of.dataset, of.name, of.estimand) == ("weat-professions-en", "weat", "stereotype")
    )
    assert change.change == pytest.approx(
        row(biased, "weat-professions-en").value - row(even, "weat-professions-en").value
    )
    assert change.way == "lost"
    rule = Rule(measure="weat", dataset="weat-professions-en", estimand="stereotype", within=0.9)
    assert Gate([rule]).judge(biased).verdict == "fail"
    table = evenhand.table([even, biased], measure="weat", dataset="weat-professions-en")
    assert "stereotype" in str(table)


def test_a_gate_passes_no_random_vectors(tmp_path: Path) -> None:
    path = vectors(tmp_path, "random", 0.0)
    with np.load(path) as arrays:
        np.savez(path, words=arrays["words"], vectors=np.random.default_rng(0).normal(size=arrays["vectors"].shape))
    run = evenhand.audit(path, dataset="weat-professions-en", out=tmp_path)
    assert {finding.check: finding.verdict for finding in run.record.concerns} == {"meaning": "unfit"}
    verdict = Gate([Rule(measure="weat", dataset="weat-professions-en", estimand="stereotype", within=1.9)]).judge(run)
    assert verdict.verdict == "undecided"
    assert "the words in the order of their vectors" in str(verdict)


def test_a_suggested_policy_bounds_what_is_judged_and_can_fail(runs: list[evenhand.Run]) -> None:
    for run in runs:
        rules = tomllib.loads(suggest(run))["rule"]
        assert {rule.get("estimand", "") for rule in rules if rule["measure"] == "weat"} == {"stereotype", ""}
        assert all(rule["within"] < 2 for rule in rules if rule["measure"] == "weat")


def test_the_share_of_one_direction_has_no_interval_and_its_change_no_verdict(runs: list[evenhand.Run]) -> None:
    share = next(row for row in runs[0].rows if row.name == "gender-direction")
    assert 0 < share.value < 1
    assert math.isnan(share.low)
    change = next(of for of in evenhand.compare(*runs).rows if of.name == "gender-direction")
    assert math.isnan(change.low)
    assert not change.moved


def test_a_second_audit_asks_nothing_and_rescoring_gives_the_same(runs: list[evenhand.Run]) -> None:
    again = evenhand.rescore(runs[1].path)
    assert [of.value for of in again.rows if of.known] == [of.value for of in runs[1].rows if of.known]


def test_missing_words_are_said_and_too_few_have_no_value(tmp_path: Path) -> None:
    jobs = [
        item.id.partition("/")[2] for item in datasets.load("weat-professions-en").items if item.groups["side"] == "X"
    ]
    some = evenhand.audit(vectors(tmp_path, "some", 2.0, tuple(jobs[:3])), dataset="weat-professions-en", out=tmp_path)
    assert some.record.unscored["weat-professions-en/weat"] == {"no vector": 3}
    assert row(some, "weat-professions-en").n == 21
    few = evenhand.audit(vectors(tmp_path, "few", 2.0, tuple(jobs[3:])), dataset="weat-professions-en", out=tmp_path)
    without_value = row(few, "weat-professions-en")
    assert math.isnan(without_value.value)
    assert without_value.note == "fewer than 4 words in set X"


def test_two_runs_with_too_few_words_in_common_are_not_compared(tmp_path: Path) -> None:
    jobs = [item.id.partition("/")[2] for item in datasets.load("weat-professions-en").items]
    one, other = (
        evenhand.audit(vectors(tmp_path, name, 2.0, tuple(without)), dataset="weat-professions-en", out=tmp_path)
        for name, without in (("one", jobs[:5]), ("other", jobs[5:10]))  # which leaves two of the twelve of X
    )
    change = next(of for of in evenhand.compare(one, other).rows if (of.name, of.estimand) == ("weat", "stereotype"))
    assert row(one, "weat-professions-en").known
    assert math.isnan(change.change)
    assert math.isnan(change.p)


def test_a_causal_model_is_read_at_its_last_token_and_says_so(tmp_path: Path) -> None:
    folder = tiny.save_causal("gpt2", tmp_path / "gpt2")
    run = evenhand.audit(str(folder), dataset="seat-professions-en", measure="seat", out=tmp_path / "runs")
    assert run.record.tasks[0].measure_options["pooling"] == "last"
    assert any("that of its last one" in line for line in run.record.caveats)
    with pytest.raises(UnfitModel, match="seen nothing"):
        evenhand.audit(
            str(folder),
            dataset="seat-professions-en",
            measure="seat",
            options={"pooling": "first"},
            out=tmp_path / "no",
        )
    assert not list((tmp_path / "no").rglob("*.sqlite"))


def test_models_and_suites_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnfitModel, match="suite 'vectors'"):
        evenhand.audit("mini-en-nli", suite="vectors", out=tmp_path)
    with pytest.raises(UnfitModel, match="no probabilities"):
        evenhand.audit(vectors(tmp_path, "v", 0.0), suite="emotions", out=tmp_path)
    with pytest.raises(BadInput, match="layers"):
        evenhand.audit(vectors(tmp_path, "v", 0.0), suite="vectors", options={"layer": 3}, out=tmp_path)
    with pytest.raises(UnfitModel, match="'v'"):
        evenhand.debias(str(vectors(tmp_path, "v", 0.0)), out=tmp_path / "debiased")


def test_the_doctor_looks_at_the_words_of_vectors(tmp_path: Path) -> None:
    finding, meaning = evenhand.doctor(vectors(tmp_path, "v", 0.0, ("nurse", "carpenter")))
    assert (finding.check, finding.verdict) == ("vocabulary", "careful")
    assert (meaning.check, meaning.verdict) == ("meaning", "fine")
    assert "2 of" in finding.says
    assert "nurse" in finding.says
