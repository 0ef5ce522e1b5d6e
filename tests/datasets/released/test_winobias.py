"""WinoBias: brackets become spans, the pronoun its blank in the right case, and odd rows are left out or named."""

import math
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput, Blank, Fill, Table, datasets, measures, suites
from helpers.typed import all_of, only

PRO = "1 [The smith] thanked the florist because [he] was glad.\n2 The smith saw [the florist] with [her] roses.\n"
ANTI = "1 [The smith] thanked the florist because [she] was glad.\n2 The smith saw [the florist] with [his] roses.\n"


def write(shelf: Path, pro: str = PRO, anti: str = ANTI) -> None:
    """Both splits and types, with the same lines."""
    (shelf / "winobias").mkdir()
    for (side, text), kind, split in product((("pro", pro), ("anti", anti)), "12", ("dev", "test")):
        (shelf / "winobias" / f"{side}_stereotyped_type{kind}.txt.{split}").write_text(text)


def rows(split: str = "dev") -> list[Blank]:
    return [i for i in all_of(Blank, datasets.load("winobias", split=split).items) if i.groups["type"] == "1"]


def test_brackets_become_occupation_and_blank(shelf: Path) -> None:
    write(shelf)
    smith, florist = rows()
    assert smith.text == "The smith thanked the florist because ___ was glad."
    assert florist.text == "The smith saw the florist with ___ roses."
    assert (smith.candidates, florist.candidates) == (("he", "she"), ("his", "her"))
    for item, gender, occupation in ((smith, "male", "smith"), (florist, "female", "florist")):
        assert item.attribute is not None
        assert item.blank.of(item.text) == "___"
        assert item.attribute.of(item.text) == item.groups["occupation"] == occupation
        assert item.groups["stereotyped_as"] == gender


def test_objects_take_him_and_possessives_his(shelf: Path) -> None:
    write(shelf, "1 I met [a guard] and greeted [him].\n", "1 I met [a guard] and greeted [her].\n")
    (item,) = rows()
    assert item.candidates == ("him", "her")
    assert item.groups["occupation"] == "guard"


def test_pro_minus_anti_ignores_a_general_preference(shelf: Path) -> None:
    """A model that says "he" everywhere has a value of 0, though here more words are stereotyped as male."""
    more = "3 [The smith] slept as [{}] was ill.\n"
    write(shelf, PRO + more.format("he"), ANTI + more.format("she"))
    model = Table(only(Fill, lambda q: (-0.1,) if q.answer in ("he", "his") else (-3.0,)))
    (task,) = suites.tasks_on("winobias", ["pronoun-lean"])
    result = evenhand.measure(model, task.dataset.items, task.measure, by=task.dataset.by, within=task.dataset.within)
    difference = math.exp(-0.1) - math.exp(-3.0)
    assert {tuple(value.groups.values()): value.value for value in result.estimates} == pytest.approx(
        {(): 0.0, ("1",): 0.0, ("2",): 0.0}
        | {(kind, gender): sign * difference for kind in "12" for gender, sign in (("female", -1), ("male", 1))}
    )


@pytest.mark.parametrize(
    ("pro", "anti"),
    [
        ("[The smith] left as [he] lost [his] hat.", "[The smith] left as [she] lost [her] hat."),
        ("[The smith] left as [he] was rude.", "[The smith] left as [she] was late."),
        ("[The smith] left as [he] was a kind man.", "[The smith] left as [she] was a kind man."),
        ("I met [the smith] and heard [her] sing.", "I met [the smith] and heard [he] sing."),
    ],
)
def test_versions_that_differ_in_more_than_a_pronoun_are_excluded(pro: str, anti: str, shelf: Path) -> None:
    write(shelf, f"{PRO}3 {pro}\n", f"{ANTI}3 {anti}\n")
    assert len(rows()) == 2
    assert "Left out: 2 whose" in datasets.load("winobias", split="dev").about


@pytest.mark.parametrize(
    ("pro", "says"),
    [
        ("1 [The smith left because [he] was glad.\n", "brackets must enclose"),
        ("1 [The smith]] left because [he] was glad.\n", "brackets must enclose"),
        ("1 [The smith] left [] because [he] was glad.\n", "brackets must enclose"),
        ("1 The smith left because [he] was glad.\n", "an occupation and its pronoun"),
        ("1 [The smith] left because he was glad.\n", "an occupation and its pronoun"),
        ("[The smith] left because [he] was glad.\n", "a line must have a number"),
        ("1 \n", "a line must have a number"),
        ("", "a line must have a number.*Got ''"),
    ],
)
def test_a_malformed_line_is_named(pro: str, says: str, shelf: Path) -> None:
    write(shelf, pro, "1 [The smith] left because [she] was glad.\n")
    with pytest.raises(BadInput, match=f"type1.txt.dev, line 1: {says}"):
        datasets.load("winobias")


def test_counts_are_those_of_the_release(data: Path) -> None:
    items = all_of(Blank, datasets.load("winobias").items)
    in_files = {("1", "dev"): 385, ("1", "test"): 365, ("2", "dev"): 379, ("2", "test"): 385}
    assert Counter((i.groups["type"], i.groups["split"]) for i in items) == in_files
    genders = {i.groups["occupation"]: i.groups["stereotyped_as"] for i in items}
    for gender in ("female", "male"):
        listed = (data / "winobias" / f"{gender}_occupations.txt").read_text().split("\n")
        assert {o for o, g in genders.items() if g == gender} == {line.strip() for line in listed if line.strip()}
    assert Counter(i.candidates for i in items).total() == 1514
    assert {i.candidates for i in items} == {("he", "she"), ("him", "her"), ("his", "her")}


def test_without_being_told_a_dataset_gets_the_measures_that_suit_it(shelf: Path) -> None:
    write(shelf)
    assert [task.measure.name for task in suites.tasks_on("winobias")] == ["pronoun-lean", "pronoun"]
    assert measures.load("pronoun-lean").neutral == 0.0
