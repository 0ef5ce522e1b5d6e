"""A dataset is checked before anything is measured with it."""

import pytest

from evenhand import BadInput
from evenhand.core.dataset import Dataset
from evenhand.core.items import LONGEST, Item, NliPair, Pair


def made(*items: Item) -> Dataset:
    return Dataset(name="made", items=items)


def test_two_items_with_one_id_are_refused() -> None:
    with pytest.raises(BadInput, match="two items with the id 'a'"):
        made(Pair("a", "He is.", "She is."), Pair("b", "He is.", "She is."), Pair("a", "He was.", "She was."))


@pytest.mark.parametrize(
    "item",
    [
        Pair("\ud800", "He is.", "She is."),
        Pair("a", "He is \udfff.", "She is."),
        NliPair("a", "A man.", "\udc80"),
        Pair("a", "He is.", "She is.", {"category": "\ud800"}),
    ],
)
def test_half_of_a_surrogate_pair_is_refused_wherever_it_is(item: Item) -> None:
    with pytest.raises(BadInput, match="Item .* surrogate"):
        made(item)


def test_a_text_far_longer_than_a_sentence_is_refused() -> None:
    longest = "x" * (LONGEST - 3)
    assert len(made(Pair("a", f"He {longest}", "She")).items) == 1
    with pytest.raises(BadInput, match="10,001"):
        made(Pair("a", f"He {longest}x", "She"))
