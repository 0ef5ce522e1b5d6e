"""Pseudo-log-likelihood of the CrowS-Pairs gender pairs: minicons beside ours."""

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

import torch

from benchmarks import shapes
from benchmarks.rows import Row
from benchmarks.scoring import likelihoods, minicons, minicons_pll
from benchmarks.timing import Part, Side, arithmetic, gemm, in_turn, largest, ratios, share
from evenhand import datasets
from evenhand.core.items import Pair
from evenhand.core.questions import Likelihood
from evenhand.models import load_masked
from evenhand.models.loading.names import find

PARTS = 5
BATCH = 10
CLOSE = 0.02  # nats a sentence: how far bf16 should be from float32 at most, on average
FASTER = 1.5  # times float32: below it bf16 is emulated, not native


def rows() -> Iterator[Row]:
    """The bundled model, in float32 and bf16; BERT-base's shape, where the head counts less."""
    texts, source = sentences()
    yield from _rows(f"PLL of {source}, mini-en", find("mini-en").source, texts, (BATCH, 1), every=6, goals=(2, 6))
    with TemporaryDirectory() as folder:
        shapes.bert(Path(folder), **shapes.BASE)
        yield from _rows("PLL of 15 sentences, BERT-base shape", folder, texts[:: len(texts) // 15][:15], (1,))


def sentences() -> tuple[list[str], str]:
    """Both sentences of every pair, and where they are from: CrowS-Pairs where it is at hand, else our own pairs."""
    name = "crows-pairs" if os.environ.get("EVENHAND_DATA") else "tgb"
    pairs = [item for item in datasets.load(name).items if isinstance(item, Pair)]
    return [text for pair in pairs for text in (pair.stereotype, pair.counterpart)], f"{len(pairs)} {name} pairs"


def _rows(
    name: str,
    folder: str,
    texts: Sequence[str],
    batches: Sequence[int],
    every: int = 1,
    goals: tuple[float, float] | None = None,
) -> Iterator[Row]:
    """A row for each size of the peer's batches; `goals` are for float32 and for bf16, which is left out without."""
    model = load_masked(folder)
    peer = minicons(folder, model.tokenizer)
    plan = model.plan([Likelihood(text) for text in texts])
    cost = {  # texts with a word that the tokenizer does not know have no answer of ours
        text: sum(len(read.ids) for read in reading.reads)
        for text, reading in zip(texts, plan.readings, strict=True)
        if not reading.note
    }
    mine = [list(cost)[n::PARTS] for n in range(PARTS)]
    some = [part[::every] for part in mine]
    scales = [sum(cost[text] for text in a) / sum(cost[text] for text in b) for a, b in zip(mine, some, strict=True)]
    width = model.network.config.hidden_size
    sides: list[Sequence[Part]] = [
        [partial(likelihoods, model, part) for part in mine],
        [lambda: [gemm(width)]] * PARTS,
        *([partial(minicons_pll, peer, part, size) for part in some] for size in batches),
    ]
    with warnings.catch_warnings(action="ignore"):  # torch says where it has to emulate
        half, single = gemm(width, torch.bfloat16, rows=64), gemm(width, rows=64)
    native = half > FASTER * single
    if native and goals:
        small = load_masked(folder, dtype="bfloat16")
        sides.append([partial(likelihoods, small, part) for part in mine])
    us, rate, *others = in_turn(*sides)
    answers = dict(zip((text for part in mine for text in part), us.answers, strict=True))
    same = [answers[text] for part in some for text in part]
    row = Row(
        name,
        ours=us.total,
        goal=goals[0] if goals else None,
        share=share(arithmetic(model, plan.batches), us, rate),
        note=f"peer on {sum(map(len, some))} of {len(cost)} sentences" if every > 1 else "",
    )
    for size, them in zip(batches, others, strict=False):
        at_once = f"batches of {size}" if size > 1 else "one sentence at a time"
        row = replace(row, name=f"{name}: minicons, {at_once}")
        yield _compared(row, us, them, scales, largest(same, them.answers))
    if len(others) > len(batches) and goals:
        half_side = others[-1]
        apart = [abs(a - b) for a, b in zip(us.answers, half_side.answers, strict=True)]
        close = "met" if mean(apart) < CLOSE else "not met"
        row = replace(
            row,
            name=f"{name}, bf16: minicons in float32",
            ours=half_side.total,
            goal=goals[1],
            allowed=1.0,  # it is bf16; whether it is close enough is a goal of its own
            share=None,
            note=f"difference from float32: the mean, goal {CLOSE:g}: {close}; the largest is {max(apart):.2g} nats",
        )
        yield _compared(row, half_side, others[0], scales, mean(apart))
    elif goals:
        yield Row(
            f"{name}, bf16",
            ours=float("nan"),
            note=f"not run: bf16 is not native here ({half / 1e9:.2g} GFLOP/s, float32 {single / 1e9:.2g})",
        )


def _compared(row: Row, us: Side, them: Side, scales: Sequence[float], difference: float) -> Row:
    found = ratios(them, us, scales)
    peer = sum(seconds * scale for seconds, scale in zip(them.seconds, scales, strict=True))
    return replace(row, peer=peer, ratio=median(found), spread=found, difference=difference)
