"""How time grows: with the number of distinct inputs, with the length of a sentence, with the width of the model."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import shapes
from benchmarks.timing import now
from evenhand.core.questions import Fill, Span
from evenhand.models import load_masked
from evenhand.models.networks.masked import MaskedLM

WORDS = ("she", "he", "works", "as", "a", "nurse", "and", "the", "doctor", "in", "our", "town", "was", "happy")
INPUTS = (50, 100, 200, 400, 800)
LENGTHS = (8, 16, 32, 64, 120)
WIDTHS = (128, 256, 384, 512, 768)
AGAIN = 2


def points() -> Iterator[dict[str, object]]:
    """Seconds for each setting: the least of two, as what disturbs can only add."""
    model = load_masked()
    yield from _all("distinct inputs of 16 tokens, mini-en", {n: (model, fills(n, 16)) for n in INPUTS})
    yield from _all("tokens in each of 50 inputs, mini-en", {n: (model, fills(50, n)) for n in LENGTHS})
    with TemporaryDirectory() as folder:
        models = {
            n: load_masked(str(shapes.bert(Path(folder) / str(n), width=n, layers=2, vocabulary=16_384)))
            for n in WIDTHS
        }
    what = "width of a model of two layers, 200 inputs of 16 tokens"
    yield from _all(what, {n: (model, fills(200, 16)) for n, model in models.items()})


def _all(what: str, settings: dict[int, tuple[MaskedLM, Sequence[Fill]]]) -> Iterator[dict[str, object]]:
    least = dict.fromkeys(settings, float("inf"))
    for _ in range(AGAIN):
        for n, (model, questions) in settings.items():
            start = now()
            model.answer(questions)
            least[n] = min(least[n], now() - start)
    for n, seconds in least.items():
        yield {"what": what, "n": n, "seconds": seconds}


def fills(n: int, tokens: int) -> list[Fill]:
    """n questions about different sentences of that many tokens, [CLS] and [SEP] counted."""
    rng = random.Random(0)
    texts: dict[str, None] = {}
    while len(texts) < n:
        texts[" ".join(rng.choice(WORDS) for _ in range(tokens - 2))] = None
    return [Fill(text, Span(0, text.index(" ")), text.partition(" ")[0]) for text in texts]
