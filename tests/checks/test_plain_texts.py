"""Plain texts: shuffling keeps the words, and guessing one label gets a third of the inferences."""

import pytest

from evenhand.checks import plain_texts
from evenhand.core.words import words
from evenhand.models.loading.labels import LABELS


@pytest.mark.parametrize("language", plain_texts.LANGUAGES)
def test_shuffling_keeps_the_words_and_loses_the_order(language: str) -> None:
    assert len(plain_texts.sentences(language)) >= 8
    for text in plain_texts.sentences(language):
        mixed = plain_texts.shuffle_words(text, language)
        assert mixed != text
        assert sorted(s.of(mixed) for s in words(mixed)) == sorted(s.of(text) for s in words(text))


def test_the_last_mark_stays_at_its_place() -> None:
    for language in plain_texts.LANGUAGES:
        for text in plain_texts.sentences(language):
            assert plain_texts.shuffle_words(text, language)[-1] == text[-1]


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_plain_inferences_are_balanced(language: str) -> None:
    found = [example.label for example in plain_texts.inferences(language)]
    assert {found.count(label) for label in LABELS} == {len(found) // 3}
    assert len(found) >= 24


def test_a_language_that_we_have_nothing_of_has_no_texts() -> None:
    assert plain_texts.sentences("fr") == ()
    assert plain_texts.inferences("de") == ()
