"""First names: which words are a person's, and what they become. In what is expected, * stands for any other name."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from evenhand import BadInput
from evenhand.datasets.files import read_tsv
from evenhand.datasets.gendered import Name, bundled_names, census
from evenhand.text.edits import STAYS, contexts
from evenhand.text.names import Naming, read_names
from evenhand.text.swap import Swapper, swapper
from helpers.edits import gap_rows, is_as_expected

AUTO = swapper()
SWAPPED = [
    ("May I come in?", "May I come in?"),
    ("Will I see you?", "Will I see you?"),
    ("Hope I helped!", "Hope I helped!"),
    ("To Whom It May Concern: he left.", "To Whom It May Concern: she left."),
    ("On Jan. 31 he left.", "On Jan. 31 she left."),
    ("He lives near Logan Circle.", "She lives near Logan Circle."),
    ("Edison is side-stepping the question.", "Edison is side-stepping the question."),
    ("I met Frank. To be frank, he was rude.", "I met Debra. To be frank, she was rude."),
    ("How to Grow Basil. Put basil in soil; water basil.", "How to Grow Basil. Put basil in soil; water basil."),
    ("Dear Janice, he is here.", "Dear Nicholas, she is here."),
    ("Hello Janice: he is here.", "Hello Nicholas: she is here."),
    ("He was buried in Montmartre Cemetery, Paris, France.", "She was buried in Montmartre Cemetery, Paris, France."),
    ("He was in Stoker (2013), Belle (2013) and others.", "She was in Stoker (2013), Belle (2013) and others."),
    ("He founded a repository (IRIS).", "She founded a repository (IRIS)."),
    ("He likes Flora & fauna.", "She likes Flora & fauna."),
    ("Merry Christmas, he said.", "Merry Christmas, she said."),
    ("He knew the 2nd Earl of Clare well.", "She knew the 2nd Earl of Clare well."),
    ("George Foreman hit the foreman.", "* Foreman hit the forewoman."),
    ("Wendy's mother ate at Wendy's.", "*'s father ate at Wendy's."),
    ("He drove a John Deere.", "She drove a John Deere."),
    ("Fatima bint Khalid met Maria del Carmen.", "* bint Khalid met * del Carmen."),
    ("They called him 'Agnes' at school.", "They called her '*' at school."),
    ("iMary saw him", "iMary saw her"),
]


@pytest.mark.parametrize(("text", "expected"), SWAPPED)
def test_people_are_swapped_and_other_words_are_not(text: str, expected: str) -> None:
    assert is_as_expected(AUTO(text), expected, text), AUTO(text)


NAMES = [
    ("Mary Smith saw John.", {"Mary", "John"}),
    ("They moved to Jordan in May.", set()),
    ("Michael Jordan scored. Jordan left.", {"Michael"}),
    ("Jordan Smith left. Jordan was tired.", {"Jordan"}),
    ("The James Madison University and St. Mary Street", set()),
    ("Mr. James arrived with King Charles.", {"Charles"}),
    ("Dr. Susan Calvin spoke. Calvin smiled.", {"Susan"}),
    ("Mark my words, said Mark.", {"Mark"}),
    ("When Alice left, Bob wept.", {"Alice", "Bob"}),
    ("Jean-Paul met Ann Arbor", set()),
    ("North Carolina and Virginia Beach", set()),
    ("New York Mayor Michael Bloomberg met Janet Street-Porter.", {"Michael", "Janet"}),
    ("Ruby said so. The novels of Virginia Woolf.", {"Ruby", "Virginia"}),
    ("Jack went home. Don't. The series Ellen; the song ``Dixie''", {"Jack"}),
    ("She left Milford, Ohio, on 20 April for the Lou Grant Show.", set()),
    ("Sir James met Lord Nelson, Don Carlos, Dean Mary Smith and Anthony O'Donnell.", {"James", "Mary", "Anthony"}),
    ("Victoria and Emily flew to Victoria, the state.", {"Victoria", "Emily"}),
]


@pytest.mark.parametrize(("text", "names"), NAMES)
def test_first_names_are_told_from_other_words(text: str, names: set[str]) -> None:
    assert {edit.old for edit in Naming()(text)} == names


def test_a_word_before_i_is_no_name_with_a_surname() -> None:
    assert [edit.old for edit in Naming()("May I ask? Will I see Mary I of England?")] == ["Mary"]


def test_in_texts_of_another_language_every_name_of_the_list_is_a_person() -> None:
    naming = Naming({"anna": Name("jonas", "female"), "jonas": Name("anna", "male")}, always=True)
    found = [(edit.start, edit.old, edit.new) for edit in naming("ANNA såg Jonas, och anna; Annas hund.")]
    assert found == [(0, "ANNA", "JONAS"), (9, "Jonas", "Anna")]


def test_partners_are_one_to_one_and_of_the_other_gender() -> None:
    table = census()
    assert len(table) > 2000
    assert all(table[table[name].partner].partner == name for name in table)
    assert (table["james"].partner, table["mary"].partner) == ("barbara", "john")


def test_common_names_have_partners_that_are_recognised_alike() -> None:
    """A first name must not become a word that is taken for a surname, or a text swapped twice would not come back."""
    table = census()
    unlike = [name for name, entry in table.items() if entry.surname != table[entry.partner].surname]
    assert len(unlike) < 0.13 * len(table)
    commonest = list(table)[:150]  # the file has the commonest first
    assert not set(commonest).intersection(name for name in unlike if not table[name].surname)


def test_a_name_has_one_partner_throughout_a_document() -> None:
    edits = list(Naming()("Mary Smith left. Mary's sister saw Mary. MARY!"))
    assert {edit.new.lower() for edit in edits} == {"john"}
    assert len(edits) == 4


def test_annotated_names_of_gap_are_swapped(data: Path) -> None:
    """Of the annotated full names whose first word is in the list."""
    total = hit = 0
    naming = Naming()
    for row in gap_rows(data):
        starts = {edit.start for edit in naming(row["Text"])}
        for side in "AB":
            words = row[side].split()
            if len(words) > 1 and words[0].lower() in naming.table and words[0][0].isupper():
                total += 1
                hit += int(row[f"{side}-offset"]) in starts
    assert total > 2000
    assert hit / total >= 0.98


def test_few_swapped_names_are_no_people(data: Path) -> None:
    """Read by hand: twice 200 swapped names of GAP that it does not annotate."""
    texts, naming = {row["ID"]: row["Text"] for row in gap_rows(data)}, Naming()
    with (Path(__file__).parent / "names.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    swapped = Counter(
        row["label"] for row in rows if int(row["offset"]) in {e.start for e in naming(texts[row["document"]])}
    )
    assert swapped["first name"] / sum(row["label"] == "first name" for row in rows) > 0.99
    assert swapped["other"] / swapped.total() < 0.02


def test_a_list_of_names_with_duplicates_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "names.tsv"
    file.write_text("Adam\tEve\nKain\tEve\n")
    with pytest.raises(BadInput, match="'eve'.*'adam' and 'kain'"):
        read_names(str(file))
    file.write_text("Adam Eve\n")
    with pytest.raises(BadInput, match="line 1"):
        read_names(str(file))


def test_a_name_is_one_although_the_document_has_the_word_as_often() -> None:
    swap = Swapper(names=Naming())
    assert swap("I met Frank. To be frank, he was rude.") == "I met Debra. To be frank, she was rude."
    assert swap("We bought Basil seeds. Sow basil, then water basil.") == (
        "We bought Basil seeds. Sow basil, then water basil."
    )


def test_a_name_that_is_also_a_place_is_swapped_like_the_others() -> None:
    text = "Charlotte, the eldest of the sisters, laughed. Elizabeth looked at Charlotte, and Charlotte took her arm."
    new = AUTO(text)
    assert "Charlotte" not in new
    assert "Elizabeth" not in new
    assert AUTO(new) == text
    assert AUTO("He flew from Charlotte to Paris in June.") == "She flew from Charlotte to Paris in June."


def test_a_document_about_basil_is_not_about_a_person_of_that_name() -> None:
    text = "Basil Harvesting. Cut basil often, since basil grows back. Basil needs warm air."
    assert AUTO(text).endswith("Basil needs warm air.")
    named = "Basil Harding cut the grass. Basil needs warm air."
    assert not AUTO(named).endswith("Basil needs warm air.")


WORLD = list(read_tsv("names-world.tsv"))
OF_THE_WORLD = ["Priya", "Kenji", "Mei", "Siobhan", "Muhammad", "Fatima", "Chidi", "Zanele", "José", "Björn"]


@pytest.mark.parametrize("name", OF_THE_WORLD)
def test_names_of_the_world_have_partners_of_their_region(name: str) -> None:
    partner = bundled_names()[name.lower()]
    back = bundled_names()[partner.partner]
    assert {partner.gender, back.gender} == {"female", "male"}
    (region,) = {row["region"] for row in WORLD if name.lower() in (row["male"], row["female"])}
    assert region in {row["region"] for row in WORLD if partner.partner in (row["male"], row["female"])}
    assert AUTO(f"{name} said so.") == f"{partner.partner.capitalize()} said so."


def test_every_name_of_the_world_has_one_gender_and_one_region() -> None:
    both = {name.lower() for name in contexts()["both"]}
    assert not both & {row[g] for row in WORLD for g in ("male", "female")}
    assert not {row["male"] for row in WORLD} & {row["female"] for row in WORLD}


def test_names_that_stay_are_listed() -> None:
    text = "Councilman Xyz Nair met Yuki Tanaka. Mayor Xyz Award was given."
    stay = [edit.old for edit in AUTO.find_edits([text])[0] if edit.rule == STAYS]
    assert stay == ["Xyz", "Yuki"]
