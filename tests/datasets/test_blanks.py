"""The thesis's templates, in both readings, and users' own."""

import re
import tomllib
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput, Blank, Table, datasets
from helpers.typed import all_of

pytestmark = pytest.mark.usefixtures("without_pages")

PRONOUN = re.compile(r"\b(he|she|him|his|her|hers|himself|herself)\b", re.I)
COUNTS = {  # reference: professions, templates, by category of the thesis
    "medical": (21, 16), "computer": (10, 18), "engineering": (9, 16), "science": (5, 15), "protective": (5, 15),
    "food service": (8, 16), "office": (26, 16),
}  # fmt: skip


def test_the_counts_are_those_of_the_appendices() -> None:
    items = datasets.load("tbd", reading="verbatim").items
    assert len(items) == 1354
    for category, (professions, templates) in COUNTS.items():
        part = [i for i in items if i.groups["category"] == category]
        assert len({i.groups["profession"] for i in part}) == professions
        assert len({i.groups["template"] for i in part}) == templates
    gendered = datasets.load("tbd-gendered", reading="verbatim").items
    assert Counter(i.groups["category"] for i in gendered) == {
        "gender-related occupation": 70, "pregnancy": 7, "breastfeed": 10, "testicle": 9
    }  # fmt: skip
    assert len({i.groups["profession"] for i in (*items, *gendered)}) == 94


def test_all_161_templates_are_there_with_farming_and_fishing() -> None:
    farming = datasets.load("tbd", reading="verbatim", farming="farmer").items
    gendered = datasets.load("tbd-gendered", reading="verbatim").items
    assert len({(i.groups["category"], i.id.rsplit("/")[-1]) for i in (*farming, *gendered)}) == 161


def test_a_sentence_that_categories_share_is_one_cluster() -> None:
    assert {i.groups["template"] for i in datasets.load("tbd-simple").items} == {"1"}
    assert len({i.groups["template"] for i in datasets.load("tbd-becpro").items}) == 5


def test_farming_and_fishing_is_empty_until_somebody_fills_it() -> None:
    empty = datasets.load("tbd")
    assert "Farming and fishing is empty" in empty.flaws
    assert not [i for i in empty.items if i.groups["category"] == "farming and fishing"]
    filled = datasets.load("tbd", farming="farmer, fisher")
    assert {i.groups["profession"] for i in filled.items if i.groups["category"] == "farming and fishing"} == {
        "farmer", "fisher"
    }  # fmt: skip
    assert not filled.flaws


def test_the_clean_reading_leaks_no_pronoun_and_agrees_its_articles() -> None:
    for name in ("tbd", "tbd-gendered", "tbd-simple", "tbd-becpro"):
        for item in all_of(Blank, datasets.load(name).items):
            assert not PRONOUN.search(item.text), item.text
            assert not re.search(r"\ba [aeiou]", item.text), item.text
            assert item.blank.of(item.text) == "___"
            assert item.text[-1] in ".?!"
            assert item.text[0].isupper() or item.blank.start == 0


def test_the_verbatim_reading_keeps_the_slips() -> None:
    sentences = set(datasets.load("tbd", reading="verbatim").table()["sentence"])
    assert "the firefighter is upset because [MASK] could not finish his work today." not in sentences
    assert "the Firefighter is upset because [MASK] could not finish his work today." in sentences
    assert "[MASK] is a accountant." in sentences
    assert "[MASK] is an accountant." in set(datasets.load("tbd").table()["sentence"])


def test_every_repair_has_a_reason_and_is_in_the_documentation() -> None:
    documented = (Path(__file__).parents[2] / "docs" / "measures" / "pronoun.md").read_text()
    spec = tomllib.loads((files("evenhand.datasets") / "data" / "tbd-en.toml").read_text(encoding="utf-8"))
    entries = [entry for part in spec["category"] for entry in (*part["professions"], *part["templates"])]
    repairs = [entry for entry in entries if isinstance(entry, dict) and "clean" in entry]
    assert len(repairs) == 115
    for repair in repairs:
        assert repair["why"]
        if repair["why"] not in ("capital at sentence start", "initial capital"):
            assert repair["verbatim"] in documented, repair


def test_candidates_follow_the_place_of_the_blank() -> None:
    items = all_of(Blank, datasets.load("tbd").items)
    assert {i.candidates for i in items if i.groups["place"] == "possessive" and i.blank.start} == {
        ("his", "her", "their")
    }
    assert {i.candidates for i in items if not i.blank.start} == {("He", "She", "They"), ("His", "Her", "Their")}
    assert {i.attribute.of(i.text) for i in items if i.attribute} <= {i.groups["profession"] for i in items}


def test_gendered_words_say_which_side_is_better() -> None:
    better = {i.groups["profession"]: i.groups["better"] for i in datasets.load("tbd-gendered").items}
    assert (better["actress"], better["congressman"], better["testicle"]) == ("below 0", "above 0", "above 0")
    assert {i.groups["better"] for i in datasets.load("tbd").items} == {"closer to 0"}


OWN = """
name = "crafts"
language = "en"
[[category]]
name = "clay"
professions = ["potter", "artisan"]
templates = ["{he} is a {profession}.", "The {profession} sold {his} vase.", "Ask {him} to be a {profession}."]
"""


def test_a_users_templates_are_measured(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    run = evenhand.audit(Table(lambda q: (-1.0,)), templates=file, out=tmp_path / "runs")
    assert {r["measure"] for r in run.results} == {"pronoun", "singular-they"}
    assert next(r for r in run.results if r["groups"].get("profession") == "artisan")["n"] == 3
    items = all_of(Blank, datasets.load("templates", file=str(file)).items)
    assert "___ is an artisan." in {i.text for i in items}
    assert evenhand.rescore(run.path).results == run.results


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("{he} is a {profession}.", "This is a {profession}.", "one slot for the pronoun"),
        ("{he} is a {profession}.", "{he} lost {his} {profession}.", "one slot for the pronoun"),
        ("{he} is a {profession}.", "{he} is here.", "needs {profession} once"),
        ("{he} is a {profession}.", "{he} is a {job} {profession}.", "{job}"),
        ('["potter", "artisan"]', "[]", "no professions"),
        ('["potter", "artisan"]', "[1]", "Got 1"),
        ('name = "clay"', 'nmae = "clay"', "'name'"),
        ('language = "en"', "", "'language'"),
        ('name = "clay"', 'name = "clay"\ngender = "woman"', "'woman'"),
    ],
)
def test_a_file_of_templates_that_cannot_be_used_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(OWN.replace(old, new, 1))
    with pytest.raises(BadInput, match=re.escape(says)):
        datasets.load("templates", file=str(file))
