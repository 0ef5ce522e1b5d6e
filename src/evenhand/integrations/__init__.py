"""evenhand inside other tools. Each file imports its host when it is used; `core/extras` names the extra to install."""

from evenhand.core.lazy import loader

__getattr__ = loader(__name__)  # transformers takes seconds to import
