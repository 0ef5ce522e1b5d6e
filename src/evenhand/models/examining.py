"""A network in another precision, where its device has arithmetic for that: for comparing, not for measuring."""

import copy
import time
from typing import Any

import torch
from torch import Tensor

from evenhand.errors import ModelError

TIMES = 40
"""So many times slower than float32 is emulation, not arithmetic: a question would take seconds."""


def cast(model: Any, dtype: str) -> Any:
    """A copy of the model with its weights in that precision; an error where the device cannot work in it."""
    kind, device = getattr(torch, dtype), model.network.device
    if device.type == "cpu" and _seconds(kind) > TIMES * _seconds(torch.float32):
        raise ModelError(f"{dtype} cannot be tried: this CPU has no arithmetic for it.")
    try:
        other = copy.deepcopy(model, {id(model.tokenizer): model.tokenizer})
        for weights in other.network.parameters():
            weights.data = weights.data.to(kind).contiguous()  # half precision is slow on weights laid out for float32
    except RuntimeError as error:
        raise ModelError(f"{dtype} cannot be tried on {device}: {str(error).strip().splitlines()[0]}") from error
    other.fingerprint = f"{model.fingerprint}-{dtype}"
    other.about = {**model.about, "dtype": dtype}
    return other


def _seconds(kind: torch.dtype) -> float:
    """Of the processor, for one small product."""
    one: Tensor = torch.ones(64, 256, dtype=kind)
    other = torch.ones(256, 256, dtype=kind)
    taken = []
    for _ in range(3):
        start = time.process_time()
        torch.nn.functional.linear(one, other)
        taken.append(time.process_time() - start)
    return max(min(taken), 1e-5)
