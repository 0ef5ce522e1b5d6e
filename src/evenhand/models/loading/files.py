"""Check the files of a model's folder before any library reads them."""

import json
import math
from pathlib import Path
from typing import Any, NoReturn

from evenhand.core.files import LARGEST, read_parsed
from evenhand.errors import ModelError
from evenhand.models.loading.names import ADAPTER, Found

WEIGHTS = (".bin", ".gguf", ".h5", ".msgpack", ".pt", ".pth", ".safetensors")
"""Endings of files that may be of any size."""


def check_files(found: Found) -> None:
    """Raise an error for files that would be waited for, fill the memory, lie elsewhere, or have values of wrong types.

    Models on the Hub are not checked: their files are downloaded one by one.
    """
    if found.on_hub:
        return
    folder = Path(found.source)
    for path in sorted(folder.iterdir()):
        if path.exists() and not path.is_file() and not path.is_dir():
            _fail(found, f"{path.name} is not a regular file")
        if path.is_file() and path.suffix not in WEIGHTS and path.stat().st_size > LARGEST:
            _fail(found, f"{path.name} has {path.stat().st_size:,} bytes, and {LARGEST:,} are allowed")
    for path in sorted(folder.glob("*.index.json")):
        for name in set(map(str, (_read(found, path.name).get("weight_map") or {}).values())):
            if Path(name).is_absolute() or ".." in Path(name).parts:
                _fail(found, f"{path.name} names weights outside the folder: {name!r}")
    architectures = _read(found, "config.json").get("architectures")
    if not isinstance(architectures or [], list) or not all(isinstance(name, str) for name in architectures or []):
        _fail(found, f"architectures in config.json must be a list of names. Got {architectures!r}")
    longest = _read(found, "tokenizer_config.json").get("model_max_length")
    if longest is not None and not _is_length(longest):
        _fail(found, f"model_max_length in tokenizer_config.json must be a number from 1. Got {longest!r}")
    base = _read(found, ADAPTER).get("base_model_name_or_path", "")
    if not isinstance(base, str):
        _fail(found, f"base_model_name_or_path in {ADAPTER} must be a name. Got {base!r}")


def _read(found: Found, name: str) -> dict[str, Any]:
    """The contents of a JSON file, none where there is none; it must be an object."""
    path = Path(found.source) / name
    if not path.exists():
        return {}
    try:
        data: Any = read_parsed(path, json.loads)
    except (OSError, ValueError) as error:
        _fail(found, f"{name} cannot be read: {error}")
    if not isinstance(data, dict):
        _fail(found, f"{name} must hold a JSON object. Got {str(data)[:40]!r}")
    return dict(data)


def _is_length(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 1


def _fail(found: Found, what: str) -> NoReturn:
    raise ModelError(f"Model '{found.name}' in {found.source} cannot be loaded: {what}. {found.whole}")
