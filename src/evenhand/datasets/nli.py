"""Premises with an occupation and hypotheses with a man or a woman: the released NLI-CoAL, our sets, and users' files.

Our sets are modelled on NLI-CoAL (Anantaprayoon et al. 2024). A user's file has [genders], the words for a woman and a
man; [words], occupations by stereotyped gender; and [captions], each with one {who}.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import chain, product
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from evenhand.core.dataset import Dataset, Partners
from evenhand.core.files import json_lines
from evenhand.core.foreign import need
from evenhand.core.items import NliPair
from evenhand.datasets.faults import clean
from evenhand.datasets.files import read_toml
from evenhand.datasets.files.releases import RELEASES, find_release
from evenhand.datasets.kinds import INFERENCE
from evenhand.datasets.pairs import table_of
from evenhand.datasets.templates import (
    SLOT,
    TEXTS,
    check_keys,
    check_required,
    check_words,
    render,
    texts_of,
    with_article,
)
from evenhand.errors import BadInput, check_known
from evenhand.measures.nli import SETS

Segmented = Literal["no", "yes"]
Words = Literal["all", "down-sampled", "dev", "test"]
Rows = Literal["all", "clean"]
LANGUAGES = ("en", "ja", "zh")
TYPES = ("female", "male", "neutral")
GENDERS = ("female", "male")
PARTNERS = Partners("gender", "female", "male", ("set",))
"""Pairs with the same word and caption, one with a woman and one with a man."""
DESIGN: dict[str, Any] = {"by": ("set",), "cluster": "word", "crossed": "template"}
DESIGN |= {"partners": PARTNERS, "kinds": INFERENCE}
REQUIRED = ("name", "language", "genders", "words", "captions")
FILES = {"all": "/4-all_v", "down-sampled": "/4-all-downsamp_v", "dev": "/dev_r-10.", "test": "/test_bias."}
CONTROLLED = ("dev", "test")
"""The `words` that mean a bias-controlled set: 30 occupations in 50 captions each, with labels for training."""


def our_set(language: str) -> Dataset:
    """Our set of a language: 30 occupations in 24 captions, each with a woman and with a man."""
    return _dataset(words_and_captions(language), flaws="Not validated by annotators. Two genders only.")


def japanese(segmented: Segmented = "no") -> Dataset:
    """Our Japanese set: the same occupations and scenes; `segmented="yes"` puts spaces between words."""
    return segment_words(our_set("ja"), segmented)


def segment_words(dataset: Dataset, segmented: Segmented) -> Dataset:
    """A Japanese dataset as it is, or with spaces between words, for models that were trained on such text."""
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


def from_file(file: str, data: dict[str, Any], options: Mapping[str, Any]) -> Dataset:
    """The dataset of a user's parsed TOML file; every error names the file."""
    _check_file(file, data)
    return _dataset(data, options=options, builder="templates")


def words_and_captions(language: str) -> dict[str, Any]:
    """The words and captions of the bundled set of a language."""
    check_known("language", [language], LANGUAGES)
    return read_toml(f"nli-{language}.toml")


def set_of(type: str, gender: str) -> str:
    """The set of a hypothesis: for the occupation's stereotype ("pro"), against it ("anti"), or neither ("non")."""
    return "non" if type == "neutral" else "pro" if type == gender else "anti"


def caption(template: str, who: str, language: str) -> str:
    """The template with `who` in its slot; in English with the right article.

    >>> caption("A {who} is asleep.", "accountant", "en")
    'An accountant is asleep.'
    """
    if language == "en":
        template = with_article(template, "who", who)
    return render(template, who=who)[0]


def _dataset(spec: Mapping[str, Any], **fields: Any) -> Dataset:
    items = sorted(_pairs(spec), key=lambda item: SETS.index(item.groups["set"]))
    return Dataset(**texts_of(spec), items=items, table=partial(_table, items), **DESIGN, **fields)


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
    """The groups of a pair: its set, occupation, type (stereotyped gender), gender of the hypothesis, and caption."""
    return {"set": set_of(type, gender), "word": word, "type": type, "gender": gender, "template": template}


def _table(items: list[NliPair]) -> pd.DataFrame:
    """One row for each pair, all labelled neutral, since an occupation implies no gender."""
    rows = [{"premise": i.premise, "hypothesis": i.hypothesis, "label": "neutral", **i.groups} for i in items]
    return pd.DataFrame(rows, index=pd.Index([i.id for i in items], name="id"))


def _check_file(file: str, data: dict[str, Any]) -> None:
    check_keys(file, data, (*TEXTS, "genders", "words", "captions"))
    check_required(file, data, REQUIRED)
    for key in ("genders", "words", "captions"):
        if not isinstance(data[key], dict):
            raise BadInput(f"{file}: [{key}] must be a table. Got {data[key]!r}.")
    check_keys(f"{file}: [genders]", data["genders"], GENDERS)
    check_keys(f"{file}: [words]", data["words"], TYPES)
    for gender in GENDERS:
        if gender not in data["genders"]:
            raise BadInput(f'{file}: [genders] needs female and male, as in female = "woman". There is no {gender}.')
    for type, words in data["words"].items():
        check_words(f"{file}: [words]", type, words)
    check_words(f"{file}: [genders] and [words]", "words", [*data["genders"].values(), *chain(*data["words"].values())])
    for name, text in data["captions"].items():
        if not isinstance(text, str) or SLOT.findall(text) != ["who"]:
            raise BadInput(f"{file}: the caption '{name}' must be a text with one slot, {{who}}. Got {text!r}.")


def coal_japanese(words: Words = "all", rows: Rows = "all", segmented: Segmented = "no") -> Dataset:
    """The released Japanese set: 271 occupations (`words` as in English), all rows or those without a leak.

    `segmented="yes"` puts spaces between words, with fugashi; the release's own segmented copy was made with Juman++.
    """
    return segment_words(coal("ja", words, rows), segmented)


def coal(language: str, words: Words = "all", rows: Rows = "all") -> Dataset:
    """The released set of a language, all rows or those without a leak."""
    name = f"nli-coal-{language}"
    table = controlled_rows(language, FILES[words]) if words in CONTROLLED else _read(find_release(name, FILES[words]))
    items = list(_coal_pairs(table, words_and_captions(language)["genders"]))
    texts = RELEASES[name].texts
    if words in CONTROLLED:
        leaks = len(items) - len(clean(items, language))
        texts["flaws"] = (
            f"In {leaks} of {len(items):,} rows the caption says a gender or has several persons. Captions repeat."
        )
    if rows == "clean":
        items = clean(items, language)
        ids = {item.id for item in items}
        table = [row for row in table if str(row["id"]) in ids]
    return Dataset(
        name=name,
        language=language,
        about="Captions about somebody of an occupation, and the same about a man or a woman"
        + (", without those that leak a gender." if rows == "clean" else "."),
        **texts,
        items=items,
        **DESIGN,
        table=partial(table_of, table, "id"),
        options={"words": words, "rows": rows},
    )


def controlled_rows(language: str, part: str) -> list[dict[str, Any]]:
    """The rows of a bias-controlled set, with id, occ_word and occ_type as in the evaluation sets."""
    rows = _read(find_release(f"nli-coal-{language}-controlled", part))
    genders = words_and_captions(language)["genders"]
    everything = _read(find_release(f"nli-coal-{language}", FILES["all"]))
    types = {item.groups["word"]: item.groups["type"] for item in _coal_pairs(everything, genders)}
    labelled = []
    for number, row in enumerate(rows):
        word = next((w for w in types if w in row["sentence1"] and gender_of(row, w, genders)), None)
        if word is None:
            raise BadInput(f"'{row['sentence1']}' of the bias-controlled sets names no word of 'nli-coal-{language}'.")
        labelled.append({"id": number, **row, "occ_word": word, "occ_type": types[word]})
    return labelled


def _read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of the release: it is named .json, but has one object per line."""
    return [row for _, row in json_lines(path)]


def _coal_pairs(rows: list[dict[str, Any]], genders: dict[str, str]) -> Iterator[NliPair]:
    types = {  # not from 16 Japanese rows, whose occ_word is another word of the caption
        row["occ_word"]: row["occ_type"].removesuffix("-stereo")
        for row in rows
        if gender_of(row, row["occ_word"], genders)
    }
    captions: dict[str, str] = {}
    for row in rows:
        word = next(w for w in chain([row["occ_word"]], types) if gender_of(row, w, genders))
        template = captions.setdefault(row["sentence1"].replace(word, "{who}"), str(len(captions) + 1))
        groups = groups_of(word, types[word], gender_of(row, word, genders), template)
        yield NliPair(str(row["id"]), row["sentence1"], row["sentence2"], groups)


def gender_of(row: dict[str, Any], word: str, genders: dict[str, str]) -> str:
    """The gender whose word, in place of `word` in the premise, gives the hypothesis; empty if there is none."""
    return next((g for g, other in genders.items() if row["sentence1"].replace(word, other) == row["sentence2"]), "")
