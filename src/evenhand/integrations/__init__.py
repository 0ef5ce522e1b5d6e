"""evenhand inside other tools. Each file imports its host when it is used; `core/extras` names the extra to install."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.integrations.trainer import BiasCallback as BiasCallback

__all__ = ["BiasCallback"]


def __getattr__(name: str) -> Any:
    if name == "BiasCallback":  # transformers takes seconds to import
        from evenhand.integrations.trainer import BiasCallback

        return BiasCallback
    raise AttributeError(f"module 'evenhand.integrations' has no attribute '{name}'")
