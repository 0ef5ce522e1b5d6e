"""Fine-tune an NLI classifier on premises, hypotheses and labels."""

import hashlib
import json
import logging
import math
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import AutoModelForSequenceClassification

from evenhand.core.files import from_json, read_parsed, write_whole
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.errors import BadInput
from evenhand.models import load
from evenhand.models.loading.checkpoint import OWN, reading
from evenhand.models.loading.labels import LABELS
from evenhand.models.loading.names import find
from evenhand.models.networks.nli import NliModel, token_types
from evenhand.stats.intervals import proportion_interval
from evenhand.training import loop
from evenhand.training.loop import CARD, Recipe, Tensors, make_accelerator, model_card, pad_rows, train, write_model

log = logging.getLogger(__name__)

NLI_RECIPE = Recipe(learning_rate=2e-5, epochs=5, batch=32, longest=128)
"""The defaults of Anantaprayoon et al. 2024, section 3.2."""
SIZE = 64
"""The number of dev examples in a batch."""
RECORD = "training.json"
"""The file with the hash of the inputs of a finished training, and its accuracy."""


@dataclass(frozen=True)
class Accuracy:
    """The number of dev examples whose label the model gets right, of n; n is 0 without a dev set."""

    right: int = 0
    n: int = 0
    usual: int = 0
    """The number of examples with the most frequent label: a model that always gives it gets as many right."""

    @property
    def share(self) -> float:
        return self.right / self.n if self.n else math.nan

    def __str__(self) -> str:
        if not self.n:
            return "not measured"
        low, high = (100 * end for end in proportion_interval(self.right, self.n))
        return (
            f"{100 * self.share:.1f} % [{low:.1f}, {high:.1f}] of {self.n:,} dev examples right; "
            f"{100 * self.usual / self.n:.1f} % have the most frequent label"
        )


@dataclass(frozen=True)
class Trained:
    """The new model's folder, and its accuracy on the dev set."""

    folder: Path
    accuracy: Accuracy


def finetune_nli(
    base: str,
    examples: Sequence[Example],
    recipe: Recipe,
    out: Path,
    *,
    dev: Sequence[Example] = (),
    labels: str | Sequence[str] = (),
    every: float = loop.EVERY,
) -> Trained:
    """Train `base` on these examples and save weights, tokenizer and card in `out`.

    A masked language model gets a new head. An NLI classifier keeps its head and its order of labels; `labels` gives
    the order if its configuration does not. Checkpoints are as in `mlm.finetune`. A finished training is not repeated.
    """
    accelerator = make_accelerator()
    start = _StartingModel(base, recipe, labels, str(accelerator.device))
    data, held_out = start.encode(examples), start.encode(dev)
    if not data.ids:
        raise BadInput("There are no examples to train on. Give at least one example.")
    if missing := set(LABELS) - {label for *_, label in examples}:
        log.warning(f"No example is labelled {' or '.join(sorted(missing))}: the model will not learn that label.")
    if data.cut:
        log.warning(f"{data.cut:,} of {len(data.ids):,} pairs have more than {start.longest} tokens and are cut.")
    made_of = hashlib.sha256(repr((start.fingerprint, data, held_out, recipe)).encode()).hexdigest()
    if known := _finished_training(out, made_of):
        return known
    losses = train(
        start.network, data.lengths, data.tensors, _loss, recipe, accelerator, out=out, made_of=made_of, every=every
    )
    accuracy = _accuracy(start.network, held_out, accelerator) if dev else Accuracy()
    if accelerator.is_main_process:
        counts = Counter(label for *_, label in examples)
        what = (
            f"Natural language inference on {len(examples):,} examples: "
            f"{', '.join(f'{label} {counts[label]:,}' for label in LABELS)}; {data.cut:,} of them were cut.\n\n"
            f"Accuracy: {accuracy}."
        )
        record = {"made_of": made_of, "accuracy": asdict(accuracy) if dev else None}
        write_whole(out / RECORD, lambda file: file.write(json.dumps(record).encode()))
        # Written last, since the card marks the training as finished.
        write_model(out, start.network, start.tokenizer, model_card(base, what, recipe, losses))
    accelerator.wait_for_everyone()
    return Trained(out, accuracy)


@dataclass(frozen=True)
class _Encoded:
    ids: list[list[int]]
    types: list[list[int]]
    """0 for tokens of the premise, 1 for tokens of the hypothesis; empty if tokenizer or network have no such types."""
    labels: list[int]
    pad: int
    cut: int
    """The number of examples that were truncated."""

    @property
    def lengths(self) -> list[int]:
        return [len(ids) for ids in self.ids]

    def tensors(self, numbers: Sequence[int]) -> Tensors:
        rows = [self.ids[number] for number in numbers]
        batch = {"input_ids": pad_rows(rows, self.pad), "attention_mask": pad_rows([[1] * len(row) for row in rows], 0)}
        if self.types:
            batch["token_type_ids"] = pad_rows([self.types[number] for number in numbers], 0)
        return {**batch, "labels": torch.tensor([self.labels[number] for number in numbers])}


class _StartingModel:
    def __init__(self, base: str, recipe: Recipe, labels: str | Sequence[str], device: str) -> None:
        place = find(base)
        if place.engine:
            raise BadInput(f"'{base}' is behind a server, and only local weights can be trained. Give a model folder.")
        model = load(base, device=device, labels=labels)
        self.network, self.order = model.network, (0, 1, 2)
        """Outputs for entailment, neutral and contradiction."""
        if isinstance(model, NliModel):
            self.order = model.order
        else:
            torch.manual_seed(recipe.seed)  # for the new head
            with reading(place, None, False) as options:
                self.network = AutoModelForSequenceClassification.from_pretrained(
                    place.source, num_labels=len(LABELS), dtype=torch.float32, **OWN, **options
                ).to(device)
        self.network.requires_grad_(True)  # weights that an adapter was merged into are frozen
        self.network.config.id2label = dict(zip(self.order, LABELS, strict=True))
        self.network.config.label2id = {label: output for output, label in self.network.config.id2label.items()}
        self.tokenizer = model.tokenizer
        self.fingerprint = model.fingerprint
        self.longest = min(recipe.longest, model.longest)

    def encode(self, examples: Sequence[Example]) -> _Encoded:
        pad = self.tokenizer.pad_token_id or 0
        if not examples:
            return _Encoded([], [], [], pad, 0)
        premises, hypotheses, labels = zip(*examples, strict=True)
        encoded = self.tokenizer(
            list(premises), list(hypotheses), truncation=True, max_length=self.longest, verbose=False
        )
        types = encoded.get("token_type_ids") or []  # the tokenizer's default, which later users of the model get too
        known = bool(types) and max(map(max, types)) < token_types(self.network)
        cut = sum(bool(pair.overflowing) for pair in encoded.encodings)
        outputs = [self.order[LABELS.index(label)] for label in labels]
        return _Encoded(encoded["input_ids"], types if known else [], outputs, pad, cut)


def _loss(network: Any, batch: Tensors) -> Tensor:
    labels = batch.pop("labels")
    return cross_entropy(network(**batch).logits, labels, reduction="sum")


@torch.inference_mode()
def _accuracy(network: Any, examples: _Encoded, accelerator: Accelerator) -> Accuracy:
    network.eval()
    order = sorted(range(len(examples.ids)), key=examples.lengths.__getitem__)
    share = order[accelerator.process_index :: accelerator.num_processes]
    right = torch.zeros((), dtype=torch.long, device=accelerator.device)
    for start in range(0, len(share), SIZE):
        batch = {name: each.to(right.device) for name, each in examples.tensors(share[start : start + SIZE]).items()}
        labels = batch.pop("labels")
        right += (network(**batch).logits.argmax(dim=-1) == labels).sum()
    return Accuracy(int(accelerator.reduce(right, "sum")), len(order), max(Counter(examples.labels).values()))


def _finished_training(out: Path, made_of: str) -> Trained | None:
    """The result of the same training, if it has finished. Raise an error if `out` has the model of another one."""
    if loop.is_finished(out):
        with suppress(OSError, ValueError, KeyError, TypeError):
            record = read_parsed(out / RECORD, from_json)
            if record["made_of"] == made_of:
                log.info(f"Trained before, from the same model, examples and recipe: {out}")
                return Trained(out, Accuracy(**record["accuracy"] or {}))
    if not (out / loop.CHECKPOINT).exists() and any((out / name).exists() for name in ("config.json", CARD)):
        raise BadInput(f"'{out}' has the model of another training, or another {CARD}. Choose another `out`.")
    return None
