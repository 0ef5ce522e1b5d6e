"""Runs of made-up models on made-up sentence pairs: quick, and with the differences that were put in."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evenhand
from evenhand import Answer, Likelihood, Run, Table

KINDS = ("jobs", "homes")


def pairs(folder: Path, n: int = 60) -> Path:
    """A file of pairs of two categories."""
    file = folder / "pairs.csv"
    rows = "".join(f"He has {i} hats.,She has {i} hats.,{KINDS[i % 2]}\n" for i in range(n))
    file.write_text("stereotype,counterpart,category\n" + rows)
    return file


def noise(text: str) -> float:
    """From -1 to 1, the same for the same text."""
    return zlib.crc32(text.encode()) % 1000 / 500 - 1


def leaning(more: float, *, lost: Callable[[int], bool] = lambda i: False) -> Callable[[Any], Answer]:
    """A model that finds the stereotype likelier by `more` nats, and some noise; `lost` items have no answer."""

    def rule(question: Likelihood) -> Answer:
        number = int(question.text.split()[2])
        if lost(number):
            return Answer.none("unknown word")
        stereotyped = question.text.startswith("He")
        return Answer((noise(question.text) - 20 + (more + noise(f"{more} {number}") / 4 if stereotyped else 0.0),))

    return rule


def audited(folder: Path, name: str, more: float, file: Path | None = None, **asked: Any) -> Run:
    """The run of such a model; its fingerprint is its lean, so that two of one lean are the same model."""
    lost = asked.pop("lost", lambda i: False)
    model = Table(leaning(more, lost=lost), name=name, fingerprint=f"{more}")
    return evenhand.audit(model, pairs=file or pairs(folder), out=folder / "runs", **asked)
