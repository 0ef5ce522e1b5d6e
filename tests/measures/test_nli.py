"""NLI-CoAL and its kin: which labels count, what ties and missing sets give, and that no interval leaves 0 to 1."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

import evenhand
from evenhand import Answer, BadInput, Entail, NliPair, Table, measures
from evenhand.suites import SUITES
from helpers.typed import only

E, N, C = ((0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8))  # entailment, neutral, contradiction
TIE = (0.45, 0.45, 0.1)
BY: dict[str, Any] = {"by": ("set",), "cluster": "word"}


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
    for _, name in SUITES["nli"]["en"]:
        how = measures.load(name)
        assert evenhand.measure(sure, items, how, **BY).value == pytest.approx(how.neutral, abs=1e-8)


def test_each_set_counts_a_third_however_large() -> None:
    sizes = {"pro": 2, "anti": 3, "non": 50}
    items = [pair(f"{set}{i}", set, f"{set}{i}") for set, n in sizes.items() for i in range(n)]
    model = Table(only(Entail, lambda question: answer(E if "pro" in question.premise else N)))
    result = evenhand.measure(model, items, measures.load("nli-coal"), by=("set",))
    of_sets = {v.groups.get("set"): v.value for v in result.estimates}
    assert of_sets == {None: pytest.approx(1 / 3), "pro": 1, "anti": 0, "non": 0}
    neutral = evenhand.measure(model, items, measures.load("fraction-neutral"), by=("set",))
    assert neutral.value == pytest.approx(2 / 55)


def test_without_one_of_the_sets_there_is_no_number_but_a_reason() -> None:
    items = [pair(str(i), "pro", f"w{i}") for i in range(9)]
    result = evenhand.measure(Table(lambda question: answer(E)), items, measures.load("nli-coal"), **BY)
    whole, pro = result.estimates
    assert math.isnan(whole.value)
    assert math.isnan(whole.low)
    assert (whole.note, whole.n) == ("no scored items of set anti, non", 9)
    assert (pro.value, pro.note) == (1, "")


def test_unscored_items_of_a_set_are_missing_too() -> None:
    items = [pair(f"{set}{i}", set, f"{set}{i}") for set in ("pro", "anti", "non") for i in range(9)]
    model = Table(only(Entail, lambda question: Answer.none("too long") if "non" in question.premise else answer(E)))
    whole = evenhand.measure(model, items, measures.load("nli-coal"), **BY).estimates[0]
    assert (whole.note, whole.n, whole.unscored) == ("no scored items of set non", 18, 9)


def test_a_pair_of_no_set_is_refused() -> None:
    with pytest.raises(BadInput, match="group `set`"):
        evenhand.measure(Table(lambda question: answer(E)), [NliPair("1", "A.", "B.")], measures.load("nli-coal"))


@pytest.mark.parametrize("name", ["nli-coal", "fraction-neutral"])
def test_where_all_labels_agree_there_is_room_for_doubt(name: str) -> None:
    items = [pair(f"{s}{w}", s, f"{w}{s == 'non'}") for s in ("pro", "anti", "non") for w in range(10)]
    whole = evenhand.measure(Table(lambda question: answer(N)), items, measures.load(name), **BY).estimates[0]
    assert (whole.value, whole.low) == (0, 0)
    assert 0.05 < whole.high < 0.3


def test_the_released_formula_asks_pairs_with_unknown_words_too() -> None:
    one = pair("1", "pro")
    for formula, unknown in {"paper": False, "released": True}.items():
        asked = measures.load("nli-coal", formula=formula).ask(one)
        assert asked == (Entail(one.premise, one.hypothesis, unknown=unknown),)
    with pytest.raises(BadInput, match="formula"):
        measures.load("nli-coal", formula="publshed")
