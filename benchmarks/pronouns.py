"""Pronoun blanks of the template data: transformers' fill-mask pipeline beside ours."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch
from transformers import AutoModelForMaskedLM, pipeline

from benchmarks.rows import Row
from benchmarks.timing import Shares, arithmetic, gemm, in_turn, largest, share
from evenhand import datasets
from evenhand.core.items import Blank
from evenhand.core.questions import Question
from evenhand.measures.pronoun import Pronoun
from evenhand.models import load_masked
from evenhand.models.loading.checkpoint import quiet
from evenhand.models.loading.names import find

PARTS = 5
EVERY = 5


def rows() -> Iterator[Row]:
    """The pipeline as it comes, one input at a time, and with the batch size that suits it best here."""
    model = load_masked()
    folder = find("mini-en").source
    with quiet():
        network = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32)
        pipe = pipeline("fill-mask", model=network, tokenizer=model.tokenizer, device="cpu")
    items = [item for item in datasets.load("tbd").items if isinstance(item, Blank)]
    shares = Shares(model, lambda: questions(items), PARTS)
    some = [items[n * EVERY :: PARTS * EVERY] for n in range(PARTS)]
    us, alone, batched, rate = in_turn(
        shares.parts(),
        [partial(filled, pipe, part, 1) for part in some],
        [partial(filled, pipe, part, 8) for part in some],
        [lambda: [gemm(network.config.hidden_size)]] * PARTS,
    )
    asked = {question: i for i, question in enumerate(questions(items))}
    ours = [math.exp(shares.answers[asked[q]].logp) for part in some for item in part for q in Pronoun().ask(item)]
    sampled = sum(map(len, some))
    for name, them, goal in (("", alone, 5), (", batches of 8", batched, None)):
        peer = them.total * len(items) / sampled
        yield Row(
            f"Pronouns of {len(items):,} tbd blanks, mini-en: fill-mask pipeline{name}",
            ours=us.total,
            peer=peer,
            ratio=peer / us.total,
            goal=goal,
            difference=largest(ours, them.answers),
            share=share(arithmetic(model, shares.plan.batches), us, rate),
            note=f"peer on {sampled} blanks; difference in probability",
        )


def questions(items: Sequence[Blank]) -> list[Question]:
    """The distinct questions about the pronouns."""
    return list(dict.fromkeys(question for item in items for question in Pronoun().ask(item)))


def filled(pipe: Any, items: Sequence[Blank], batch: int) -> list[float]:
    """P(he) and P(she) of each blank from the pipeline, which takes one pair of targets for a whole list of texts."""
    found: dict[str, dict[str, float]] = {}
    for pronouns in dict.fromkeys(item.candidates[:2] for item in items):
        alike = [item for item in items if item.candidates[:2] == pronouns]
        texts = [item.text[: item.blank.start] + "[MASK]" + item.text[item.blank.stop :] for item in alike]
        fillings = pipe(texts, targets=_pieces(pronouns), batch_size=batch)
        if len(alike) == 1:  # the pipeline then takes the list off
            fillings = [fillings]
        for item, filling in zip(alike, fillings, strict=True):
            found[item.id] = {each["token_str"]: each["score"] for each in filling}
    return [found[item.id][piece] for item in items for piece in _pieces(item.candidates[:2])]


def _pieces(pronouns: Sequence[str]) -> list[str]:
    return [pronoun.lower() for pronoun in pronouns]  # the bundled model is uncased
