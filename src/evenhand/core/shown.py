"""Objects that show themselves in a notebook.

What draws them ranks above them: it is found by name when it is used, here and nowhere else.
"""

from importlib import import_module
from typing import Any


class Shown:
    """An object that a notebook shows as HTML, with `report.notebook`."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = from_above("report.notebook", "html")(self)
        return html


def from_above(module: str, name: str) -> Any:
    """What a module of a higher rank has by this name."""
    return getattr(import_module(f"evenhand.{module}"), name)
