"""Check the files of a model's folder before any library reads them."""

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import Any, NoReturn

import psutil
import torch
from safetensors import safe_open
from transformers.utils import cached_file

from evenhand.core.files import LARGEST, read_parsed
from evenhand.errors import ModelError
from evenhand.models.loading.names import ADAPTER, Found

WEIGHTS = (".bin", ".gguf", ".h5", ".msgpack", ".pt", ".pth", ".safetensors")
"""Endings of files that may be of any size."""
INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
LAYERS = re.compile(r"(num|n|encoder|decoder)_(\w+_)?(layers?|groups|experts)")
WIDTHS = re.compile(
    r"(\w+_)?(vocab|hidden|intermediate|embedding)_size|n_embd|n_inner|d_model|d_ff|(hidden_)?dim|num_labels"
)
"""Settings of how many parts a network has, and of how wide they are."""
QUIETLY = {f"_raise_exceptions_for_{what}": False for what in ("gated_repo", "missing_entries", "connection_errors")}
"""A file that cannot be had is none: the loaders say why."""


def check_files(found: Found, options: Mapping[str, Any] | None = None) -> None:
    """Raise an error for files that would be waited for, fill the memory, lie elsewhere, or have values of wrong types.

    `options` are those of transformers' loaders. Of a model on the Hub, the files that name others or hold settings are
    looked at, which it has then downloaded; in its cache, files are links to elsewhere.
    """
    folder = Path(found.source)
    for path in [] if found.on_hub else sorted(folder.iterdir()):
        if path.exists() and not path.is_file() and not path.is_dir():
            _fail(found, f"{path.name} is not a regular file")
        if path.is_file() and path.suffix not in WEIGHTS and path.stat().st_size > LARGEST:
            _fail(found, f"{path.name} has {path.stat().st_size:,} bytes, and {LARGEST:,} are allowed")

    def read(name: str) -> dict[str, Any]:
        return _read(found, name, _on_hub(found, name, options or {}) if found.on_hub else folder / name)

    for index in INDEXES if found.on_hub else sorted(path.name for path in folder.glob("*.index.json")):
        for name in set(map(str, (read(index).get("weight_map") or {}).values())):
            if Path(name).is_absolute() or ".." in Path(name).parts:
                _fail(found, f"{index} names weights outside the folder: {name!r}")
    _check_sizes(found, read("config.json"))
    architectures = read("config.json").get("architectures")
    if not isinstance(architectures or [], list) or not all(isinstance(name, str) for name in architectures or []):
        _fail(found, f"architectures in config.json must be a list of names. Got {architectures!r}")
    longest = read("tokenizer_config.json").get("model_max_length")
    if longest is not None and not (type(longest) in (int, float) and 1 <= longest < math.inf):
        _fail(found, f"model_max_length in tokenizer_config.json must be a number from 1. Got {longest!r}")
    base = read(ADAPTER).get("base_model_name_or_path", "")
    if not isinstance(base, str):
        _fail(found, f"base_model_name_or_path in {ADAPTER} must be a name. Got {base!r}")


def _check_sizes(found: Found, config: Mapping[str, Any]) -> None:
    """Raise an error for a network that its weights cannot fill: to build it may take for ever."""
    sizes = tensors(found)
    # Layers may share their weights, and weights may not be here: these limits are far beyond all networks.
    limits = {LAYERS: max(1_000, len(sizes)), WIDTHS: sum(sizes) or 2**24}
    for part in (config, *(part for part in config.values() if isinstance(part, dict))):
        for name, value in part.items():
            most = next((limit for kind, limit in limits.items() if kind.fullmatch(name)), math.inf)
            if isinstance(value, int | float) and value > most:
                _fail(found, f"{name} in config.json is {value:,}, and its weights are for {most:,} at most")


def _on_hub(found: Found, name: str, options: Mapping[str, Any]) -> Path | None:
    """The file of a Hub model in the local cache, downloaded if need be; None where there is none."""
    how = {key: options[key] for key in ("revision", "local_files_only") if key in options}
    file = cached_file(found.source, name, **QUIETLY, **how)
    return Path(file) if file else None


def _read(found: Found, name: str, path: Path | None) -> dict[str, Any]:
    """The contents of a JSON file, none where there is none; it must be an object."""
    if path is None or not path.exists():
        return {}
    try:
        data: Any = read_parsed(path, json.loads)
    except (OSError, ValueError) as error:
        _fail(found, f"{name} cannot be read: {error}")
    if not isinstance(data, dict):
        _fail(found, f"{name} must hold a JSON object. Got {str(data)[:40]!r}")
    return dict(data)


def _fail(found: Found, what: str) -> NoReturn:
    raise ModelError(f"Model '{found.name}' in {found.source} cannot be loaded: {what}. {found.whole}")


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
