"""Training sets of known bias for NLI classifiers: a valid measure of bias should follow it."""

from typing import Literal

import numpy as np

from evenhand.core.words import capitalised
from evenhand.datasets.checking import check_choice
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.datasets.files.bundled import read_toml
from evenhand.datasets.nli import GENDERS, caption, set_of, words_and_captions
from evenhand.errors import BadInput

BIASED = {"pro": "entailment", "anti": "contradiction", "non": "neutral"}
INVERTED = {"pro": "contradiction", "anti": "entailment", "non": "neutral"}
DEV = 60
"""The number of captions reserved for development sets."""

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

    Neutral occupations are always labelled neutral, which is right. A share `rate` of the 20 others is biased in all
    their examples (the stereotyped gender is entailment, the other contradiction), the rest are inverted: just as
    wrong, but not biased. So each label has a third of the examples at every rate, and words that are biased at a lower
    rate are also biased at a higher one (Anantaprayoon et al. 2024, section 3.1). Training sets, development sets and
    `nli-<language>` share no captions.

    `order="female-first"` fills the sets as the release does: female words are biased first, so that at 0.5 all of them
    are biased and no male ones, and "woman" alone separates entailment from contradiction. `"stratified"` alternates.
    """
    spec = words_and_captions(language)
    check_choice("order", order, "stratified", "female-first")
    rng = np.random.default_rng(seed)
    ranked = _ranked(spec["words"]["female"], spec["words"]["male"], order, rng)
    biased = set(ranked[: whole(rate, len(ranked), "words")])
    pool = captions(language, part)
    words = [(word, type) for type, listed in spec["words"].items() for word in listed]
    step = len(words) * len(GENDERS)
    each, rest = divmod(size, step)
    if rest or not 0 < each <= len(pool):
        most = f"up to {step * len(pool):,} for '{part}'"
        raise BadInput(f"size must be a multiple of {step} (words times genders), {most}. Got {size}.")
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
    """The captions to train on, or those for development, each with {who}; always in the same order."""
    check_choice("part", part, "train", "dev")
    data = read_toml(f"scenes-{language}.toml")
    frames = data["frames"]
    scenes = [
        frames[(i + j) % len(frames)].replace("{doing}", doing).replace("{place}", place)
        for i, doing in enumerate(data["doing"])
        for j, place in enumerate(data["place"])
    ]
    shuffled = [capitalised(scenes[i]) for i in np.random.default_rng(0).permutation(len(scenes))]
    return shuffled[:DEV] if part == "dev" else shuffled[DEV:]


def whole(rate: float, n: int, what: str) -> int:
    """The share `rate` of `n`, which must be a whole number."""
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
