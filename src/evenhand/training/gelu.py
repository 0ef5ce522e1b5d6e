"""GELU with a derivative that is fast on every CPU."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import gelu
from transformers.activations import GELUActivation


class _Gelu(torch.autograd.Function):
    """x Phi(x), with Phi the normal distribution function; its derivative is Phi(x) + x phi(x).

    On ARM, torch 2.13 takes six times as long for that derivative, a tenth of the whole training time.
    """

    @staticmethod
    def forward(context: Any, x: Tensor) -> Tensor:
        below = (x * math.sqrt(0.5)).erf_().add_(1).mul_(0.5)
        context.save_for_backward(x, below)
        return x * below

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> Tensor:
        x, below = context.saved_tensors
        density: Tensor = (x * x).mul_(-0.5).exp_().mul_(1 / math.sqrt(2 * math.pi))
        return density.mul_(x).add_(below).mul_(gradient)


def quicken(network: Any) -> None:
    """Replace the GELUs of transformers by ours in a network on a CPU. Results change by rounding only."""
    for module in network.modules() if network.device.type == "cpu" else ():
        if isinstance(module, GELUActivation) and module.act is gelu:
            module.act = _Gelu.apply
