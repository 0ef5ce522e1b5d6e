"""Names of the world: of one gender and one region, with partners of that region; those of both genders stay."""

import pytest

from evenhand import swap_text
from evenhand.datasets.files import read_tsv
from evenhand.text.edits import STAYS, contexts
from evenhand.text.names import bundled_names
from evenhand.text.swap import swapper

WORLD = list(read_tsv("names-world.tsv", "evenhand.text"))
NAMES = ["Priya", "Kenji", "Mei", "Siobhan", "Muhammad", "Fatima", "Chidi", "Zanele", "José", "Björn"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_the_world_have_partners_of_their_region(name: str) -> None:
    partner = bundled_names()[name.lower()]
    back = bundled_names()[partner.partner]
    assert {partner.gender, back.gender} == {"female", "male"}
    (region,) = {row["region"] for row in WORLD if name.lower() in (row["male"], row["female"])}
    assert region in {row["region"] for row in WORLD if partner.partner in (row["male"], row["female"])}
    assert swap_text(f"{name} said so.") == f"{partner.partner.capitalize()} said so."


def test_every_name_of_the_world_has_one_gender_and_one_region() -> None:
    both = {name.lower() for name in contexts()["both"]}
    assert not both & {row[g] for row in WORLD for g in ("male", "female")}
    assert not {row["male"] for row in WORLD} & {row["female"] for row in WORLD}


def test_names_that_stay_are_listed() -> None:
    text = "Councilman Xyz Nair met Yuki Tanaka. Mayor Xyz Award was given."
    stay = [edit.old for edit in swapper().find_edits([text])[0] if edit.rule == STAYS]
    assert stay == ["Xyz", "Yuki"]
