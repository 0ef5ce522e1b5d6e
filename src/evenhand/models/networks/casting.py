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
    if not computes(kind, device):
        imitate(other.network)
    other.fingerprint = f"{model.fingerprint}-{dtype}"
    other.about = {**model.about, "dtype": dtype}
    return other


def computes(kind: torch.dtype, device: torch.device) -> bool:
    """Can the device compute in that precision by itself? A processor may have to imitate half precision."""
    if device.type == "cuda":
        return kind != torch.bfloat16 or bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type != "cpu" or kind == torch.float32:
        return kind == torch.float32
    there: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # older versions of torch cannot say
    if kind == torch.float16:
        return there.get("architecture") != "arm64"  # there oneDNN takes a hundred times as long as torch by itself
    return any("bf16" in name and has is True for name, has in there.items())


def imitate(network: Any) -> None:
    """Without oneDNN: it fails on bfloat16 there, and torch would then leave it off for whatever comes later."""
    before: list[Any] = []

    def off(*_: Any) -> None:
        before.append(torch.backends.mkldnn.set_flags(False))  # type: ignore[no-untyped-call]

    def back(*_: Any) -> None:
        torch.backends.mkldnn.set_flags(*before.pop())  # type: ignore[no-untyped-call]

    network.register_forward_pre_hook(off)
    network.register_forward_hook(back, always_call=True)


def _seconds(kind: torch.dtype) -> float:
    """Of the processor, for one small product."""
    before = torch.backends.mkldnn.set_flags(computes(kind, torch.device("cpu")))  # type: ignore[no-untyped-call]
    one: Tensor = torch.ones(64, 256, dtype=kind)
    other = torch.ones(256, 256, dtype=kind)
    taken = []
    for _ in range(3):
        start = time.process_time()
        torch.nn.functional.linear(one, other)
        taken.append(time.process_time() - start)
    torch.backends.mkldnn.set_flags(*before)  # type: ignore[no-untyped-call]
    return max(min(taken), 1e-5)
