"""Start-up: the help text, and the first answer of the bundled model."""

import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from benchmarks.rows import Row
from benchmarks.timing import now
from evenhand.models.loading.names import find

AGAIN = 3
OURS = """
import evenhand
from evenhand import Fill, Span
print(evenhand.load().answer([Fill("She is a nurse.", Span(0, 3), "She")])[0].logp)
"""
PEER = """
from transformers import pipeline
print(pipeline("fill-mask", model={folder!r}, device="cpu")("[MASK] is a nurse.", targets=["she"])[0]["score"])
"""


def rows() -> Iterator[Row]:
    """Each in a process of its own, in turn."""
    yield Row("evenhand --help", ours=median(_seconds("-m", "evenhand", "--help") for _ in range(5)), goal=0.5)
    peer = PEER.format(folder=find("mini-en").source)
    both = [(_seconds("-c", OURS), _seconds("-c", peer)) for _ in range(AGAIN)]
    found = [theirs / ours for ours, theirs in both]
    yield Row(
        "First answer of the bundled model: fill-mask pipeline",
        ours=median(ours for ours, _ in both),
        peer=median(theirs for _, theirs in both),
        ratio=median(found),
        spread=found,
        note="from the shell, imports and loading included",
    )


def _seconds(*arguments: str) -> float:
    start = now()
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
    return now() - start
