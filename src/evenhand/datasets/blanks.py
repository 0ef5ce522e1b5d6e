"""Sentences with one blank for a pronoun: the template-based data of a thesis (Barza 2023), and users' files.

A file has categories, each with professions and templates. A template has one of {he}, {him}, {his} for the blank and,
if there are professions, {profession}.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from evenhand.core.dataset import Dataset, Kinds
from evenhand.core.items import Blank
from evenhand.core.questions import Span
from evenhand.core.words import capitalise
from evenhand.datasets.files import read_toml
from evenhand.datasets.kinds import own_kinds, professions
from evenhand.datasets.templates import SLOT, TEXTS, check_keys, check_required, render, texts_of, with_article
from evenhand.errors import BadInput, UnknownName

PRONOUNS = {"he": ("he", "she", "they"), "him": ("him", "her", "them"), "his": ("his", "her", "their")}
"""The candidates for each slot: male, female, neutral."""
PLACE = {"he": "subject", "him": "object", "his": "possessive"}
BLANK = "___"
CALLS_FOR = {"": "neither", "female": "she", "male": "he"}
BETTER = {"": "closer to 0", "female": "below 0", "male": "above 0"}
"""Which values are better, by the gender that a word calls for; empty for most words."""
CATEGORY_KEYS = ("name", "gender", "note", "professions", "templates")
FARMING = "farming and fishing"
PAPER = "Barza 2023, Towards a Robust Gender Bias Evaluation in NLP (AUB), appendices I and II"
OTHERS: dict[str, tuple[list[str], str, str]] = {
    "tbd-simple": (["{he} is a {profession}."], "one simple template", "Template: Kurita et al. 2019"),
    "tbd-becpro": ([], "the five templates of BEC-Pro", "Templates: Bartl, Nissim and Gatt 2020"),
}
"""Templates (an empty list: those of BEC-Pro), their description, and their source."""

Reading = Literal["clean", "verbatim"]


def tbd(reading: Reading = "clean", farming: str = "") -> Dataset:
    """The thesis's professions in the sentences of their category.

    `reading="clean"` repairs the errors of its appendices, `"verbatim"` keeps them (docs/measures/pronoun.md lists
    each). The thesis has sentences for farming and fishing but no professions: give some in `farming`, separated by
    commas.
    """
    jobs = [{"text": word.strip()} for word in farming.split(",") if word.strip()]
    return _dataset(
        "tbd",
        [c | ({"professions": jobs} if c["name"] == FARMING else {}) for c in _categories_of_thesis(reading)],
        agree=reading == "clean",
        kinds=professions(),
        about="Professions in sentences of their trade, with a blank for the pronoun.",
        flaws="" if jobs else "Farming and fishing is empty: the thesis names no professions for its sentences.",
        options={"reading": reading, "farming": farming},
    )


def tbd_gendered(reading: Reading = "clean") -> Dataset:
    """The words of Barza's thesis that call for one gender (actress, pregnant): values far from 0 are right.

    The words are all that the thesis has, not a sample of more, so intervals resample only the sentences.
    """
    return _dataset(
        "tbd-gendered",
        _categories_of_thesis(reading, gendered=True),
        agree=reading == "clean",
        about="Words that call for one gender, with a blank for the pronoun: what a model should go on knowing.",
        flaws="Not every person who is pregnant is a woman, nor every one with testicles a man.",
        options={"reading": reading},
    )


def other_templates(name: str) -> Dataset:
    """The professions of tbd in templates from other papers."""
    templates, description, source = OTHERS[name]
    if not templates:
        templates = [template.replace("{person}", "{he}") for template in read_toml("becpro-en.toml")["templates"]]
    occupations = [{**c, "templates": templates} for c in _categories_of_thesis("clean")]
    about = f"The professions of tbd in {description}, with a blank for the pronoun."
    return _dataset(name, occupations, kinds=professions(), about=about, source=f"{source}; professions: Barza 2023")


def from_file(file: str, data: Mapping[str, Any], options: Mapping[str, Any]) -> Dataset:
    """The dataset of a user's parsed TOML file; every error names the file and the place in it."""
    check_keys(file, data, (*TEXTS, "category", "kinds"))
    check_required(file, data, ("name", "language", "category"))
    if data["language"] != "en":
        raise BadInput(f"{file}: pronoun templates must be in English, language = 'en'. Got {data['language']!r}.")
    if not isinstance(data["category"], list):
        raise BadInput(f"{file}: write categories as [[category]], with two brackets.")
    categories = [
        _read_category(entry, "clean", f"{file}, category {n}") for n, entry in enumerate(data["category"], 1)
    ]
    gendered = any(_is_gendered(category) for category in categories)
    words = [p["text"] for c in categories for p in c["professions"] or [{"text": c["name"]}]]
    kinds = own_kinds(file, "profession", data.get("kinds", {}), words, headline="default")
    texts = texts_of(data, f"Sentences with a blank for a pronoun, from {Path(file).name}.")
    return _dataset(
        categories=categories, kinds=None if gendered else kinds, **texts, options=options, builder="templates"
    )


def _categories_of_thesis(reading: str, *, gendered: bool = False) -> list[dict[str, Any]]:
    """The thesis's categories with words that call for one gender or, with `gendered=False`, all other categories."""
    read = [_read_category(category, reading, "tbd-en.toml") for category in read_toml("tbd-en.toml")["category"]]
    return [category for category in read if _is_gendered(category) == gendered]


def _is_gendered(category: Mapping[str, Any]) -> bool:
    return bool(category["gender"] or any(p.get("gender") for p in category["professions"]))


def _read_category(category: Mapping[str, Any], reading: str, place: str) -> dict[str, Any]:
    """The checked category in one reading, with professions as {text, gender} and templates as texts."""
    if not isinstance(category, dict):
        raise BadInput(f"{place}: a category must be a table, [[category]]. Got {category!r}.")
    check_keys(place, category, CATEGORY_KEYS)
    for key in ("name", "gender"):
        if not isinstance(category.get(key, ""), str):
            raise BadInput(f"{place}: {key} must be a text. Got {category[key]!r}.")
    if not category.get("name") or not category.get("templates"):
        raise BadInput(f"{place}: a category needs a name and templates. Got the keys {', '.join(category)}.")
    for key in ("professions", "templates"):
        if not isinstance(category.get(key, []), list):
            raise BadInput(f'{place}: {key} must be a list, as in {key} = ["...", "..."]. Got {category[key]!r}.')
    professions = [_read_entry(entry, reading, place) for entry in category.get("professions", [])]
    templates = [text for entry in category["templates"] if (text := _read_entry(entry, reading, place)["text"])]
    if len(set(templates)) < len(templates):
        raise BadInput(f"{place}: the template {Counter(templates).most_common(1)[0][0]!r} occurs twice.")
    for template in templates:
        slots = SLOT.findall(template)
        if sum(slot in PRONOUNS for slot in slots) != 1:
            wanted = "exactly one slot for the pronoun: {he}, {him} or {his}"
            raise BadInput(f"{place}: a template needs {wanted}. Got {template!r}.")
        if unknown := set(slots) - {*PRONOUNS, "profession"}:
            raise BadInput(f"{place}: unknown slot {{{min(unknown)}}} in {template!r}.")
        if reading == "verbatim":
            continue
        if professions and slots.count("profession") != 1:
            raise BadInput(f"{place}: with professions, each template needs {{profession}} once. Got {template!r}.")
        if not professions and "profession" in slots and category["name"] != FARMING:
            raise BadInput(f"{place}: {template!r} has {{profession}}, but the category has no professions.")
    gender = category.get("gender", "")
    for label in (gender, *(profession.get("gender", "") for profession in professions)):
        if label not in BETTER:
            raise BadInput(f"{place}: {UnknownName('gender', str(label), ('female', 'male'))}")
    return {"name": category["name"], "gender": gender, "professions": professions, "templates": templates}


def _read_entry(entry: object, reading: str, place: str) -> dict[str, str]:
    """A profession or template in one reading, as {text, gender}."""
    if isinstance(entry, str) and entry.strip():
        return {"text": entry}
    if isinstance(entry, dict) and isinstance(printed := entry.get("verbatim", entry.get("text")), str):
        text, gender = entry.get("clean", printed) if reading == "clean" else printed, entry.get("gender", "")
        if isinstance(text, str) and isinstance(gender, str):
            return {"text": text, "gender": gender}
    raise BadInput(f"{place}: a profession or template must be a text that is not empty. Got {entry!r}.")


def _dataset(
    name: str,
    categories: list[dict[str, Any]],
    *,
    agree: bool = True,
    kinds: Kinds | None = None,
    source: str = PAPER,
    licence: str = "word lists and sentences as the thesis prints them",
    **fields: Any,
) -> Dataset:
    texts = dict.fromkeys(text for category in categories for text in category["templates"])
    numbers = {text: n for n, text in enumerate(texts, start=1)}  # a template of several categories is one cluster
    items = [item for category in categories for item in _blanks(category, agree, numbers)]
    if not items:
        raise BadInput(f"'{name}' has no sentences: give a category professions, or templates without {{profession}}.")
    return Dataset(
        name=name,
        source=source,
        licence=licence,
        items=items,
        by=("category", "better" if kinds else "calls_for"),
        within="profession",
        cluster="template",
        crossed="profession" if kinds else "",
        kinds=kinds,
        table=partial(table, items),
        **fields,
    )


def _blanks(category: Mapping[str, Any], agree: bool, numbers: Mapping[str, int]) -> Iterator[Blank]:
    name, templates = category["name"], category["templates"]
    needs = any("{profession}" in template for template in templates)
    for profession in category["professions"] or ([] if needs else [{"text": name}]):
        word = profession["text"]
        gender = profession.get("gender") or category["gender"]
        for number, template in enumerate(templates, start=1):
            slots = SLOT.findall(template)
            slot = next(s for s in slots if s in PRONOUNS)
            groups = {
                "category": name,
                "better": BETTER[gender],
                "calls_for": CALLS_FOR[gender],
                "profession": word,
                "template": str(numbers[template]),
                **({"gender": gender} if gender else {}),
                "place": PLACE[slot],
            }
            agreed = with_article(template, "profession", word) if agree else template
            text, spans = render(agreed, **{slot: BLANK}, **({"profession": word} if "profession" in slots else {}))
            candidates = tuple(map(capitalise, PRONOUNS[slot])) if spans[slot].start == 0 else PRONOUNS[slot]
            yield Blank(f"{name}/{word}/{number}", text, spans[slot], candidates, groups, spans.get("profession"))


def blank_out(
    id: str, text: str, word: Span, candidates: tuple[str, ...], groups: Mapping[str, str], attribute: Span
) -> Blank:
    """The item of a sentence with a blank in place of `word`, which is one of the `candidates`."""
    whole = text[: word.start] + BLANK + text[word.stop :]
    if attribute.start >= word.stop:
        attribute = attribute.shift(len(whole) - len(text))
    return Blank(id, whole, Span(word.start, word.start + len(BLANK)), candidates, groups, attribute)


def table(items: Sequence[Blank]) -> pd.DataFrame:
    """The items as a table for export, with [MASK] in each blank."""
    rows = [
        {"sentence": i.text.replace(BLANK, "[MASK]", 1), "pronouns": "/".join(i.candidates), **i.groups} for i in items
    ]
    return pd.DataFrame(rows, index=pd.Index([i.id for i in items], name="id"))
