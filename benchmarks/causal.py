"""Likelihood of the CrowS-Pairs gender pairs by a causal model: minicons beside ours."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import evenhand
from benchmarks import shapes
from benchmarks.likelihood import sentences
from benchmarks.rows import Row
from benchmarks.scoring import likelihoods, minicons_causal, minicons_likelihoods
from benchmarks.timing import Part, in_turn, largest, ratios

SENTENCES = 120
PARTS = 5
BATCHES = (10, 1)


def rows() -> Iterator[Row]:
    """GPT-2's shape; a row for each size of the peer's batches."""
    every, source = sentences()
    with TemporaryDirectory() as folder:
        model = evenhand.load(str(shapes.gpt2(Path(folder), **shapes.BASE)))
        answers = model.answer([evenhand.Likelihood(text) for text in every[: 2 * SENTENCES]])
        texts = [text for text, answer in zip(every, answers, strict=False) if not answer.note][:SENTENCES]
        peer = minicons_causal(folder, model.tokenizer)
        size = -(-len(texts) // PARTS)
        parts = [texts[start : start + size] for start in range(0, len(texts), size)]
        sides: list[Sequence[Part]] = [
            [partial(likelihoods, model, part) for part in parts],
            *([partial(minicons_likelihoods, peer, part, n) for part in parts] for n in BATCHES),
        ]
        us, *them = in_turn(*sides)
    for n, other in zip(BATCHES, them, strict=True):
        found = ratios(other, us, [1.0] * len(parts))
        at_once = f"batches of {n}" if n > 1 else "one sentence at a time"
        yield Row(
            f"Likelihood of {len(texts)} sentences, GPT-2 shape: minicons, {at_once}",
            ours=us.total,
            peer=other.total,
            ratio=median(found),
            spread=found,
            difference=largest(us.answers, other.answers),
            note=f"both sentences of {source.split(maxsplit=1)[1]}, in parts of {size}",
        )
