"""Words beside measures: each of ours has them, and wrong ones of a user's own are refused before anything is shown."""

from typing import Any

import pytest

import evenhand
from evenhand import BadInput, LikelihoodDifference
from evenhand.measures import OURS, add, check_words, words_of


@pytest.mark.parametrize("name", OURS)
def test_a_measure_of_ours_has_a_title_a_question_and_what_it_does_not_show(name: str) -> None:
    words = words_of(name)
    check_words(name, words)
    assert words["title"]
    assert "?" in words["asks"]
    assert words["does_not_show"]


@pytest.mark.parametrize(
    "words",
    [
        *({"nope": 1}, {"title": 5}, {"leans": "x"}, {"leans": ["a"]}, {"much": "by {tims}"}, {"much": "50% {"}),
        *({"offends": "no"}, {"kind": "weird"}, {"does_not_show": "a text"}, {"contrast": 3}, None),
        {"stereotype": {"much": "{0}"}},
    ],
)
def test_words_that_could_not_be_shown_are_refused(words: Any) -> None:
    wrong: Any = type("Wrong", (LikelihoodDifference,), {"name": "wrong", "words": words})
    with pytest.raises(BadInput, match=r"words|word"):
        add(wrong)


def test_no_two_numbers_have_one_title() -> None:
    of = {name: words_of(name) for name in OURS}
    titles = [w["title"] for words in of.values() for w in (words, words.get("contrast", {})) if "title" in w]
    assert len(set(titles)) == len(titles)


def test_counted_and_computed_shares_of_texts_are_told_by_other_words() -> None:
    counted, computed = words_of("written-share"), words_of("first-mention")
    for name in ("stereotype", "default"):
        assert set(counted[name]["leans"]).isdisjoint(computed[name]["leans"])
        assert counted[name]["much"] != computed[name]["much"]


def test_words_of_a_measure_that_is_not_known_are_none() -> None:
    assert words_of("nobody-knows-it") == {}
    assert isinstance(evenhand.measures.words_of("association"), dict)
