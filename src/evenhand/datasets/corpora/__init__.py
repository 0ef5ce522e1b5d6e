"""Texts and examples that models are trained on."""
