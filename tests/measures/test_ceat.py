"""CEAT: the combined effect, its p and its heterogeneity, as the authors' code gives them for the same draws."""

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand import Answer, BadInput, Embed, Span, datasets
from evenhand.core.items import Target
from evenhand.core.loop import measure
from evenhand.core.scores import Result
from evenhand.measures import load
from evenhand.measures.ceat import CombinedEffect, Draw, Heterogeneity
from evenhand.models.table import Table
from helpers.typed import all_of, only

CONTEXTS = 5


def vectors() -> dict[str, Any]:
    """A vector for each of the contexts of 8 words in each of the four sets; X is nearer to A."""
    rng = np.random.default_rng(11)
    return {
        f"{side}{word} in {context}": np.round(rng.normal(size=6) + (side in "XA") * np.r_[0.8, np.zeros(5)], 6)
        for side in "XYAB"
        for word in range(8)
        for context in range(CONTEXTS)
    }


def draws(n: int) -> list[Draw]:
    rng = random.Random(5)
    texts = [[[f"{side}{word} in {rng.randrange(CONTEXTS)}" for word in range(8)] for side in "XYAB"] for _ in range(n)]
    return [
        Draw(str(number), tuple(tuple((text, Span(0, 2)) for text in words) for words in sets))
        for number, sets in enumerate(texts)
    ]


def measured(n: int, name: str = "ceat", **options: Any) -> Result:
    known = vectors()

    def answer(question: Embed) -> Answer:
        return Answer(tuple(known[question.text].tolist()))

    return measure(Table(only(Embed, answer)), draws(n), load(name, **options))


def test_the_combined_effect_and_p_are_those_of_the_authors_code() -> None:
    """By effect_size and ceat_meta of weiguowilliam/CEAT, code/ceat.py, on the same draws."""
    for n, combined, p in (
        (3, 0.4871571795827935, 0.14275037663374376),
        (40, 0.4102023725491412, 0.00011467515127728418),
    ):
        found = measured(n, formula="released").estimates[0]
        assert (found.value, found.p) == pytest.approx((combined, p), rel=1e-9)
        assert measured(n).estimates[0].p == pytest.approx(min(1.0, 2 * p), rel=1e-9)


def test_the_interval_is_that_of_the_draws_and_p_shrinks_with_them() -> None:
    few, many = (measured(n).estimates[0] for n in (40, 400))
    assert many.p < few.p / 1000
    assert many.high - many.low > 0.8 * (few.high - few.low)  # not a hundredth
    scores = [score.value for score in measured(400).scores]
    assert sum(many.low <= score <= many.high for score in scores) == 380


def test_more_draws_do_not_make_a_change_between_two_models_more_certain() -> None:
    runs = [measured(40).scores] * 2
    resampled = CombinedEffect().resampling(runs, [score.id for score in runs[0]])
    assert all(math.isnan(end) for end in resampled.interval(np.random.default_rng(0)))


def test_heterogeneity_is_the_spread_of_draws_beyond_their_variance() -> None:
    found = measured(400, "ceat-heterogeneity")
    d, v = np.array([(score.value, score.kept["variance"]) for score in found.scores]).T
    q = (((d - np.average(d, weights=1 / v)) ** 2) / v).sum()
    between = (q - 399) / ((1 / v).sum() - (1 / v**2).sum() / (1 / v).sum())
    assert found.value == pytest.approx(math.sqrt(between))
    assert math.isnan(found.estimates[0].p)


def test_a_seed_draws_the_same_sentences_again_and_another_one_others() -> None:
    one, again, other = (all_of(Draw, datasets.load("ceat", draws=3, seed=seed).items) for seed in (1, 1, 2))
    assert one == again != other
    sentences = {
        place for item in all_of(Target, datasets.load("seat-professions-en").items) for place in item.words_asked()
    }
    assert {place for item in one for place in item.words_asked()} <= sentences
    assert [len(places) for places in one[0].sets[:2]] == [12, 12]
    words = [span.of(text).lower() for text, span in one[0].sets[2]]
    assert len(words) == len(set(words)) > 3


def test_a_model_is_measured_and_the_run_says_how_it_was_drawn(tmp_path: Path) -> None:
    run = evenhand.audit("mini-en", dataset="ceat", options={"draws": 20}, out=tmp_path)
    assert [row.measure for row in run.rows] == ["ceat", "ceat-heterogeneity"]
    assert run.datasets == ["ceat (draws=20)"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"words": "seat-placebo-en"}, "must have one test"),
        ({"words": "weat-professions-en"}, "words"),
        ({"draws": "0"}, "draws"),
        ({"draws": "many"}, "`draws` must be a whole number"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        datasets.load("ceat", **options)


def test_where_the_variance_of_draws_is_not_known_there_is_no_heterogeneity() -> None:
    """As of imported scores: 0 would say that contexts do not matter."""
    scores = [replace(score, kept={}) for score in measured(40, "ceat-heterogeneity").scores]
    assert Heterogeneity().lacks(scores)
    assert not Heterogeneity().lacks(measured(40, "ceat-heterogeneity").scores)


def test_words_that_do_not_differ_have_no_effect_and_a_reason() -> None:
    same = Table(only(Embed, lambda question: Answer((1.0, 2.0))))
    found = measure(same, draws(3), load("ceat"))
    assert {score.note for score in found.scores} == {"the associations of its words do not vary"}
