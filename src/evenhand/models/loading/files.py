"""Check a checkpoint: its files before any library reads them, then whether it has the same parts as its network.

Missing weights would be random, and unexpected ones would be dropped.
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
"""Endings of files that may be of any size."""
INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
LAYERS = re.compile(r"(num|n|encoder|decoder)_(\w+_)?(layers?|groups|experts)")
WIDTHS = re.compile(
    r"(\w+_)?(vocab|hidden|intermediate|embedding)_size|n_embd|n_inner|d_model|d_ff|(hidden_)?dim|num_labels"
)
"""Settings of how many parts a network has, and of how wide they are."""
QUIETLY = {f"_raise_exceptions_for_{what}": False for what in ("gated_repo", "missing_entries", "connection_errors")}
"""Treat a file that cannot be downloaded as missing: the loaders say why."""


def check_files(place: ModelPlace, options: Mapping[str, Any] | None = None) -> None:
    """Raise an error for files that would block, fill the memory, lie elsewhere, or have values of wrong types.

    `options` are those of transformers' loaders. Of a model on the Hub, only files that name others or hold settings
    are checked, which downloads them; in its cache, files are links to elsewhere.
    """
    folder = Path(place.source)
    for path in [] if place.on_hub else sorted(folder.iterdir()):
        if path.exists() and not path.is_file() and not path.is_dir():
            _fail(place, f"{path.name} is not a regular file")
        if path.is_file() and path.suffix not in WEIGHTS and path.stat().st_size > LARGEST:
            _fail(place, f"{path.name} has {path.stat().st_size:,} bytes, and {LARGEST:,} are allowed")

    how = {key: value for key, value in (options or {}).items() if key in ("revision", "local_files_only")}

    def read(name: str) -> dict[str, Any]:
        """The contents of a JSON file, empty if there is no file; one on the Hub is downloaded if needed."""
        path = cached_file(place.source, name, **QUIETLY, **how) if place.on_hub else folder / name
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
        _fail(place, f"model_max_length in tokenizer_config.json must be a number from 1. Got {longest!r}")
    base = read(ADAPTER).get("base_model_name_or_path", "")
    if not isinstance(base, str):
        _fail(place, f"base_model_name_or_path in {ADAPTER} must be a name. Got {base!r}")


def _check_sizes(place: ModelPlace, config: Mapping[str, Any]) -> None:
    """Raise an error for a network that is too large for its weights: building it could take forever."""
    sizes = tensors(place)
    # Layers may share their weights, and weights may not be here: these limits are far beyond all networks.
    limits = {LAYERS: max(1_000, len(sizes)), WIDTHS: sum(sizes) or 2**24}
    for part in (config, *(part for part in config.values() if isinstance(part, dict))):
        for name, value in part.items():
            most = next((limit for kind, limit in limits.items() if kind.fullmatch(name)), math.inf)
            if isinstance(value, int | float) and value > most:
                _fail(place, f"{name} in config.json is {value:,}, and its weights are for {most:,} at most")


def _fail(place: ModelPlace, what: str) -> NoReturn:
    raise ModelError(f"Model '{place.name}' in {place.source} cannot be loaded: {what}. {place.format_hint}")


LIMIT = Path("/sys/fs/cgroup/memory.max")
"""The memory limit of a container."""


def check_memory(place: ModelPlace, dtype: torch.dtype) -> None:
    """Raise where the weights in this dtype need more memory than is free.

    The size of a checkpoint on the Hub, in a .gguf file or not in safetensors is not known, so it passes.
    """
    needed = dtype.itemsize * sum(tensors(place))
    if needed > free():
        raise ModelError(
            f"'{place.name}' does not fit into memory: its weights take {needed / 2**30:.2f} GiB as "
            f"{str(dtype).removeprefix('torch.')}, and {free() / 2**30:.2f} GiB are free. Use a machine with more "
            "memory, a smaller model, or `dtype='bfloat16'`."
        )


def free() -> int:
    """Bytes of memory that this process can still use."""
    available = int(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):  # no container, or one without a limit
        available = min(available, int(LIMIT.read_text()) - int(LIMIT.with_name("memory.current").read_text()))
    return available


def tensors(place: ModelPlace) -> list[int]:
    """The number of values in each tensor, by the headers of safetensors files; empty if there are none here."""
    if place.on_hub or place.file:
        return []
    folder = Path(place.source)  # which may have the weights twice, under different names
    sizes = list[int]()
    for path in sorted(folder.glob("model*.safetensors")) or sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            sizes += [math.prod(file.get_slice(name).get_shape()) for name in list(file.keys())]
    return sizes


IN_LAYER = re.compile(r"\.\d+\.")
CONSTANTS = ("position_ids", "token_type_ids", "masked_bias", "inv_freq", "causal_mask", "version")
"""What older releases of transformers saved besides weights, and newer ones compute."""


def check_parts(
    place: ModelPlace, network: Any, report: Mapping[str, Any], head: str, how: str, architecture: str = "it"
) -> None:
    """Refuse a checkpoint that lacks weights of the network, or has weights of its body that the network has not.

    `report` is transformers' own. Weights of other heads and of a pooler, which stand beside what the answers come
    from, may be unused. `how` says how a checkpoint with the `head` was made.
    """
    missing = sorted(report["missing_keys"])
    if any(IN_LAYER.search(name) for name in missing):
        raise UnfitModel(
            f"The weights of '{place.name}' lack {len(missing)} tensors that its config.json asks for: "
            f"{_shorten(missing)}. They would be random. Correct config.json (num_hidden_layers, for example), or copy "
            "the weights again.",
            check="weights",
        )
    if missing:
        raise UnfitModel(
            f"Model '{place.name}' has no trained {head}: {architecture} lacks {_shorten(missing)}, which would be "
            f"random. Its numbers would mean nothing. Use a checkpoint that was {how}.",
            check="head",
        )
    if dropped := sorted(_body_weights(network, report["unexpected_keys"])):
        raise UnfitModel(
            f"{len(dropped)} tensors in the weights of '{place.name}' have no place in the network that its "
            f"config.json describes, and would be dropped: {_shorten(dropped)}. Correct config.json "
            "(num_hidden_layers, for example); if a smaller network is meant, save that one with save_pretrained.",
            check="weights",
        )


def check_adapter(place: ModelPlace, missing: Iterable[str], unused: Iterable[str]) -> None:
    """Refuse an adapter without some of the tensors that its configuration asks for, or with others."""
    for names, what in ((missing, "are not in its file"), (unused, "have no place in its base")):
        if wrong := sorted(names):
            raise UnfitModel(
                f"{len(wrong)} tensors of the adapter '{place.name}' {what}: {_shorten(wrong)}. It would be half an "
                "adapter. Copy it again, with the adapter_config.json and the base model that it was trained with.",
                check="weights",
            )


def _body_weights(network: Any, unused: Iterable[str]) -> Iterator[str]:
    """The unused weights that belong to a part of the body that the network has."""
    body, prefix = network.base_model, f"{network.base_model_prefix}."
    parts, constants = dict(body.named_children()), dict(body.named_buffers())
    for name in unused:
        inside = name.removeprefix(prefix)
        if inside in constants or name.rpartition(".")[2] in CONSTANTS:
            continue
        # A network without a separate body has its heads among the parts: only layers can be distinguished from them.
        if inside.partition(".")[0] in parts and (body is not network or IN_LAYER.search(name)):
            yield name


def _shorten(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
