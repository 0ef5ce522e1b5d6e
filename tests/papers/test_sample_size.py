"""Samples of growing size: drawn without replacement from what was scored, and grown into the whole."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenhand import BadInput
from evenhand.papers.equalising import by_size

POWERS = pd.DataFrame({"category": "a", "score": [(-2.0) ** i for i in range(10)]})
"""Sums of distinct powers of two give their terms away."""


def noisy() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"category": ["a"] * 100 + ["b"] * 30, "score": rng.normal(size=130)})


def test_a_group_has_every_draw_of_every_size_up_to_its_own() -> None:
    found = by_size(noisy())
    assert list(found) == ["category", "size", "draw", "value"]
    sizes = {"a": (20, 40, 60, 80, 100), "b": (20,)}
    wanted = [(group, size, draw) for group, of in sizes.items() for size in of for draw in range(1, 6)]
    assert list(zip(found["category"], found["size"], found["draw"], strict=True)) == wanted


@pytest.mark.parametrize("size", range(1, 10))
def test_a_value_is_the_mean_size_of_that_many_different_items(size: int) -> None:
    for value in by_size(POWERS, sizes=(size,), draws=20)["value"]:
        total = round(value * size)
        assert total == pytest.approx(value * size)
        assert total.bit_count() == size  # each item at most once, its sign left out


def test_draws_differ_from_each_other() -> None:
    assert by_size(POWERS, sizes=(5,), draws=20)["value"].nunique() > 10


def test_samples_grow_into_the_whole() -> None:
    frame = noisy()
    found = by_size(frame)
    whole = found[(found["category"] == "a") & (found["size"] == 100)]["value"]
    assert whole.tolist() == pytest.approx([frame["score"].head(100).abs().mean()] * 5)
    spread: Any = found[found["category"] == "a"].groupby("size")["value"].std()
    assert spread[20] > spread[80] > spread[100]


def test_unscored_items_are_never_drawn_and_make_a_group_smaller() -> None:
    frame = pd.concat([POWERS, pd.DataFrame({"category": "a", "score": [np.nan] * 10})], ignore_index=True)
    pd.testing.assert_frame_equal(by_size(frame, sizes=(4, 10)), by_size(POWERS, sizes=(4, 10)))
    assert by_size(frame, sizes=(11,)).empty


def test_groups_may_be_of_any_name_and_do_not_mix() -> None:
    frame = pd.DataFrame({"kind": ["x", "y"] * 5, "score": [1.0, -3.0] * 5})
    found = by_size(frame, by="kind", sizes=(2, 5))
    assert found.groupby("kind")["value"].unique().map(list).to_dict() == {"x": [1.0], "y": [3.0]}


def test_nothing_to_draw_from_is_an_empty_table_with_its_columns() -> None:
    found = by_size(noisy(), sizes=(101,))
    assert found.empty
    assert list(found) == ["category", "size", "draw", "value"]


def test_the_seed_alone_decides_what_is_drawn() -> None:
    frame = noisy()
    assert by_size(frame, seed=3).equals(by_size(frame, seed=3))
    assert not by_size(frame, seed=3).equals(by_size(frame, seed=4))


@pytest.mark.parametrize("wrong", [{"sizes": (20, 0)}, {"sizes": (-1,)}, {"draws": 0}])
def test_samples_of_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="at least 1"):
        by_size(noisy(), **wrong)
