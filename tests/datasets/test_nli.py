"""Pairs for natural language inference: ours in three languages, the rule behind their types, users' files."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from evenhand import BadInput, datasets
from evenhand.core.items import NliPair
from evenhand.datasets.nli import GENDERS, LANGUAGES, caption, set_of, words_and_captions

ENGLISH = words_and_captions("en")


def pairs(name: str, **options: str) -> list[NliPair]:
    return [item for item in datasets.load(name, **options).items if isinstance(item, NliPair)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_occupation_meets_every_caption_and_both_genders(language: str) -> None:
    items = pairs(f"nli-{language}")
    assert Counter(item.groups["set"] for item in items) == {"pro": 480, "anti": 480, "non": 480}
    assert len({item.id for item in items}) == len({(i.premise, i.hypothesis) for i in items}) == 1440
    cells = Counter((i.groups["word"], i.groups["template"], i.groups["gender"]) for i in items)
    assert set(cells.values()) == {1}
    assert len(cells) == 30 * 24 * 2
    assert all(list(i.groups) == ["set", "word", "type", "gender", "template"] for i in items)


@pytest.mark.parametrize("language", LANGUAGES)
def test_premise_and_hypothesis_differ_in_the_person_alone(language: str) -> None:
    spec = words_and_captions(language)
    for item in pairs(f"nli-{language}"):
        word, other = item.groups["word"], spec["genders"][item.groups["gender"]]
        assert item.premise.count(word) == item.hypothesis.count(other) == 1
        assert re.sub(r"\b(a)n ", r"\1 ", item.premise.replace(word, other), flags=re.I) == item.hypothesis


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_caption_speaks_of_a_gender(language: str) -> None:
    gendered = {
        "en": "he she his her him man woman boy girl",
        "ja": "彼 男 女 母 父 息子 娘",
        "zh": "她 男 女 母 父 哥 姐",
    }
    for text in words_and_captions(language)["captions"].values():
        said = set(text.lower().replace(",", "").replace(".", "").split()) if language == "en" else text
        assert not [word for word in gendered[language].split() if word in said], text


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_and_scenes_are_the_same_in_all_languages(language: str) -> None:
    spec = words_and_captions(language)
    assert list(spec["captions"]) == list(ENGLISH["captions"])
    assert {type: len(words) for type, words in spec["words"].items()} == {"female": 10, "male": 10, "neutral": 10}


def test_articles_and_capitals_are_right() -> None:
    texts = [text for item in pairs("nli-en") for text in (item.premise, item.hypothesis)]
    assert not [text for text in texts if not text[0].isupper() or not text.endswith(".")]
    assert any(text.startswith("An accountant ") for text in texts)
    assert any(" an interior designer " in text for text in texts)
    assert not [text for text in texts if " a a" in text.lower() or " a i" in text or " an m" in text]
    assert caption("{who} asleep on a sofa.", "nurse", "en") == "Nurse asleep on a sofa."


def test_sets_follow_from_types_and_genders() -> None:
    assert [set_of(t, g) for t in ("female", "male", "neutral") for g in GENDERS] == [
        "pro",
        "anti",
        "anti",
        "pro",
        "non",
        "non",
    ]


def type_of(definitional: float, stereotypical: float) -> str:
    """Whom an occupation is taken for, from Bolukbasi et al.'s (2016) scores: -1 is female, 1 is male.

    A word that says no gender itself is stereotyped where |stereotypical| is above 0.5; every other is neutral, at 0.5
    itself too (Anantaprayoon et al. 2024, section 2.3), and so are words which do say a gender, such as "salesman".
    """
    if abs(definitional) < 0.5 < abs(stereotypical):
        return "male" if stereotypical > 0 else "female"
    return "neutral"


def test_the_papers_rule_gives_the_released_types_and_ours(data: Path) -> None:
    scores = {w.replace("_", " "): s for w, *s in json.loads((data / "debiaswe" / "professions.json").read_text())}
    lines = (data / "nli-coal" / "en_v1.1" / "occupation-words" / "occup_en_v1.1.tsv").read_text().splitlines()[1:]
    released = {word: type.removesuffix("-stereo") for word, type in (line.split("\t") for line in lines)}
    assert {word: type_of(*scores[word]) for word in released} == released
    assert Counter(released.values()) == {"female": 13, "male": 87, "neutral": 171}
    for type, words in ENGLISH["words"].items():
        assert {released[word] for word in words} == {type}
        assert all(abs(scores[word][0]) < 0.5 for word in words)


OWN = """
name = "mine"
language = "en"
[genders]
female = "lady"
male = "gentleman"
[words]
male = ["umpire", "judge"]
[captions]
tea = "A {who} is drinking tea."
"""


def test_a_users_own_words_and_captions(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(OWN)
    items = pairs("templates", file=str(file))
    assert [(i.groups["set"], i.hypothesis) for i in items if i.premise == "An umpire is drinking tea."] == [
        ("pro", "A gentleman is drinking tea."),
        ("anti", "A lady is drinking tea."),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{who}", "person", "'tea'.*{who}"),
        ('"judge"', '"umpire"', "'male' has 'umpire' twice"),
        ("male = [", "man = [", "'man'"),
        ('male = "gentleman"', "", "no male"),
        ('["umpire", "judge"]', '"umpire"', "list of words.*Got 'umpire'"),
        ('"judge"', "7", "'male'.*7"),
        ('name = "mine"', "", "'name'"),
        ("[words]", "[word]", "'words'"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(OWN.replace(old, new, 1))
    with pytest.raises(BadInput, match=f"mine.toml.*{message}"):
        datasets.load("templates", file=str(file))
