"""Pronoun blanks of the template data: transformers' fill-mask pipeline beside ours."""

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

import torch
from transformers import AutoModelForMaskedLM, pipeline

import evenhand
from benchmarks.rows import Row
from benchmarks.timing import Part, arithmetic, gemm, in_turn, largest, ratios, share
from evenhand import datasets
from evenhand.items import Blank
from evenhand.measures.pronoun import Pronoun
from evenhand.models.loading import quiet
from evenhand.models.masked import MaskedLM

PARTS = 5
EVERY = 5


def rows() -> Iterator[Row]:
    """The pipeline as it comes, one input at a time, and with the batch size that suits it best here."""
    model = evenhand.load()
    folder = evenhand.models.find("mini-en").source
    with quiet():
        network = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32)
        pipe = pipeline("fill-mask", model=network, tokenizer=model.tokenizer, device="cpu")
    items = list(datasets.load("tbd").items)
    mine = [items[n::PARTS] for n in range(PARTS)]
    some = [part[::EVERY] for part in mine]
    sides: list[list[Part]] = [
        [lambda part=part: ours(model, part) for part in mine],
        [lambda part=part: filled(pipe, part, 1) for part in some],
        [lambda part=part: filled(pipe, part, 8) for part in some],
        [lambda: [gemm(network.config.hidden_size)]] * PARTS,
    ]
    us, alone, batched, rate = in_turn(*sides)
    same = [p for n, part in enumerate(mine) for p in _sampled(us.answers, mine, n, len(part))]
    plan = model.plan([question for item in items for question in Pronoun().ask(item)])
    scales = [len(a) / len(b) for a, b in zip(mine, some, strict=True)]
    for name, them, goal in (("", alone, 5), (", batches of 8", batched, None)):
        found = ratios(them, us, scales)
        yield Row(
            f"Pronouns of {len(items):,} tbd blanks, mini-en: fill-mask pipeline{name}",
            ours=us.total,
            peer=sum(s * scale for s, scale in zip(them.seconds, scales, strict=True)),
            ratio=median(found),
            goal=goal,
            difference=largest(same, them.answers),
            share=share(arithmetic(model, plan.batches), us, rate),
            spread=found,
            note=f"peer on {sum(map(len, some))} blanks; difference in probability",
        )


def _sampled(answers: Sequence[float], mine: Sequence[Sequence[Blank]], n: int, size: int) -> list[float]:
    """The answers to the n-th part, two for each blank, of those blanks that the peer has too."""
    start = 2 * sum(len(part) for part in mine[:n])
    own = answers[start : start + 2 * size]
    return [p for blank in range(0, size, EVERY) for p in own[2 * blank : 2 * blank + 2]]


def ours(model: MaskedLM, items: Sequence[Blank]) -> list[float]:
    """P(he) and P(she) of each blank."""
    return [math.exp(a.logp) for a in model.answer([q for item in items for q in Pronoun().ask(item)])]


def filled(pipe: Any, items: Sequence[Blank], batch: int) -> list[float]:
    """The same from the pipeline, which takes one pair of targets for a whole list of texts."""
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
