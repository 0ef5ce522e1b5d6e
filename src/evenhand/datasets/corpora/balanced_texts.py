"""Our own corpus, in which women and men do the same things, for debiasing without a download."""

from typing import Any

import numpy as np

from evenhand.core.words import capitalised
from evenhand.datasets.files.bundled import read_toml
from evenhand.datasets.templates import SLOT, agreeing
from evenhand.errors import BadInput

PRONOUNS = {
    "male": {"he": "he", "him": "him", "his": "his", "himself": "himself"},
    "female": {"he": "she", "him": "her", "his": "her", "himself": "herself"},
}


def generate(n: int = 4000, *, seed: int = 0) -> list[str]:
    """`n` sentences in random order: half about women, and the same ones about men.

    Each pair draws a frame of data/balanced-en.toml and words to fill it: a job, a place, a thing, a time, a person.
    """
    if n < 2:
        raise BadInput(f"n must be at least 2. Got {n}.")
    rng = np.random.default_rng(seed)
    data = words_and_frames()
    made: dict[str, None] = {}
    while len(made) < n:
        frame = str(rng.choice(data["frames"]))
        words = {slot: data["fill"][slot][int(rng.integers(len(data["fill"][slot])))] for slot in data["fill"]}
        for gender, side in (("male", 0), ("female", 1)):
            made[filled(frame, {**words, "person": words["person"][side], **PRONOUNS[gender]})] = None
    sentences = list(made)[:n]
    return [sentences[i] for i in rng.permutation(n)]


def words_and_frames() -> dict[str, Any]:
    """The parts of the corpus: `frames`, and the words to `fill` each slot with; persons in pairs, male first."""
    return read_toml("balanced-en.toml")


def filled(frame: str, words: dict[str, str]) -> str:
    """The frame with its slots filled: {he} with he or she, as in `words`, {He} with a capital letter."""
    frame = agreeing(frame, "job", words["job"])
    for slot in dict.fromkeys(SLOT.findall(frame)):
        word = words[slot.lower()]
        frame = frame.replace(f"{{{slot}}}", capitalised(word) if slot[0].isupper() else word)
    return frame
