"""NLI-CoAL and its kin: which labels count, what ties and missing sets give, and what intervals cover."""

import math
import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand
from evenhand import Answer, BadInput, Entail, NliPair, Score, Table, measures
from evenhand.core.items import Groups
from evenhand.core.scores import MacroMean, summarised
from evenhand.stats import macro_means
from evenhand.stats.macro_means import macro_interval
from evenhand.suites import OF_INFERENCE

E, N, C = ((0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8))  # entailment, neutral, contradiction
TIE = (0.45, 0.45, 0.1)
BY = {"by": ("set",), "cluster": "word"}


def answer(probabilities: Sequence[float]) -> Answer:
    return Answer(tuple(math.log(p) for p in probabilities))


def pair(id: str, set: str, word: str = "nurse") -> NliPair:
    return NliPair(id, f"The {word} sleeps {id}.", f"The woman sleeps {id}.", {"set": set, "word": word})


@pytest.mark.parametrize(
    ("measure", "set", "scores"),
    [  # of the labels entailment, neutral, contradiction, and of a tie of the first two
        ("nli-coal", "pro", (1, 0, 0, 0.5)),
        ("nli-coal", "anti", (0, 0, 1, 0)),
        ("nli-coal", "non", (1, 0, 1, 0.5)),
        ("nli-coal-weighted", "pro", (0.8, 0.1, 0.1, 0.45)),
        ("nli-coal-weighted", "anti", (0.1, 0.1, 0.8, 0.1)),
        ("nli-coal-weighted", "non", (0.9, 0.2, 0.9, 0.55)),
        ("fraction-neutral", "pro", (1, 0, 1, 0.5)),
        ("net-neutral", "pro", (0.1, 0.8, 0.1, 0.45)),
        ("fraction-entailment", "anti", (1, 0, 0, 0.5)),
        ("fraction-contradiction", "anti", (0, 0, 1, 0)),
    ],
)
def test_the_score_of_each_label(measure: str, set: str, scores: tuple[float, ...]) -> None:
    how, item = measures.load(measure), pair("1", set)
    assert how.ask(item) == (Entail(item.premise, item.hypothesis),)
    assert [how.score(item, [answer(p)]) for p in (E, N, C, TIE)] == pytest.approx(scores)


def test_all_three_labels_equal_share_the_point() -> None:
    item = pair("1", "non")
    assert measures.load("nli-coal").score(item, [Answer((-1.0,) * 3)]) == pytest.approx(2 / 3)
    assert measures.load("fraction-neutral").score(item, [Answer((-1.0,) * 3)]) == pytest.approx(2 / 3)


def test_a_model_that_is_always_neutral_is_unbiased_by_every_measure() -> None:
    items = [pair(str(i), set, f"w{i % 20}{set == 'non'}") for set in ("pro", "anti", "non") for i in range(40)]
    items = [NliPair(f"{item.groups['set']}{item.id}", item.premise, item.hypothesis, item.groups) for item in items]
    sure = Table(lambda question: answer((1e-9, 1 - 2e-9, 1e-9)))
    for name in OF_INFERENCE:
        how = measures.load(name)
        assert evenhand.measure(sure, items, how, **BY).value == pytest.approx(how.neutral, abs=1e-8)


def test_each_set_counts_a_third_however_large() -> None:
    sizes = {"pro": 2, "anti": 3, "non": 50}
    items = [pair(f"{set}{i}", set, f"{set}{i}") for set, n in sizes.items() for i in range(n)]
    model = Table(lambda question: answer(E if "pro" in question.premise else N))
    result = evenhand.measure(model, items, measures.load("nli-coal"), by=("set",))
    assert {v.groups.get("set"): v.value for v in result.values} == {
        None: pytest.approx(1 / 3),
        "pro": 1,
        "anti": 0,
        "non": 0,
    }
    neutral = evenhand.measure(model, items, measures.load("fraction-neutral"), by=("set",))
    assert neutral.value == pytest.approx(2 / 55)


def test_without_one_of_the_sets_there_is_no_number_but_a_reason() -> None:
    items = [pair(str(i), "pro", f"w{i}") for i in range(9)]
    result = evenhand.measure(Table(lambda question: answer(E)), items, measures.load("nli-coal"), **BY)
    whole, pro = result.values
    assert math.isnan(whole.value)
    assert math.isnan(whole.low)
    assert (whole.note, whole.n) == ("no scored items of set anti, non", 9)
    assert (pro.value, pro.note) == (1, "")


def test_unscored_items_of_a_set_are_missing_too() -> None:
    items = [pair(f"{set}{i}", set, f"{set}{i}") for set in ("pro", "anti", "non") for i in range(9)]
    model = Table(lambda question: Answer.none("too long") if "non" in question.premise else answer(E))
    whole = evenhand.measure(model, items, measures.load("nli-coal"), **BY).values[0]
    assert (whole.note, whole.n, whole.unscored) == ("no scored items of set non", 18, 9)


def test_a_pair_of_no_set_is_refused() -> None:
    with pytest.raises(BadInput, match="needs the group set, one of pro, anti, non"):
        evenhand.measure(Table(lambda question: answer(E)), [NliPair("1", "A.", "B.")], measures.load("nli-coal"))


def drawn(rng: np.random.Generator, words: int = 20, captions: int = 12, odd_captions: float = 0.1) -> list[Score]:
    """Pairs of a world in which the true value is 1/2: words and captions with effects of their own."""
    of_caption = rng.normal(0, odd_captions, captions)
    scores = []
    for word in range(words):
        stereotyped = word < words * 2 // 3
        effect = rng.normal(0, 0.15)
        for set in ("pro", "anti") if stereotyped else ("non",):
            for caption in range(captions):
                value = 0.5 + effect + of_caption[caption] + rng.normal(0, 0.1)
                groups: Groups = {"set": set, "word": str(word), "template": str(caption)}
                scores.append(Score(f"{set}{word}-{caption}", value, groups))
    return scores


def spread(scores: Sequence[Score], rng: np.random.Generator, crossed: bool = True) -> tuple[float, float]:
    sets, words, templates = ([s.groups[name] for s in scores] for name in ("set", "word", "template"))
    values = np.array([s.value for s in scores])
    return macro_interval(values, sets, words, rng, crossed=templates if crossed else None)


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
    hits = [low <= 0.5 <= high for low, high in (spread(sample, rng, odd_captions > 0) for sample in samples)]
    assert 0.925 <= np.mean(hits) <= most


def test_clusters_go_whole_and_strata_stay() -> None:
    """With words that never differ within a stratum there is nothing to resample."""
    value = {"pro": 0.9, "anti": 0.3, "non": 0.6}
    scores = [
        Score(f"{set}{w}", value[set], {"set": set, "word": f"{w}{set == 'non'}", "template": "1"})
        for set in value
        for w in range(10)
    ]
    assert spread(scores, np.random.default_rng(0), crossed=False) == pytest.approx((0.6, 0.6))


def test_where_all_agree_there_is_room_for_doubt() -> None:
    groups = [{"set": s, "word": f"{w}{s == 'non'}"} for s in ("pro", "anti", "non") for w in range(10)]
    scores = [Score(str(i), 0.0, g) for i, g in enumerate(groups)]
    for how in (measures.load("nli-coal"), measures.load("fraction-neutral")):
        whole = next(summarised(scores, how.summarise, **BY, bounds=how.bounds))
        assert (whole.value, whole.low) == (0, 0)
        assert 0.05 < whole.high < 0.3


def test_a_single_word_of_a_kind_has_no_interval() -> None:
    groups = [{"set": s, "word": f"{w}{s == 'non'}"} for s in ("pro", "anti") for w in range(10)]
    scores = [Score(str(i), float(i % 2), g) for i, g in enumerate([*groups, {"set": "non", "word": "singer"}])]
    whole = next(summarised(scores, MacroMean("set", ("pro", "anti", "non")), **BY))
    assert math.isnan(whole.low)
    assert not math.isnan(whole.value)


@given(st.integers(0, 2**31), st.booleans())
def test_the_fast_way_is_the_slow_way(seed: int, crossed: bool) -> None:
    """Tables of sums give what scoring the resampled items gives."""
    from evenhand.stats.macro_means import _Side, _Tables

    rng = np.random.default_rng(seed)
    scores = drawn(rng, words=9, captions=4)
    sets = np.unique([s.groups["set"] for s in scores], return_inverse=True)[1]
    names = ("word", "template") if crossed else ("word",)
    sides = [_Side.of([s.groups[name] for s in scores], sets) for name in names]
    times = [rng.integers(0, 3, side.size).astype(float) for side in sides]
    for count in times:
        count[:] += count.sum() == 0
    drawn_items = [
        s
        for i, s in enumerate(scores)
        for _ in range(int(np.prod([count[side.index[i]] for side, count in zip(sides, times, strict=True)])))
    ]
    fast = _Tables(np.array([s.value for s in scores]), sets, sides).value([count[np.newaxis] for count in times])[0]
    slow = MacroMean("set", ("pro", "anti", "non"))(drawn_items)
    assert fast == pytest.approx(slow, nan_ok=True)


def test_a_large_set_has_its_interval_at_once() -> None:
    rng = np.random.default_rng(0)
    scores = drawn(rng, words=270, captions=20)
    start = time.process_time()
    value = next(summarised(scores, MacroMean("set", ("pro", "anti", "non")), cluster="word", crossed="template"))
    assert time.process_time() - start < 3
    assert value.low < value.value < value.high
