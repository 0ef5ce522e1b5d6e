"""Packages that load a name when it is first used, so that their import is fast."""

import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


@cache
def defining_modules(package: str) -> dict[str, str]:
    """The module of each public name of a package, as listed in its `__init__.pyi`."""
    listed = Path(str(sys.modules[package].__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    return {name: module for module, name in re.findall(r"^from (evenhand\.\S+) import (\w+) as", listed, re.M)}


def loader(package: str) -> Callable[[str], Any]:
    """A `__getattr__` for a package: it imports the module of a public name when the name is first used."""

    def load(name: str) -> Any:
        if name not in defining_modules(package):
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(import_module(defining_modules(package)[name]), name)

    return load
