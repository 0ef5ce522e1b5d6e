"""evenhand inside other tools. Each file imports its host when it is used; `core/foreign` names its extra."""

from evenhand.core.lazy import loader

__getattr__ = loader(__name__)  # transformers takes seconds to import
