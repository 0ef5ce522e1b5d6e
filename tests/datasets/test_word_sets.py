"""Association tests of our own: equal sets, partners among the attributes, and sentences that are grammatical."""

import json
import re
import tomllib
from collections import Counter
from functools import cache
from itertools import groupby, product
from pathlib import Path

import pytest

from evenhand import BadInput, datasets
from evenhand.core.dataset import Kinds
from evenhand.core.items import Target, TargetSentence
from evenhand.datasets.becpro import professions
from evenhand.datasets.files import read_toml
from evenhand.datasets.gendered import gender
from helpers.typed import all_of

TOPICS, LANGUAGES = ("professions", "emotions", "placebo"), ("en", "de")
BOTH = list(product(TOPICS, LANGUAGES))


@cache
def targets(kind: str, topic: str, language: str) -> list[Target]:
    return all_of(Target, datasets.load(f"{kind}-{topic}-{language}").items)


@pytest.mark.parametrize(("topic", "language"), BOTH)
def test_the_two_sets_of_a_test_are_equal_in_size_and_share_no_word(topic: str, language: str) -> None:
    items = targets("weat", topic, language)
    tests = {item.groups.get("test") for item in items}
    assert len(tests) == (6 if topic == "placebo" else 1)
    for test in tests:
        sides = [
            {i.groups["word"] for i in items if (i.groups.get("test"), i.groups["side"]) == (test, s)} for s in "XY"
        ]
        assert [len(side) for side in sides] == [8 if topic == "placebo" else 12] * 2
        assert not sides[0] & sides[1]
        assert len({(i.groups["side"], i.groups["set"]) for i in items if i.groups.get("test") == test}) == 2


@pytest.mark.parametrize(("topic", "language"), BOTH)
def test_words_stand_by_themselves_in_weat_and_in_four_sentences_in_seat(topic: str, language: str) -> None:
    alone, sentences = targets("weat", topic, language), targets("seat", topic, language)
    assert {type(item) for item in alone} == {Target}
    assert {type(item) for item in sentences} == {TargetSentence}
    for item in alone:
        for text, span in item.words_asked():
            assert span.of(text) == text
            assert " " not in text
    assert [i.place[1].of(i.place[0]) for i in sentences[::4]] == [item.place[0] for item in alone]
    groups = [{**item.groups, "template": number} for item, number in product(alone, "1234")]
    assert [item.groups for item in sentences] == groups
    for text, span in {place for item in sentences for place in item.words_asked()}:
        assert re.fullmatch(r"[A-Z][\w ]+\.", text)
        assert span.of(text) in text.removesuffix(".").split()


@pytest.mark.parametrize(("kind", "language"), list(product(("weat", "seat"), LANGUAGES)))
def test_attributes_are_partners_by_position_which_differ_in_the_person_word_alone(kind: str, language: str) -> None:
    for topic in TOPICS:
        items = targets(kind, topic, language)
        assert all(item.paired for item in items)
        assert len({item.attributes for item in items}) == 1
        partners = list(zip(*items[0].attributes, strict=True))
        assert len({(one[1].of(one[0]), other[1].of(other[0])) for one, other in partners}) == 10
        for places in partners:
            around = [text[: span.start] + text[span.stop :] for text, span in places]
            without_articles = {re.sub(r"\b(der|die|das)\b", "", text) for text in around}
            assert len(without_articles) == 1
    words = [{span.of(text): None for text, span in side} for side in items[0].attributes]
    pairs = list(zip(*words, strict=True))
    expected = {"en": [("he", "she"), ("uncle", "aunt")], "de": [("Junge", "Mädchen"), ("Onkel", "Tante")]}[language]
    assert set(expected) <= set(pairs)


@pytest.mark.parametrize("language", LANGUAGES)
def test_jobs_are_on_the_side_of_those_who_hold_them_in_becpro(language: str) -> None:
    known = {job.name: job for job in professions()}
    (test,) = read_toml(f"word-sets-{language}.toml")["professions"]["tests"]
    for side, held_by in (("X", "male"), ("Y", "female")):
        (words,) = test[side]["words"].values()
        assert len(words) == len(test[side]["becpro"])
        for word, name in zip(words, test[side]["becpro"], strict=True):
            assert known[name].prof_gender == held_by, word


def test_a_german_job_has_both_forms_so_that_grammar_is_the_same_on_both_sides() -> None:
    items = targets("weat", "professions", "de")
    assert Counter((i.groups["side"], i.groups["form"]) for i in items) == dict.fromkeys(
        product("XY", ("masculine", "feminine")), 12
    )
    for word, forms in groupby(items, key=lambda item: item.groups["word"]):
        masculine, feminine = forms
        assert word == f"{masculine.place[0]}/{feminine.place[0]}"
        assert (masculine.groups["form"], feminine.groups["form"]) == ("masculine", "feminine")
        assert feminine.place[0].endswith("in")
    assert datasets.load("weat-professions-de").by == ("form",)
    assert "form" in datasets.load("weat-professions-de").flaws


def test_german_placebo_words_have_as_many_masculine_as_feminine_ones_in_each_set() -> None:
    items = targets("seat", "placebo", "de")
    articles = Counter(
        (i.groups["test"], i.groups["side"], i.place[0].split()[2]) for i in items if i.groups["template"] == "1"
    )
    assert set(articles.values()) == {4}
    assert {article for _, _, article in articles} == {"der", "die"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("seat-professions-en", "They mean the carpenter."),
        ("seat-professions-de", "Gemeint ist der Logopäde."),
        ("seat-professions-de", "Hier ist die Logopädin."),
        ("seat-emotions-en", "Somebody here is tearful."),
        ("seat-emotions-de", "Wir sind wütend."),
        ("seat-placebo-de", "Es war die Pfütze."),
    ],
)
def test_sentences_have_the_article_of_their_word(name: str, text: str) -> None:
    assert [item.id for item in all_of(Target, datasets.load(name).items) if item.place[0] == text]


@pytest.mark.parametrize(("topic", "language"), BOTH)
def test_kinds_are_the_sides_but_for_words_that_no_stereotype_divides(topic: str, language: str) -> None:
    for kind in ("weat", "seat"):
        dataset = datasets.load(f"{kind}-{topic}-{language}")
        assert dataset.kinds == (None if topic == "placebo" else Kinds("side", female=("Y",), male=("X",)))
        assert (dataset.cluster, dataset.language) == ("word", language)
        assert dataset.by == {"placebo": ("test",), "professions": ("form",)[: language == "de"]}.get(topic, ())
    assert targets("weat", "professions", "en")[9].id == "professions/carpenter"


def test_placebo_words_are_no_gendered_words_and_no_words_of_the_other_tests() -> None:
    words = [item.place[0] for item in targets("weat", "placebo", "en")]
    others = {item.place[0] for topic in TOPICS[:2] for item in targets("weat", topic, "en")}
    assert not [word for word in words if gender(word)]
    assert not set(words) & others


INTERESTS = Path(__file__).parents[2] / "examples" / "interests.toml"


def own(folder: Path, **changed: object) -> Path:
    """The example as a file, with some keys changed or, where None, left out."""
    data = tomllib.loads(INTERESTS.read_text(encoding="utf-8")) | changed
    lines = (f"{key} = {json.dumps(value)}\n" for key, value in data.items() if value is not None)
    (folder / "own.toml").write_text("".join(lines), encoding="utf-8")
    return folder / "own.toml"


def test_a_file_of_ones_own_is_a_test_of_the_stereotype() -> None:
    data = datasets.load("templates", file=str(INTERESTS))
    assert (data.name, data.language, data.kinds) == ("interests", "en", Kinds("side", ("Y",), ("X",)))
    items = all_of(Target, data.items)
    assert Counter(item.groups["side"] for item in items) == {"X": 8, "Y": 8}
    assert items[0].paired
    assert [(a[0], b[0]) for a, b in zip(*items[0].attributes, strict=True)][:2] == [("he", "she"), ("man", "woman")]


def test_other_attributes_than_men_and_women_have_no_stereotype(tmp_path: Path) -> None:
    path = own(tmp_path, men=None, women=None, paired=None, A=["good", "kind"], B=["bad", "cruel"])
    data = datasets.load("templates", file=str(path))
    assert data.kinds is None
    assert not all_of(Target, data.items)[0].paired


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"Y": ["physics", "poetry"]}, r"one of X, Y, men, women only. In two of them: \['physics'\]"),
        ({"X": ["he", "chess"]}, r"In two of them: \['he'\]"),
        ({"women": ["she", "man", "girl", "mother", "daughter", "sister"]}, r"In two of them: \['man'\]"),
        ({"women": ["she"]}, "of equal size if they are `paired`"),
        ({"women": None}, "'women' is missing"),
        ({"Y": None}, "'Y' is missing"),
        ({"A": ["good"]}, "Unknown key 'A'"),
        ({"X": ["chess", "chess"]}, "'X' has 'chess' twice"),
        ({"X": "chess"}, "'X' must be a list of words"),
        ({"paired": "yes"}, "'paired' must be true or false. Got 'yes'"),
    ],
)
def test_a_file_of_ones_own_that_makes_no_test_is_refused(
    changed: dict[str, object], says: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=says):
        datasets.load("templates", file=str(own(tmp_path, **changed)))
