"""Samples keep partners together and groups in proportion."""

from collections import Counter

import pytest

from evenhand import BadInput, datasets
from evenhand.auditing.sampling import sampled


def test_two_hundred_items_of_becpro_are_a_hundred_pairs() -> None:
    dataset = datasets.load("becpro-en")
    items = sampled(dataset, 200, 0).items
    pairs = Counter(tuple(v for k, v in item.groups.items() if k not in ("gender", "person")) for item in items)
    assert set(pairs.values()) == {2}
    assert len(pairs) == 100
    groups = Counter(item.groups["prof_gender"] for item in items)
    assert set(groups) == {"male", "female", "balanced"}
    assert max(groups.values()) - min(groups.values()) <= 2


def test_sets_of_inference_keep_their_shares() -> None:
    dataset = datasets.load("nli-en")
    before, after = (
        Counter(item.groups["set"] for item in items) for items in (dataset.items, sampled(dataset, 300, 1).items)
    )
    assert after["pro"] == after["anti"]
    for name, n in before.items():
        assert after[name] / 300 == pytest.approx(n / len(dataset.items), abs=0.02)


def test_items_without_partners_are_drawn_one_by_one() -> None:
    dataset = datasets.load("tgb")
    items = sampled(dataset, 31, 0).items
    assert len(items) == 31
    assert set(Counter(item.groups["category"] for item in items).values()) <= {10, 11}


def test_a_sample_is_in_order_seeded_and_part_of_a_larger_one() -> None:
    dataset = datasets.load("becpro-en")
    order = {item.id: place for place, item in enumerate(dataset.items)}
    small, large, other = ([i.id for i in sampled(dataset, n, seed).items] for n, seed in ((50, 3), (500, 3), (50, 4)))
    assert small == sorted(small, key=order.__getitem__)
    assert set(small) < set(large)
    assert small != other
    assert sampled(dataset, 5400, 0) is dataset


def test_partners_do_not_fit_into_one() -> None:
    with pytest.raises(BadInput, match="`limit` must be at least 2 for 'becpro-en'"):
        sampled(datasets.load("becpro-en"), 1, 0)
