"""Sentences with a known share of job stereotypes, to train masked models of known bias."""

from typing import Any

import numpy as np

from evenhand.datasets.becpro import professions
from evenhand.datasets.corpora.biased_nli import whole
from evenhand.datasets.corpora.texts import PRONOUNS, filled, words_and_frames
from evenhand.datasets.files.bundled import read_toml
from evenhand.errors import BadInput

LARGEST = 100_000
"""Far fewer than the possible sentences, so that drawing different ones is quick."""


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


Ways = tuple[tuple[str, str], tuple[str, str]]
"""A pair of sentences that follow the stereotype, and the same that go against it."""


def _pairs(n: int, rng: np.random.Generator) -> list[Ways]:
    """Pairs in rounds, each of which has every job once."""
    data = read_toml("stereotyped-en.toml")
    fill = words_and_frames()["fill"]
    fill["person"] = [pair for pair in fill["person"] if pair[0].startswith("my ")]
    held = professions()
    men, women = ([p.name for p in held if p.prof_gender == type] + data["jobs"][type] for type in ("male", "female"))
    made: list[Ways] = []
    seen: set[str] = set()
    while len(made) < n:
        shuffled = ([jobs[i] for i in rng.permutation(len(jobs))] for jobs in (men, women))
        pairs = zip(*shuffled, strict=True)
        made += [_pair(of_men, of_women, data["frames"], fill, seen, rng) for of_men, of_women in pairs]
    return made[:n]


def _pair(
    of_men: str, of_women: str, frames: list[str], fill: dict[str, Any], seen: set[str], rng: np.random.Generator
) -> Ways:
    while True:
        frame = frames[int(rng.integers(len(frames)))]
        words = {slot: fill[slot][int(rng.integers(len(fill[slot])))] for slot in ("place", "thing", "time", "person")}
        said = {
            (job, gender): filled(frame, {**words, "job": job, "person": words["person"][side], **PRONOUNS[gender]})
            for job in (of_men, of_women)
            for side, gender in enumerate(("male", "female"))
        }
        if seen.isdisjoint(said.values()):
            seen.update(said.values())
            follows = said[of_men, "male"], said[of_women, "female"]
            return follows, (said[of_men, "female"], said[of_women, "male"])
