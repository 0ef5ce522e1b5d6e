"""Questions: checked when they are made, and known by a key that never changes."""

import json
import math
import re
from typing import Any

import pytest

from evenhand import Answer, BadInput, Choose, Entail, Fill, Follows, Likelihood, Span
from evenhand.core.answers import ABOVE_ONE, WRONG_COUNT
from evenhand.core.model import check_answer
from evenhand.core.questions import Question, countable_text
from evenhand.models.cache import key

ONE = {"text": "She works.", "blank": Span(0, 3), "answer": "she"}
PAIR = ("she", "he")


@pytest.mark.parametrize(
    ("kind", "fields", "word"),
    [
        *((Likelihood, {"text": text}, "text") for text in ("", " ", "\n\t")),
        (Entail, {"premise": "She works.", "hypothesis": " "}, "text"),
        (Follows, {"first": "She works.", "second": " "}, "text"),
        (Choose, {"prompt": " ", "options": PAIR}, "text"),
        (Fill, ONE | {"text": " "}, "text"),
        (Fill, ONE | {"answer": " "}, "answer"),
        (Fill, ONE | {"hidden": (Span(2, 5),)}, "overlap"),
        (Fill, ONE | {"read_at": 2}, "overlap"),
        (Fill, ONE | {"read_at": 3}, "within"),
        (Fill, ONE | {"read_at": 99}, "within"),
        (Fill, ONE | {"among": PAIR, "read_at": 4}, "read_at"),
        (Fill, ONE | {"among": PAIR, "one_by_one": True}, "one_by_one"),
        (Fill, ONE | {"among": ("he", "they")}, "one of the candidates"),
        (Fill, ONE | {"among": ("she", " ")}, "No candidate"),
        (Fill, ONE | {"masks": "letters"}, "masks"),
        (Likelihood, {"masked": "some"}, "'some'"),
        (Likelihood, {"masked": "none", "within_word": True}, "within_word"),
        (Likelihood, {"attention": True}, "attention"),
        (Likelihood, {"masked": "changed"}, "needs `versus`"),
        (Likelihood, {"versus": ("She works.", "She works.")}, "different"),
        (Likelihood, {"versus": ("He works.", "They work.")}, "different"),
        *((Choose, {"options": options}, "different") for options in ((), ("he",), ("he", "he "), ("he", " "))),
        (Choose, {"by": "guess"}, "'guess'"),
        (Choose, {"options": tuple(map(str, range(27))), "by": "letters"}, "26"),
        (Choose, {"system": "Be brief."}, "chat"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(kind: Any, fields: dict[str, Any], word: str) -> None:
    usual: dict[Any, dict[str, Any]] = {Likelihood: {"text": "She works."}, Choose: {"prompt": "Who?", "options": PAIR}}
    with pytest.raises(BadInput, match=word):
        kind(**{**usual.get(kind, {}), **fields})


@pytest.mark.parametrize("blank", [Span(-1, 2), Span(2, 2), Span(3, 2), Span(5, 99), Span(3, 4)])
def test_spans_must_lie_within_their_text(blank: Span) -> None:
    with pytest.raises(BadInput, match="within"):
        Fill("She works.", blank, "she")


def test_an_answer_is_read_outside_the_blank_at_a_character_of_the_text() -> None:
    before, after = (Fill("I saw ___ win.", Span(6, 9), "her", read_at=place) for place in (0, 10))
    assert "I saw her win."[after.read_after_filling or 0] == "w"
    assert json.loads(key(before))["read_at"] == before.read_after_filling == 0
    assert "read_at" not in key(Fill("I saw ___ win.", Span(6, 9), "her"))
    assert check_answer(before, Answer((-1.0, -2.0))).note == WRONG_COUNT


def test_filling_moves_the_spans_behind_the_blank() -> None:
    question = Fill("So She works hard.", Span(3, 6), "Nobody", hidden=(Span(0, 2), Span(7, 12)))
    text, blank, hidden = question.filled()
    assert text == "So Nobody works hard."
    assert blank.of(text) == "Nobody"
    assert [span.of(text) for span in hidden] == ["So", "works"]


def test_keys_are_canonical_and_readable() -> None:
    question = Fill("Ärztin?", Span(0, 6), "Ärztin", masks="words")
    assert key(question) == key(Fill("Ärztin?", Span(0, 6), "Ärztin", (), "words", ()))
    assert json.loads(key(question)) == {
        "ask": "fill",
        "text": "Ärztin?",
        "blank": {"start": 0, "stop": 6},
        "answer": "Ärztin",
        "masks": "words",
    }


def test_what_a_question_may_ask_besides_leaves_the_keys_of_others_as_they_are() -> None:
    """Answers that older versions kept are found by these."""
    assert json.loads(key(Likelihood("She works."))) == {"ask": "likelihood", "text": "She works."}
    assert json.loads(key(Likelihood("She works.", start_once=True)))["start_once"] is True
    assert json.loads(key(Fill("She works.", Span(0, 3), "he", one_by_one=True)))["one_by_one"] is True
    assert json.loads(key(Follows("She works.", "She sings."))) == {
        "ask": "follows",
        "first": "She works.",
        "second": "She sings.",
    }


def test_a_next_sentence_has_two_answers() -> None:
    question = Follows("She works.", "She sings.")
    assert check_answer(question, Answer((-0.2, -2.0))).logps == (-0.2, -2.0)
    assert check_answer(question, Answer((-0.2,))).note == WRONG_COUNT


CERTAIN = math.log(0.99)


@pytest.mark.parametrize(
    "question",
    [
        Follows("She works.", "She sings."),
        *(Choose("Who works?", ("he", "she"), by=by) for by in ("letters", "digits", "words", "total")),
    ],
)
def test_two_outcomes_are_not_both_all_but_certain(question: Question) -> None:
    assert check_answer(question, Answer((CERTAIN, CERTAIN))).note == ABOVE_ONE
    rounded = Answer((math.log(0.7), math.log(0.305)))
    assert check_answer(question, rounded) == rounded


def test_an_option_that_may_go_on_as_another_is_as_likely() -> None:
    question = Choose("Who works?", ("a man", "a man or a woman"))
    assert not check_answer(question, Answer((CERTAIN, CERTAIN))).note
    for by in ("token", "byte"):
        assert not check_answer(Choose("Who works?", ("he", "she"), by=by), Answer((CERTAIN, CERTAIN))).note


def test_options_that_came_later_do_not_change_the_keys_of_cached_answers() -> None:
    assert key(Likelihood("She works.", (Span(0, 3),), True)) == (
        '{"ask":"likelihood","skip":[{"start":0,"stop":3}],"text":"She works.","within_word":true}'
    )
    assert key(Likelihood("She works.", (), False)) == '{"ask":"likelihood","text":"She works."}'
    assert key(Entail("She works.", "He works.")) == '{"ask":"entail","hypothesis":"He works.","premise":"She works."}'
    assert json.loads(key(Fill("She works.", Span(0, 3), "he")))["masks"] == "pieces"


def test_questions_that_differ_have_different_keys() -> None:
    both = "She works.", "He works."
    several = [
        Likelihood(both[0]),
        Likelihood(both[0], masked="none"),
        Likelihood(both[0], masked="none", attention=True),
        Likelihood(both[0], versus=both),
        Likelihood(both[0], versus=both[::-1]),
        Likelihood(both[0], versus=both, masked="changed"),
    ]
    assert len({key(question) for question in several}) == len(several)


def test_a_choice_has_one_number_for_each_option() -> None:
    question = Choose("Who?", ("he", "she", "they"))
    assert check_answer(question, Answer((-1.0, -2.0, -3.0))).logps == (-1.0, -2.0, -3.0)
    assert check_answer(question, Answer((-1.0, -2.0))).note == WRONG_COUNT


def test_the_key_of_a_choice_says_how_it_is_asked() -> None:
    kinds = [Choose("Who?", ("he", "she"), by=by, chat=chat) for by in ("letters", "total") for chat in (False, True)]
    assert len({key(question) for question in kinds}) == 4
    assert key(kinds[2]) == '{"ask":"choose","options":["he","she"],"prompt":"Who?"}'


@pytest.mark.parametrize(
    "text", ["", "She", "She sat", "She sat ", "She sat.", "She s\ufffd\ufffd", "\ufffd", "She 2a", "1a_b", "é"]
)
def test_what_is_cut_ends_before_its_last_word(text: str) -> None:
    last = re.search("[^\\W\\d_]+\ufffd*$", text) if text[-1:] != " " else None
    assert countable_text(text, cut=True) == (text[: last.start()] if last else text).strip()
    assert countable_text(text) == text.strip()
