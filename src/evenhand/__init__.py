"""Measure gender bias in language models, with intervals.

`__init__.pyi` lists the public names. Each is loaded when it is first used, so that `import evenhand` is fast.
"""

from importlib import import_module
from inspect import isfunction
from typing import Any

from evenhand._version import __version__ as __version__
from evenhand.core.lazy import defining_modules
from evenhand.core.shown import Sections, Shown

_HOME = defining_modules(__name__)
__all__ = sorted(_HOME)

_WITHIN = (
    *("datasets", "errors", "integrations", "measures", "mitigation", "models", "papers", "stats", "testing", "text"),
    "training",
)
"""Submodules that can be used after `import evenhand` alone: `evenhand.datasets.load("tgb")`."""


class _Renderer:
    """What draws ranks above what is drawn, and is loaded when something is first shown."""

    def text(self, what: object) -> str:
        from evenhand.show.terminal import text

        return text(what)

    def html(self, what: object) -> str:
        from evenhand.show.notebook import html

        return html(what)


def _papers_sections() -> tuple[Sections, ...]:
    from evenhand.papers.sections import SECTIONS

    return SECTIONS


Shown.renderer = _Renderer()
Sections.ours = staticmethod(_papers_sections)


def __getattr__(name: str) -> Any:
    if name in _WITHIN:
        return import_module(f"evenhand.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'evenhand' has no attribute '{name}'")
    thing = getattr(import_module(_HOME[name]), name)
    if isfunction(thing):
        from evenhand.core.typed import typed

        thing = typed(thing)
        thing.__module__ = "evenhand"  # where pickle finds it
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_WITHIN})
