"""What a case asks a model: each question once, ordinary ones of unequal length, in a language that it can read."""

from dataclasses import replace

import pytest

from evenhand import Answer, Entail, Fill, Likelihood, Table
from evenhand.checks import base
from evenhand.checks.base import LANGUAGES, ORDINARY, Case, plain_inferences, plain_sentences, shuffle_words
from evenhand.core.dataset import Dataset
from evenhand.core.questions import BuiltIn, Follows, Question
from evenhand.core.words import words
from evenhand.models.loading.labels import LABELS


def said(question: Question) -> str:
    """All that a question has the model read."""
    assert isinstance(question, BuiltIn)
    assert not isinstance(question, Follows)
    return f"{question.premise} {question.hypothesis}" if isinstance(question, Entail) else question.text


def test_a_question_is_asked_once_in_a_call_and_over_all_checks() -> None:
    table = Table(lambda question: (-float(len(said(question))),))
    case = Case(table, "en")
    short, long = Likelihood("Short."), Likelihood("Longer.")
    assert case.ask([short, short]) == [Answer((-6.0,))] * 2
    assert case.ask([long, short]) == [Answer((-7.0,)), Answer((-6.0,))]
    assert table.asked == [short, long]


@pytest.mark.parametrize("kind", list(ORDINARY))
@pytest.mark.parametrize("language", LANGUAGES)
def test_ordinary_questions_are_of_unequal_length(kind: str, language: str) -> None:
    """Or a batch of them would have no padding, and nothing to leak."""
    questions = list(ORDINARY[kind](language))
    if (kind, language) == ("nli", "de"):  # of which we have none
        assert questions == []
    else:
        assert len(questions) == len(set(questions)) == 6
        assert len({len(said(question)) for question in questions}) > 3


def test_a_hidden_word_of_an_ordinary_question_is_its_own_answer() -> None:
    for language in LANGUAGES:
        for question in ORDINARY["masked"](language):
            assert isinstance(question, Fill)
            assert question.blank.of(question.text) == question.answer


def test_a_model_that_cannot_read_the_language_is_asked_in_another() -> None:
    latin = Table(lambda question: (-1.0,) if said(question).isascii() else Answer.none("unknown word"))
    questions, answers = Case(latin, "zh").ordinary
    assert questions == list(ORDINARY["masked"]("en"))
    assert answers == [Answer((-1.0,))] * len(questions)


def test_questions_without_an_answer_are_left_aside() -> None:
    """The others are asked again, together: what is compared with them later was asked without those, too."""
    several = [question for question in ORDINARY["masked"]("en") if len(said(question)) > 50]
    table = Table(lambda question: (-1.0,) if question in several else Answer.none("too short"))
    questions, _ = Case(table, "en").ordinary
    assert 2 < len(several) < 6
    assert questions == table.asked[-len(several) :] == several


def test_of_a_very_large_dataset_every_so_many_items_are_looked_at(
    becpro: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "ENOUGH", 10)
    small, large = replace(becpro, items=becpro.items[:10]), replace(becpro, items=becpro.items[:95])
    kept, thinned = Case(Table({}), "en", [small, large]).samples
    assert kept is small
    assert thinned.items == large.items[::10]


@pytest.mark.parametrize("language", LANGUAGES)
def test_shuffling_keeps_the_words_and_the_last_mark_and_loses_the_order(language: str) -> None:
    assert len(plain_sentences(language)) >= 8
    for text in plain_sentences(language):
        mixed = shuffle_words(text, language)
        assert mixed != text
        assert sorted(s.of(mixed) for s in words(mixed)) == sorted(s.of(text) for s in words(text))
        assert mixed[-1] == text[-1]


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_plain_inferences_are_balanced(language: str) -> None:
    given = [example.label for example in plain_inferences(language)]
    assert {given.count(label) for label in LABELS} == {len(given) // 3}
    assert len(given) >= 24


def test_a_language_that_we_have_nothing_of_has_no_texts() -> None:
    assert plain_sentences("fr") == ()
    assert plain_inferences("de") == ()
