"""StereoSet: what the release has, the words in its blanks, and files that are not as they should be."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evenhand import BadInput, Triple, datasets
from helpers import made_stereoset
from helpers.typed import all_of


@pytest.fixture
def made(shelf: Path) -> Path:
    made_stereoset.write(shelf)
    return shelf


def changed(made: Path, **first: Any) -> None:
    """The file with other values in the first item of intrasentence."""
    content = made_stereoset.release()
    content["data"]["intrasentence"][0].update(first)
    made_stereoset.write(made, content)


def test_the_word_in_the_blank_is_what_the_sentence_has_there(made: Path) -> None:
    items = all_of(Triple, datasets.load("stereoset-intrasentence").items)
    assert items[0].fillers == ("caring", "stern", "vegetable")
    assert items[5].context == "The Carpenter I met was BLANK?"  # and the sentence: The carpenter i met was burly?
    assert items[5].filled[0][0] == "The Carpenter I met was burly?"
    text, places = items[6].filled[2]
    assert text == "The poet is iron and so iron."
    assert [place.of(text) for place in places] == ["iron", "iron"]


def test_terms_are_clusters_and_types_of_bias_groups(made: Path) -> None:
    both = datasets.load("stereoset")
    assert (both.by, both.within, both.cluster) == (("bias_type",), "task", "target")
    assert Counter(item.groups["task"] for item in both.items) == {"intrasentence": 7, "intersentence": 4}
    gender = datasets.load("stereoset", bias="gender")
    assert {item.groups["target"] for item in gender.items} == {"sister"}
    assert gender.by == ()
    with pytest.raises(BadInput, match="bias.*'sex'"):
        datasets.load("stereoset", bias="sex")
    with pytest.raises(BadInput, match="religion"):
        datasets.load("stereoset", bias="religion")


def test_the_table_has_the_ids_of_the_sentences(made: Path) -> None:
    table = datasets.load("stereoset-intersentence").table()
    assert table["anti-stereotype id"].tolist()[0] == "0 anti-stereotype"
    assert table["anti-stereotype"].tolist()[0] == "She is rude to everyone."


@pytest.mark.parametrize(
    ("first", "says"),
    [
        ({"target": " "}, "item 1 .*target.*' '"),
        ({"target": 3}, "target.*3"),
        ({"context": "No blank at all."}, "BLANK"),
        ({"context": "The nurse is BLANK."}, "BLANK.*The nurse was"),
        ({"sentences": []}, "stereotype or anti-stereotype or unrelated"),
        ({"sentences": "none"}, "list"),
        ({"sentences": [{"gold_label": "stereotype"}]}, "labelled anti-stereotype or unrelated"),
        ({"id": "8"}, "two items with the id '8'"),
    ],
)
def test_a_wrong_item_is_named(made: Path, first: dict[str, Any], says: str) -> None:
    changed(made, **first)
    with pytest.raises(BadInput, match=says):
        datasets.load("stereoset-intrasentence")


def test_an_item_without_its_unrelated_sentence_is_named(made: Path) -> None:
    content = made_stereoset.release()
    del content["data"]["intersentence"][1]["sentences"][0]
    made_stereoset.write(made, content)
    with pytest.raises(BadInput, match="item 2 of intersentence.*unrelated"):
        datasets.load("stereoset")
    assert len(datasets.load("stereoset-intrasentence").items) == 7  # which does not need them


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "3", '{"data": {}}', '{"data": {"intrasentence": 3}}', "[" * 99_999]
)
def test_a_file_of_another_shape_is_refused(made: Path, content: str) -> None:
    made_stereoset.write(made, content)
    with pytest.raises(BadInput, match="dev.json.*Fetch"):
        datasets.load("stereoset-intrasentence")


def test_a_triple_needs_its_texts() -> None:
    with pytest.raises(BadInput, match="unrelated"):
        Triple("1", "a", "b", "", "c")
    with pytest.raises(BadInput, match="BLANK"):
        Triple("1", "a", "b", "c", "no blank", fillers=("a", "b", "c"))
    with pytest.raises(BadInput, match="BLANK"):
        Triple("1", "a", "b", "c", "a BLANK", fillers=("a", "b", " "))


def test_the_release_is_complete(data: Path) -> None:
    items = all_of(Triple, datasets.load("stereoset").items)
    assert Counter(item.groups["task"] for item in items) == {"intrasentence": 2106, "intersentence": 2123}
    assert len({item.groups["target"] for item in items}) == 79
    assert Counter(item.groups["bias_type"] for item in items if item.fillers) == {
        "race": 962,
        "profession": 810,
        "gender": 255,
        "religion": 79,
    }
    odd = [item.context for item in items if item.context.count("BLANK") != 1 and item.fillers]
    assert len(odd) == 2
    release = json.loads((data / "stereoset" / "dev.json").read_text(encoding="utf-8"))
    assert [row["id"] for task in ("intersentence", "intrasentence") for row in release["data"][task]] == [
        item.id for item in items
    ]
