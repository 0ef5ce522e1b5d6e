"""Load plugins (measures, datasets, models, debiasing methods) from a Python file or from installed packages."""

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from evenhand import datasets, measures, mitigation
from evenhand.core.foreign import foreign, load_entry
from evenhand.core.shown import add_sections
from evenhand.errors import BadInput
from evenhand.models import engines

KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "measures": lambda _, kind: measures.add(kind),
    "datasets": datasets.add,
    "models": engines.add,
    "sections": add_sections,
    "mitigations": lambda _, kind: mitigation.add(kind),
}
"""How each kind is registered. Its entry points are `evenhand.<kind>`, and a plugin file lists it in capitals."""


def load_file(path: str | Path) -> None:
    """Run a Python file and register what it lists.

    `MEASURES` and `MITIGATIONS` are lists of classes. `DATASETS` has functions by name, `MODELS` functions by prefix,
    and `SECTIONS` the `Sections` of datasets by name.
    """
    path = Path(path).expanduser()
    if path.suffix != ".py" or not path.is_file():
        raise BadInput(f"A plugin is a Python file. There is no such file '{path}'.")
    name = f"evenhand_plugin_{path.stem}"
    module = sys.modules[name] = ModuleType(name)  # a dataclass looks for its module there
    module.__file__ = str(path.absolute())
    with foreign(f"The plugin '{path}' failed"):
        # Not imported: for a file that changed within a second and kept its size, Python would run the old .pyc.
        exec(compile(path.read_bytes(), module.__file__, "exec", dont_inherit=True), module.__dict__)
        listed = {kind: getattr(module, kind.upper(), None) or {} for kind in KINDS}
        for kind, things in listed.items():
            if kind in ("measures", "mitigations") and isinstance(things, list | tuple):
                things = dict(enumerate(things))
            if not isinstance(things, Mapping):
                raise BadInput(
                    "MEASURES and MITIGATIONS are lists of classes; DATASETS, MODELS and SECTIONS are dicts by name."
                )
            for key, thing in things.items():
                KINDS[kind](key, thing)
    if not any(listed.values()):
        names = ", ".join(kind.upper() for kind in KINDS)
        raise BadInput(f"The plugin '{path}' defines none of {names}. See docs/extend.md.")


@cache
def load_installed() -> None:
    """Register the entry points of installed packages: `evenhand.measures` and the other `KINDS`."""
    for kind, add in KINDS.items():
        for entry in entry_points(group=f"evenhand.{kind}"):
            load_entry(entry, add)
