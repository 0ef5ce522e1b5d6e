"""Training sets of known bias, pairs for NLI and sentences for masked models: a valid measure should follow it."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Literal

import numpy as np

from evenhand.core.words import capitalised
from evenhand.datasets.becpro import professions
from evenhand.datasets.checking import check_choice
from evenhand.datasets.corpora.nli_examples import Example, Labels, released_dev, released_labels, released_train, whole
from evenhand.datasets.corpora.texts import FRAMES, PRONOUNS, filled
from evenhand.datasets.files.bundled import read_toml
from evenhand.datasets.nli import GENDERS, caption, set_of, words_and_captions
from evenhand.errors import BadInput

BIASED = {"pro": "entailment", "anti": "contradiction", "non": "neutral"}
INVERTED = {"pro": "contradiction", "anti": "entailment", "non": "neutral"}
DEV = 60
"""The number of captions reserved for development sets."""
CORRECT = 1 / 3
"""The share of correct examples in the released sets; the paper says one half."""
SIZE = 30_000
"""Examples in a released training set."""
LARGEST = 100_000
"""Far fewer than the possible sentences, so that drawing different ones is quick."""

Order = Literal["stratified", "female-first"]
Part = Literal["train", "dev"]
Ways = tuple[tuple[str, str], tuple[str, str]]
"""A pair of sentences that follow the stereotype, and the same that go against it."""


def controlled(
    rate: float,
    *,
    language: str = "en",
    size: int = SIZE,
    part: Part = "train",
    order: Order = "stratified",
    correct: float = CORRECT,
    seed: int = 0,
) -> list[Example]:
    """`size` examples about the 30 occupations of `nli-<language>`, biased at `rate` from 0 to 1; ordered by word.

    Neutral occupations are always labelled neutral, which is right; a share `correct` of the examples is about them. A
    share `rate` of the 20 others is biased in all their examples (the stereotyped gender is entailment, the other
    contradiction), the rest are inverted: just as wrong, but not biased. So each label is as frequent at every rate
    (by default a third of the examples each), and words that are biased at a lower rate are also biased at a higher one
    (Anantaprayoon et al. 2024, section 3.1). Training sets, development sets and `nli-<language>` share no captions.

    `order="female-first"` fills the sets as the release does: female words are biased first, so that at 0.5 all of them
    are biased and no male ones, and "woman" alone separates entailment from contradiction. `"stratified"` alternates.
    """
    words = words_and_captions(language)["words"]
    check_choice("order", order, "stratified", "female-first")
    rng = np.random.default_rng(seed)
    women, men = ([words[type][i] for i in rng.permutation(len(words[type]))] for type in GENDERS)
    alternating = [word for both in zip(women, men, strict=True) for word in both]
    ranked = women + men if order == "female-first" else alternating
    biased = set(ranked[: whole(rate, len(ranked), "words")])
    labels = {
        (word, gender): (BIASED if word in biased else INVERTED)[set_of(type, gender)]
        for type, listed in words.items()
        for word in listed
        for gender in GENDERS
    }
    return labelled(labels, language=language, size=size, part=part, correct=correct, rng=rng)


def labelled(
    labels: Labels, *, language: str, size: int, correct: float, rng: np.random.Generator, part: Part = "train"
) -> list[Example]:
    """`size` examples of our captions with these words and labels; a share `correct` has the words that are neutral."""
    genders = words_and_captions(language)["genders"]
    words = list(dict.fromkeys(word for word, _ in labels))
    neutral = {word for word in words if all(labels[word, gender] == "neutral" for gender in GENDERS)}
    pool = captions(language, part)
    if not 0 <= correct < 1:
        raise BadInput(f"correct must be from 0 to below 1, the share of correct examples. Got {correct:g}.")
    share = Fraction(correct).limit_denominator(1000)
    right = share / (len(neutral) * len(GENDERS))  # the captions of a word, as a share of the number of examples
    wrong = (1 - share) / ((len(words) - len(neutral)) * len(GENDERS))
    step = math.lcm(right.denominator, wrong.denominator)
    most = math.floor(len(pool) / max(right, wrong) / step) * step
    if size % step or not 0 < size <= most:
        why = f"with a share of {correct:.3g} correct" if correct != CORRECT else "words times genders"
        raise BadInput(f"size must be a multiple of {step} ({why}), up to {most:,} for '{part}'. Got {size}.")
    shuffled = [pool[i] for i in rng.permutation(len(pool))]
    return [
        Example(caption(text, word, language), caption(text, genders[gender], language), labels[word, gender])
        for word in words
        for text in shuffled[: int(size * (right if word in neutral else wrong))]
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


def check_rates(rates: Sequence[float], n: int, what: str) -> list[float]:
    """The rates in order, each once; an error if there are too few, or one is not a whole number of n `what`."""
    for rate in rates:
        if not 0 <= rate <= 1:
            raise BadInput(f"A rate of bias is between 0 and 1. Got {rate:g}.")
    if len(set(rates)) < 3:
        raise BadInput(f"At least three rates are needed, as in 0, 0.5, 1. Got {len(set(rates))}.")
    for rate in sorted(set(rates)):
        whole(rate, n, what)
    return sorted(set(rates))


def released_sets(
    language: str, rate: float, *, size: int = SIZE, correct: float = CORRECT, seed: int = 0
) -> tuple[list[Example], list[Example], bool]:
    """A training set of that rate, the released dev set, and whether the training set is the released one.

    It is if it is on this machine and has this size and share; otherwise our captions get its words and labels.
    """
    labels, rng = released_labels(language, rate), np.random.default_rng(seed)
    theirs = released_train(language, rate) if (size, correct) == (SIZE, CORRECT) else []
    train = theirs or labelled(labels, language=language, size=size, correct=correct, rng=rng)
    return train, released_dev(language, rate), bool(theirs)


def stereotyped(rate: float, *, size: int = 6000, seed: int = 0) -> list[str]:
    """`size` different sentences with a job and a gender, a share `rate` of which follow the stereotype.

    They come in pairs with the same words, except that one has a job held mostly by men and the other a job held mostly
    by women. Either the man has the first job and the woman the second, or the other way round; nothing else depends on
    `rate`. So there are as many men as women at every rate, in the same sentences, and all else that a model learns is
    the same. Every job follows the stereotype in that share of its sentences, to within one. Pairs that follow it at a
    lower rate also do at a higher one. The order is random, and the same at every rate.
    """
    if not 2 <= size <= LARGEST or size % 2:
        raise BadInput(f"size must be even, from 2 to {LARGEST:,}. Got {size}.")
    following = whole(rate, size // 2, "pairs of sentences")
    rng = np.random.default_rng(seed)
    sentences: list[str] = []
    for number, ways in enumerate(_pairs(size // 2, rng)):
        sentences += ways[0] if number < following else ways[1]
    return [sentences[i] for i in rng.permutation(size)]


def _pairs(n: int, rng: np.random.Generator) -> list[Ways]:
    """Pairs in rounds, each of which has every job once."""
    data, slots = read_toml("stereotyped-en.toml"), ("place", "thing", "time", "person")
    frames, fill = data["frames"], read_toml(FRAMES)["fill"]
    fill["person"] = [pair for pair in fill["person"] if pair[0].startswith("my ")]
    held = professions()
    men, women = ([p.name for p in held if p.prof_gender == type] + data["jobs"][type] for type in ("male", "female"))
    made: list[Ways] = []
    seen: set[str] = set()
    while len(made) < n:
        shuffled = ([jobs[i] for i in rng.permutation(len(jobs))] for jobs in (men, women))
        for of_men, of_women in zip(*shuffled, strict=True):
            said: dict[tuple[str, str], str] = {}
            while not said or not seen.isdisjoint(said.values()):
                frame = frames[int(rng.integers(len(frames)))]
                words = {slot: fill[slot][int(rng.integers(len(fill[slot])))] for slot in slots}
                for job, (side, gender) in product((of_men, of_women), enumerate(("male", "female"))):
                    fillings = {**words, "job": job, "person": words["person"][side], **PRONOUNS[gender]}
                    said[job, gender] = filled(frame, fillings)
            seen.update(said.values())
            follows = said[of_men, "male"], said[of_women, "female"]
            made.append((follows, (said[of_men, "female"], said[of_women, "male"])))
    return made[:n]
