"""The released NLI-CoAL evaluation sets (Anantaprayoon et al. 2024)."""

import json
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from evenhand.core.dataset import Dataset
from evenhand.core.items import NliPair
from evenhand.datasets.checking import check_choice
from evenhand.datasets.faults import clean
from evenhand.datasets.files.releases import RELEASES, released
from evenhand.datasets.nli import DESIGN, Segmented, cut, groups_of, words_and_captions
from evenhand.datasets.pairs import indexed
from evenhand.errors import BadInput

Words = Literal["all", "down-sampled", "dev", "test"]
Rows = Literal["all", "clean"]
FILES = {"all": "/4-all_v", "down-sampled": "/4-all-downsamp_v", "dev": "/dev_r-10.", "test": "/test_bias."}
CONTROLLED = ("dev", "test")
"""The pairs of the bias-controlled sets: 30 occupations in 50 captions each; their labels are for training."""


def english(words: Words = "all", rows: Rows = "all") -> Dataset:
    """The released English set: 271 occupations, all rows or those without a leak.

    `words="down-sampled"` has 30 of them, 600 pairs: the paper's for models of known bias. `words="dev"` and `"test"`
    are the 3,000 pairs of the bias-controlled dev and test sets.
    """
    return _dataset("en", words, rows)


def japanese(words: Words = "all", rows: Rows = "all", segmented: Segmented = "no") -> Dataset:
    """The released Japanese set: 271 occupations (`words` as in English), all rows or those without a leak.

    `segmented="yes"` puts spaces between words, with fugashi; the release's own segmented copy is by Juman++.
    """
    return cut(_dataset("ja", words, rows), segmented)


def chinese(words: Words = "all", rows: Rows = "all") -> Dataset:
    """The released Chinese set: 266 occupations (`words` as in English), all rows or those without a leak."""
    return _dataset("zh", words, rows)


def _dataset(language: str, words: str, rows: str) -> Dataset:
    check_choice("words", words, *FILES)
    check_choice("rows", rows, "all", "clean")
    name = f"nli-coal-{language}"
    found = controlled_rows(language, FILES[words]) if words in CONTROLLED else _read(released(name, FILES[words]))
    items = list(_pairs(found, words_and_captions(language)["genders"]))
    texts = RELEASES[name].texts
    if words in CONTROLLED:
        leaks = len(items) - len(clean(items, language))
        texts["flaws"] = (
            f"In {leaks} of {len(items):,} rows the caption says a gender or has several persons. Captions repeat."
        )
    if rows == "clean":
        items = clean(items, language)
        kept = {item.id for item in items}
        found = [row for row in found if str(row["id"]) in kept]
    return Dataset(
        name=name,
        language=language,
        about="Captions about somebody of an occupation, and the same about a man or a woman"
        + (", without those that leak a gender." if rows == "clean" else "."),
        **texts,
        items=items,
        **DESIGN,
        table=partial(indexed, found, "id"),
        options={"words": words, "rows": rows},
    )


def controlled_rows(language: str, part: str) -> list[dict[str, Any]]:
    """The rows of a bias-controlled set, with id, occ_word and occ_type as in the evaluation sets."""
    rows = _read(released(f"nli-coal-{language}-controlled", part))
    genders = words_and_captions(language)["genders"]
    everything = _read(released(f"nli-coal-{language}", FILES["all"]))
    types = {item.groups["word"]: item.groups["type"] for item in _pairs(everything, genders)}
    found = []
    for number, row in enumerate(rows):
        word = next((w for w in types if w in row["sentence1"] and gender_of(row, w, genders)), None)
        if word is None:
            raise BadInput(f"'{row['sentence1']}' of the bias-controlled sets has no word of 'nli-coal-{language}'.")
        found.append({"id": number, **row, "occ_word": word, "occ_type": types[word]})
    return found


def _read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of the release: it is named .json, but has one object per line."""
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise BadInput(f"'{path}' cannot be read: {error}. Fetch it again, or take the release's file.") from error


def _pairs(rows: list[dict[str, Any]], genders: dict[str, str]) -> Iterator[NliPair]:
    types = {  # only from rows whose word is right: 16 Japanese ones name another word of the caption
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
    """The gender of the hypothesis if it is the premise with that word replaced, otherwise empty."""
    return next((g for g, other in genders.items() if row["sentence1"].replace(word, other) == row["sentence2"]), "")
