"""Prompts for texts about one person: what there is, and that none of them says whether it is a woman or a man."""

import re
from collections import Counter
from typing import Any

import pytest

from evenhand import datasets, suites
from evenhand.core.dataset import Dataset
from evenhand.core.items import Prompt
from evenhand.core.questions import WORD
from evenhand.datasets.becpro import professions
from evenhand.datasets.files import read_toml
from helpers.typed import all_of

FORMS = ["story", "persona", "headline", "dialogue", "diary", "news", "biography", "unconditioned"]
WORDINGS = pytest.mark.parametrize("chat", [False, True], ids=["text", "chat"])


def prompts(**options: Any) -> list[Prompt]:
    return all_of(Prompt, datasets.load("stories-en", **options).items)


@WORDINGS
def test_seven_forms_of_eighty_subjects_and_one_of_ten(chat: bool) -> None:
    items = prompts(chat=chat)
    assert len(items) == 570
    assert Counter(i.groups["form"] for i in items) == dict.fromkeys(FORMS[:-1], 80) | {"unconditioned": 10}
    assert list(dict.fromkeys(i.groups["form"] for i in items)) == FORMS
    assert Counter(i.groups["topic"] for i in items) == {"professions": 7 * 60, "activities": 7 * 20, "nobody": 10}
    assert len({i.id for i in items}) == len({i.text for i in items}) == 570
    assert {frozenset(i.groups) for i in items} == {frozenset({"form", "subject", "topic", "kind"})}


def test_professions_have_the_kinds_of_becpro() -> None:
    items = [i for i in prompts() if i.groups["topic"] == "professions"]
    kinds = {(i.groups["subject"], i.groups["kind"]) for i in items}
    assert kinds == {(job.name, job.prof_gender) for job in professions()}
    assert Counter(kind for _, kind in kinds) == {"female": 20, "male": 20, "balanced": 20}


def test_activities_are_half_of_women_and_each_has_a_figure_and_a_source() -> None:
    activities = read_toml("stories-en.toml")["activities"]
    assert Counter(activity["kind"] for activity in activities.values()) == {"female": 10, "male": 10}
    for activity in activities.values():
        assert set(activity) == {"kind", "figure", "source"}
        assert re.search(r"\d+ %", activity["figure"])
        assert re.search(r"\b20\d\d\b", activity["source"])  # a survey of a year
    items = [i for i in prompts() if i.groups["topic"] == "activities"]
    assert {i.groups["subject"]: i.groups["kind"] for i in items} == {
        name: activity["kind"] for name, activity in activities.items()
    }


@pytest.mark.parametrize("name", list(read_toml("stories-en.toml")["activities"]))
def test_a_figure_speaks_for_the_kind(name: str) -> None:
    """Where it is a share of women or of men, it is more than a half of the kind's, or less of the others'."""
    activity = read_toml("stories-en.toml")["activities"][name]
    figure, *others = (float(number) for number in re.findall(r"(\d+) %", activity["figure"]))
    if others:  # women's figure first
        first = "men" if "mainly the man" in activity["figure"] else "women"
        assert (figure > others[0]) == ((activity["kind"] == "female") == (first == "women"))
    else:
        of_men = activity["figure"].startswith("men ") or "mainly the man" in activity["figure"]
        assert (figure > 50) == ((activity["kind"] == "male") == of_men)


@WORDINGS
def test_no_prompt_has_a_gendered_word(chat: bool) -> None:
    for item in prompts(chat=chat):
        gendered = set(item.female) | set(item.male)
        assert not gendered & set(WORD.findall(item.text.lower())), item.id


def test_words_to_look_for_are_of_people_and_of_one_gender() -> None:
    ((female, male),) = {(i.female, i.male) for i in prompts()}
    assert {"she", "her", "hers", "herself", "woman", "mother", "mrs", "waitress"} <= set(female)
    assert {"he", "him", "his", "himself", "man", "father", "mr", "waiter"} <= set(male)
    assert not set(female) & set(male)
    assert not {"cow", "hen", "mare", "bull", "stallion", "they", "maria", "john"} & {*female, *male}
    assert all(WORD.fullmatch(word) and word == word.lower() for word in (*female, *male))


@WORDINGS
def test_articles_agree_with_the_subject(chat: bool) -> None:
    items = prompts(chat=chat)
    for item in items:
        for article, word in re.findall(r"\b([Aa]n?) (\w+)", item.text):
            assert (article.lower() == "an") == (word[0].lower() in "aeiou"), item.text
    assert {"an electrician", "a bookkeeper"} == {
        match[0]
        for item in items
        if item.groups["form"] == "story" and (match := re.search(r"\ban? (electrician|bookkeeper)\b", item.text))
    }


@WORDINGS
def test_every_prompt_names_its_subject_as_a_person(chat: bool) -> None:
    for item in prompts(chat=chat):
        subject = item.groups["subject"]
        named = f"a person who {subject}" if item.groups["topic"] == "activities" else f" {subject}"
        assert named in item.text.replace("A person", "a person"), item.id
        assert not re.search(r"[{}]|  ", item.text)
        assert item.id == f"{item.groups['form']}/{subject}"


@WORDINGS
def test_a_prompt_begins_with_a_capital_and_an_instruction_is_a_sentence(chat: bool) -> None:
    for item in prompts(chat=chat):
        assert re.match(r'"?[A-Z]', item.text)
        assert not chat or item.text.endswith(".")
        assert item.text == item.text.strip()


def test_options_choose_subjects_and_forms() -> None:
    jobs, activities = prompts(subjects="professions"), prompts(subjects="activities")
    assert Counter(i.groups["topic"] for i in jobs) == {"professions": 420, "nobody": 10}
    assert Counter(i.groups["topic"] for i in activities) == {"activities": 140, "nobody": 10}
    some = prompts(forms="news, story", subjects="activities")
    assert Counter(i.groups["form"] for i in some) == {"news": 20, "story": 20}
    assert len(prompts(forms="news,news")) == 80
    assert {i.id: i.text for i in some}.items() <= {i.id: i.text for i in prompts()}.items()
    ours, theirs = ({i.id: i.text for i in prompts(chat=chat)} for chat in (False, True))
    assert set(ours) == set(theirs)
    assert not set(ours.values()) & set(theirs.values())


def test_options_are_recorded_so_that_it_can_be_built_again() -> None:
    made = datasets.load("stories-en", subjects="activities", forms="story,unconditioned", chat=True)
    again = datasets.load("stories-en", **made.options)
    assert again.items == made.items
    assert set(made.options) == set(datasets.options_of("stories-en"))


def test_subjects_are_clusters_and_forms_cross_them() -> None:
    made = datasets.load("stories-en")
    assert isinstance(made, Dataset)
    assert (made.cluster, made.crossed, tuple(made.by)) == ("subject", "form", ("form",))
    cells = Counter((i.groups["subject"], i.groups["form"]) for i in made.items)
    assert set(cells.values()) == {1}
    assert made.kinds is not None
    assert (made.kinds.group, made.kinds.headline) == ("kind", "stereotype")
    kinds = {i.groups["kind"] for i in made.items} - {*made.kinds.female, *made.kinds.male}
    assert kinds == {"balanced", "none"}  # which have no kind
    nobody = [i for i in made.items if i.groups["form"] == "unconditioned"]
    assert {i.groups["kind"] for i in nobody} == {"none"}


def test_a_long_option_has_its_beginning_in_the_name() -> None:
    forms = ("story,news,persona,dialogue,diary", "story,news,persona,dialogue,headline", "story,news")
    names = [suites.tasks_on("stories-en", (), {"forms": some}, "causal")[0].dataset.name for some in forms]
    assert [name[:37] for name in names[:2]] == ["stories-en (forms=story,news,persona,"] * 2
    assert names[0] != names[1]
    assert names[2] == "stories-en (forms=story,news)"
