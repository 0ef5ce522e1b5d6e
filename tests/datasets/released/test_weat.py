"""WEAT and SEAT: every sentence has its word, attributes are partners where they are, and what is wrong with a file."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from evenhand import BadInput, datasets
from evenhand.core.dataset import Kinds
from evenhand.core.items import Target, TargetSentence
from evenhand.datasets.files.releases import RELEASES
from evenhand.datasets.kinds import TRAITS
from evenhand.datasets.word_sets import Weat
from helpers.typed import all_of

WORDS: dict[str, Any] = {
    "targ1": {"category": "BigBoats", "examples": ["ferry", "oars", "ferry boat", "s"]},
    "targ2": {"category": "Hats", "examples": ["beret", "hers", "her"]},
    "attr1": {"category": "MaleTerms", "examples": ["man", "his"]},
    "attr2": {"category": "FemaleTerms", "examples": ["woman", "hers"]},
}
SENTENCES: dict[str, list[str]] = {
    "targ1": ["This is a ferry.", "Ferries are there.", "An oar is a thing.", "A ferry boat.", "Nothing of it."],
    "targ2": ["There is her beret.", "It is her.", "This is hers."],
    "attr1": ["These are men.", "It is his."],
    "attr2": ["These are women.", "It is hers."],
}
ENDINGS = [("s$", ""), ("es$", ""), ("ies$", "y"), ("men$", "man"), ("child$", "children")]


def write(shelf: Path, words: object, sentences: object = None) -> None:
    (shelf / "seat").mkdir()
    for name, content in (("weat7.jsonl", words), ("sent-weat7.jsonl", sentences)):
        text = content if isinstance(content, str) else json.dumps(content)
        (shelf / "seat" / name).write_text(text, encoding="utf-8")


def test_a_word_is_found_in_its_sentence_in_the_plural_and_the_singular(shelf: Path) -> None:
    write(shelf, WORDS, {key: {**WORDS[key], "examples": SENTENCES[key]} for key in WORDS})
    items = all_of(TargetSentence, datasets.load("seat", test="7").items)
    assert [(i.groups["word"], i.place[1].of(i.place[0])) for i in items] == [
        ("ferry", "ferry"),
        ("ferry", "Ferries"),
        ("oars", "oar"),
        ("ferry boat", "ferry boat"),
        ("Nothing of it", "Nothing of it"),  # none of the words: the sentence without its full stop
        ("her", "her"),
        ("her", "her"),
        ("hers", "hers"),  # a word itself, not the plural of her
    ]
    assert [[span.of(text) for text, span in side] for side in items[0].attributes] == [
        ["men", "his"],
        ["women", "hers"],
    ]
    assert items[0].groups == {"test": "7", "side": "X", "set": "big boats", "word": "ferry"}
    assert {item.paired for item in items} == {True}
    alone = all_of(Target, datasets.load("weat", test="7").items)
    assert [(item.id, item.place[0]) for item in alone] == [
        (f"7/{w}", w) for w in ("ferry", "oars", "ferry boat", "s", "beret", "hers", "her")
    ]


def test_terms_of_unequal_number_are_no_partners(shelf: Path) -> None:
    write(shelf, {**WORDS, "attr1": {"category": "MaleTerms", "examples": ["man"]}})
    assert not all_of(Target, datasets.load("weat", test="7").items)[0].paired


@pytest.mark.parametrize("test", [*get_args(Weat), *TRAITS])
def test_every_sentence_of_the_release_has_a_word_of_its_set(test: str, data: Path) -> None:
    words, sentences = (all_of(Target, datasets.load(name, test=test).items) for name in ("weat", "seat"))
    for item in words:
        assert item.place[1].of(item.place[0]) == item.place[0] == item.groups["word"]
    listed, used = ({(item.groups["side"], item.groups["word"]) for item in items} for items in (words, sentences))
    assert listed - used == ({("Y", "sick")} if test == "9" else set())  # which has no sentence
    assert used <= listed
    known = {i.place[0].lower() for i in words} | {w.lower() for side in words[0].attributes for w, _ in side}
    for text, span in {place for item in sentences for place in item.words_asked()}:
        form = span.of(text).lower()
        assert not re.search(r"\b(is|are|this|that|these|those|things?|people)\b", form)
        assert {form, form + "s", *(re.sub(end, new, form) for end, new in ENDINGS)} & known, text


def test_counts_and_directions_are_those_of_the_release(data: Path) -> None:
    words, sentences = datasets.load("weat"), datasets.load("seat")
    assert Counter(item.groups["test"] for item in words.items) == dict.fromkeys(("6", "6b", "7", "7b", "8", "8b"), 16)
    of_tests = {"6": 128, "6b": 160, "7": 144, "7b": 144, "8": 112, "8b": 112}
    assert Counter(item.groups["test"] for item in sentences.items) == of_tests
    for dataset in (words, sentences):
        items = all_of(Target, dataset.items)
        sides = {(i.groups["test"], i.groups["side"]): i.groups["set"] for i in items}
        assert (sides["6", "X"], sides["6b", "Y"], sides["7", "X"]) == ("male names", "female terms", "math")
        assert {i.groups["test"] for i in items if i.paired} == {"7", "8"}
        assert dataset.kinds == Kinds("side", female=("Y",), male=("X",))
        assert (dataset.by, dataset.cluster) == (("test",), "word")
    assert datasets.load("seat", test="5b").kinds is None
    double_bind = [
        datasets.load("seat", test=f"{trait}{longer}") for trait in TRAITS for longer in ("", "-sentence", "-1+3-")
    ]
    assert [len(each.items) for each in double_bind] == [128, 16, 16] * 2
    assert all(each.kinds == dataset.kinds for each in double_bind)
    first = all_of(Target, double_bind[0].items)[0]
    of_john = first.groups["word"], first.groups["set"], first.attributes[0][0][0]
    assert of_john == ("John", "male", "This is competent.")
    assert len(datasets.load("weat", test="likable").items) == 16
    with pytest.raises(BadInput, match="take the dataset seat"):
        datasets.load("weat", test="likable-sentence")
    assert datasets.load("seat", test="8b").by == ()


@pytest.mark.parametrize("test", ["7", "8"])
def test_paired_attributes_differ_in_the_gendered_word_alone(test: str, data: Path) -> None:
    item = all_of(Target, datasets.load("seat", test=test).items)[0]
    pairs = set()
    for (one, first), (other, second) in zip(*item.attributes, strict=True):
        assert one[: first.start] + one[first.stop :] == other[: second.start] + other[second.stop :]
        pairs.add((first.of(one).lower(), second.of(other).lower()))
    assert {("he", "she"), ("his", "hers"), ("him", "her"), ("sons", "daughters")} <= pairs


def changed(**sets: object) -> dict[str, object]:
    return {**WORDS, **sets}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({k: v for k, v in WORDS.items() if k != "attr2"}, "weat7.jsonl: 'attr2' must have a category.* Got None"),
        (changed(targ1={"category": 7, "examples": ["oar"]}), "'targ1' must have a category, a text"),
        (changed(targ1={"category": "Boats"}), "weat7.jsonl: 'examples of targ1' must be a list.* Got None"),
        (changed(targ2={"category": "Hats", "examples": []}), r"'examples of targ2' must be a list .* Got \[\]"),
        (changed(targ2={"category": "Hats", "examples": ["beret", 3]}), "'examples of targ2' must be a list of words"),
        (changed(targ2={"category": "Hats", "examples": ["cap", "cap"]}), "'examples of targ2' has 'cap' twice"),
        (changed(targ2=WORDS["targ1"]), "two items with the id '7/ferry'"),
        ([WORDS], "'targ1' must have a category"),
        ("targ1: boats", "weat7.jsonl' cannot be read: .*A test is a JSON object of targ1, targ2, attr1, attr2"),
    ],
)
def test_a_broken_file_is_named(words: object, says: str, shelf: Path) -> None:
    write(shelf, words, WORDS)
    for name in ("weat", "seat"):
        with pytest.raises(BadInput, match=says):
            datasets.load(name, test="7")
        if says.startswith("two items"):
            break  # the sentences are whole


def test_each_test_has_its_files_and_the_words_are_found_before_the_sentences() -> None:
    words = [f"weat{test}.jsonl" for test in get_args(Weat)]
    words += [f"heilman_double_bind_{trait}_one_word.jsonl" for trait in TRAITS]
    longer = [word.replace("one_word", more) for word in words[-2:] for more in ("one_sentence", "1", "1-", "1+3-")]
    assert sorted(RELEASES["weat"].files) == sorted(words)
    assert sorted(RELEASES["seat"].files) == sorted([*words, *longer, *(f"sent-{word}" for word in words)])
    assert list(RELEASES["seat"].files)[:17] == list(RELEASES["weat"].files)
