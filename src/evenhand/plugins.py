"""Measures, datasets and models of other people: from a Python file, or from installed packages."""

import sys
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from evenhand import datasets, measures, models
from evenhand.errors import BadInput

KINDS = ("measures", "datasets", "models")
"""Names of entry points, after `evenhand.`; in a file, of the lists MEASURES, DATASETS and MODELS."""


def load_file(path: str | Path) -> None:
    """Run a Python file and make known what it lists.

    `MEASURES` is a list of classes, `DATASETS` has functions by name, `MODELS` functions by prefix.
    """
    path = Path(path).expanduser()
    if path.suffix != ".py" or not path.is_file():
        raise BadInput(f"A plugin is a Python file. There is no such file '{path}'.")
    name = f"evenhand_plugin_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadInput(f"The plugin '{path}' cannot be read as a Python module.")
    module = sys.modules[name] = module_from_spec(spec)  # a dataclass looks for its module there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BadInput(_failed(path, error)) from error
    found = [getattr(module, kind.upper(), None) for kind in KINDS]
    if not any(found):
        raise BadInput(f"The plugin '{path}' lists nothing: it needs MEASURES, DATASETS or MODELS. See docs/extend.md.")
    mine, sets, loaders = found
    _add(str(path), mine or (), sets or {}, loaders or {})


@cache
def load_installed() -> None:
    """Make known what installed packages have under `evenhand.measures`, `evenhand.datasets` and `evenhand.models`."""
    found = {kind: {entry.name: _loaded(entry) for entry in entry_points(group=f"evenhand.{kind}")} for kind in KINDS}
    _add("an installed package", list(found["measures"].values()), found["datasets"], found["models"])


def _add(place: str, mine: Sequence[Any], sets: Mapping[str, Any], loaders: Mapping[str, Any]) -> None:
    if not isinstance(mine, list | tuple) or not isinstance(sets, Mapping) or not isinstance(loaders, Mapping):
        raise BadInput(f"{place}: MEASURES is a list of classes; DATASETS and MODELS are dicts of functions by name.")
    for measure in mine:
        measures.add(measure)
    for name, builder in sets.items():
        datasets.add(name, builder)
    models.LOADERS.update(loaders)


def _loaded(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as error:
        package = entry.dist.name if entry.dist else "an installed package"
        raise BadInput(
            f"The plugin '{entry.value}' of {package} failed to load: {error!r}. Update or remove it."
        ) from error


def _failed(path: Path, error: Exception) -> str:
    """What went wrong, with the line of the file where it did."""
    if isinstance(error, SyntaxError):
        line = error.lineno
    else:
        line = next(
            (f.lineno for f in reversed(traceback.extract_tb(error.__traceback__)) if f.filename == str(path)), None
        )
    return f"The plugin '{path}' failed in line {line}: {type(error).__name__}: {error}"
