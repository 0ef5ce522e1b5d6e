"""Premises with an occupation and hypotheses with a man or a woman: pairs modelled on NLI-CoAL, and users' own.

A file has [genders], the words for a woman and a man; [words], occupations by stereotyped gender; and [captions], each
with one {who}.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import product
from typing import Any, Literal

import pandas as pd

from evenhand.core.contrasts import Partners
from evenhand.core.dataset import Dataset
from evenhand.core.extras import need
from evenhand.core.items import NliPair
from evenhand.datasets.checking import check_choice, check_keys, check_required
from evenhand.datasets.files.bundled import read_toml
from evenhand.datasets.kinds import INFERENCE
from evenhand.datasets.templates import SLOT, agreeing, render
from evenhand.errors import BadInput, check_known

Segmented = Literal["no", "yes"]
LANGUAGES = ("en", "ja", "zh")
TYPES = ("female", "male", "neutral")
GENDERS = ("female", "male")
SETS = ("pro", "anti", "non")
PARTNERS = Partners("gender", "female", "male", ("set",))
"""Pairs with a woman and with a man, for one word in one caption."""
DESIGN: dict[str, Any] = {"by": ("set",), "cluster": "word", "crossed": "template"}
DESIGN |= {"partners": PARTNERS, "kinds": INFERENCE}
REQUIRED = ("name", "language", "genders", "words", "captions")
KEYS = ("name", "language", "about", "source", "licence", "genders", "words", "captions")


def english() -> Dataset:
    """Our English set: 30 occupations in 24 captions, each with a woman and with a man."""
    return _bundled("en")


def japanese(segmented: Segmented = "no") -> Dataset:
    """Our Japanese set: the same occupations and scenes; `segmented="yes"` puts spaces between words."""
    return cut(_bundled("ja"), segmented)


def chinese() -> Dataset:
    """Our Chinese set: the same occupations and scenes."""
    return _bundled("zh")


def cut(dataset: Dataset, segmented: Segmented) -> Dataset:
    """A Japanese dataset as it is, or with spaces between words, for models that were trained on such text."""
    check_choice("segmented", segmented, "no", "yes")
    if segmented == "no":
        return dataset
    items = [
        replace(item, premise=into_words(item.premise), hypothesis=into_words(item.hypothesis))
        for item in dataset.items
        if isinstance(item, NliPair)
    ]
    return replace(dataset, items=items, options={**dataset.options, "segmented": "yes"})


def into_words(text: str) -> str:
    """The text with a space between words, as segmented by fugashi (MeCab with the unidic-lite dictionary)."""
    return " ".join(word.surface for word in _tagger()(text))


@cache
def _tagger() -> Any:
    need("ja", "Cutting Japanese into words")
    from fugashi import Tagger

    return Tagger()


def own(file: str, data: dict[str, Any], options: Mapping[str, Any]) -> Dataset:
    """The dataset of a user's file, as parsed; every error names the file."""
    return _dataset(_valid_spec(file, data), options=options, builder="templates")


def words_and_captions(language: str) -> dict[str, Any]:
    """The words and captions of the bundled set of a language."""
    check_known("language", [language], LANGUAGES)
    file = f"nli-{language}.toml"
    return _valid_spec(file, read_toml(file))


def set_of(type: str, gender: str) -> str:
    """The set of a hypothesis: for the occupation's stereotype ("pro"), against it ("anti"), or neither ("non")."""
    return "non" if type == "neutral" else "pro" if type == gender else "anti"


def caption(template: str, who: str, language: str) -> str:
    """The caption with that person in it, in English with the right article.

    >>> caption("A {who} is asleep.", "accountant", "en")
    'An accountant is asleep.'
    """
    if language == "en":
        template = agreeing(template, "who", who)
    return render(template, who=who)[0]


def _bundled(language: str) -> Dataset:
    return _dataset(words_and_captions(language), flaws="Not validated by annotators. Two genders only.")


def _dataset(spec: Mapping[str, Any], **how: Any) -> Dataset:
    items = sorted(_pairs(spec), key=lambda item: SETS.index(item.groups["set"]))
    return Dataset(
        name=spec["name"],
        language=spec["language"],
        about=spec.get("about", ""),
        source=spec.get("source", ""),
        licence=spec.get("licence", ""),
        items=items,
        table=partial(_table, items),
        **DESIGN,
        **how,
    )


def _pairs(spec: Mapping[str, Any]) -> Iterator[NliPair]:
    language = spec["language"]
    typed = [(word, type) for type, words in spec["words"].items() for word in words]
    for (word, type), (template, text) in product(typed, spec["captions"].items()):
        premise = caption(text, word, language)
        for gender in GENDERS:
            hypothesis = caption(text, spec["genders"][gender], language)
            groups = groups_of(word, type, gender, template)
            yield NliPair(f"{word}/{template}/{gender}", premise, hypothesis, groups)


def groups_of(word: str, type: str, gender: str, template: str) -> dict[str, str]:
    """The groups of a pair, of an occupation and its type, and of the gender and caption it is with."""
    return {"set": set_of(type, gender), "word": word, "type": type, "gender": gender, "template": template}


def _table(items: list[NliPair]) -> pd.DataFrame:
    """One row for each pair, all labelled neutral, since an occupation implies no gender."""
    rows = [{"premise": i.premise, "hypothesis": i.hypothesis, "label": "neutral", **i.groups} for i in items]
    return pd.DataFrame(rows, index=pd.Index([i.id for i in items], name="id"))


def _valid_spec(file: str, data: dict[str, Any]) -> dict[str, Any]:
    check_keys(file, data, KEYS)
    check_required(file, data, REQUIRED)
    for key in ("genders", "words", "captions"):
        if not isinstance(data[key], dict):
            raise BadInput(f"{file}: [{key}] must be a table. Got {data[key]!r}.")
    check_keys(f"{file}: [genders]", data["genders"], GENDERS)
    check_keys(f"{file}: [words]", data["words"], TYPES)
    for gender in GENDERS:
        if gender not in data["genders"]:
            raise BadInput(f'{file}: [genders] must name both, as in female = "woman". There is no {gender}.')
    for type, words in data["words"].items():
        if not isinstance(words, list) or not words:
            raise BadInput(f"{file}: [words]: {type} must be a list of words. Got {words!r}.")
    everyone = [*data["genders"].values(), *(word for words in data["words"].values() for word in words)]
    for word in everyone:
        if not isinstance(word, str) or not word.strip():
            raise BadInput(f"{file}: a word must be a text. Got {word!r}.")
        if everyone.count(word) > 1:
            raise BadInput(f"{file}: the word {word!r} occurs twice. List each word once.")
    for name, text in data["captions"].items():
        if not isinstance(text, str) or SLOT.findall(text) != ["who"]:
            raise BadInput(f"{file}: the caption '{name}' must be a text with one slot, {{who}}. Got {text!r}.")
    return data
