"""Comparisons: between runs, models and checkpoints, and with published values."""
