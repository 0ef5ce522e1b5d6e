"""AUL and AULA of sentence pairs: the released algorithm, one sentence at a time, beside ours."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median
from typing import Any

import torch
from transformers import AutoModelForMaskedLM

from benchmarks.likelihood import sentences
from benchmarks.rows import Row
from benchmarks.timing import in_turn, largest, ratios
from evenhand.core.questions import Likelihood
from evenhand.models import load_masked
from evenhand.models.loading.checkpoint import quiet
from evenhand.models.loading.names import find
from evenhand.models.networks.masked import MaskedLM

PARTS = 5
EVERY = 2


def rows() -> Iterator[Row]:
    """Without and with attention, which the released code asks the network for in both cases."""
    model = load_masked()
    with quiet():
        network = AutoModelForMaskedLM.from_pretrained(
            find("mini-en").source, dtype=torch.float32, attn_implementation="eager"
        ).eval()
    texts, source = sentences()
    texts = [text for text in dict.fromkeys(texts) if not model.plan([Likelihood(text)]).readings[0].note]
    mine = [texts[n::PARTS] for n in range(PARTS)]
    some = [part[::EVERY] for part in mine]
    scales = [sum(map(len, a)) / sum(map(len, b)) for a, b in zip(mine, some, strict=True)]
    for name, attention in (("AUL", False), ("AULA", True)):
        us, them = in_turn(
            [partial(ours, model, part, attention) for part in mine],
            [partial(released, network, model.tokenizer, part, attention) for part in some],
        )
        answers = dict(zip((text for part in mine for text in part), us.answers, strict=True))
        found = ratios(them, us, scales)
        yield Row(
            f"{name} of {source}, mini-en: released algorithm",
            ours=us.total,
            peer=sum(seconds * scale for seconds, scale in zip(them.seconds, scales, strict=True)),
            ratio=median(found),
            spread=found,
            difference=largest([answers[text] for part in some for text in part], them.answers),
            note=f"peer on {sum(map(len, some))} of {len(texts)} sentences, ranks of tokens left out",
        )


def ours(model: MaskedLM, texts: Sequence[str], attention: bool) -> list[float]:
    """The mean over tokens, for each sentence."""
    answers = model.answer([Likelihood(text, masked="none", attention=attention) for text in texts])
    return [math.fsum(answer.logps) / len(answer.logps) for answer in answers]


@torch.no_grad()
def released(network: Any, tokenizer: Any, texts: Sequence[str], attention: bool) -> list[float]:
    """The same by the steps of the code of Kaneko & Bollegala 2022, without the ranks that it also counts."""
    found = []
    for text in texts:
        ids = tokenizer.encode(text, return_tensors="pt")
        output = network(ids, output_attentions=True, output_hidden_states=True)
        logps = output.logits[0].log_softmax(dim=1).gather(1, ids.view(-1, 1))[1:-1, 0]
        if attention:
            logps = logps * torch.cat(output.attentions).mean(dim=(0, 1, 2))[1:-1]
        found.append(logps.mean().item())
    return found
