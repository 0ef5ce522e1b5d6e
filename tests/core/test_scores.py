"""Values of scores: what is missing shows as NaN and a reason, sets count alike, no interval leaves its bounds."""

import math
import time
from typing import Any

import numpy as np
import pytest

from evenhand import Result, Score
from evenhand.core.dataset import Design
from evenhand.core.scores import MacroMean, Summarise, Value, group_values, mean, mean_size, share
from evenhand.stats.intervals import proportion_interval
from evenhand.stats.verdict import decide

SETS = ("pro", "anti", "non")
THREE = MacroMean("set", SETS)


def of_sets(value: float = 0.0, words: int = 10, sets: tuple[str, ...] = SETS) -> list[Score]:
    """A score for each word of each set; pro and anti have the same words."""
    return [Score(f"{s}{w}", value, {"set": s, "word": f"{w}{s == 'non'}"}) for s in sets for w in range(words)]


def whole(scores: list[Score], summarise: Summarise, **design: Any) -> Value:
    """The value of all scores."""
    named = {name: design.pop(name) for name in ("by", "within", "cluster", "crossed") if name in design}
    return next(group_values(scores, summarise, Design(**named), **design))


@pytest.mark.parametrize("summarise", [share, THREE])
@pytest.mark.parametrize("agreed", [0.0, 1.0])
def test_where_all_agree_there_is_room_for_doubt(summarise: Summarise, agreed: float) -> None:
    found = whole(of_sets(agreed), summarise, cluster="word", bounds=(0.0, 1.0))
    assert found.value == agreed
    assert 0.05 < found.high - found.low < 0.3
    assert min(abs(found.low - agreed), abs(found.high - agreed)) < 1e-12


def test_a_share_of_items_that_stand_alone_has_wilsons_interval() -> None:
    scores = [Score(str(n), float(n < 7)) for n in range(20)]
    found = whole(scores, share)
    assert (found.value, found.low, found.high) == (0.35, *proportion_interval(7, 20))


def test_a_single_word_of_a_kind_has_no_interval() -> None:
    several = of_sets(sets=("pro", "anti"))
    scores = [Score(s.id, float(n % 2), s.groups) for n, s in enumerate(several)]
    found = whole([*scores, Score("one", 0.0, {"set": "non", "word": "singer"})], THREE, by=("set",), cluster="word")
    assert math.isnan(found.low)
    assert not math.isnan(found.value)


def test_what_has_no_interval_gets_none_from_its_bounds() -> None:
    found = whole([Score("1", 0.5)], mean, bounds=(0.0, 1.0))
    assert found.value == 0.5
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_no_interval_leaves_its_bounds() -> None:
    scores = [Score(str(n), value) for n, value in enumerate([0.0, 0.0, 1.0])]
    free, bound = whole(scores, mean), whole(scores, mean, bounds=(0.0, 1.0))
    assert free.low < 0 < 1 < free.high
    assert (bound.low, bound.high) == (0, 1)


def test_a_missing_set_leaves_no_value_and_is_named() -> None:
    found = whole(of_sets(sets=("pro", "non")), THREE, cluster="word")
    assert math.isnan(found.value)
    assert (found.note, found.n) == ("no scored items of set anti", 20)
    assert math.isnan(THREE(of_sets(sets=("pro", "non"))))


def test_the_value_of_a_set_by_itself_is_made_as_it_says() -> None:
    """Two of -1 and two of 1: the mean size is 1, of each set and, as in its interval, of all."""
    scores = [Score(f"{s}{n}", (-1.0) ** n, {"set": s}) for s in SETS for n in range(4)]
    everything, *alone = group_values(scores, MacroMean("set", SETS, within=mean_size), Design(("set",)))
    assert everything.value == 1
    assert everything.low <= 1 <= everything.high
    assert [(value.groups["set"], value.value) for value in alone] == [("anti", 1), ("non", 1), ("pro", 1)]


def test_parts_that_hold_all_sets_are_means_of_sets_too() -> None:
    """Of three sets, one is ten times as large: a third each in every half."""
    scores = [
        Score(f"{s}{n}", float(s == "pro"), {"set": s, "half": "ab"[n % 2]})
        for s in SETS
        for n in range(20 if s == "non" else 2)
    ]
    found = list(group_values(scores, THREE, Design(("half",))))
    assert [value.value for value in found] == [pytest.approx(1 / 3)] * 3


def test_a_large_set_has_its_interval_at_once() -> None:
    rng, scores = np.random.default_rng(0), []
    for word in range(270):
        for name in ("pro", "anti") if word < 180 else ("non",):
            values = 0.5 + rng.normal(0, 0.15) + rng.normal(0, 0.1, 20)
            groups = [{"set": name, "word": str(word), "template": str(n)} for n in range(20)]
            scores += [Score(f"{name}{word}-{n}", float(values[n]), groups[n]) for n in range(20)]
    start = time.process_time()
    found = whole(scores, THREE, cluster="word", crossed="template")
    assert time.process_time() - start < 3
    assert found.low < found.value < found.high


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0, -2.5])
@pytest.mark.parametrize("summarise", [mean, mean_size, lambda some: some[0].value])
def test_likelihoods_that_are_all_the_same_lead_to_no_verdict(value: float, summarise: Summarise) -> None:
    """A model that looks at nothing gives the same score for every item."""
    scores = [Score(str(i), value, {"word": str(i // 4), "template": str(i % 4)}) for i in range(80)]
    for crossed in ("", "template"):
        (found,) = group_values(scores, summarise, Design(cluster="word", crossed=crossed), neutral=0.1)
        assert found.value == pytest.approx(abs(value) if summarise is mean_size else value)
        assert not found.spans
        assert decide(found, 0.1).why == "no interval"


def test_a_tie_in_every_pair_is_no_share_with_an_interval() -> None:
    scores = [Score(str(i), 0.5) for i in range(60)]
    (found,) = group_values(scores, share, neutral=0.5, bounds=(0.0, 1.0))
    assert (found.value, found.spans) == (0.5, False)


def test_a_result_has_tables_of_its_scores_and_values() -> None:
    scores = tuple(Score(str(i), float(i), {"half": "ab"[i > 3]}, "") for i in range(8))
    values = tuple(group_values(scores, mean, Design(("half",)), neutral=0.0))
    result = Result("m", "f", "d", "x", 1, 0.0, scores, values)
    assert result.frame.to_dict("records")[5] == {"id": "5", "score": 5.0, "note": "", "half": "b"}
    assert result.values["half"].tolist()[1:] == ["a", "b"]
    assert result.values["value"].tolist() == [3.5, 1.5, 5.5]
    assert result.value == 3.5
