"""Examples of like length side by side, so that little of a batch is padding."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

POOL = 50
"""Batches within which examples are sorted by length."""


def batches(lengths: Sequence[int], size: int, seed: int) -> Iterator[list[int]]:
    """The numbers of all examples, `size` at a time, of like length and in an order that the seed gives."""
    chance = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(lengths), generator=chance).tolist()
    for start in range(0, len(order), POOL * size):
        part = sorted(order[start : start + POOL * size], key=lengths.__getitem__)
        cut = [part[i : i + size] for i in range(0, len(part), size)]
        yield from (cut[number] for number in torch.randperm(len(cut), generator=chance).tolist())


def padded(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    """The rows as one tensor, filled up to the longest of them."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])  # (batch, length)
