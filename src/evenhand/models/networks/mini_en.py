"""mini-en in numpy, for a few words, where importing torch and transformers would take longer than the computation.

It has the same network and weights in float32. Answers differ from torch's by rounding.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import erf
from tokenizers import Tokenizer

FOLDER = Path(__file__).parents[1] / "bundled" / "mini-en"
HEADS, LAYERS = 6, 6
AT_ONCE = 64
Array = np.ndarray[Any, Any]


@cache
def _weights() -> dict[str, Array]:
    from safetensors.numpy import load_file

    return {name: weight.astype(np.float32) for name, weight in load_file(FOLDER / "model.safetensors").items()}


@cache
def _tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(FOLDER / "tokenizer.json"))


def logits(places: Sequence[tuple[str, str]], words: Sequence[str]) -> Array:
    """The logits of one-token words at each place, (places, words); a place is the text before and after a blank."""
    read = _tokenizer().encode_batch([side for place in places for side in place], add_special_tokens=False)
    asking = ("[CLS]", "[MASK]", "[SEP]", *words)
    cls, mask, sep, *wanted = (_tokenizer().encode(word, add_special_tokens=False).ids[0] for word in asking)
    ids, asked = list[list[int]](), list[int]()
    for before, after in zip(read[::2], read[1::2], strict=True):
        ids.append([cls, *before.ids, mask, *after.ids, sep])
        asked.append(1 + len(before.ids))
    by_length = defaultdict[int, list[int]](list)  # texts of one length need no padding
    for number, tokens in enumerate(ids):
        by_length[len(tokens)].append(number)
    values = np.empty((len(ids), len(words)), dtype=np.float32)
    for same in by_length.values():
        for part in (same[first : first + AT_ONCE] for first in range(0, len(same), AT_ONCE)):
            values[part] = _word_logits(np.array([ids[n] for n in part]), [asked[n] for n in part], wanted)
    return values


def _word_logits(ids: Array, asked: Sequence[int], wanted: Sequence[int]) -> Array:
    weights = _weights()
    embedded = weights["bert.embeddings.word_embeddings.weight"]
    at = weights["bert.embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = _layer_norm(embedded[ids] + at + weights["bert.embeddings.token_type_embeddings.weight"][0], "bert.embeddings.")
    for number in range(LAYERS):
        last = number == LAYERS - 1  # its output is needed only at the hidden word
        x = _layer(x, x[np.arange(len(ids)), asked][:, None] if last else x, f"bert.encoder.layer.{number}.")
    x = _layer_norm(_gelu(_dense(x[:, 0], "cls.predictions.transform.dense.")), "cls.predictions.transform.")
    return x @ embedded[wanted].T + weights["cls.predictions.bias"][wanted]


def _layer(x: Array, here: Array, name: str) -> Array:
    """A layer at the positions `here`, which attend to all positions `x`."""
    n, _, size = x.shape
    query, key, value = (
        _dense(states, f"{name}attention.self.{part}.").reshape(n, -1, HEADS, size // HEADS).transpose(0, 2, 1, 3)
        for part, states in (("query", here), ("key", x), ("value", x))
    )
    scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(size // HEADS)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (scores / scores.sum(axis=-1, keepdims=True) @ value).transpose(0, 2, 1, 3).reshape(n, -1, size)
    here = _layer_norm(here + _dense(mixed, f"{name}attention.output.dense."), f"{name}attention.output.")
    wide = _gelu(_dense(here, f"{name}intermediate.dense."))
    return _layer_norm(here + _dense(wide, f"{name}output.dense."), f"{name}output.")


def _dense(x: Array, name: str) -> Array:
    weight = _weights()[f"{name}weight"]
    product: Array = x.reshape(-1, x.shape[-1]) @ weight.T + _weights()[f"{name}bias"]
    return product.reshape(*x.shape[:-1], len(weight))


def _layer_norm(x: Array, name: str) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-12)
    scaled: Array = centred / spread * _weights()[f"{name}LayerNorm.weight"] + _weights()[f"{name}LayerNorm.bias"]
    return scaled


def _gelu(x: Array) -> Array:
    values: Array = x * (1 + erf(x / math.sqrt(2))) / 2
    return values
