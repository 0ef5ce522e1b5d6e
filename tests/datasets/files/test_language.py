"""Which texts pass for English."""

import pytest

from evenhand import BadInput, datasets
from evenhand.checks.base import plain_sentences
from evenhand.core.items import Pair
from evenhand.datasets.corpora.texts import documents
from evenhand.datasets.files.language import check_language, not_english

OTHERS = {
    "Dutch": "De verpleegster zei dat zij niet naar huis gaat.",
    "French": "Elle est médecin et il est infirmier.",
    "German": "Sie ist Ärztin.",
    "Italian": "La dottoressa non è la sorella di lui.",
    "Portuguese": "Ela não é uma enfermeira.",
    "Spanish": "La doctora es la hermana del enfermero.",
}


@pytest.mark.parametrize("language", OTHERS)
def test_a_sentence_shows_its_language(language: str) -> None:
    assert not_english([OTHERS[language]]).startswith(f"The texts seem to be {language}:")


@pytest.mark.parametrize("text", ["彼女は医者です。", "她是医生。", "Она врач.", "هي طبيبة", "그녀는 의사입니다."])
def test_letters_that_are_not_latin_are_not_english(text: str) -> None:
    assert "Latin" in not_english([text])


def test_a_language_without_a_list_shows_in_a_longer_text() -> None:
    polish = "Lekarka powiedziała, że jest zmęczona, ponieważ pracowała całą noc. "
    assert not_english([polish]) == ""  # too little to tell
    assert "English function words" in not_english([polish] * 20)


def test_english_passes_sentence_by_sentence() -> None:
    tgb = [item.stereotype for item in datasets.load("tgb").items if isinstance(item, Pair)]
    for text in (*tgb, *plain_sentences("en"), *list(documents("balanced"))[:500]):
        assert not_english([text]) == ""


@pytest.mark.parametrize("text", ["", "Heroes die.", "Nurse", "Ludwig van Beethoven", "1, 2, 3"])
def test_what_shows_nothing_passes(text: str) -> None:
    check_language([text], None)


def test_the_user_knows_better() -> None:
    check_language([OTHERS["German"]], "en")
    with pytest.raises(BadInput, match="'ja'"):
        check_language(["She left."], "ja")
