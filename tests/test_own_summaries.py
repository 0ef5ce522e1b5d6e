"""A summary that is not evenhand's, with its own interval and test: values, page, comparison and gate use it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import evenhand
from evenhand import Answer, Dataset, Gate, LikelihoodDifference, Pair, Rule, Score, Summary, Table
from evenhand.measures import MEASURES
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
