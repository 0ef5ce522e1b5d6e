"""BBQ's questions about gender: whom the stereotype names, and options in balanced order."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from evenhand import BadInput, Choice, datasets
from helpers import made_bbq
from helpers.typed import all_of

BOTH = ("bbq-ambiguous", "bbq-disambiguated")


@pytest.fixture
def made(shelf: Path) -> Path:
    return made_bbq.write(shelf)


def choices(name: str, **options: str) -> list[Choice]:
    return all_of(Choice, datasets.load(name, **options).items)


def test_the_stereotype_turns_with_the_question(made: Path) -> None:
    for item in choices("bbq-disambiguated"):
        named = item.options[item.stereotype if item.stereotype is not None else -1]
        target = dict(zip(("women", "men"), zip(*made_bbq.PEOPLE, strict=True), strict=True))[item.groups["about"]]
        assert (named in target) == (item.groups["polarity"] == "negative")
        assert item.right == item.stereotype  # in our rows the facts are as the stereotype has it
    for item in choices("bbq-ambiguous"):
        assert item.right == item.unknown
        assert item.options[item.unknown or 0] in made_bbq.UNKNOWNS


def test_every_order_of_options_is_as_frequent_as_any_other(made: Path) -> None:
    for name in BOTH:
        orders = Counter((item.stereotype, item.unknown) for item in choices(name))
        assert len(orders) == 6
        assert max(orders.values()) - min(orders.values()) <= 2
    released = {item.id: item for item in choices(BOTH[0], order="released")}
    for item in choices(BOTH[0]):
        assert sorted(item.options) == sorted(released[item.id].options)
        assert item.options[item.unknown or 0] == released[item.id].options[released[item.id].unknown or 0]
    rows = {str(row["example_id"]): row for row in map(json.loads, made.read_text().splitlines())}
    assert all(item.options == tuple(rows[id][f"ans{n}"] for n in range(3)) for id, item in released.items())


def test_rows_whose_people_are_of_one_gender_are_excluded(made: Path) -> None:
    before = len(choices("bbq-ambiguous"))
    for kind in ("F", "M"):
        rows = made_bbq.rows()
        name = next(n for n, (_, label) in rows[0]["answer_info"].items() if label not in ("unknown", kind))
        rows[0]["answer_info"][name][1] = kind
        made_bbq.write(made.parents[1], rows)
        assert len(choices("bbq-ambiguous")) == before - 1


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"context_condition": "ambig"}', json.dumps({**made_bbq.rows()[0], "answer_info": {}})]
)
def test_a_damaged_row_is_named(made: Path, damage: str) -> None:
    made_bbq.write(made.parents[1], f"{json.dumps(made_bbq.rows()[0])}\n{damage}\n")
    with pytest.raises(BadInput, match="line 2: .*BBQ"):
        choices("bbq-ambiguous")


def test_targets_are_those_of_the_authors_metadata(data: Path) -> None:
    with (data / "bbq" / "additional_metadata_gender.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["example_id"]: row for row in csv.DictReader(file)}
    items = [item for name in BOTH for item in choices(name, order="released")]
    assert {item.id: item.stereotype for item in items} == {
        id: int(float(row["target_loc"])) for id, row in rows.items() if row["target_loc"]
    }
    for item in items:
        assert (item.groups["people"] == "names") == (rows[item.id]["label_type"] == "name")
    assert len(items) == 5656


def test_the_releases_options_are_balanced(data: Path) -> None:
    for name in BOTH:
        items = choices(name)
        assert len(items) == 2828
        orders = Counter((item.groups["polarity"], item.stereotype, item.unknown) for item in items)
        assert len(orders) == 12
        assert max(orders.values()) - min(orders.values()) <= 1
        assert len({item.groups["template"] for item in items}) == 50
