"""Check a checkpoint: first its files, before any library reads them, then whether its weights fit the network.

Otherwise missing weights would be random, and unexpected weights would be dropped.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import psutil
import torch
from safetensors import safe_open
from transformers.utils import cached_file

from evenhand.core.files import LARGEST, read_parsed
from evenhand.errors import ModelError, UnfitModel
from evenhand.models.loading.names import ADAPTER, ModelPlace

WEIGHTS = (".bin", ".gguf", ".h5", ".msgpack", ".pt", ".pth", ".safetensors")
"""Suffixes of files that may have any size."""
INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
LAYERS = re.compile(r"(num|n|encoder|decoder)_(\w+_)?(layers?|groups|experts)")
WIDTHS = re.compile(
    r"(\w+_)?(vocab|hidden|intermediate|embedding)_size|n_embd|n_inner|d_model|d_ff|(hidden_)?dim|num_labels"
)
"""LAYERS matches settings that count the parts of a network, WIDTHS those that say how wide its parts are."""
QUIETLY = {f"_raise_exceptions_for_{case}": False for case in ("gated_repo", "missing_entries", "connection_errors")}
"""Options that treat a file as missing if it cannot be downloaded. The loaders raise the error later."""


def check_files(place: ModelPlace, options: Mapping[str, Any] | None = None) -> None:
    """Raise an error for files that block when read, are too large, lie outside the folder, or have wrong settings.

    `options` are options of transformers' loaders. For a model on the Hub, only files that hold settings or name other
    files are checked, which downloads them: the Hub's cache consists of links to other folders.
    """
    folder = Path(place.source)
    for path in [] if place.on_hub else sorted(folder.iterdir()):
        if path.exists() and not path.is_file() and not path.is_dir():
            _fail(place, f"{path.name} is not a regular file")
        if path.is_file() and path.suffix not in WEIGHTS and path.stat().st_size > LARGEST:
            _fail(place, f"{path.name} has {path.stat().st_size:,} bytes, but at most {LARGEST:,} are allowed")

    at = {key: value for key, value in (options or {}).items() if key in ("revision", "local_files_only")}

    def read(name: str) -> dict[str, Any]:
        """The contents of a JSON file; empty if there is no such file. A file on the Hub is downloaded if needed."""
        path = cached_file(place.source, name, **QUIETLY, **at) if place.on_hub else folder / name
        if not path or not Path(path).exists():
            return {}
        try:
            data: Any = read_parsed(Path(path), json.loads)
        except (OSError, ValueError) as error:
            _fail(place, f"{name} cannot be read: {error}")
        if not isinstance(data, dict):
            _fail(place, f"{name} must hold a JSON object. Got {str(data)[:40]!r}")
        return dict(data)

    for index in INDEXES if place.on_hub else sorted(path.name for path in folder.glob("*.index.json")):
        for name in set(map(str, (read(index).get("weight_map") or {}).values())):
            if Path(name).is_absolute() or ".." in Path(name).parts:
                _fail(place, f"{index} names weights outside the folder: {name!r}")
    config = read("config.json")
    _check_sizes(place, config)
    architectures = config.get("architectures")
    if not isinstance(architectures or [], list) or not all(isinstance(name, str) for name in architectures or []):
        _fail(place, f"architectures in config.json must be a list of names. Got {architectures!r}")
    longest = read("tokenizer_config.json").get("model_max_length")
    if longest is not None and not (type(longest) in (int, float) and 1 <= longest < math.inf):
        _fail(place, f"model_max_length in tokenizer_config.json must be a number of at least 1. Got {longest!r}")
    base = read(ADAPTER).get("base_model_name_or_path", "")
    if not isinstance(base, str):
        _fail(place, f"base_model_name_or_path in {ADAPTER} must be a name. Got {base!r}")


def _check_sizes(place: ModelPlace, config: Mapping[str, Any]) -> None:
    """Raise an error if config.json describes a network far larger than the weights: building it could take forever."""
    sizes = tensors(place)
    # Layers may share weights, and sizes may be unknown, so these limits are far above those of all networks.
    limits = {LAYERS: max(1_000, len(sizes)), WIDTHS: sum(sizes) or 2**24}
    for part in (config, *(part for part in config.values() if isinstance(part, dict))):
        for name, value in part.items():
            most = next((limit for kind, limit in limits.items() if kind.fullmatch(name)), math.inf)
            if isinstance(value, int | float) and value > most:
                _fail(place, f"{name} in config.json is {value:,}, but its weights allow at most {most:,}")


def _fail(place: ModelPlace, fault: str) -> NoReturn:
    raise ModelError(f"Model '{place.name}' in {place.source} cannot be loaded: {fault}. {place.format_hint}")


LIMIT = Path("/sys/fs/cgroup/memory.max")
"""The file with the memory limit of a container."""


def check_memory(place: ModelPlace, dtype: torch.dtype) -> None:
    """Raise an error if the weights in this dtype need more memory than is free.

    Only safetensors files in a folder are checked, since the size of other weights is unknown.
    """
    needed = dtype.itemsize * sum(tensors(place))
    if needed > free():
        raise ModelError(
            f"'{place.name}' does not fit into memory: its weights take {needed / 2**30:.2f} GiB as "
            f"{str(dtype).removeprefix('torch.')}, and {free() / 2**30:.2f} GiB are free. Use a machine with more "
            "memory, a smaller model, or `dtype='bfloat16'`."
        )


def free() -> int:
    """The number of bytes of memory that this process can still use."""
    available = int(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):  # not in a container, or the container has no limit
        available = min(available, int(LIMIT.read_text()) - int(LIMIT.with_name("memory.current").read_text()))
    return available


def tensors(place: ModelPlace) -> list[int]:
    """The number of values in each tensor, from the headers of safetensors files; empty if the folder has none."""
    if place.on_hub or place.file:
        return []
    folder = Path(place.source)  # may have the same weights twice, in model*.safetensors and in other files
    sizes = list[int]()
    for path in sorted(folder.glob("model*.safetensors")) or sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            sizes += [math.prod(file.get_slice(name).get_shape()) for name in list(file.keys())]
    return sizes


IN_LAYER = re.compile(r"\.\d+\.")
CONSTANTS = ("position_ids", "token_type_ids", "masked_bias", "inv_freq", "causal_mask", "version")
"""Tensors that older releases of transformers saved with the weights, and newer releases compute."""


def check_parts(
    place: ModelPlace, network: Any, report: Mapping[str, Any], head: str, made: str, architecture: str = "it"
) -> None:
    """Raise an error if the checkpoint lacks weights of the network, or has other weights of its body.

    `report` is the loading report of transformers. Unused weights of other heads and of a pooler are allowed, since
    they do not affect the answers. `made` says how a checkpoint that has the `head` was made.
    """
    missing = sorted(report["missing_keys"])
    if any(IN_LAYER.search(name) for name in missing):
        raise UnfitModel(
            f"The weights of '{place.name}' lack {len(missing)} tensors that its config.json asks for: "
            f"{_shorten(missing)}. These tensors would be random. Correct config.json, for example num_hidden_layers, "
            "or copy the weights again.",
            check="weights",
        )
    if missing:
        raise UnfitModel(
            f"Model '{place.name}' has no trained {head}: {architecture} lacks {_shorten(missing)}. Random weights "
            f"would take their place, and the answers would be meaningless. Use a checkpoint that was {made}.",
            check="head",
        )
    if dropped := sorted(_body_weights(network, report["unexpected_keys"])):
        raise UnfitModel(
            f"{len(dropped)} tensors in the weights of '{place.name}' have no place in the network that its "
            f"config.json describes, and would be dropped: {_shorten(dropped)}. Correct config.json "
            "(num_hidden_layers, for example), or save the smaller network with save_pretrained.",
            check="weights",
        )


def check_adapter(place: ModelPlace, missing: Iterable[str], unused: Iterable[str]) -> None:
    """Raise an error if the adapter lacks tensors that its configuration asks for, or has others."""
    for names, fault in ((missing, "are not in its file"), (unused, "have no place in its base")):
        if wrong := sorted(names):
            raise UnfitModel(
                f"{len(wrong)} tensors of the adapter '{place.name}' {fault}: {_shorten(wrong)}. Copy the "
                "adapter again, with the adapter_config.json and the base model that it was trained with.",
                check="weights",
            )


def _body_weights(network: Any, unused: Iterable[str]) -> Iterator[str]:
    """The unused weights that are named like a part of the network's body."""
    body, prefix = network.base_model, f"{network.base_model_prefix}."
    parts, constants = dict(body.named_children()), dict(body.named_buffers())
    for name in unused:
        inside = name.removeprefix(prefix)
        if inside in constants or name.rpartition(".")[2] in CONSTANTS:
            continue
        # Without a separate body, the parts include heads, and only weights in layers surely belong to the body.
        if inside.partition(".")[0] in parts and (body is not network or IN_LAYER.search(name)):
            yield name


def _shorten(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
