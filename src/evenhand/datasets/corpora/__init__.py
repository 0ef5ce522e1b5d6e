"""Texts and examples that models are trained on."""

from evenhand.core.lazy import loader

__getattr__ = loader(__name__)
