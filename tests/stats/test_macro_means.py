"""The interval of a mean of set means: sets count alike, clusters go whole, strata stay as they were chosen."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats import macro_means
from evenhand.stats.intervals import Floats
from evenhand.stats.macro_means import _Side, _Tables, macro_interval


class Items(NamedTuple):
    """A value for each item, and the set, word and caption it belongs to."""

    values: Floats
    sets: list[str]
    words: list[str]
    captions: list[str]

    def interval(self, rng: np.random.Generator, *, crossed: bool = True) -> tuple[float, float]:
        return macro_interval(self.values, self.sets, self.words, rng, crossed=self.captions if crossed else None)


def drawn(rng: np.random.Generator, words: int = 20, captions: int = 12, odd_captions: float = 0.1) -> Items:
    """Pairs of a world in which the true value is 1/2: words and captions with effects of their own.

    Two words in three are in the sets pro and anti, the others in non, each with every caption.
    """
    kinds = [(word, s) for word in range(words) for s in (("pro", "anti") if word < words * 2 // 3 else ("non",))]
    word = np.repeat([word for word, _ in kinds], captions)
    caption = np.tile(range(captions), len(kinds))
    effects = rng.normal(0, 0.15, words)[word] + rng.normal(0, odd_captions, captions)[caption]
    values = 0.5 + effects + rng.normal(0, 0.1, len(word))
    sets = [s for _, s in kinds for _ in range(captions)]
    return Items(values, sets, word.astype(str).tolist(), caption.astype(str).tolist())


@pytest.mark.parametrize(
    ("words", "odd_captions", "most"),
    [
        (30, 0.0, 0.98),  # bootstrap over words
        (9, 0.0, 1.0),  # jackknife, with three words in one stratum: wide
        (24, 0.1, 1.0),  # words and captions
    ],
)
def test_intervals_cover_the_truth_as_often_as_they_say(
    words: int, odd_captions: float, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(macro_means, "DRAWS", 500)
    rng = np.random.default_rng(7)
    samples = (drawn(rng, words, 4 if odd_captions == 0 else 12, odd_captions) for _ in range(400))
    found = (sample.interval(rng, crossed=odd_captions > 0) for sample in samples)
    assert 0.925 <= np.mean([low <= 0.5 <= high for low, high in found]) <= most


def test_clusters_go_whole_and_strata_stay() -> None:
    """With words that never differ within a stratum there is nothing to resample."""
    sets = [name for name in ("pro", "anti", "non") for _ in range(10)]
    values = np.array([{"pro": 0.9, "anti": 0.3, "non": 0.6}[name] for name in sets])
    words = [f"{n % 10}{name == 'non'}" for n, name in enumerate(sets)]
    assert macro_interval(values, sets, words, np.random.default_rng(0)) == pytest.approx((0.6, 0.6))


def test_a_small_set_counts_as_much_as_a_large_one() -> None:
    values = np.concatenate([np.random.default_rng(0).normal(0, 0.1, 400), np.random.default_rng(1).normal(1, 0.1, 10)])
    sets, words = ["large"] * 400 + ["small"] * 10, [str(n) for n in range(410)]
    low, high = macro_interval(values, sets, words, np.random.default_rng(0))
    assert values.mean() < low < 0.5 < high


def test_a_stratum_of_one_cluster_leaves_no_interval() -> None:
    values = np.random.default_rng(0).normal(size=21)
    sets, words = ["pro"] * 10 + ["anti"] * 10 + ["non"], [*map(str, range(10)), *map(str, range(10)), "alone"]
    assert np.isnan(macro_interval(values, sets, words, np.random.default_rng(0))).all()


def test_what_crosses_nothing_changes_nothing() -> None:
    items = drawn(np.random.default_rng(0))
    alone = items.interval(np.random.default_rng(1), crossed=False)
    renamed = [f"another {word}" for word in items.words]
    for crossed in (["same"] * len(renamed), renamed):
        found = macro_interval(items.values, items.sets, items.words, np.random.default_rng(1), crossed=crossed)
        assert found == alone


def test_odd_captions_make_the_interval_wider_where_they_are_taken_for_a_sample() -> None:
    items = drawn(np.random.default_rng(0), words=60, odd_captions=0.5)
    low, high = items.interval(np.random.default_rng(1), crossed=False)
    lower, higher = items.interval(np.random.default_rng(1))
    assert lower < low < high < higher


def test_very_many_clusters_get_the_interval_that_a_bootstrap_would_give() -> None:
    values = np.random.default_rng(0).normal(size=2100)
    sets, words = [str(n % 3) for n in range(2100)], [str(n) for n in range(2100)]
    few = macro_interval(values[:2000], sets[:2000], words[:2000], np.random.default_rng(0))
    many = macro_interval(values, sets, words, np.random.default_rng(0))
    assert many[1] - many[0] == pytest.approx(few[1] - few[0], rel=0.1)


@pytest.mark.parametrize(
    ("agreed", "signed", "wider"),
    [  # than the interval of a set that agrees on what is no share: below, above
        (0.0, False, (False, True)),
        (1.0, False, (True, False)),
        (0.0, True, (True, True)),
        (-1.0, True, (False, True)),
        (-1.0, False, (False, False)),
    ],
)
def test_a_set_that_agrees_leaves_room_for_doubt(agreed: float, signed: bool, wider: tuple[bool, bool]) -> None:
    other = np.random.default_rng(0).integers(0, 2, 10).astype(float)
    sets, words = ["agreed"] * 10 + ["other"] * 10, [str(n) for n in range(20)]

    def around(value: float) -> tuple[float, float]:
        """How far the ends are from the value."""
        values = np.concatenate([np.full(10, value), other])
        low, high = macro_interval(values, sets, words, np.random.default_rng(1), signed=signed)
        return values.mean() - low, high - values.mean()

    (below, above), (least, most) = around(agreed), around(0.4)
    assert (below > least + 0.01, above > most + 0.01) == wider


@given(st.integers(0, 2**31), st.booleans())
def test_the_fast_way_is_the_slow_way(seed: int, crossed: bool) -> None:
    """Tables of sums give what averaging the resampled items gives."""
    rng = np.random.default_rng(seed)
    items = drawn(rng, words=9, captions=4)
    which = np.unique(items.sets, return_inverse=True)[1]
    sides = [_Side.of(clusters, which) for clusters in ((items.words, items.captions) if crossed else (items.words,))]
    times = [rng.integers(0, 3, side.size).astype(float) for side in sides]
    for count in times:
        count[:] += count.sum() == 0
    fast = _Tables(items.values, which, sides).value([count[np.newaxis] for count in times])[0]
    again = np.ones(len(which), dtype=int)
    for side, count in zip(sides, times, strict=True):
        again *= count[side.index].astype(int)
    resampled = np.repeat(np.arange(len(which)), again)
    parts = [items.values[resampled][which[resampled] == s] for s in range(3)]
    slow = np.mean([part.mean() for part in parts]) if all(map(len, parts)) else math.nan
    assert fast == pytest.approx(slow, nan_ok=True)
