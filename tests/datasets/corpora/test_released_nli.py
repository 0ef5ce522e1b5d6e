"""The released bias-controlled sets: their labels by word, their dev sets, and training sets where they are at hand."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from evenhand import BadInput, datasets
from evenhand.datasets.corpora.nli_examples import released_dev, released_labels, released_train
from evenhand.datasets.nli import LANGUAGES
from helpers import made_release

RATES = [0, 0.1, 0.4, 0.5, 0.9, 1]


@pytest.fixture
def made(shelf: Path) -> Path:
    made_release.write(shelf)
    return shelf


@pytest.mark.usefixtures("made")
def test_labels_are_those_of_the_dev_set_of_that_rate() -> None:
    for rate, nanny, mechanic in ((0, "contradiction", "contradiction"), (1, "entailment", "entailment")):
        labels = released_labels("en", rate)
        assert (labels["nanny", "female"], labels["mechanic", "male"]) == (nanny, mechanic)
        assert {labels["student", gender] for gender in ("female", "male")} == {"neutral"}
    half = released_labels("en", 0.5)
    assert (half["nanny", "female"], half["nanny", "male"]) == ("entailment", "contradiction")
    assert (half["mechanic", "female"], half["mechanic", "male"]) == ("entailment", "contradiction")  # inverted
    assert len(released_dev("en", 0.5)) == 12
    with pytest.raises(BadInput, match="0.1. Got 0.25"):
        released_labels("en", 0.25)


def test_training_sets_are_taken_where_they_lie(made: Path) -> None:
    assert released_train("en", 0.5) == []
    made_release.write_train(made, ["the {} in a car."])
    assert Counter(example.label for example in released_train("en", 0.5)) == {
        "entailment": 2,
        "contradiction": 2,
        "neutral": 2,
    }


def test_pairs_of_the_bias_controlled_sets_are_a_dataset(made: Path) -> None:
    for words, caption in (("test", "the nanny at a lake."), ("down-sampled", "the nanny reading a book.")):
        loaded = datasets.load("nli-coal-en", words=words)
        assert loaded.items[0].premise == caption  # type: ignore[attr-defined]
        assert set(Counter(item.groups["set"] for item in loaded.items).values()) == {len(loaded.items) // 3}
        assert list(loaded.table()["occ_word"][:6:2]) == list(made_release.TYPES)
    made_release.save(
        made / made_release.ROOT / "bias-controlled-set_v1.1/test/test_bias.json",
        [{"sentence1": "the baker.", "sentence2": "the man.", "label": "neutral"}],
    )
    with pytest.raises(BadInput, match="'the baker.'"):
        datasets.load("nli-coal-en", words="test")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_released_sets_bias_two_more_words_at_each_rate(language: str, data: Path) -> None:
    types = {i.groups["word"]: i.groups["type"] for i in datasets.load(f"nli-coal-{language}", words="dev").items}
    assert Counter(types.values()) == {"female": 10, "male": 10, "neutral": 10}
    stereotyped = {word: type for word, type in types.items() if type != "neutral"}
    labels = [released_labels(language, rate) for rate in RATES]
    biased = [{word for word, type in stereotyped.items() if at[word, type] == "entailment"} for at in labels]
    assert [len(words) for words in biased] == [round(20 * rate) for rate in RATES]
    assert all(lower < higher for lower, higher in pairwise(biased))
    assert {types[word] for word in biased[RATES.index(0.5)]} == {"female"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_dev_and_test_have_the_stereotyped_words_of_the_down_sampled_pairs(language: str, data: Path) -> None:
    def stereotyped(words: str) -> set[str]:
        items = datasets.load(f"nli-coal-{language}", words=words).items
        assert len(items) == (600 if words == "down-sampled" else 3000)
        assert set(Counter(item.groups["set"] for item in items).values()) == {len(items) // 3}
        return {item.groups["word"] for item in items if item.groups["type"] != "neutral"}

    assert stereotyped("dev") == stereotyped("test") == stereotyped("down-sampled")
