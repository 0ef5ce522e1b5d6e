"""Association tests on vectors, against the published formulas and figures of other people's code."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand import BadInput, Dataset, Embed, Kinds, Result, Span, Table, Target, TargetSentence
from evenhand.checks.fit import flaw_warnings
from evenhand.core.answers import NO_DIRECTION
from evenhand.core.items import Place
from evenhand.errors import ModelError
from evenhand.measures import load
from evenhand.models.cache import Remembering

PAIRS = (("he", "man", "father", "son"), ("she", "woman", "mother", "daughter"))


def alone(word: str) -> Place:
    return word, Span(0, len(word))


def targets(x: Sequence[str], y: Sequence[str], attributes: Any = PAIRS, **more: Any) -> list[Target]:
    places = tuple(tuple(map(alone, some)) for some in attributes)
    return [
        Target(word, alone(word), (places[0], places[1]), {"side": side, "word": word}, **more)
        for side, words in (("X", x), ("Y", y))
        for word in words
    ]


def table(vectors: dict[str, Sequence[float]]) -> Table:
    return Table(
        lambda asked: tuple(vectors[asked.target]) if asked.target in vectors else evenhand.Answer.none("no vector")
    )


def made(words: Sequence[str], seed: int = 0, size: int = 12) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {word: rng.normal(size=size) for word in words}


X, Y = [f"x{n}" for n in range(6)], [f"y{n}" for n in range(6)]
WORDS = [*X, *Y, *PAIRS[0], *PAIRS[1]]


def by_hand(vectors: dict[str, Any], x: Sequence[str] = X, y: Sequence[str] = Y) -> float:
    """Caliskan et al. (2017), word by word."""

    def cosine(a: str, b: str) -> float:
        one, other = vectors[a], vectors[b]
        return float(one @ other / math.sqrt(one @ one) / math.sqrt(other @ other))

    def association(word: str) -> float:
        sets = [[cosine(word, a) for a in some if a in vectors] for some in PAIRS]
        return sum(sets[0]) / len(sets[0]) - sum(sets[1]) / len(sets[1])

    of_x, of_y = [association(w) for w in x], [association(w) for w in y]
    return float((np.mean(of_x) - np.mean(of_y)) / np.std(of_x + of_y, ddof=1))


def measured(vectors: dict[str, Any], name: str = "weat", items: Sequence[Target] = (), **options: Any) -> Result:
    return evenhand.measure(table(vectors), items or targets(X, Y), load(name, **options))


def test_the_value_is_the_published_effect_size() -> None:
    vectors = made(WORDS)
    assert measured(vectors).value == pytest.approx(by_hand(vectors), rel=1e-12)


def test_a_missing_attribute_is_in_no_mean_and_sets_keep_their_sizes() -> None:
    vectors = made(WORDS)
    for word in ("y5", "son"):
        del vectors[word]
    assert measured(vectors).unscored == {"fewer than 4 attributes with vectors": 11, "no vector": 1}
    more = (("boy", *PAIRS[0]), ("girl", *PAIRS[1]))
    vectors |= made(["boy", "girl"], seed=1)
    result = measured(vectors, items=targets(X, Y, more))
    assert result.unscored == {"no vector": 1}
    assert result.estimates[0].n == 11
    vectors["son"] = np.zeros(12)  # as good as none
    assert measured(vectors, items=targets(X, Y, more)).value == result.value


def test_with_fewer_than_four_words_in_a_set_there_is_no_value() -> None:
    vectors = {word: vector for word, vector in made(WORDS).items() if word not in X[3:]}
    result = measured(vectors)
    assert math.isnan(result.value)
    assert result.estimates[0].note == "fewer than 4 words in set X"


def test_a_vector_of_zeros_is_unscored() -> None:
    result = measured(made(WORDS) | {"x0": np.zeros(12)})
    assert result.unscored == {NO_DIRECTION: 1}


@pytest.mark.parametrize(
    ("size", "reason"),
    [(1e39, "not a finite number"), (1e-46, "a vector of zeros (below 1e-38)")],
)
def test_a_vector_that_single_precision_lacks_is_unscored_without_a_warning(
    size: float, reason: str, tmp_path: Path
) -> None:
    question = Embed("nurse", Span(0, 5))
    table = Table(lambda _: (size, 0.0, size), fingerprint="table")
    (answer,) = Remembering(table, tmp_path / "answers.sqlite").answer([question])
    assert answer.note == reason


def test_the_released_test_is_one_sided() -> None:
    vectors = made(WORDS, seed=3)
    ours, released = (measured(vectors, formula=formula).estimates[0] for formula in ("paper", "released"))
    assert ours.value == released.value
    both = released.p if ours.value > 0 else 1 - released.p
    assert ours.p == pytest.approx(2 * both, abs=0.05)
    assert ours.p != released.p


def test_stereotype_is_the_effect_size_and_the_default_is_not_judged() -> None:
    vectors = made(WORDS)
    for words, near in ((X, PAIRS[0]), (Y, PAIRS[1])):
        vectors |= {word: sum(vectors[other] for other in near) + 0.3 * vectors[word] for word in words}
    kinds = evenhand.Kinds("side", female=("Y",), male=("X",))
    result = evenhand.measure(table(vectors), targets(X, Y), load("weat"), cluster="word", kinds=kinds)
    stereotype, default = result.rows
    assert (stereotype.estimand, default.estimand) == ("stereotype", "default")
    assert stereotype.value == result.value == pytest.approx(by_hand(vectors))
    assert stereotype.p_holm == pytest.approx(2 / math.comb(12, 6))
    scores = {score.id: score.value for score in result.scores}
    assert default.value == pytest.approx(-np.mean(list(scores.values())))
    assert (default.needed, math.isnan(default.p)) == (0, True)
    assert result.estimates[0].needed == 0


def test_kinds_that_turn_the_sets_round_are_refused() -> None:
    kinds = evenhand.Kinds("side", female=("X",), male=("Y",))
    with pytest.raises(BadInput, match="kinds"):
        evenhand.measure(table(made(WORDS)), targets(X, Y), load("weat"), cluster="word", kinds=kinds)


def two_tests(**sets: tuple[Sequence[str], Sequence[str]]) -> list[Target]:
    return [
        Target(f"{test}/{t.id}", t.place, t.attributes, {**t.groups, "test": test})
        for test, (x, y) in sets.items()
        for t in targets(x, y)
    ]


def test_several_tests_are_a_mean_with_a_value_each() -> None:
    vectors, halves = made(WORDS, seed=4), two_tests(one=(X, Y), two=(Y, X))
    whole, one, two = evenhand.measure(table(vectors), halves, load("weat"), by=("test",)).estimates
    assert one.value == pytest.approx(-two.value)
    assert whole.value == pytest.approx(0.0, abs=1e-12)
    assert whole.p > 0.9


def test_there_is_no_mean_of_tests_where_one_of_them_has_no_words() -> None:
    halves = two_tests(one=(X, Y), two=([f"{word}'" for word in X], [f"{word}'" for word in Y]))
    whole, one, two = evenhand.measure(table(made(WORDS)), halves, load("weat"), by=("test",)).estimates
    assert whole.note == "fewer than 4 words in set X of two, Y of two"
    assert [math.isnan(value.value) for value in (whole, one, two)] == [True, False, True]


def test_the_stereotype_of_a_test_has_the_interval_of_its_effect_size() -> None:
    kinds = evenhand.Kinds("side", female=("Y",), male=("X",))
    halves = two_tests(one=(X, Y), two=(Y, X))
    result = evenhand.measure(table(made(WORDS)), halves, load("weat"), by=("test",), cluster="word", kinds=kinds)
    effects = {tuple(of.groups.values()): (of.value, of.low, of.high) for of in result.estimates}
    stereotypes = [of for of in result.rows if of.estimand == "stereotype"]
    assert {tuple(of.groups.values()): (of.value, of.low, of.high) for of in stereotypes} == effects


def test_seat_asks_for_sentences_and_c_seat_for_words_in_them() -> None:
    text = "This is a nurse."
    place = text, Span(10, 15)
    item = TargetSentence("1", place, ((place,), (place,)), {"side": "X"})
    assert load("seat").ask(item)[0] == Embed(text, None, -1, "first")
    assert load("c-seat", pooling="mean", layer=2).ask(item)[0] == Embed(text, Span(10, 15), 2, "mean")
    assert load("weat").ask(item)[0] == Embed(text, Span(10, 15), "input", "mean")


def differences(vectors: dict[str, Any]) -> Any:
    return np.array([vectors[man] - vectors[woman] for man, woman in zip(*PAIRS, strict=True)])


def test_ripa_is_the_projection_on_the_first_component_of_the_differences() -> None:
    """The eigenvector of the sum of their outer products; with one pair, its difference (Ethayarajh et al. 2019)."""
    vectors, items = made(WORDS), targets(X, Y, paired=True)
    scores = {s.id: s.value for s in measured(vectors, "ripa", items).scores}
    _, components = np.linalg.eigh(sum(np.outer(each, each) for each in differences(vectors)))
    direction = components[:, -1] * np.sign((differences(vectors) @ components[:, -1]).sum())
    assert scores == pytest.approx({word: vectors[word] @ direction for word in (*X, *Y)})
    of_one = {s.id: s.value for s in measured(vectors, "ripa", items, pair="man-woman").scores}
    difference = vectors["man"] - vectors["woman"]
    assert of_one == pytest.approx({word: vectors[word] @ difference / np.linalg.norm(difference) for word in (*X, *Y)})


@pytest.mark.parametrize("direction", ["component", "mean"])
def test_ripa_is_above_0_towards_men_whatever_the_order_of_the_pairs(direction: str) -> None:
    man, woman = np.array([1.0, 0.2, 0.0]), np.array([-1.0, 0.1, 0.0])
    shifts = np.array([[0.0, 0, 0], [0, 3, 0], [0, 0, 5], [0, -4, 1]])
    vectors = {word: man + shift for word, shift in zip(PAIRS[0], shifts, strict=True)}
    vectors |= {word: woman + shift for word, shift in zip(PAIRS[1], shifts, strict=True)}
    vectors |= {word: np.array([2.0, 1, 1]) for word in X} | {word: np.array([-2.0, 1, 1]) for word in Y}
    for attributes, sign in ((PAIRS, 1), (PAIRS[::-1], -1)):
        items = targets(X, Y, attributes, paired=True)
        scores = {s.id: s.value for s in measured(vectors, "ripa", items, direction=direction).scores}
        assert all(sign * scores[word] > 1.9 for word in X)
        assert all(sign * scores[word] < -1.9 for word in Y)


def test_ripa_over_pairs_is_wefes_mean_of_their_projections() -> None:
    vectors, items = made(WORDS), targets(X, Y, paired=True)
    scores = {s.id: s.value for s in measured(vectors, "ripa", items, direction="mean").scores}
    for word in X:
        by_pair = [float(vectors[word] @ each / np.linalg.norm(each)) for each in differences(vectors)]
        assert scores[word] == pytest.approx(np.mean(by_pair), rel=1e-12)
    for wrong, options in (("he-her", {"pair": "he-her"}), ("direction 'sum'", {"direction": "sum"})):
        with pytest.raises(BadInput, match=wrong):
            measured(vectors, "ripa", items, **options)
    with pytest.raises(BadInput, match="pairs"):
        measured(vectors, "ripa")


def test_direct_bias_is_the_mean_cosine_with_the_first_component_of_centred_pairs() -> None:
    vectors = made(WORDS)
    unit = {word: vector / np.linalg.norm(vector) for word, vector in vectors.items()}
    centred = []
    for a, b in zip(*PAIRS, strict=True):
        middle = (unit[a] + unit[b]) / 2
        centred += [unit[a] - middle, unit[b] - middle]
    variances, directions = np.linalg.eigh(np.cov(np.array(centred).T))
    cosines = np.array([unit[word] @ directions[:, -1] for word in (*X, *Y)])
    items = targets(X, Y, paired=True)
    for c in (1.0, 0.5, 2.0):
        result = measured(vectors, "direct-bias", items, c=c)
        assert result.value == pytest.approx((np.abs(cosines) ** c).mean(), rel=1e-9)
        assert math.isnan(result.estimates[0].p)
    share = measured(vectors, "gender-direction", items)
    assert share.value == pytest.approx(variances[-1] / variances.sum(), rel=1e-9)
    he = measured(vectors, "direct-bias", targets([*X[:3], "he"], Y, paired=True))
    assert {s.id: s.value for s in he.scores}["he"] > 0
    with pytest.raises(BadInput, match="above 0"):
        load("direct-bias", c=0)


def released(data: Path, name: str) -> tuple[list[Target], list[str]]:
    content = json.loads((data / "seat" / f"{name}.jsonl").read_text(encoding="utf-8"))
    words = [content[of]["examples"] for of in ("targ1", "targ2", "attr1", "attr2")]
    return targets(words[0], words[1], words[2:]), [word for some in words for word in some]


@pytest.mark.data
@pytest.mark.parametrize(("test", "d", "one_sided"), [("5", 0.539904, None), ("6b", 0.436451, 2537 / 12870)])
def test_figures_of_sent_bias_on_word2vec_are_met(test: str, d: float, one_sided: float | None, data: Path) -> None:
    """By the released code on vectors of GoogleNews, of which the file has all words of these two."""
    model = evenhand.load(str(data / "words" / "googlenews-subset.npz"))
    result = evenhand.measure(model, released(data, f"weat{test}")[0], load("weat", formula="released"))
    assert not result.unscored
    assert result.value == pytest.approx(d, abs=5e-7)
    if one_sided is None:
        assert result.estimates[0].p == pytest.approx(0.064176, abs=0.003)  # of all partitions; here they are drawn
    else:
        assert result.estimates[0].p == pytest.approx(one_sided, abs=1e-12)


@pytest.mark.data
@pytest.mark.parametrize(("test", "d"), [("6", 0.476781), ("6b", 0.108002), ("7", 0.252509), ("7b", 0.253813)])
def test_published_encodings_of_bert_give_the_published_effects(
    test: str, d: float, data: Path, tmp_path: Path
) -> None:
    """Liang et al. 2020; the rows of each set are in the order of their numbers as texts: 0, 1, 10, 11, 2."""
    items, sentences = released(data, f"sent-weat{test}")
    vectors, start = [], 0
    with np.load(data / "published" / "seat" / f"bert-seat{test}.npz") as arrays:
        for name in ("targ1", "targ2", "attr1", "attr2"):
            rows = arrays[name][np.argsort([int(number) for number in sorted(map(str, range(len(arrays[name]))))])]
            vectors.append(rows)
            start += len(rows)
    np.savez(tmp_path / "bert.npz", words=np.array(sentences), vectors=np.concatenate(vectors))
    result = evenhand.measure(evenhand.load(str(tmp_path / "bert.npz")), items, load("weat"))
    assert start == len(sentences)
    assert result.value == pytest.approx(d, abs=5e-7)


def test_a_word_in_both_sets_is_no_test() -> None:
    items = [
        *targets(X, Y),
        *(replace(item, id="again", groups={"side": "Y", "word": X[0]}) for item in targets(X[:1], ())),
    ]
    assert measured(made(WORDS), "weat", items).estimates[0].note == f"'{X[0]}' is in both sets, X and Y"


@pytest.mark.parametrize(
    ("attributes", "word"), [((("he", X[0]), ("she", "woman")), X[0]), ((("he", "she"), ("she", "woman")), "she")]
)
def test_a_target_that_is_an_attribute_and_an_attribute_of_both_sets_are_said(attributes: Any, word: str) -> None:
    dataset = Dataset(name="own", items=targets(X, Y, attributes))
    assert list(flaw_warnings(dataset)) == [f"Words in two sets of own, each nearest to itself: {word}."]
    assert not list(flaw_warnings(Dataset(name="own", items=targets(X, Y))))


@pytest.mark.parametrize("name", ["weat", "ripa", "direct-bias"])
def test_vectors_of_different_lengths_are_an_error_of_the_model(name: str) -> None:
    vectors = made(WORDS)
    with pytest.raises(ModelError, match=r"same length. 'table' gave lengths \[11, 12\]"):
        measured(vectors | {"man": vectors["man"][:-1]}, name, targets(X, Y, paired=True))


@pytest.mark.parametrize(("distance", "order"), [("euclidean", 2), ("manhattan", 1)])
def test_another_distance_takes_the_place_of_the_cosine(distance: str, order: int) -> None:
    vectors = made(WORDS)

    def association(word: str) -> float:
        far = [[np.abs(vectors[word] - vectors[a]) ** order for a in some] for some in PAIRS]
        first, second = (np.mean([each.sum() ** (1 / order) for each in side]) for side in far)
        return float(second - first)

    of_x, of_y = [association(word) for word in X], [association(word) for word in Y]
    d = (np.mean(of_x) - np.mean(of_y)) / np.std(of_x + of_y, ddof=1)
    assert measured(vectors, distance=distance).value == pytest.approx(d, rel=1e-12)
    with pytest.raises(BadInput, match="distance 'cosin'"):
        load("weat", distance="cosin")


def test_neighbours_are_counted_as_if_both_sets_were_of_one_size() -> None:
    """Angles of 10 to 80 degrees: the four nearest of x0, at 0, are three of four in the first set and one of six."""
    at = {"he": 10, "man": 20, "father": 30, "son": 70, "she": 40, "woman": 50, "mother": 60, "daughter": 65}
    at |= {"aunt": 75, "niece": 80} | dict.fromkeys([*X, *Y], 0)
    vectors = {word: 2 * np.array([math.cos(math.radians(n)), math.sin(math.radians(n))]) for word, n in at.items()}
    items = targets(X, Y, (PAIRS[0], (*PAIRS[1], "aunt", "niece")))
    scores = measured(vectors, "bias-by-neighbours", items, k="4").scores
    assert [s.value for s in scores] == pytest.approx([(3 / 4) / (3 / 4 + 1 / 6)] * len(scores))
    assert {s.note for s in measured(vectors, "bias-by-neighbours", items).scores} == {
        "no more than 10 attributes with vectors"
    }
    for wrong in (0, "many", 1.5):
        with pytest.raises(BadInput, match="`k`, the number of neighbours"):
            load("bias-by-neighbours", k=wrong)


@pytest.mark.usefixtures("without_pages", "unexamined")
def test_words_of_a_stereotype_keep_together_when_the_gender_direction_is_gone(data: Path, tmp_path: Path) -> None:
    """Gonen and Goldberg (2019), on jobs that Bolukbasi et al. (2016) had rated as stereotyped."""
    arrays = np.load(data / "words" / "googlenews-subset.npz")
    rows = dict(zip(arrays["words"].tolist(), arrays["vectors"].astype(float), strict=True))
    pairs = json.loads((data / "debiaswe" / "definitional_pairs.json").read_text())
    direction = np.linalg.svd(np.array([rows[man] - rows[woman] for woman, man in pairs]))[2][0]
    neutral = {word: vector - (vector @ direction) * direction for word, vector in rows.items()}
    rated = json.loads((data / "debiaswe" / "professions.json").read_text())
    jobs = [(word, rating) for word, gender, rating in rated if abs(gender) < 0.3 and word in rows]
    women = [word for word, rating in jobs if rating <= -0.3]
    men = [word for word, rating in jobs if rating >= 0.3][: len(women)]
    items = targets(men[::2], women[::2], (men[1::2], women[1::2]))
    kinds = Kinds("side", ("Y",), ("X",))
    values = []
    for name, vectors in (("before", rows), ("after", neutral)):
        np.savez(tmp_path / f"{name}.npz", words=list(vectors), vectors=np.array(list(vectors.values()), np.float32))
        jobs_data = Dataset(name="jobs", items=items, cluster="word", kinds=kinds)
        run = evenhand.audit(tmp_path / f"{name}.npz", dataset=jobs_data, measure="bias-by-neighbours", out=tmp_path)
        values.append(next(row for row in run.rows if row.estimand == "stereotype"))
    before, after = values
    assert before.value > after.value
    assert after.verdict.word == "above"
