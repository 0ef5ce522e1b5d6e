"""Association: how much likelier an attribute makes a person word."""

import math

import pytest

from evenhand import Association, BadInput, Fill, Sentence, Span, Table, measure
from helpers.typed import only

SENTENCE = Sentence("1", "He is a nurse.", Span(0, 2), Span(8, 13), {"gender": "male"})


def test_association_is_the_difference_of_two_log_probabilities() -> None:
    seen = Fill("He is a nurse.", Span(0, 2), "He")
    prior = Fill("He is a nurse.", Span(0, 2), "He", hidden=(Span(8, 13),))
    table = Table({seen: (math.log(0.02),), prior: (math.log(0.08),)})
    assert measure(table, [SENTENCE], Association()).value == pytest.approx(math.log(0.25))


def test_a_target_of_several_pieces_counts_them_all() -> None:
    table = Table(only(Fill, lambda q: (-1.0, -2.0) if q.hidden else (-0.5, -0.25)))
    assert measure(table, [SENTENCE], Association()).value == pytest.approx(2.25)


def test_association_checks_its_option() -> None:
    with pytest.raises(BadInput, match="masks"):
        Association(masks="letters")  # type: ignore[arg-type]


def test_an_attribute_that_makes_no_difference_gives_zero() -> None:
    assert measure(Table(lambda q: (-3.0,)), [SENTENCE], Association()).value == 0.0


def test_the_prior_hides_the_attribute_as_its_option_says() -> None:
    for masks in ("pieces", "words"):
        seen, prior = Association(masks=masks).ask(SENTENCE)
        assert seen.hidden == ()
        assert (prior.hidden, prior.masks) == ((SENTENCE.attribute,), masks)


def test_among_candidates_the_whole_phrase_is_compared_with_the_others() -> None:
    sentence = Sentence(
        "1",
        "My father is a nurse.",
        Span(3, 9),
        Span(15, 20),
        phrase=Span(0, 9),
        candidates=("My father", "My mother"),
    )
    for question in Association(among="candidates").ask(sentence):
        assert (question.answer, question.among) == ("My father", ("My father", "My mother"))
    with pytest.raises(BadInput, match="person words"):
        Association(among="candidates").ask(SENTENCE)
