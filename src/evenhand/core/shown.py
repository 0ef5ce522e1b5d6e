"""Objects that show themselves, in a notebook and by `print`.

What draws them ranks above them: it is found by name when it is used, here and nowhere else.
"""

import re
from importlib import import_module
from typing import Any

UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters, which could change what a terminal shows, other than line ends and tabs."""


class Shown:
    """An object that a notebook shows as HTML, with `report.notebook`, and `print` as text, with `report.plain`."""

    __slots__ = ()

    def __str__(self) -> str:
        text: str = from_above("report.plain", "text")(self)
        return text

    def _repr_html_(self) -> str:
        html: str = from_above("report.notebook", "html")(self)
        return html


def from_above(module: str, name: str) -> Any:
    """What a module of a higher rank has by this name."""
    return getattr(import_module(f"evenhand.{module}"), name)


def harmless(text: str) -> str:
    """The text with a replacement character for each control character: it may be from somebody else's file."""
    return UNSEEN.sub("\ufffd", text.replace("\r\n", "\n"))
