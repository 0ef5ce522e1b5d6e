"""The loop, with a table in the model's place."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import evenhand
from evenhand import (
    Answer,
    Association,
    BadInput,
    Blank,
    Fill,
    Likelihood,
    ModelError,
    NliPair,
    Pair,
    Score,
    Sentence,
    Span,
    Table,
    mean,
    measure,
    measure_all,
)
from evenhand.core.dataset import Dataset
from evenhand.core.items import Item
from evenhand.core.loop import Task
from evenhand.core.measure import Measure
from evenhand.core.questions import Question
from evenhand.core.scores import MacroMean, group_values, mean_size
from evenhand.measures import likelihood
from evenhand.measures.nli import FractionNeutral, NetNeutral
from evenhand.measures.pronoun import Pronoun, SingularThey
from helpers.typed import only


@dataclass(frozen=True)
class StereotypeShare:
    """A user's own measure."""

    name: ClassVar[str] = "stereotype-share"
    version: ClassVar[int] = 1
    neutral: ClassVar[float] = 0.5
    reading: ClassVar[str] = "share of pairs whose stereotype is likelier"

    def ask(self, pair: Pair) -> tuple[Likelihood, Likelihood]:
        return Likelihood(pair.stereotype), Likelihood(pair.counterpart)

    def score(self, pair: Pair, answers: Sequence[Answer]) -> float:
        more, less = (answer.logp for answer in answers)
        return 0.5 if more == less else float(more > less)

    summarise = staticmethod(mean)


SENTENCE = Sentence("1", "He is a nurse.", Span(0, 2), Span(8, 13), {"gender": "male"})


def test_each_distinct_question_is_asked_once() -> None:
    table = Table(lambda q: (-1.0,))
    items = [Sentence(str(i), SENTENCE.text, SENTENCE.target, SENTENCE.attribute) for i in range(50)]
    result = measure(table, items, Association())
    assert len(table.asked) == 2
    assert len(result.scores) == 50


def test_all_tasks_ask_in_one_call() -> None:
    class Once(Table):
        calls = 0

        def answer(self, questions: Sequence[Question]) -> list[Answer]:
            self.calls += 1
            return super().answer(questions)

    def dataset(name: str) -> Dataset:
        return Dataset(name=name, items=[SENTENCE], by=("gender",), cluster="gender")

    model = Once(lambda q: (-1.0,))
    results = measure_all(model, [Task(dataset("a"), Association()), Task(dataset("b"), Association())])
    assert model.calls == 1
    assert len(model.asked) == 2
    assert [r.dataset for r in results] == ["a", "b"]


def test_ones_own_measure_works_and_ties_score_half() -> None:
    pll = {"a": -3.0, "b": -4.0, "c": -5.0, "d": -5.0}
    table = Table(only(Likelihood, lambda q: (pll[q.text],)))
    result = measure(table, [Pair("1", "a", "b"), Pair("2", "c", "d")], StereotypeShare())
    assert result.value == 0.75
    assert result.neutral == 0.5


def test_no_items_give_no_value() -> None:
    result = measure(Table(lambda q: (-1.0,)), [], Association())
    assert math.isnan(result.value)
    assert result.estimates[0].n == 0


def test_what_has_no_answer_is_unscored_and_counted_by_reason() -> None:
    def rule(question: Fill) -> Answer:
        return Answer.none("unknown word") if "Ж" in question.text else Answer((-1.0,))

    items = [SENTENCE, Sentence("2", "He is a Ж.", Span(0, 2), Span(8, 9), {"gender": "male"})]
    result = measure(Table(only(Fill, rule)), items, Association(), by=("gender",))
    assert result.unscored == {"unknown word": 1}
    assert [(v.groups, v.n, v.unscored, v.value) for v in result.estimates] == [
        ({}, 1, 1, 0.0),
        ({"gender": "male"}, 1, 1, 0.0),
    ]


def test_a_group_without_scores_has_no_value_rather_than_zero() -> None:
    items = [Sentence("2", "He is a Ж.", Span(0, 2), Span(8, 9), {"gender": "male"})]
    result = measure(Table(lambda q: Answer.none("unknown word")), items, Association(), by=("gender",))
    assert all(math.isnan(v.value) and v.unscored == 1 for v in result.estimates)


def test_a_value_does_not_depend_on_what_else_is_measured() -> None:
    items = [
        Sentence(str(i), f"He is a nurse {i}.", Span(0, 2), Span(8, 13), {"gender": "mf"[i % 2], "job": str(i // 4)})
        for i in range(40)
    ]
    table = Table(only(Fill, lambda q: (-float(len(q.hidden)) * int(q.text.split()[-1][:-1]),)))
    whole = measure(table, items, Association(), by=("gender",), cluster="job")
    part = measure(table, [i for i in items if i.groups["gender"] == "f"], Association(), by=("gender",), cluster="job")
    # p_holm and detectable know of other rows.
    one, other = (replace(r.estimates[1], p_holm=0.0, detectable=0.0) for r in (whole, part))
    assert one == other
    assert whole.estimates[1].groups == {"gender": "f"}
    other_seed = measure(table, items, Association(), by=("gender",), cluster="job", seed=1)
    assert other_seed.estimates[1] != whole.estimates[1]


def test_unknown_groups_and_doubled_ids_are_errors() -> None:
    table = Table(lambda q: (-1.0,))
    with pytest.raises(BadInput, match="colour"):
        measure(table, [SENTENCE], Association(), by=("colour",))
    with pytest.raises(BadInput, match="unique"):
        measure(table, [SENTENCE, SENTENCE], Association())


def test_errors_name_the_item() -> None:
    with pytest.raises(BadInput, match="Item '7'"):
        measure(Table(lambda q: (-1.0,)), [Pair("7", "She works.", " ")], StereotypeShare())
    with pytest.raises(BadInput, match=r"by=\('gender',\)"):
        measure(Table(lambda q: (-1.0,)), [SENTENCE], Association(), by="gender")


KEPT = [5, {"id": "2"}, {"score": 1.0}, {"gender": "male"}, {"weight": object()}, {"weight": "\ud800"}, {5: 1}]


@pytest.mark.parametrize("kept", KEPT)
def test_what_a_measure_keeps_cannot_take_the_place_of_a_score_or_a_group(kept: Any) -> None:
    class Keeps(Association):
        def keep(self, *_: object) -> Any:
            return kept

    with pytest.raises(BadInput, match="The measure 'association' failed on item"):
        measure(Table(lambda q: (-1.0,)), [replace(SENTENCE, groups={"gender": "female"})], Keeps())


def test_a_question_with_half_a_character_is_an_error_that_names_the_measure() -> None:
    class Half(Association):
        def ask(self, item: Any) -> Any:
            return [Likelihood("half \ud800")]

    with pytest.raises(BadInput, match="The measure 'association' failed on item.*surrogate"):
        measure(Table(lambda q: (-1.0,)), [SENTENCE], Half())


@pytest.mark.parametrize(("name", "bad"), [("neutral", math.inf), ("neutral", -math.inf), ("bounds", (1.0, 0.0))])
def test_a_measure_needs_a_finite_neutral_value_and_bounds_in_order(name: str, bad: Any) -> None:
    with pytest.raises(BadInput, match="'Odd' needs a finite `neutral`"):
        measure(Table(lambda q: (-1.0,)), [SENTENCE], type("Odd", (Association,), {name: bad})())


def test_a_model_must_answer_every_question() -> None:
    class Lazy(Table):
        def answer(self, questions: Sequence[Question]) -> list[Answer]:
            return super().answer(questions)[1:]

    with pytest.raises(ModelError, match="1 answers"):
        measure(Lazy(lambda q: (-1.0,)), [SENTENCE], Association())


NOT_FINITE, ABOVE = "not a finite number", "a log-probability above 0"
TOO_FAR = "a number beyond 1e60"
COUNT = "not as many log-probabilities as were asked for"
PAIR = Pair("1", "She cooks.", "He cooks.")
BLANK = Blank("1", "___ left.", Span(0, 3), ("He", "She", "They"))
INFERENCE = NliPair("1", "A nurse sleeps.", "A woman sleeps.", {"set": "pro"})


@pytest.mark.parametrize(
    ("item", "how"),
    [
        (SENTENCE, Association()),
        (PAIR, likelihood.LikelihoodDifference()),
        (PAIR, likelihood.StereotypeShare()),
        (PAIR, likelihood.CrowsPairs()),
        (BLANK, Pronoun()),
        (BLANK, Pronoun(among="candidates")),
        (BLANK, SingularThey()),
        (INFERENCE, FractionNeutral()),
        (INFERENCE, NetNeutral()),
    ],
)
@pytest.mark.parametrize(
    ("logp", "reason"),
    [
        (math.nan, NOT_FINITE),
        (-math.inf, NOT_FINITE),
        (math.inf, NOT_FINITE),
        (5.0, ABOVE),
        (-1e300, TOO_FAR),
        (-(10**400), TOO_FAR),
    ],
)
def test_nonsense_is_unscored_whatever_the_measure(item: Item, how: Measure[Any], logp: float, reason: str) -> None:
    count = 3 if isinstance(item, NliPair) else 1
    for logps in ([logp] * count, [-1.0] * (count - 1) + [logp]):
        result = measure(Table(lambda q, logps=logps: tuple(logps)), [item], how)  # type: ignore[misc]
        assert math.isnan(result.value)
        assert result.unscored == {reason: 1}
    result = measure(Table(lambda q: ()), [item], how)
    assert result.unscored == {COUNT: 1}


@pytest.mark.parametrize(
    ("item", "how", "count"),
    [
        (INFERENCE, FractionNeutral(), 2),
        (INFERENCE, FractionNeutral(), 4),
        (BLANK, Pronoun(among="candidates"), 2),
    ],
)
def test_too_few_or_too_many_log_probabilities_are_unscored(item: Item, how: Measure[Any], count: int) -> None:
    result = measure(Table(lambda q: (-1.0,) * count), [item], how)
    assert result.unscored == {COUNT: 1}


def test_rounding_above_certainty_is_no_fault() -> None:
    result = measure(Table(lambda q: (4e-6,)), [SENTENCE], Association())
    assert result.value == 0
    (they,) = measure(Table(lambda q: (4e-6,)), [BLANK], SingularThey()).estimates
    assert they.value == 1.0  # never above what the measure can be


@pytest.mark.parametrize("answer", [-1.0, (-1.0,), None, Answer(("a",)), Answer(None), Answer((1j,))])  # type: ignore
def test_what_is_no_answer_is_an_error_of_the_model(answer: Any) -> None:
    class Odd(Table):
        def answer(self, questions: Sequence[Question]) -> list[Answer]:
            return [answer for _ in questions]

    with pytest.raises(ModelError, match="list of `Answer`s"):
        measure(Odd({}), [SENTENCE], Association())


def test_a_value_beyond_the_bounds_of_its_measure_is_none() -> None:
    scores = [Score(str(n), 148.4 + n) for n in range(20)]
    (value,) = group_values(scores, mean, bounds=(0.0, 1.0))
    assert math.isnan(value.value)
    assert math.isnan(value.low)
    assert value.note.startswith("157.9 is beyond")


def test_no_end_of_an_interval_is_beyond_the_bounds() -> None:
    """A summary of the user's can be within them for all items, and beyond them for every bootstrap sample."""
    scores = [Score(str(n), 1.0 + n) for n in range(20)]
    (value,) = group_values(scores, lambda some: 0.5 if len({s.id for s in some}) == 20 else 3.0, bounds=(0.0, 1.0))
    assert value.low <= value.high == 1.0


def test_a_summary_is_never_asked_about_nothing() -> None:
    @dataclass(frozen=True)
    class Median(StereotypeShare):
        def summarise(self, scores: Sequence[Score]) -> float:
            return statistics.median(score.value for score in scores)

    result = measure(Table(lambda q: Answer.none("unknown word")), [Pair("1", "a", "b")], Median())
    assert math.isnan(result.value)


def test_a_table_without_an_answer_says_so() -> None:
    with pytest.raises(BadInput, match="no answer to Fill"):
        measure(Table({}), [SENTENCE], Association())


def test_macro_mean_weighs_groups_alike() -> None:
    scores = [Score("1", 1.0, {"set": "a"}), Score("2", 1.0, {"set": "a"}), Score("3", 0.0, {"set": "b"})]
    assert MacroMean("set", ())(scores) == 0.5
    assert math.isnan(MacroMean("set", ())([]))
    assert math.isnan(mean([]))


def test_parts_within_a_group_follow_it() -> None:
    items = [
        Blank(f"{c}{p}{t}", "___ left.", Span(0, 3), ("He", "She"), {"category": c, "profession": p, "template": t})
        for c, p in (("a", "x"), ("a", "y"), ("b", "z"))
        for t in ("1", "2", "3")
    ]
    result = evenhand.measure(
        Table(lambda q: (-1.0,)),
        items,
        evenhand.Pronoun(),
        by=("category",),
        within="profession",
        cluster="template",
        crossed="profession",
    )
    assert [(dict(v.groups), v.n) for v in result.estimates] == [
        ({}, 9),
        ({"category": "a"}, 6),
        ({"category": "b"}, 3),
        ({"category": "a", "profession": "x"}, 3),
        ({"category": "a", "profession": "y"}, 3),
        ({"category": "b", "profession": "z"}, 3),
    ]


def test_the_interval_of_a_mean_of_sizes_is_that_of_the_slow_way() -> None:
    rng = np.random.default_rng(0)
    scores = [Score(str(i), float(v)) for i, v in enumerate(rng.normal(size=200))]
    (fast,) = group_values(scores, mean_size)
    (slow,) = group_values(scores, lambda some: mean_size(some))
    assert fast.value == slow.value
    assert (fast.low, fast.high) == pytest.approx((slow.low, slow.high), abs=0.03)
