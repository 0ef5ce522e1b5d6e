"""StereoSet: the released loop beside ours, on the bundled model with a next-sentence head of random weights."""

import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import AutoTokenizer, BertForMaskedLM, BertForNextSentencePrediction, BertForPreTraining

from benchmarks.rows import Row
from benchmarks.timing import Part, Shares, in_turn, largest
from evenhand import datasets
from evenhand.core.items import BLANK, Triple
from evenhand.core.questions import Question
from evenhand.datasets.files.releases import is_available
from evenhand.measures.stereoset import Icat
from evenhand.models import load_masked
from evenhand.models.loading.checkpoint import quiet
from evenhand.models.loading.names import find

PARTS = 5
EVERY = 60
ALONE = re.compile(rf"(?<![\w.]){BLANK}(?!\w|\.\w)")
GOAL = 90
"""Seconds for all items."""


def rows() -> Iterator[Row]:
    """Both tasks; nothing where the release is not at hand."""
    if not is_available("stereoset"):
        return
    every = [item for item in datasets.load("stereoset").items if isinstance(item, Triple)]
    with TemporaryDirectory() as folder:
        source = with_head(Path(folder))
        model = load_masked(source)
        with quiet():
            kinds = BertForMaskedLM, BertForNextSentencePrediction
            masked, following = (kind.from_pretrained(source, dtype=torch.float32).eval() for kind in kinds)
    shares = Shares(model, lambda: questions(every), PARTS)
    notes = {q: reading.note for q, reading in zip(questions(every), shares.plan.readings, strict=True)}
    items = [item for item in every if not any(notes[q] for q in Icat().ask(item)) and comparable(item)]
    some = [items[n * EVERY :: PARTS * EVERY] for n in range(PARTS)]
    theirs: list[Part] = [partial(released, masked, following, model.tokenizer, part) for part in some]
    us, them = in_turn(shares.parts(), theirs)
    asked = {question: i for i, question in enumerate(questions(every))}
    ours = [
        n for part in some for item in part for n in scores(item, [shares.answers[asked[q]] for q in Icat().ask(item)])
    ]
    sampled = sum(map(len, some))
    peer = them.total * len(every) / sampled
    name = f"StereoSet, {len(every):,} items, mini-en"
    yield Row(
        f"{name}: released loop",
        ours=us.total,
        peer=peer,
        ratio=peer / us.total,
        difference=largest(ours, them.answers),
        note=f"peer on {sampled} items; {shares.plan.inputs:,} distinct inputs; difference in probability",
    )
    yield Row(name, ours=us.total, goal=GOAL, note="both tasks, all three measures: they share their questions")


def with_head(folder: Path) -> str:
    """The bundled model with a next-sentence head that nobody trained: for its time and for equal numbers alone."""
    mini = find("mini-en").source
    with quiet():
        network: Any = BertForPreTraining.from_pretrained(mini, dtype=torch.float32)
    torch.manual_seed(0)
    with torch.no_grad():
        for part in (network.bert.pooler.dense, network.cls.seq_relationship):
            part.weight.normal_(0, 0.1)
            part.bias.zero_()
    network.save_pretrained(folder)
    AutoTokenizer.from_pretrained(mini).save_pretrained(folder)
    return str(folder)


def questions(items: Sequence[Triple]) -> list[Question]:
    """The distinct questions of the three measures."""
    return list(dict.fromkeys(question for item in items for question in Icat().ask(item)))


def comparable(item: Triple) -> bool:
    """Whether the release reads the item as we do: its blank is a word, and there once."""
    return not item.fillers or (item.context.count(BLANK) == 1 and ALONE.search(item.context) is not None)


def scores(item: Triple, answers: Sequence[Any]) -> list[float]:
    """The three numbers that the release compares, which are probabilities."""
    found = Icat(formula="released").numbers(item, answers)
    return list(found) if item.fillers else [math.exp(logp) for logp in found]


@torch.no_grad()
def released(masked: Any, following: Any, tokenizer: Any, items: Sequence[Triple]) -> list[float]:
    """The three scores of each item as the released code of Nadeem et al. (2021) computes them, one input at a time.

    A word's tokens are filled in from the left, each with a softmax over the vocabulary at every position, and the
    probabilities of the tokens are averaged. A next sentence has the probability that it follows.
    """
    found = []
    for item in items:
        for sentence in item.sentences if not item.fillers else ():
            logits = following(**tokenizer(item.context, sentence, return_tensors="pt")).logits
            found.append(float(logits.softmax(dim=-1)[0, 0]))
        for word in item.fillers:
            tokens = tokenizer.encode(word, add_special_tokens=False)
            p = []
            for n, token in enumerate(tokens):
                text = item.context.replace(BLANK, tokenizer.decode(tokens[:n]) + tokenizer.mask_token)
                inputs = tokenizer(text, return_tensors="pt")
                at = inputs["input_ids"][0] == tokenizer.mask_token_id
                p.append(float(masked(**inputs).logits.softmax(dim=-1)[0, at][0, token]))
            found.append(sum(p) / len(p))
    return found
