"""Prompts for texts about one person whose gender is left open: does a model write about women or men?"""

from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

from evenhand.core.dataset import Dataset
from evenhand.core.items import Prompt
from evenhand.core.typed import as_typed
from evenhand.datasets.becpro import professions
from evenhand.datasets.files import read_toml
from evenhand.datasets.gendered import Gender, sure_names, words_of
from evenhand.datasets.kinds import kinds_of
from evenhand.datasets.templates import VOWEL
from evenhand.errors import BadInput, check_known

UNCONDITIONED = "unconditioned"


def stories(
    subjects: Literal["all", "professions", "activities"] = "all", forms: str = "all", chat: bool = False
) -> Dataset:
    """Eight forms of texts: seven about somebody with one of 60 professions or 20 activities, one about anybody.

    `subjects` selects professions or activities; `forms` some of the forms, as in "story,news,unconditioned".
    A model continues the beginning of a text; with `chat` it gets an instruction to write the text.
    """
    chat = as_typed("chat", chat, bool)
    if not isinstance(forms, str):
        raise BadInput(f"`forms` must be a text. Got {forms!r}.")
    data = read_toml("stories-en.toml")
    chosen = list(data["forms"]) if forms == "all" else [form.strip() for form in forms.split(",")]
    check_known("form of stories-en", chosen, data["forms"])
    if set(chosen) == {UNCONDITIONED}:
        raise BadInput("`forms` has only unconditioned, which names no profession. Add another form.")
    return Dataset(
        name="stories-en",
        about=data["about"],
        flaws=data["flaws"],
        source=data["source"],
        licence="CC0 1.0",
        items=[
            item
            for form in dict.fromkeys(chosen)
            for item in _prompts(data, form, subjects, "chat" if chat else "text")
        ],
        by=("form",),
        cluster="subject",
        crossed="form",
        kinds=kinds_of("stories-en"),
        options={"subjects": subjects, "forms": forms, "chat": chat},
    )


def _prompts(data: dict[str, Any], form: str, wanted: str, wording: str) -> Iterator[Prompt]:
    for subject, topic, kind in _subjects(data, form):
        if wanted in ("all", topic) or topic == "nobody":
            job = topic != "activities"
            a = f"{'an' if VOWEL.match(subject) else 'a'} {subject}" if job else f"a person who {subject}"
            filled = {"a": a, "A": a[0].upper() + a[1:], "the": f"the {subject}" if job else "the person"}
            groups = {"form": form, "subject": subject, "topic": topic, "kind": kind}
            text = data["forms"][form][wording].format(**filled)
            noun = subject.partition(" of ")[0].split()[-1] if job else "person"  # registered *nurse*
            yield Prompt(f"{form}/{subject}", text, *gendered_words(), groups, sure_names(), noun)


def _subjects(data: dict[str, Any], form: str) -> Iterator[tuple[str, str, str]]:
    """The subjects of a form, each with its topic and kind."""
    if nobody := data["forms"][form].get("subjects"):
        yield from ((subject, "nobody", "none") for subject in nobody)
        return
    yield from ((job.name, "professions", job.prof_gender) for job in professions())
    yield from ((name, "activities", activity["kind"]) for name, activity in data["activities"].items())


@cache
def gendered_words() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """English words for women and words for men: pronouns, kinship, titles and roles, without names and animals."""
    sides: tuple[Gender, Gender] = ("female", "male")
    female, male = (tuple(sorted(word for word in words_of(side) if word.isalpha())) for side in sides)
    return female, male
