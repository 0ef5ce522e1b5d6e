"""BEC-Pro English: the released algorithm beside ours."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import AutoModelForMaskedLM

from benchmarks import shapes
from benchmarks.rows import Row
from benchmarks.timing import Part, Shares, arithmetic, gemm, in_turn, largest, share
from evenhand import datasets
from evenhand.core.items import Sentence
from evenhand.core.questions import Masks, Question
from evenhand.measures.association import Association
from evenhand.models import load_masked
from evenhand.models.loading.checkpoint import quiet
from evenhand.models.loading.names import find
from evenhand.papers.bartl2020 import AsReleased, masked_text

LENGTH = 16
BATCH = 20
PARTS = 5


def rows() -> Iterator[Row]:
    """At the shape of BERT-base, and the bundled model."""
    with TemporaryDirectory() as folder:
        yield from _rows("BERT-base shape", str(shapes.bert(Path(folder), **shapes.BASE)), sample=PARTS * BATCH)
    yield from _rows("mini-en", find("mini-en").source, sample=3 * PARTS * BATCH)


def _rows(name: str, folder: str, sample: int) -> Iterator[Row]:
    """With our own inputs, as an audit has them, and with those of the release, where the answers must agree."""
    items = [item for item in datasets.load("becpro-en").items if isinstance(item, Sentence)]
    step = len(items) // sample
    some = [range(step // 2 + n * step, sample * step, PARTS * step) for n in range(PARTS)]  # by index
    model = load_masked(folder)
    with quiet():
        network = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()
    own = Shares(model, lambda: questions(items, "pieces"), PARTS)
    same = Shares(AsReleased(model), lambda: questions(items, "words"), PARTS)
    texts = [columns([items[i] for i in part], model.tokenizer.mask_token) for part in some]
    theirs: list[Part] = [partial(released, network, model.tokenizer, part) for part in texts]
    rates: list[Part] = [lambda: [gemm(network.config.hidden_size)]] * PARTS
    us, alike, them, rate = in_turn(own.parts(), same.parts(), theirs, rates)
    asked = {question: i for i, question in enumerate(questions(items, "words"))}
    mine = [
        same.answers[asked[seen]].logp - same.answers[asked[prior]].logp
        for part in some
        for seen, prior in (Association("words").ask(items[i]) for i in part)
    ]
    peer = them.total * len(items) / sum(map(len, some))
    sampled = f"peer on {sum(map(len, some))} of {len(items):,} sentences"
    for which, side, shares, difference in (
        ("", us, own, None),
        (", its own inputs", alike, same, largest(mine, them.answers)),
    ):
        yield Row(
            f"BEC-Pro English, {name}: released algorithm{which}",
            ours=side.total,
            peer=peer,
            ratio=peer / side.total,  # our parts are not alike: planning is in the first
            goal=15,
            difference=difference,
            share=share(arithmetic(model, shares.plan.batches), side, rate),
            note=f"{sampled}; {shares.plan.inputs} distinct inputs of {2 * len(items):,}",
        )


def questions(items: Sequence[Sentence], masks: Masks) -> list[Question]:
    """The distinct questions of the association."""
    return list(dict.fromkeys(question for item in items for question in Association(masks).ask(item)))


def columns(items: Sequence[Sentence], mask: str) -> list[tuple[str, str, str]]:
    """The released columns Sentence, Sent_TM and Sent_TAM."""
    asked = [(item.text, *Association(masks="words").ask(item)) for item in items]
    return [(text, masked_text(seen, mask), masked_text(prior, mask)) for text, seen, prior in asked]


@torch.no_grad()
def released(network: Any, tokenizer: Any, rows: Sequence[tuple[str, str, str]]) -> list[float]:
    """The association as the released code of Bartl et al. (2020) computes it, in its batches, at its length.

    Every masked sentence goes through the network, however often it occurs, and the softmax is taken over the whole
    vocabulary at every position. Inputs are cut or padded, with [MASK], to 16 tokens; all of them are attended to.
    """
    found = []
    for start in range(0, len(rows), BATCH):
        plain, seen, prior = (
            torch.tensor([_fixed(tokenizer, text) for text in texts])  # (batch, 16)
            for texts in zip(*rows[start : start + BATCH], strict=True)
        )
        first = (prior == tokenizer.mask_token_id).int().argmax(dim=1)
        row = torch.arange(len(plain))
        word = plain[row, first]
        p, p_prior = (
            network(input_ids=ids, attention_mask=(ids > 0).long()).logits.softmax(dim=-1)[row, first, word]
            for ids in (seen, prior)
        )
        found += (p / p_prior).log().tolist()
    return found


def _fixed(tokenizer: Any, text: str) -> list[int]:
    ids = tokenizer(text)["input_ids"][:LENGTH]
    return [*ids, *[tokenizer.mask_token_id] * (LENGTH - len(ids))]
