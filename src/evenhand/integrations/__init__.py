"""evenhand inside other tools. Each file imports its tool when the file is used; `core/foreign` names the extra."""

from evenhand.core.lazy import loader

__getattr__ = loader(__name__)  # transformers takes seconds to import
