"""The slow and obvious way to the same answers: one input at a time, no padding, the whole vocabulary everywhere."""

from collections.abc import Iterator
from typing import Any

import torch

from evenhand.core.questions import Fill, Span
from evenhand.models.networks.causal import CausalLM
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.networks.nli import NliModel

AMONG = ("My mother", "My father", "This woman", "He")


def logps(model: MaskedLM, ids: list[int]) -> torch.Tensor:
    with torch.no_grad():
        logits: torch.Tensor = model.network(input_ids=torch.tensor([ids])).logits
    return logits[0].log_softmax(-1)


def likelihood(model: MaskedLM, text: str, *, within_word: bool = False) -> list[float]:
    encoded = model.tokenizer(text)
    ids, words = encoded["input_ids"], encoded.word_ids()
    answers = []
    for position, word in enumerate(words):
        if word is None:
            continue
        hidden = [position]
        if within_word:
            hidden += [later for later in range(position + 1, len(ids)) if words[later] == word]
        masked = [model.tokenizer.mask_token_id if p in hidden else token for p, token in enumerate(ids)]
        answers.append(float(logps(model, masked)[position, ids[position]]))
    return answers


def unmasked(model: MaskedLM, text: str) -> tuple[list[float], list[float]]:
    """The log-probability of each token with nothing masked, and the mean attention to it; special tokens left out."""
    encoded = model.tokenizer(text)
    ids = torch.tensor([encoded["input_ids"]])
    usual = model.network.config._attn_implementation
    model.network.set_attn_implementation("eager")  # other kinds do not return it
    with torch.no_grad():
        output = model.network(input_ids=ids, output_attentions=True)
    model.network.set_attn_implementation(usual)
    weights = sum(layer[0].mean(dim=(0, 1)) for layer in output.attentions) / len(output.attentions)
    own = [position for position, word in enumerate(encoded.word_ids()) if word is not None]
    found = output.logits[0].log_softmax(-1)
    return [float(found[p, ids[0, p]]) for p in own], [float(weights[p]) for p in own]


def fill(model: MaskedLM, text: str, blank: Span, hidden: tuple[Span, ...] = ()) -> list[float]:
    encoded = model.tokenizer(text)
    ids = encoded["input_ids"]
    asked = positions(encoded, text, blank)
    gone = asked + [p for span in hidden for p in positions(encoded, text, span)]
    masked = [model.tokenizer.mask_token_id if p in gone else token for p, token in enumerate(ids)]
    found = logps(model, masked)
    return [float(found[p, ids[p]]) for p in asked]


def one_by_one(model: MaskedLM, text: str, blank: Span) -> list[float]:
    """Each token of the blank after those before it, with nothing in the place of those after it."""
    encoded = model.tokenizer(text)
    ids = encoded["input_ids"]
    asked = positions(encoded, text, blank)
    answers = []
    for position in asked:
        masked = [*ids[:position], model.tokenizer.mask_token_id, *ids[asked[-1] + 1 :]]
        answers.append(float(logps(model, masked)[position, ids[position]]))
    return answers


def follows(network: Any, tokenizer: Any, first: str, second: str) -> list[float]:
    """By transformers' own class for next sentences."""
    with torch.no_grad():
        found: torch.Tensor = network(**tokenizer(first, second, return_tensors="pt")).logits
    return found[0].log_softmax(-1).tolist()


def positions(encoded: Any, text: str, span: Span) -> list[int]:
    """By the library's own map from characters to tokens; a lone space before the word is its first piece."""
    found = sorted({encoded.char_to_token(character) for character in range(span.start, span.stop)} - {None})
    return [found[0] - 1, *found] if encoded.tokens()[found[0] - 1] in ("Ġ", "▁") else found


def entail(model: NliModel, premise: str, hypothesis: str) -> list[float]:
    """By the tokenizer's own encoding of the pair, and the labels by their names."""
    encoded = model.tokenizer(premise, hypothesis, return_tensors="pt")
    known = ["input_ids", "attention_mask"]
    known += ["token_type_ids"] if model.network.config.model_type in ("bert", "albert", "convbert") else []
    with torch.no_grad():
        found = model.network(**{name: encoded[name] for name in known}).logits[0].log_softmax(-1)
    outputs = {name.lower(): output for output, name in model.network.config.id2label.items()}
    return [float(found[outputs[label]]) for label in ("entailment", "neutral", "contradiction")]


def following(model: CausalLM, text: str) -> tuple[list[float], list[tuple[int, int]]]:
    """The log-probability of each piece after those before it, and its characters."""
    encoded = model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids = encoded["input_ids"]
    with torch.no_grad():
        found = model.network(input_ids=torch.tensor([[model.start, *ids]])).logits[0].log_softmax(-1)
    return [float(found[n, token]) for n, token in enumerate(ids)], encoded["offset_mapping"]


def started_once(model: CausalLM, text: str) -> list[float]:
    """The first token after the start token, the others as if there were none."""
    ids = model.tokenizer(text, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        found = model.network(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    return [following(model, text)[0][0], *(float(found[n, token]) for n, token in enumerate(ids[1:]))]


def compared(model: CausalLM, texts: list[str], until: list[int] | None = None) -> list[float]:
    """Log-probabilities of whole texts, or of their pieces that start before a character, normalised among them."""
    totals = []
    for n, text in enumerate(texts):
        logps, offsets = following(model, text)
        stop = until[n] if until else len(text)
        totals.append(sum(p for p, (start, _) in zip(logps, offsets, strict=True) if start < stop))
    return torch.tensor(totals, dtype=torch.float64).log_softmax(0).tolist()


def option(model: CausalLM, prompt: str, continuation: str, *, templated: bool = False) -> list[float]:
    """The log-probability of each token of the continuation; a templated prompt brings its own start."""
    encoded = model.tokenizer(prompt + continuation, add_special_tokens=False, return_offsets_mapping=True)
    ids = encoded["input_ids"] if templated else [model.start, *encoded["input_ids"]]
    starts = [start for start, _ in encoded["offset_mapping"]]
    with torch.no_grad():
        found = model.network(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    count = sum(start >= len(prompt) for start in starts)
    return [float(found[n - 1, ids[n]]) for n in range(len(ids) - count, len(ids))]


def fills(template: str, attribute: str, hidden: bool) -> Iterator[tuple[Fill, list[str], list[int] | None]]:
    """A blank at the template's {}, asked for each candidate; the sentences, and where the attribute starts in each."""
    text = template.format("___")
    blank = Span(text.index("___"), text.index("___") + 3)
    start = text.index(attribute)
    spans = (Span(start, start + len(attribute)),) if hidden else ()
    sentences = [template.format(candidate) for candidate in AMONG]
    until = [sentence.index(attribute) - 1 for sentence in sentences] if hidden else None  # with the space before it
    for candidate in AMONG:
        yield Fill(text, blank, candidate, spans, among=AMONG), sentences, until
