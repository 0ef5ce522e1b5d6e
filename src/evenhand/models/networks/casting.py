"""Networks in another precision, for comparing with float32."""

import copy
import timeit
from time import process_time
from typing import Any

import torch
from torch import Tensor

from evenhand.errors import ModelError

TIMES = 40
"""A precision that is this many times slower than float32 is emulated: a question would take seconds."""


def cast(model: Any, dtype: str) -> Any:
    """A copy of the model with its weights in that precision; an error where the device cannot compute in it."""
    kind, device = getattr(torch, dtype), model.network.device
    if device.type == "cpu" and _seconds(kind) > TIMES * _seconds(torch.float32):
        raise ModelError(f"{dtype} cannot be tried: this CPU has no arithmetic for it.")
    try:
        other = copy.deepcopy(model, {id(model.tokenizer): model.tokenizer})
        for weights in other.network.parameters():
            weights.data = weights.data.to(kind).contiguous()  # half precision is slow in float32's memory layout
    except RuntimeError as error:
        raise ModelError(f"{dtype} cannot be tried on {device}: {str(error).strip().splitlines()[0]}") from error
    if not computes(kind, device):
        imitate(other.network)
    other.fingerprint = f"{model.fingerprint}-{dtype}"
    other.about = {**model.about, "dtype": dtype}
    return other


def computes(kind: torch.dtype, device: torch.device) -> bool:
    """Whether the device computes in that precision natively; a CPU may have to emulate half precision."""
    if device.type == "cuda":
        return kind != torch.bfloat16 or bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type != "cpu" or kind == torch.float32:
        return kind == torch.float32
    there: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # missing in older versions of torch
    if kind == torch.float16:
        return there.get("architecture") != "arm64"  # where oneDNN takes a hundred times as long as torch
    return any("bf16" in name and has is True for name, has in there.items())


def imitate(network: Any) -> None:
    """Run the network without oneDNN, which fails on emulated bfloat16: torch would then turn it off for good."""
    before: list[Any] = []

    def off(*_: Any) -> None:
        before.append(torch.backends.mkldnn.set_flags(False))  # type: ignore[no-untyped-call]

    def back(*_: Any) -> None:
        torch.backends.mkldnn.set_flags(*before.pop())  # type: ignore[no-untyped-call]

    for module in (network, network.base_model):  # which is run by itself for other heads
        module.register_forward_pre_hook(off)
        module.register_forward_hook(back, always_call=True)


def _seconds(kind: torch.dtype) -> float:
    """CPU time of one small matrix product."""
    before = torch.backends.mkldnn.set_flags(computes(kind, torch.device("cpu")))  # type: ignore[no-untyped-call]
    one: Tensor = torch.ones(64, 256, dtype=kind)
    other = torch.ones(256, 256, dtype=kind)
    taken = timeit.repeat(lambda: torch.nn.functional.linear(one, other), timer=process_time, repeat=3, number=1)
    torch.backends.mkldnn.set_flags(*before)  # type: ignore[no-untyped-call]
    return max(min(taken), 1e-5)
