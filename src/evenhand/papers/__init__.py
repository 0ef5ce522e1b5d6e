"""The papers' studies and charts, and meta-evaluation; studies are loaded at their first use."""

from importlib import import_module
from typing import Any

__all__ = ["PAPERS", "Reproduction", "options_of", "reproduce"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("evenhand.papers.studies"), name)
    raise AttributeError(f"module 'evenhand.papers' has no attribute '{name}'")
