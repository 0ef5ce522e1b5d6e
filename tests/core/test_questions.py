"""Questions: checked when they are made, and known by a key that never changes."""

import json
import math
import re
from typing import Any

import pytest

from evenhand import Answer, BadInput, Choose, Entail, Fill, Follows, Likelihood, Span
from evenhand.core.answers import ABOVE_ONE, WRONG_COUNT
from evenhand.core.model import check_answer
from evenhand.core.questions import NO_MASSES, By, FirstMention, Question, countable_text
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


SPAN, BOTH = Span(0, 3), ("She works.", "He works.")
KEYS: dict[Question, str] = {
    Likelihood("She works."): '{"ask":"likelihood","text":"She works."}',
    Likelihood("She works.", (SPAN,), True): (
        '{"ask":"likelihood","skip":[{"start":0,"stop":3}],"text":"She works.","within_word":true}'
    ),
    Likelihood("She works.", start_once=True): '{"ask":"likelihood","start_once":true,"text":"She works."}',
    Entail(*BOTH): '{"ask":"entail","hypothesis":"He works.","premise":"She works."}',
    Follows(*BOTH): '{"ask":"follows","first":"She works.","second":"He works."}',
    Fill("Ärztin?", Span(0, 6), "Ärztin", masks="words"): (
        '{"answer":"Ärztin","ask":"fill","blank":{"start":0,"stop":6},"masks":"words","text":"Ärztin?"}'
    ),
    Fill("Hm?", Span(0, 2), "he", one_by_one=True): (
        '{"answer":"he","ask":"fill","blank":{"start":0,"stop":2},"masks":"pieces","one_by_one":true,"text":"Hm?"}'
    ),
    Choose("Who?", ("he", "she")): '{"ask":"choose","options":["he","she"],"prompt":"Who?"}',
}


@pytest.mark.parametrize("question", KEYS, ids=lambda question: type(question).__name__)
def test_keys_are_canonical_readable_and_without_what_is_usual(question: Question) -> None:
    """Answers that older versions kept are found by these: options that came later change none."""
    assert key(question) == KEYS[question]


def test_questions_that_differ_have_different_keys() -> None:
    several = [
        *KEYS,
        Likelihood(BOTH[0], masked="none"),
        Likelihood(BOTH[0], masked="none", attention=True),
        Likelihood(BOTH[0], versus=BOTH),
        Likelihood(BOTH[0], versus=BOTH[::-1]),
        Likelihood(BOTH[0], versus=BOTH, masked="changed"),
        *(Choose("Who?", ("he", "she"), "letters", chat) for chat in (False, True)),
        Choose("Who?", ("he", "she"), chat=True),
    ]
    assert len({key(question) for question in several}) == len(several)


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


def test_a_choice_has_one_number_for_each_option() -> None:
    question = Choose("Who?", ("he", "she", "they"))
    assert check_answer(question, Answer((-1.0, -2.0, -3.0))).logps == (-1.0, -2.0, -3.0)
    assert check_answer(question, Answer((-1.0, -2.0))).note == WRONG_COUNT


@pytest.mark.parametrize(
    ("by", "chat", "text", "continuations"),
    [
        ("letters", False, "Who?\nA. he\nB. she\nAnswer:", (" A", " B")),
        ("digits", True, "Who?\n1. he\n2. she\nAnswer with one digit, and nothing else.", ("1", "2")),
        ("words", False, "Who?\n- he\n- she\nAnswer:", (" he", " she")),
        ("total", False, "Who?", (" he", " she")),
        ("byte", True, "Who?", ("he", "she")),
    ],
)
def test_a_choice_is_asked_as_its_kind_says(by: By, chat: bool, text: str, continuations: tuple[str, ...]) -> None:
    question = Choose("Who? ", (" he", "she "), by, chat)
    assert (question.text, question.continuations) == (text, continuations)


@pytest.mark.parametrize(("by", "compared"), [("total", (-3, -4)), ("token", (-1.5, -4)), ("byte", (-1.5, -4 / 3))])
def test_options_are_compared_by_what_they_add_up_to_or_by_means(by: By, compared: tuple[float, ...]) -> None:
    assert Choose("Who?", ("he", "she"), by).compared([[-1.0, -2.0], [-4.0]]) == pytest.approx(compared)


@pytest.mark.parametrize(
    ("numbers", "note"),
    [
        ((0.5, 0.25, 0.25, 0.0), ""),
        ((1.0005, -0.0005, 0.0, 0.0), ""),  # rounding
        ((0.5, 0.25, 0.2, 0.0), NO_MASSES),
        ((1.1, -0.1, 0.0, 0.0), NO_MASSES),
        ((0.5, 0.25, 0.25), NO_MASSES),
        ((0.5, 0.25, 0.25, 0.0, 0.5, 0.25, 0.25, 0.0), NO_MASSES),  # of two paths
    ],
)
def test_the_masses_of_a_first_mention_add_up_to_1(numbers: tuple[float, ...], note: str) -> None:
    question = FirstMention("Once", ("she",), ("he",), paths=1)
    assert check_answer(question, Answer(numbers)).note == note


@pytest.mark.parametrize(
    ("name", "last", "beyond"),
    [
        *(("threshold", 1.0, 1.01), ("threshold", 0, -0.01), ("stop", 0.5, 0.51), ("stop", 0.0, -0.01)),
        *(
            ("seed", 0, -1),
            ("paths", 1, 0),
            ("longest", 1, True),
            ("temperature", 1e-3, 0.0),
            ("temperature", 9.0, math.inf),
        ),
    ],
)
def test_options_of_first_mentions_have_bounds(name: str, last: Any, beyond: Any) -> None:
    usual: dict[str, Any] = {"prompt": "Once", "female": ("she",), "male": ("he",)}
    assert getattr(FirstMention(**usual, **{name: last}), name) == last
    with pytest.raises(BadInput, match=name):
        FirstMention(**usual, **{name: beyond})


@pytest.mark.parametrize(
    "text", ["", "She", "She sat", "She sat ", "She sat.", "She s\ufffd\ufffd", "\ufffd", "She 2a", "1a_b", "é"]
)
def test_what_is_cut_ends_before_its_last_word(text: str) -> None:
    last = re.search("[^\\W\\d_]+\ufffd*$", text) if text[-1:] != " " else None
    assert countable_text(text, cut=True) == (text[: last.start()] if last else text).strip()
    assert countable_text(text) == text.strip()
