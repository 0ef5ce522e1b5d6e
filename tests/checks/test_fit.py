"""What a tokenizer makes of a dataset's words: counted for every kind of item, warned of where most are lost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evenhand import Blank, NliPair, Pair, Sentence, Span, Triple, datasets
from evenhand.checks.fit import Cut, Fit, cuts, fit, flaw_warnings
from evenhand.core.dataset import Dataset
from evenhand.core.items import Item, words_asked
from helpers.checked import Pieces


def of(*items: Item, cluster: str = "profession") -> Dataset:
    return Dataset(name="made", items=items, cluster=cluster)


def sentence(id: str, target: str, attribute: str, **groups: str) -> Sentence:
    text = f"{target} is a {attribute}."
    start = len(target) + 6
    return Sentence(id, text, Span(0, len(target)), Span(start, start + len(attribute)), groups)


NURSE = sentence("1", "She", "nurse", gender="female", prof_gender="female", profession="nurse")
SORTER = sentence("2", "He", "mail sorter", gender="male", prof_gender="male", profession="sorter")
BLANK = Blank("3", "___ left.", Span(0, 3), ("He", "She"), {"profession": "nurse"})
PAIR = Pair("4", "Men left.", "Women left.")
INFERENCE = NliPair("5", "A nurse left.", "A woman left.", {"gender": "female", "type": "male", "word": "nurse"})


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (NURSE, [("She", "She is a nurse.")]),
        (BLANK, [("He", "He left."), ("She", "She left.")]),
        (PAIR, [("Men", "Men left."), ("Women", "Women left.")]),
        (INFERENCE, []),
    ],
)
def test_the_words_asked_about_stand_in_their_sentences(item: Item, words: list[tuple[str, str]]) -> None:
    assert [(span.of(text), text) for text, span in words_asked(item)] == words


def test_tokens_of_attributes_are_means_by_cluster_without_unknown_words() -> None:
    boss = sentence("6", "He", "boss", profession="nurse")
    found = fit(Pieces(cut=["nurse"], unknown=["boss"]), of(NURSE, SORTER, boss))
    assert found.targets == {"She": 1, "He": 1}
    assert found.tokens == {"nurse": 2, "sorter": 2}


def test_words_of_a_triple_may_be_split_but_not_unknown() -> None:
    """They are filled in token by token."""
    item = Triple(
        "7", "He is kind.", "He is rude.", "He is blue.", "He is BLANK.", {"profession": "boss"}, ("a", "b", "c")
    )
    split, unknown = (fit(Pieces(**how), of(item)) for how in ({"cut": ["he is kind."]}, {"unknown": ["he is kind."]}))
    assert (split.targets, split.texts) == ({}, {"boss": 5})
    assert not list(split.warnings("mine"))
    assert unknown.texts == {"boss": 0}


def test_a_word_is_known_if_one_of_its_sentences_is() -> None:
    """Another word there may be the unknown one, and all of its text has no pieces then."""

    class Sometimes(Pieces):
        def count_tokens(self, places: Sequence[tuple[str, Span]]) -> list[int]:
            return [0 if "boss" in text else 1 for text, _ in places]

    bosses = [sentence(str(n), "She", "boss", profession="boss") for n in range(7, 9)]
    assert fit(Sometimes(), of(*bosses, NURSE)).targets == {"She": 1}
    assert fit(Sometimes(), of(*bosses)).targets == {"She": 0}


@pytest.mark.parametrize(("odd", "warned"), [(5, False), (6, True)])
def test_a_warning_takes_more_than_half_of_the_words(odd: int, warned: bool) -> None:
    counts = dict.fromkeys("abcdefghij", 1) | dict.fromkeys("abcdefghij"[:odd], 0)
    targets = list(Fit("made", "en", targets=counts, tokens={}).warnings("mine"))
    texts = list(Fit("made", "en", targets={}, tokens={}, texts=counts).warnings("mine"))
    assert [len(targets), len(texts)] == [warned, warned]
    if warned:
        assert targets[0].startswith("6 of 10 words of made are unknown to 'mine': a, b, c, d. Is it")
        assert texts[0].startswith(
            "The texts of made about 6 of 10 words have characters unknown to 'mine': a, b, c, d."
        )


@pytest.mark.parametrize(
    ("item", "found"),
    [
        (SORTER, [("target", "male", "He"), ("attribute", "male", "mail sorter")]),
        (BLANK, [("target", "male", "He"), ("target", "female", "She")]),
        (PAIR, [("target", "male", "Men"), ("target", "female", "Women")]),
        (INFERENCE, [("attribute", "male", "nurse"), ("target", "female", "woman")]),
    ],
)
def test_every_kind_of_item_says_the_gender_of_its_words(item: Item, found: list[tuple[str, str, str]]) -> None:
    assert [(cut.role, cut.gender, cut.text) for cut in cuts(Pieces(), of(item))] == found


@pytest.mark.parametrize("rest", ["left.", "left, and then came back to the house."])
def test_articles_of_inferences_are_not_words_to_be_measured(rest: str) -> None:
    groups = {"gender": "female", "type": "male"}
    found = cuts(Pieces(), of(NliPair("1", f"An old actor {rest}", f"A woman {rest}", groups)))
    assert [cut.text for cut in found] == ["old actor", "woman"]
    found = cuts(Pieces(), of(NliPair("1", f"An actor {rest}", f"A woman {rest}", groups)))
    assert [cut.text for cut in found] == ["actor", "woman"]


@pytest.mark.parametrize(("text", "whole", "split"), [("nurse", (0, 1), 2), ("mail sorter", (1, 2), 3)])
def test_more_tokens_than_words_are_a_split(text: str, whole: tuple[int, int], split: int) -> None:
    assert not any(Cut("attribute", "male", text, tokens).split for tokens in whole)
    assert Cut("attribute", "male", text, split).split


JOBS = ("nurse", "cook", "pilot")


def test_flawed_pairs_of_a_users_file_are_counted_by_what_is_wrong(tmp_path: Path) -> None:
    def read(*rows: str) -> Any:
        file = tmp_path / "mine.csv"
        file.write_text("\n".join(["stereotype,counterpart", *rows]))
        return datasets.load("pairs", file=str(file))

    good, bad = "He left the room.,She left the room.", "He won the game.,She lost the game."
    assert list(flaw_warnings(read(good))) == []
    (line,) = flaw_warnings(read(good, bad))
    assert line.startswith("Flawed pairs of mine: 1 of 2 (other change: 1). ")
    twice = list(flaw_warnings(read(*(f"The {job} said he was late.,The {job} said she was late." for job in JOBS))))
    assert [said.partition(". ")[0] for said in twice] == ["Flawed pairs of mine: 2 of 3 (near-duplicate: 2)"]


def test_pairs_of_other_languages_are_not_held_against_english_words(tmp_path: Path) -> None:
    file = tmp_path / "dutch.csv"
    file.write_text("stereotype,counterpart\nVrouwen huilen.,Mannen huilen.\n")
    assert list(flaw_warnings(datasets.load("pairs", file=str(file))))
    assert not list(flaw_warnings(datasets.load("pairs", file=str(file), language="nl")))


def test_only_pairs_can_be_flawed() -> None:
    assert list(flaw_warnings(of(NURSE, BLANK, INFERENCE))) == []
