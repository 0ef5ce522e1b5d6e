"""Objects that show themselves, in a notebook and by `print`."""

import re
from typing import Any, ClassVar

UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters, which could change what a terminal shows, other than line ends and tabs."""


class Shown:
    """An object that a notebook shows as HTML, and `print` as text."""

    __slots__ = ()
    renderer: ClassVar[Any]
    """Has methods `text` and `html`; set by the package itself, since core cannot import `evenhand.show`."""

    def __str__(self) -> str:
        return str(self.renderer.text(self))

    def _repr_html_(self) -> str:
        return str(self.renderer.html(self))


def harmless(text: str) -> str:
    """Replace control characters, which a text from an untrusted file may have."""
    return UNSEEN.sub("\ufffd", text.replace("\r\n", "\n"))
