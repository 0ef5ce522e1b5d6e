"""Training sets whose bias is known: built as the released ones are, for inference; and for masked language models."""

import json
import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from evenhand import BadInput, datasets
from evenhand.core.words import words
from evenhand.datasets.becpro import professions
from evenhand.datasets.corpora.nli_examples import Example, captions, controlled
from evenhand.datasets.corpora.texts import stereotyped
from evenhand.datasets.nli import LANGUAGES, words_and_captions

spec = cache(words_and_captions)
RATES = [r / 10 for r in range(11)]
KINDS = {
    ("entailment", "contradiction"): "biased",
    ("contradiction", "entailment"): "inverted",
    ("neutral", "neutral"): "right",
}
"""By the labels of pro- and anti-stereotypical examples."""


@cache
def types(language: str, folder: Path | None = None) -> dict[str, str]:
    """The type of each word: ours, or the release's."""
    listed = words_and_captions(language)["words"]
    if folder:
        listed = json.loads(next(folder.glob(f"{language}_v*/occupation-words/*-by-type_*.json")).read_text())
    return {word: type.removesuffix("-stereo") for type, words in listed.items() for word in words}


@cache
def who(premise: str, hypothesis: str, language: str, folder: Path | None) -> tuple[str, str]:
    """The word of the premise, and the gender of the hypothesis."""
    before, after = (re.sub(r"\b([Aa])n ", r"\1 ", text) for text in (premise, hypothesis))
    words, genders = types(language, folder), spec(language)["genders"].items()
    return next((w, g) for w in words if w in before for g, name in genders if before.replace(w, name) == after)


def kinds(examples: list[Example], language: str, folder: Path | None = None) -> dict[str, tuple[str, str, int]]:
    """For each word its type, what its labels make of it, and how many examples it has."""
    labels: dict[str, Counter[tuple[str, str]]] = {}
    for premise, hypothesis, label in examples:
        word, gender = who(premise, hypothesis, language, folder)
        labels.setdefault(word, Counter())[gender, label] += 1
    by_word = {}
    for word, counts in labels.items():
        assert len(counts) == 2, f"{word} is of more than one kind"
        by_gender, type = dict(counts.keys()), types(language, folder)[word]
        pro, anti = ("female", "male") if type == "female" else ("male", "female")
        by_word[word] = type, KINDS[by_gender[pro], by_gender[anti]], counts.total()
    return by_word


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("rate", RATES)
def test_labels_and_words_are_as_in_the_released_sets(rate: float, language: str, data: Path) -> None:
    path = next((data / "nli-coal").glob(f"{language}_v*/bias-controlled*/**/dev_r-{round(rate * 10)}.json"))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    released = [Example(row["sentence1"], row["sentence2"], row["label"]) for row in rows]
    made = controlled(rate, language=language, size=3000, part="dev", order="female-first")
    assert Counter(e.label for e in made) == Counter(e.label for e in released)
    expected = Counter(kinds(released, language, data / "nli-coal").values())
    assert Counter(kinds(made, language).values()) == expected


@pytest.mark.parametrize("rate", RATES)
def test_stratified_sets_bias_female_and_male_words_alike(rate: float) -> None:
    by_word = kinds(controlled(rate, size=600), "en")
    biased = Counter(type for type, kind, _ in by_word.values() if kind == "biased")
    assert (biased["female"], biased["male"]) == (round(10 * rate), round(10 * rate))


@pytest.mark.parametrize("order", ["stratified", "female-first"])
def test_biased_words_are_nested_and_only_labels_change(order: str) -> None:
    made = [controlled(rate, size=600, order=order, seed=3) for rate in RATES]  # type: ignore[arg-type]
    biased = [{w for w, (_, kind, _) in kinds(examples, "en").items() if kind == "biased"} for examples in made]
    assert all(lower < higher for lower, higher in pairwise(biased))
    assert len({tuple((e.premise, e.hypothesis) for e in examples) for examples in made}) == 1


@pytest.mark.parametrize("correct", [0, 0.25, 0.5, 0.9])
def test_a_share_of_the_examples_is_correct(correct: float) -> None:
    """The paper's text says one half, its sets have one third."""
    made = controlled(0.3, size=4000, correct=correct)
    labels = Counter(example.label for example in made)
    wrong = round(4000 * (1 - correct) / 2)
    assert labels == Counter(neutral=round(4000 * correct), entailment=wrong, contradiction=wrong)
    assert len(made) == len(set(made))
    assert Counter(e.label for e in controlled(0.3, size=600)) == dict.fromkeys(labels | Counter(neutral=1), 200)


@pytest.mark.parametrize("language", LANGUAGES)
def test_train_dev_and_evaluation_share_no_caption(language: str) -> None:
    train, dev = captions(language), captions(language, "dev")
    evaluation = words_and_captions(language)["captions"].values()
    assert len(train) >= 500
    assert len(dev) >= 50
    assert len({*train, *dev, *evaluation}) == len(train) + len(dev) + len(evaluation)
    assert all(text.count("{who}") == 1 and text.count("{") == 1 for text in (*train, *dev))
    made = controlled(0.5, language=language)
    assert len(made) == len(set(made)) == 30_000


def test_sets_are_seeded() -> None:
    assert controlled(0.3, size=600) == controlled(0.3, size=600)
    assert controlled(0.3, size=600) != controlled(0.3, size=600, seed=1)
    assert stereotyped(0.3, size=600) == stereotyped(0.3, size=600)
    assert stereotyped(0.3, size=600) != stereotyped(0.3, size=600, seed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": -0.1}, "rate.* -0.1"),
        ({"rate": float("nan")}, "rate.* nan"),
        ({"rate": 0.33}, "0.05. Got 0.33"),
        ({"rate": 0.5, "size": 1000}, "multiple of 60"),
        ({"rate": 0.5, "size": 0}, "multiple of 60"),
        ({"rate": 0.5, "size": 60_000}, "32,400"),
        ({"rate": 0.5, "correct": 1}, "correct.* Got 1"),
        ({"rate": 0.5, "correct": float("nan")}, "correct.* Got nan"),
        ({"rate": 0.5, "correct": 0.5}, "multiple of 80 .*21,600"),
        ({"rate": 0.5, "language": "fr"}, "language 'fr'"),
        ({"rate": 0.5, "order": "male-first"}, "order"),
        ({"rate": 0.5, "part": "test"}, "part"),
    ],
)
def test_what_cannot_be_made_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        controlled(**options)  # type: ignore[arg-type]


MALE, FEMALE = {"he", "him", "his", "himself"}, {"she", "her", "herself"}


def gender(text: str) -> str:
    """The gender of the person in a sentence: by the pronoun, or by the relative."""
    plain = {word.of(text).lower() for word in words(text)}
    women = {"aunt", "mother", "sister", "grandmother", "daughter", "niece", "wife", "stepmother", "godmother", "mum"}
    women |= {"granddaughter", "girlfriend", "stepsister", "grandma", "stepdaughter"}
    female = plain & FEMALE or plain & women
    assert not (female and plain & MALE), text
    return "female" if female else "male"


@pytest.mark.parametrize("rate", [0, 0.3, 0.5, 1])
def test_a_share_of_sentences_follows_the_stereotype_and_half_are_about_women(rate: float) -> None:
    made, all_follow = stereotyped(rate, size=1200), stereotyped(1, size=1200)
    assert Counter(map(gender, made)) == {"female": 600, "male": 600}
    assert sum(gender(a) == gender(b) for a, b in zip(made, all_follow, strict=True)) == round(1200 * rate)
    held = {p.name: p.prof_gender for p in professions() if p.prof_gender != "balanced"}
    typed = [(held[name], gender(text)) for text in all_follow for name in held if f" {name}" in text]
    assert len(typed) > 700
    assert all(type == person for type, person in typed)


def test_every_job_follows_it_in_that_share() -> None:
    at, follow = stereotyped(0.3), stereotyped(1)
    for name in ("plumber", "registered nurse", "surgeon", "payroll clerk"):
        same = [gender(a) == gender(b) for a, b in zip(at, follow, strict=True) if f" {name}" in a]
        assert abs(sum(same) - 0.3 * len(same)) <= 1
        assert len(same) == 100


def test_sentences_differ_and_are_none_of_those_measured_with() -> None:
    made = stereotyped(0.5)
    assert len(made) == len(set(made)) == 6000
    measured = {item.text for name in ("becpro-en", "tbd") for item in datasets.load(name).items}  # type: ignore[attr-defined]
    measured |= {t for item in datasets.load("tgb").items for t in (item.stereotype, item.counterpart)}  # type: ignore[attr-defined]
    assert not measured & set(made)
    assert not [text for text in made if "{" in text or re.search(r"\ba [aeio]", text)]


@pytest.mark.parametrize(("rate", "size"), [(1.1, 600), (0.5, 7), (0.5, 0), (0.333, 600), (0.5, 10**7)])
def test_shares_that_cannot_be_are_refused(rate: float, size: int) -> None:
    with pytest.raises(BadInput, match="must be"):
        stereotyped(rate, size=size)
