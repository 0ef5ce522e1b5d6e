"""Do a checkpoint's weights fit into memory? Asked before they are read: else the system ends the process, unsaid."""

from contextlib import suppress
from math import prod
from pathlib import Path

import psutil
import torch
from safetensors import safe_open

from evenhand.errors import ModelError
from evenhand.models.loading.names import Found

LIMIT = Path("/sys/fs/cgroup/memory.max")
"""Where a container says how much of its machine's memory it may use."""


def check_memory(found: Found, dtype: torch.dtype) -> None:
    """An error, with sizes, where the weights in this dtype are more than the memory that is free.

    A checkpoint on the Hub, a .gguf file, and one that is not in safetensors, is let through: its size is not known.
    """
    if found.on_hub or found.file:
        return
    needed = dtype.itemsize * sum(map(_numbers, _weights(Path(found.source))))
    if needed > free():
        raise ModelError(
            f"'{found.name}' does not fit into memory: its weights take {needed / 2**30:.2f} GiB as "
            f"{str(dtype).removeprefix('torch.')}, and {free() / 2**30:.2f} GiB are free. Use a machine with more "
            "memory, a smaller model, or --dtype bfloat16."
        )


def free() -> int:
    """Bytes of memory that a process here can still have."""
    available = int(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):  # no container, or one without a limit
        available = min(available, int(LIMIT.read_text()) - int(LIMIT.with_name("memory.current").read_text()))
    return available


def _weights(folder: Path) -> list[Path]:
    """The files that hold the weights: some folders have them twice, under other names."""
    named = sorted(folder.glob("model*.safetensors"))
    return named or sorted(folder.glob("*.safetensors"))


def _numbers(path: Path) -> int:
    with safe_open(path, "pt") as file:
        return sum(prod(file.get_slice(name).get_shape()) for name in list(file.keys()))
