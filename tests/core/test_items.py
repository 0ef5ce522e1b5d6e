"""Items: each has its own groups, and its score keeps them; a pair of one sentence is refused."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from evenhand import Association, BadInput, Blank, Measure, NliPair, Pair, Pronoun, Sentence, Span, Table, measure
from evenhand.core.items import Item, texts
from evenhand.measures.likelihood import LikelihoodLean
from evenhand.measures.nli import NetNeutral
from helpers.audited_runs import noise

JOBS = {"nurse": {"job": "nurse", "gender": "female"}, "smith": {"job": "smith", "gender": "male"}, "cook": {}}


class Kind(NamedTuple):
    """Items of one kind, one for each job, and a measure that can score them."""

    items: Sequence[Any]
    how: Measure[Any]


def text(job: str) -> str:
    return f"She is a {job}."


KINDS = {
    "Sentence": Kind(
        [Sentence(j, text(j), Span(0, 3), Span(9, 9 + len(j)), g) for j, g in JOBS.items()], Association()
    ),
    "Blank": Kind([Blank(j, text(j), Span(0, 3), ("he", "she"), g) for j, g in JOBS.items()], Pronoun()),
    "Pair": Kind([Pair(j, text(j), f"He is a {j}.", g) for j, g in JOBS.items()], LikelihoodLean()),
    "NliPair": Kind([NliPair(j, f"A {j} is here.", "A woman is here.", g) for j, g in JOBS.items()], NetNeutral()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_item_has_the_groups_it_was_given(kind: str) -> None:
    found: dict[str, Item] = {item.id: item for item in KINDS[kind].items}
    assert {name: dict(item.groups) for name, item in found.items()} == JOBS


@pytest.mark.parametrize("kind", KINDS)
def test_a_score_has_the_groups_of_its_item_and_no_others(kind: str) -> None:
    items, how = KINDS[kind]
    result = measure(Table(lambda question: (-0.5, -1.0, -2.0)), reversed(items), how)
    assert {score.id: dict(score.groups) for score in result.scores} == JOBS


@pytest.mark.parametrize("kind", KINDS)
def test_a_groups_value_is_that_of_the_items_in_it(kind: str) -> None:
    items, how = KINDS[kind]
    table = Table(lambda question: (noise(repr(question)) - 3,) * 3)
    scored = [item for item in items if item.groups]
    result = measure(table, scored, how, by=("gender",))
    alone = {item.groups["gender"]: measure(table, [item], how).value for item in scored}
    found = {value.groups["gender"]: value.value for value in result.estimates[1:]}
    assert found == pytest.approx(alone)
    assert alone["female"] != alone["male"]


def test_without_groups_an_item_has_none_and_shares_them_with_nobody() -> None:
    one, other = (Blank(name, "___ works.", Span(0, 3), ("he", "she")) for name in "ab")
    assert one.groups == {}
    assert one.groups is not other.groups


def test_a_pair_of_the_same_sentence_twice_is_refused() -> None:
    with pytest.raises(BadInput, match="differ"):
        Pair("7", "She works.", "She works.")


def test_a_pair_knows_the_words_in_which_it_differs() -> None:
    pair = Pair("1", "He lost his hat.", "She lost her hat.")
    here, there = pair.changed
    assert [span.of(pair.stereotype) for span in here] == ["He", "his"]
    assert [span.of(pair.counterpart) for span in there] == ["She", "her"]


def test_items_read_as_people_would_write_them() -> None:
    read = {kind: texts(items[0]) for kind, (items, _) in KINDS.items()}
    assert read == {
        "Sentence": ("She is a nurse.", ""),
        "Blank": ("[he/she] is a nurse.", ""),
        "Pair": ("She is a nurse.", "He is a nurse."),
        "NliPair": ("A nurse is here.", "A woman is here."),
    }
