"""A summary that is not evenhand's, with its own interval and test: values, page, comparison and gate use it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import evenhand
from evenhand import (
    Answer,
    BadInput,
    Dataset,
    Gate,
    Kinds,
    LikelihoodDifference,
    OfTotals,
    Pair,
    Rule,
    Score,
    Summary,
    Table,
)
from evenhand.core.scores import NO_VALUE, group_values
from evenhand.measures import MEASURES
from evenhand.stats.estimate import TOO_LARGE
from helpers.audited_runs import noise


class Median(Summary):
    """The median score, with an exact test that flips the signs of all scores."""

    def __call__(self, scores: Sequence[Score]) -> float:
        return float(np.median([score.value for score in scores])) if scores else float("nan")

    def interval_and_test(self, sample: Any) -> Any:
        values = np.sort(sample.values)
        flips = np.array(list(product((1, -1), repeat=len(values))))
        found = np.abs(np.median(flips * values, axis=1)) >= abs(np.median(values))
        return values[1], values[-2], found.mean()


@dataclass(frozen=True)
class MedianLean(LikelihoodDifference):
    """The median of how much likelier the stereotype is, in nats; neutral at 0."""

    name: ClassVar[str] = "median-lean"
    reading: ClassVar[str] = "above 0 the stereotype is likelier"
    favours: ClassVar[Any] = "none"
    bounds: ClassVar[tuple[float, float]] = (-float("inf"), float("inf"))
    neutral: ClassVar[float] = 0.0
    summarise: ClassVar[Summary] = Median()


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[evenhand.Run]:
    monkeypatch.setitem(MEASURES, "median-lean", MedianLean)
    items = [Pair(str(i), f"He lifted box {i}.", f"She lifted box {i}.") for i in range(11)]
    made = []
    for name, more in (("weak", 0.1), ("strong", 3.0)):

        def rule(asked: Any, more: float = more) -> Answer:
            return Answer((noise(f"{more} {asked.text}") - 20 + more * asked.text.startswith("He"),))

        data = Dataset(name="boxes", items=items)
        made.append(evenhand.audit(Table(rule, name=name), dataset=data, measure=MedianLean(), out=tmp_path))
    return made


def test_its_interval_and_its_p_are_those_of_the_run_and_decide_its_verdict(runs: list[evenhand.Run]) -> None:
    for run in runs:
        scores = run.scores_of("boxes", "median-lean")["score"].to_numpy()
        (row,) = run.rows
        assert row.value == pytest.approx(np.median(scores))
        assert (row.low, row.high) == (np.sort(scores)[1], np.sort(scores)[-2])
        assert row.p == pytest.approx(Median().interval_and_test(type("S", (), {"values": scores}))[2])
    assert [run.rows[0].leans for run in runs] == [False, True]
    assert f"{runs[1].rows[0].value:+.3f}" in (runs[1].path / "report.html").read_text(encoding="utf-8")


def test_runs_are_compared_and_judged_by_it(runs: list[evenhand.Run]) -> None:
    (row,) = evenhand.compare(*runs).rows
    assert row.after - row.before == pytest.approx(runs[1].rows[0].value - runs[0].rows[0].value)
    assert row.low < row.change < row.high
    gate = Gate([Rule(measure="median-lean", within=20.0)])
    assert gate.judge(runs[1]).verdict == "pass"
    assert Gate([Rule(measure="median-lean", within=0.5)]).judge(runs[1]).verdict == "fail"


def gives(result: Any) -> Any:
    return lambda *_: result


class Total(OfTotals):
    """The mean, by totals."""

    def totals(self, scores: Sequence[Score]) -> Any:
        return np.array([[1.0, score.value] for score in scores])

    def of(self, totals: Any) -> Any:
        return totals[:, 1] / totals[:, 0]


BAD: list[tuple[str, Any]] = [
    *(("interval_and_test", gives(ends)) for ends in [(9, -9, 0.5), (5, 9, 0.5), (-9, 9, 7), (-9, 9, -1), (-9, 9)]),
    *(("interval_and_test", gives(ends)) for ends in ["abc", 5, None, (None, None, None), (-9, 9, 0.5, "many")]),
    *((name, gives(5)) for name in ("resampling", "totals", "of", "inside")),
    *((name, gives("many")) for name in ("__call__", "totals", "of", "resampling")),
    *((name, gives([])) for name in ("__call__", "totals", "of", "resampling")),
    ("of", gives(np.ones(3))),
    ("of", lambda _, totals: totals),
    ("totals", gives(np.ones((3, 2)))),
    ("estimands", gives({"stereotype": 5})),
    ("estimands", gives({"other": Total()})),
    ("estimands", gives([1])),
    ("lacks", gives(5)),
    *((name, "not a method") for name in ("__call__", "totals", "of", "resampling", "inside", "lacks", "estimands")),
]


@pytest.mark.parametrize("place", range(len(BAD)))
def test_a_summary_that_gives_nonsense_is_named_and_nothing_is_written(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_pages: object
) -> None:
    name, bad = BAD[place]
    summary = type("Mine", (Total,), {name: bad})()
    monkeypatch.setitem(MEASURES, "mine", type("Mine", (MedianLean,), {"name": "mine", "summarise": summary}))
    groups = [{"about": "women" if n % 2 else "men", "box": str(n)} for n in range(12)]
    items = [Pair(str(n), f"He lifted box {n}.", f"She lifted box {n}.", labels) for n, labels in enumerate(groups)]
    data = Dataset(name="boxes", items=items, cluster="box", by=("about",), kinds=Kinds("about", ("women",), ("men",)))
    table = Table(lambda asked: Answer((noise(asked.text) - 20,)), name="table", fingerprint="table")
    gate = Gate([Rule(measure="mine", within=99.0)])
    with pytest.raises(BadInput, match="mine|about"):
        evenhand.audit(table, dataset=data, measure="mine", gate=gate, out=tmp_path)
    assert not list(tmp_path.rglob("run.json"))


@pytest.mark.parametrize("value", [float("inf"), -1e300, float("nan")])
def test_a_summary_without_a_finite_value_has_none_and_says_why(value: float) -> None:
    summary = type("Mine", (Total,), {"__call__": gives(value), "interval_and_test": gives((value, value, 0.01))})()
    scores = [Score(str(n), float(n)) for n in range(9)]
    made, *_ = group_values(scores, summary, neutral=0.0)
    assert math.isnan(made.value)
    assert not made.spans
    assert made.note in (TOO_LARGE, NO_VALUE)


def test_a_summary_of_which_the_default_is_judged_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = type("Mine", (Total,), {"estimands": gives({"default": Total(), "stereotype": Total()})})()
    monkeypatch.setitem(MEASURES, "mine", type("Mine", (MedianLean,), {"name": "mine", "summarise": summary}))
    items = [
        Pair(str(n), f"He lifted box {n}.", f"She lifted box {n}.", {"about": "women" if n % 2 else "men"})
        for n in range(12)
    ]
    data = Dataset(name="boxes", items=items, kinds=Kinds("about", ("women",), ("men",)))
    run = evenhand.audit(
        Table(lambda asked: Answer((noise(asked.text) - 20,))), dataset=data, measure="mine", out=tmp_path
    )
    assert [row.verdict.word for row in run.rows if row.estimand == "stereotype"] == ["untested"]
    assert "not judged by itself" in str(run)
