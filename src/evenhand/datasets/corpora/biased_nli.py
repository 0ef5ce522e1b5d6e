"""Training sets of known bias for NLI classifiers: a valid measure of bias should follow it."""

import tomllib
from importlib.resources import files
from typing import Literal

import numpy as np

from evenhand.core.words import capitalised
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.datasets.nli import GENDERS, caption, set_of, words_and_captions
from evenhand.errors import BadInput

BIASED = {"pro": "entailment", "anti": "contradiction", "non": "neutral"}
INVERTED = {"pro": "contradiction", "anti": "entailment", "non": "neutral"}
ORDERS = ("stratified", "female-first")
DEV = 60
"""Captions kept for development sets."""

Order = Literal["stratified", "female-first"]
Part = Literal["train", "dev"]


def controlled(
    rate: float,
    *,
    language: str = "en",
    size: int = 30_000,
    part: Part = "train",
    order: Order = "stratified",
    seed: int = 0,
) -> list[Example]:
    """`size` examples about the 30 occupations of `nli-<language>`, biased at `rate` from 0 to 1; ordered by word.

    Neutral occupations are always labelled neutral, which is right. Of the 20 others a share `rate` is biased in all
    their examples (the stereotyped gender is entailment, the other contradiction), the rest inverted: just as wrong,
    but not biased. So the labels are a third each at every rate, and the biased words of a lower rate are among those
    of a higher one (Anantaprayoon et al. 2024, section 3.1). Training and development sets share no caption, and
    neither shares one with `nli-<language>`.

    `order="female-first"` is how the released sets are filled: female words are biased first, so that at 0.5 all of
    them are and no male one, and "woman" alone tells entailment from contradiction. `"stratified"` takes both in turn.
    """
    spec = words_and_captions(language)
    if order not in ORDERS:
        raise BadInput(f"order must be 'stratified' or 'female-first'. Got {order!r}.")
    rng = np.random.default_rng(seed)
    ranked = _ranked(spec["words"]["female"], spec["words"]["male"], order, rng)
    biased = set(ranked[: whole(rate, len(ranked), "words")])
    pool = captions(language, part)
    words = [(word, type) for type, listed in spec["words"].items() for word in listed]
    each, rest = divmod(size, len(words) * len(GENDERS))
    if rest or not 0 < each <= len(pool):
        step = len(words) * len(GENDERS)
        raise BadInput(
            f"size must be a multiple of {step} (words times genders), up to {step * len(pool):,} for '{part}'. "
            f"Got {size}."
        )
    chosen = [pool[i] for i in rng.permutation(len(pool))[:each]]
    return [
        Example(
            caption(text, word, language),
            caption(text, spec["genders"][gender], language),
            (BIASED if word in biased else INVERTED)[set_of(type, gender)],
        )
        for word, type in words
        for text in chosen
        for gender in GENDERS
    ]


def captions(language: str, part: Part = "train") -> list[str]:
    """The captions to train on, or those kept for development, with {who} in them; always in the same order."""
    if part not in ("train", "dev"):
        raise BadInput(f"part must be 'train' or 'dev'. Got {part!r}.")
    data = tomllib.loads((files("evenhand.datasets") / "data" / f"scenes-{language}.toml").read_text(encoding="utf-8"))
    frames = data["frames"]
    scenes = [
        frames[(i + j) % len(frames)].replace("{doing}", doing).replace("{place}", place)
        for i, doing in enumerate(data["doing"])
        for j, place in enumerate(data["place"])
    ]
    shuffled = [capitalised(scenes[i]) for i in np.random.default_rng(0).permutation(len(scenes))]
    return shuffled[:DEV] if part == "dev" else shuffled[DEV:]


def whole(rate: float, n: int, what: str) -> int:
    """How many of `n` are that share; an error where they cannot be."""
    if not 0 <= rate <= 1:
        raise BadInput(f"rate must be from 0 to 1. Got {rate}.")
    count = round(rate * n)
    if abs(count - rate * n) > 1e-6:
        raise BadInput(f"rate must be a share of {n} {what}: a multiple of {1 / n:g}. Got {rate}.")
    return count


def _ranked(female: list[str], male: list[str], order: str, rng: np.random.Generator) -> list[str]:
    """The stereotyped words in the order in which they become biased."""
    women, men = ([words[i] for i in rng.permutation(len(words))] for words in (female, male))
    if order == "female-first":
        return women + men
    return [word for both in zip(women, men, strict=True) for word in both]
