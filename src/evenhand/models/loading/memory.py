"""Check that weights fit into memory before they are read: otherwise the system would silently kill the process."""

from contextlib import suppress
from math import prod
from pathlib import Path

import psutil
import torch
from safetensors import safe_open

from evenhand.errors import ModelError
from evenhand.models.loading.names import Found

LIMIT = Path("/sys/fs/cgroup/memory.max")
"""The memory limit of a container."""


def check_memory(found: Found, dtype: torch.dtype) -> None:
    """Raise where the weights in this dtype need more memory than is free.

    The size of a checkpoint on the Hub, in a .gguf file or not in safetensors is not known, so it passes.
    """
    needed = dtype.itemsize * sum(tensors(found))
    if needed > free():
        raise ModelError(
            f"'{found.name}' does not fit into memory: its weights take {needed / 2**30:.2f} GiB as "
            f"{str(dtype).removeprefix('torch.')}, and {free() / 2**30:.2f} GiB are free. Use a machine with more "
            "memory, a smaller model, or `dtype='bfloat16'`."
        )


def free() -> int:
    """Bytes of memory that this process can still use."""
    available = int(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):  # no container, or one without a limit
        available = min(available, int(LIMIT.read_text()) - int(LIMIT.with_name("memory.current").read_text()))
    return available


def tensors(found: Found) -> list[int]:
    """How many numbers each tensor has, by the headers of safetensors; none where these are not here."""
    if found.on_hub or found.file:
        return []
    folder = Path(found.source)  # which may have the weights twice, under different names
    sizes = list[int]()
    for path in sorted(folder.glob("model*.safetensors")) or sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            sizes += [prod(file.get_slice(name).get_shape()) for name in list(file.keys())]
    return sizes
