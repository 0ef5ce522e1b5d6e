"""Winogender: three versions become one blank, with its referent and the share of women in the occupation."""

from collections import Counter
from pathlib import Path

import pytest

from evenhand import BadInput, Blank, datasets, suites
from helpers.typed import all_of

SENTENCES = """sentid\tsentence
smith.guest.0.male.txt\tThe guest told the smith that he was late.
smith.guest.0.female.txt\tThe guest told the smith that she was late.
smith.guest.0.neutral.txt\tThe guest told the smith that they were late.
smith.someone.1.male.txt\tSomeone asked if his coat hung next to the smith.
smith.someone.1.female.txt\tSomeone asked if her coat hung next to the smith.
smith.someone.1.neutral.txt\tSomeone asked if their coat hung next to the smith.
"""
STATISTICS = "occupation\tbergsma_pct_female\tbls_pct_female\tbls_year\nsmith\t5\t12.5\t2015\n"


def write(shelf: Path, sentences: str = SENTENCES, statistics: str = STATISTICS) -> None:
    (shelf / "winogender").mkdir()
    (shelf / "winogender" / "all_sentences.tsv").write_text(sentences)
    (shelf / "winogender" / "occupations-stats.tsv").write_text(statistics)


def test_three_versions_become_one_blank(shelf: Path) -> None:
    write(shelf)
    one, other = all_of(Blank, datasets.load("winogender").items)
    assert one.text == "The guest told the smith that ___ was late."
    assert one.candidates == ("he", "she", "they")
    assert other.candidates == ("his", "her", "their")
    assert other.attribute is not None
    assert other.attribute.of(other.text) == "smith"
    assert [i.groups["referent"] for i in (one, other)] == ["occupation", "participant"]
    assert one.groups["workforce"] == "mostly men"
    assert one.groups["bls_pct_female"] == "12.5"
    assert [task.measure.name for task in suites.tasks_on("winogender")] == ["pronoun", "singular-they"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("that she was", "that he was", "line 2: .*differ in one pronoun"),
        ("that she was late", "that she was early", "line 2: .*differ in one pronoun"),
        ("that they were", "that she was", "line 2: .*differ in one pronoun"),
        ("smith.guest.0.neutral.txt", "smith.guest.0.other.txt", "line 4: an id"),
        ("smith.guest.0.neutral.txt", "smith", "line 4: an id"),
        ("smith.guest.0.neutral.txt", "smith.guest.0.male.txt", "line 4: the id 'smith.guest.0.male.txt'"),
        ("smith.guest.0.neutral.txt", "smith.guest.1.neutral.txt", "empty: neutral"),
        ("The guest told the smith that they were late.", " ", "empty: neutral"),
        ("smith.", "baker.", "percentage.*'baker'"),
        ("the smith", "the man", "not name the smith"),
    ],
)
def test_a_broken_file_is_named(old: str, new: str, says: str, shelf: Path) -> None:
    assert old in SENTENCES
    write(shelf, SENTENCES.replace(old, new))
    with pytest.raises(BadInput, match=says):
        datasets.load("winogender")


def test_a_percentage_must_be_a_number(shelf: Path) -> None:
    write(shelf, statistics=STATISTICS.replace("12.5", "few"))
    with pytest.raises(BadInput, match="occupations-stats.tsv, line 2: .*percentage"):
        datasets.load("winogender")


def test_counts_are_those_of_the_release(data: Path) -> None:
    items = all_of(Blank, datasets.load("winogender").items)
    assert len(items) == 240
    assert Counter(i.groups["referent"] for i in items) == {"occupation": 120, "participant": 120}
    assert Counter(i.candidates[0] for i in items) == {"he": 178, "his": 54, "him": 8}
    workforce = {i.groups["occupation"]: i.groups["workforce"] for i in items}
    assert Counter(workforce.values()) == {"mostly men": 29, "mostly women": 31}
