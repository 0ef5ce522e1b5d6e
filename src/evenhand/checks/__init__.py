"""Checks of models and datasets. Each check of a model is a function from a case to findings."""
