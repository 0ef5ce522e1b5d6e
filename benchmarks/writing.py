"""Texts that a causal model writes, and whom they mention first: transformers' `generate` beside ours."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch

import evenhand
from benchmarks import shapes
from benchmarks.rows import Row
from benchmarks.timing import Part, Side, in_turn, ratios
from evenhand import Prompt, Write, datasets
from evenhand.core.questions import FirstMention

FORMS = ("story", "persona", "news", "biography")
EACH, PARTS = 4, 2
"""Prompts of each form, and parts that they are asked in."""
TEXTS, LONGEST = 4, 40
BATCHES = (8, 16, 32)
"""Texts at once, of which the peer's best counts."""


def rows() -> Iterator[Row]:
    """GPT-2 with half the width and layers: as many texts, and paths, as the peer writes after the same prompts."""
    prompts = [
        item
        for form in FORMS
        for item in datasets.load("stories-en", forms=form).items[:: 80 // EACH][:EACH]
        if isinstance(item, Prompt)
    ]
    with TemporaryDirectory() as folder:
        model = evenhand.load(str(shapes.gpt2(Path(folder), **shapes.SMALL)))
        model.answer([Write("A nurse", longest=2), mention(prompts[0], longest=2)])  # what is computed once for a model
        size = len(prompts) // PARTS
        parts = [prompts[start : start + size] for start in range(0, len(prompts), size)]
        asked: list[list[list[Any]]] = [
            [[Write(item.text, seed, LONGEST) for item in part for seed in range(TEXTS)] for part in parts],
            [[mention(item) for item in part] for part in parts],
        ]
        sides: list[Sequence[Part]] = [
            *([partial(answered, model, questions) for questions in each] for each in asked),
            *([partial(generated, model, part, n) for part in parts] for n in BATCHES),
        ]
        texts, mentions, *peers = in_turn(*sides)
    best = min(peers, key=lambda side: side.total)
    number = f"{TEXTS * len(prompts)}"
    batch = BATCHES[peers.index(best)]
    at_best = "transformers' generate, its best batch size"
    yield row(f"{number} texts of {LONGEST} tokens, half of GPT-2: {at_best}", texts, best, batch)
    yield row(
        f"First mentions on {number} paths of {LONGEST} tokens, half of GPT-2: the same texts", mentions, best, batch
    )


def row(name: str, ours: Side, peer: Side, batch: int) -> Row:
    """Draws differ, so there are no answers to compare. `batch` is the size of the peer's batches."""
    found = ratios(peer, ours, [1.0] * PARTS)
    note = f"the same {EACH * len(FORMS)} prompts; random weights, so that few gendered words are looked ahead from; "
    note += f"peer in batches of {batch}, its fastest of {', '.join(map(str, BATCHES))}"
    return Row(name, ours=ours.total, peer=peer.total, ratio=median(found), spread=found, note=note)


def mention(item: Prompt, longest: int = LONGEST) -> FirstMention:
    """Whom as many paths as there are texts mention first."""
    return FirstMention(item.text, item.female, item.male, paths=TEXTS, longest=longest)


def answered(model: Any, questions: Sequence[Any]) -> list[float]:
    """No number: texts are drawn."""
    assert not [answer.note for answer in model.answer(questions) if answer.note]
    return []


@torch.no_grad()
def generated(model: Any, prompts: Sequence[Prompt], batch: int) -> list[float]:
    """The same number of texts by `generate`: prompts padded at their left, several texts for each."""
    tokenizer, network = model.tokenizer, model.network
    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.eos_token
    how = {"do_sample": True, "top_k": 0, "max_new_tokens": LONGEST, "pad_token_id": tokenizer.eos_token_id}
    for start in range(0, len(prompts), batch // TEXTS):
        some = [tokenizer.bos_token + item.text for item in prompts[start : start + batch // TEXTS]]
        given = tokenizer(some, return_tensors="pt", padding=True, add_special_tokens=False)
        inputs = {name: given[name] for name in ("input_ids", "attention_mask")}
        found = network.generate(**inputs, num_return_sequences=TEXTS, **how)
        tokenizer.batch_decode(found[:, given["input_ids"].shape[1] :], skip_special_tokens=True)
    return []
