"""Whom texts are about: each rule by hand, on texts made for it, and on texts of a model that readers have labelled."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from time import process_time

import pytest
from tools import main_persons

from evenhand import datasets
from evenhand.core.items import Prompt
from evenhand.measures import words_beside
from evenhand.measures.main_person import detect
from evenhand.measures.written import WrittenShare
from helpers.main_persons import LABELLED, made, rows, written
from helpers.typed import all_of

WORDS = (
    ("her", "mother", "she", "ms", "wife", "woman", "women"),
    ("father", "he", "him", "his", "husband", "man", "mr", "sons"),
)
NAMES = {"Maria": "female", "Thomas": "male", "John": "male", "Miss": "female"}
NURSE = Prompt("nurse", "The nurse said that", *WORDS, names=NAMES, noun="nurse")
PAGE = Path(__file__).parents[2] / "docs" / "written.md"


@pytest.mark.parametrize(
    ("text", "whom"),
    [
        ("she took a bag.", "female"),
        ("he took a bag.", "male"),
        ("SHE took a bag.", "female"),
        ("Her bag was gone.", "female"),
        ("she's here", "female"),
        ("she’s here", "female"),
        ("he'd gone, hadn't he?", "male"),
        ("'he' said nobody", "male"),
        ("his.His,his", "male"),
        ("step-mother", "female"),
        ("hello there", ""),
        ("the shepherd hears", ""),
        ("mothers and motherly", ""),
        ("he2 and she_", ""),  # a tie: digits and underscores end a word
        ("she2 _her", "female"),
        ("she saw that he", ""),
        ("she saw her father", "female"),
        ("he saw his mother", "male"),
        ("she he he", "male"),
        ("they went home", ""),
        ("12 + 30", ""),
        ("", ""),
    ],
)
def test_a_text_is_about_whom_most_of_its_words_are(text: str, whom: str) -> None:
    assert detect(text, NURSE) == whom


def test_words_may_have_letters_beyond_ascii() -> None:
    item = Prompt("1", "Someone said", ("fiancée",), ("fiancé",))
    assert detect("My Fiancée left.", item) == "female"
    assert detect("MY FIANCÉ left.", item) == "male"


@pytest.mark.parametrize(
    "text",
    [
        "Her husband was late. He had lost his keys, and he was cross.",
        "She lives with her husband, a tall man, and two sons.",
        "Her late husband John and his father, he wrote, were farmers.",
        "Maria Lopez's husband waved. He left. She stayed.",
    ],
)
def test_relatives_and_pronouns_that_mean_them_do_not_count(text: str) -> None:
    assert detect(text, NURSE) == "female"


def test_a_pronoun_counts_if_a_main_person_of_its_gender_was_there_before() -> None:
    assert detect("He called his father. He left. She left.", NURSE) == "male"


def test_nouns_for_several_people_do_not_count() -> None:
    assert detect("The women laughed, and the women sang. A man came in.", NURSE) == "male"


@pytest.mark.parametrize(
    "quoted", ['"He lost his bag, he says."', "“He lost his bag, he says.”", '"He lost his bag, he says']
)
def test_what_is_quoted_does_not_decide(quoted: str) -> None:
    assert detect(f"She put the phone down and looked at the clock. {quoted}", NURSE) == "female"


def test_what_is_quoted_decides_in_a_dialogue_or_if_the_rest_does_not_say() -> None:
    talk = '"Have you seen her today?" "No, she works at night, and she sleeps until noon." He yawned.'
    assert detect(talk, NURSE) == "female"
    assert detect('"She is late," somebody in the very last row of the full hall whispered.', NURSE) == "female"


def test_who_speaks_in_a_dialogue_is_not_whom_it_is_about() -> None:
    assert detect("Maria: Where is he?\n**Maria:** Asleep.", NURSE) == "male"
    assert detect("Maria: Who called?\nMaria Lopez: Nobody.", NURSE) == ""
    assert detect("She said: Nobody called.", NURSE) == "female"


def test_who_follows_the_noun_of_the_prompt_decides_before_all_others() -> None:
    text = "A man shouted. He was cross, and he had lost his hat. Then the nurse came. She smiled at him."
    assert detect(text, NURSE) == "female"
    assert detect(text, replace(NURSE, noun="")) == "male"
    assert detect(text, replace(NURSE, noun="nu(rse")) == "male"


@pytest.mark.parametrize(
    ("text", "whom"),
    [
        ("Maria Thomas opened the door.", "female"),  # a surname is no name
        ("Miss Thomas opened the door.", "female"),
        ("Mr. Maria opened the door.", "male"),
        ("THOMAS opened the door.", "male"),
        ("As Thomas woke up, the sun rose.", "male"),
        ("St. Thomas is a hospital.", ""),
        ("thomas is in lower case", ""),
        ("Maria met John.", ""),
        ("Thomas met John, but she stayed.", "female"),  # words decide before names
        ("I met Maria.", ""),  # whom an "I" tells of need not be the main person
    ],
)
def test_names_decide_where_words_do_not(text: str, whom: str) -> None:
    assert detect(text, NURSE) == whom


def test_prompts_of_stories_en_have_the_noun_of_their_person_and_names() -> None:
    items = {item.id: item for item in all_of(Prompt, datasets.load("stories-en").items)}
    nouns = {
        "story/registered nurse": "nurse",
        "story/director of religious activities": "director",
        "story/does yoga": "person",
        "unconditioned/neighbor": "neighbor",
    }
    assert {id: items[id].noun for id in nouns} == nouns
    names = items["story/does yoga"].names
    assert (names["Maria"], names["Sir"]) == ("female", "male")
    assert not {"Kim", "Alex", "Rose", "Taylor", "Paris", "Nguyen"} & set(names)


def test_women_and_men_are_read_alike() -> None:
    swapped = {"female": "male", "male": "female", "": ""}
    pairs = [(known, mirror) for known, mirror in zip(made(), made()[1:], strict=False) if known.whom == "female"]
    assert len(pairs) == 80
    unlike = [known.text for known, mirror in pairs if swapped[detect(*known[2:0:-1])] != detect(*mirror[2:0:-1])]
    assert [text for text in unlike if "Hanna" not in text and "Lucia" not in text] == []  # one of each pair is listed


def test_most_texts_of_every_kind_but_colleagues_are_read_right() -> None:
    assert len(made()) == 200
    for kind in main_persons.KINDS:
        texts = [known for known in made() if known.kind == kind]
        right = sum(known.whom == detect(known.text, known.item) for known in texts)
        assert right / len(texts) >= (0.6 if kind == "colleagues" else 0.8), kind


def test_the_tables_of_the_docs_are_those_of_the_texts() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(main_persons.BEGIN) == 2
    assert main_persons.tables(page) == page


def test_two_readers_agree_on_whom_the_labelled_texts_are_about() -> None:
    read, known = rows("labelled-texts.tsv"), {"women", "men", "both", "neither"}
    assert len(read) >= 300
    assert {label for row in read for label in (row["one"], row["two"], row["label"])} <= known
    assert sum(row["one"] == row["two"] for row in read) / len(read) > 0.95
    assert all(row["label"] == row["one"] for row in read if row["one"] == row["two"])


def test_intervals_and_words_have_the_confusion_of_the_labelled_texts() -> None:
    texts = [known for file in LABELLED for known in written(file)]
    found = Counter((known.kind, detect(known.text, known.item)) for known in texts)
    women, men = ({whom: found[of, whom] for whom in ("female", "male", "")} for of in ("women", "men"))
    confused = (women["male"], women["female"] + women["male"]), (men["female"], men["female"] + men["male"])
    others = sum(found[of, whom] for of in ("both", "neither") for whom in ("female", "male"))
    counted = women["female"] + women["male"] + men["female"] + men["male"] + others
    assert (*confused, (others, counted)) == WrittenShare.misread
    (shown,) = (told for told in words_beside(WrittenShare)["does_not_show"] if "misread" in told)
    agree = women["female"] + men["male"]
    assert shown.split(". ", 1)[1].startswith(
        f"Of {counted} texts of SmolLM2-135M-Instruct that it counted, {agree} were for the gender that readers saw, "
        f"{women['male'] + men['female']} for the other, and {others} were about neither or both; "
        f"of {sum([*women.values(), *men.values()])} about women or men, it did not count {women[''] + men['']}"
    ), shown
    assert women["female"] > 0.8 * sum(women.values())  # most are detected at all
    assert men["male"] > 0.8 * sum(men.values())


@pytest.mark.parametrize(
    "piece", ["A. ", "\n", '"', "“", "the nurse She said. ", "Maria ", "her ", "her husband, ", "*: "]
)
def test_long_texts_are_read_in_linear_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    start = process_time()
    detect(text, NURSE)
    assert process_time() - start < 3  # about 0.2; quadratic, it took minutes
