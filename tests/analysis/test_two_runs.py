"""Runs are compared by any summary of scores: medians, ratios of means, functions of a user's own."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from evenhand import Run, Score
from evenhand.analysis.comparison import side_by_side
from evenhand.core.scores import OfTotals
from evenhand.measures import MEASURES
from evenhand.measures.pronoun import Pronoun
from evenhand.stats.intervals import Floats
from helpers.made_scores import change_table, run, scores
from helpers.written_runs import task


def median(scores: Sequence[Score]) -> float:
    return statistics.median(s.value for s in scores) if scores else float("nan")


class RootOfMeanSquare(OfTotals):
    def totals(self, scores: Sequence[Score]) -> Floats:
        return np.array([(s.value**2, 1.0) for s in scores])

    def of(self, totals: Floats) -> Floats:
        return np.asarray(np.sqrt(totals[:, 0] / totals[:, 1]))


def called(scores: Sequence[Score]) -> float:
    """The same as a plain function."""
    return float(np.sqrt(np.mean([s.value**2 for s in scores]))) if scores else float("nan")


pytestmark = pytest.mark.usefixtures("few_draws")  # calls of a plain function are slow, and these shifts are large


@pytest.fixture(params=[median, RootOfMeanSquare(), called])
def own(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a measure whose value is not a mean."""

    @dataclass(frozen=True)
    class Own(Pronoun):
        name: ClassVar[str] = "own"
        summarise = staticmethod(request.param)  # type: ignore[assignment]

    monkeypatch.setitem(MEASURES, "own", Own)
    return "own"


def two(shift: float, measure: str) -> tuple[Run, Run]:
    """Runs whose second has every score moved by about `shift`."""
    frame = scores({("female", "female"): 0.4, ("male", "male"): 0.6}, jobs=12).assign(dataset="d", measure=measure)
    noise = np.random.default_rng(5).normal(0, 0.05, size=len(frame))
    asked = task("d", measure, by=("prof_gender",), within="", rank=1)
    return run(frame, [asked], "one"), run(frame.assign(score=frame["score"] + shift + noise), [asked], "two")


def test_a_shift_of_all_scores_is_found_whatever_the_summary(own: str) -> None:
    found = change_table(*two(-0.3, own)).set_index("group")
    assert list(found.index) == ["all", "female", "male"]
    whole = found.loc["all"]
    assert whole["before"] == pytest.approx(MEASURES[own]().summarise([Score("", v) for v in _values(own)]))
    assert whole["change"] == pytest.approx(-0.3, abs=0.05)
    assert whole["low"] < whole["change"] < whole["high"] < 0
    assert whole["p"] < 0.01
    assert whole["moved"] == "towards neutral"
    assert whole["clusters"] == 24


def _values(own: str) -> list[float]:
    return [float(v) for v in two(0.0, own)[0].scores["score"]]


def test_noise_alone_is_not(own: str) -> None:
    whole = change_table(*two(0.0, own)).set_index("group").loc["all"]
    assert whole["low"] < 0 < whole["high"]
    assert whole["p"] > 0.05
    assert not whole["moved"]


def test_totals_and_calls_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for summary in (RootOfMeanSquare(), called):

        @dataclass(frozen=True)
        class Own(Pronoun):
            name: ClassVar[str] = "own"
            summarise = staticmethod(summary)  # type: ignore[assignment]

        monkeypatch.setitem(MEASURES, "own", Own)
        whole = change_table(*two(-0.05, "own")).set_index("group").loc["all"]
        found.append([whole[name] for name in ("before", "after", "low", "high")])
    assert found[0] == pytest.approx(found[1], abs=0.01)


def test_models_are_ranked_by_it(own: str) -> None:
    table = side_by_side(two(-0.3, own), "d", own)
    marks = dict(zip(table[table["total"]]["model"], table[table["total"]]["mark"], strict=True))
    assert marks == {"one": "worst", "two": "best"}


def test_the_same_run_twice_has_no_difference(own: str) -> None:
    one, _ = two(0.0, own)
    whole = change_table(one, one).set_index("group").loc["all"]
    assert (whole["change"], whole["low"], whole["high"], whole["p"]) == (0, 0, 0, 1)
