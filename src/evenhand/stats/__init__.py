"""Intervals, tests, correlations: arrays in, numbers out. Nothing here knows what a model or a run is."""

from importlib import import_module
from typing import Any

_NAMES = {
    "correlation": ("Line", "correlate", "fit_line", "ratio_of_spreads"),
    "estimate": ("Estimate",),
    "intervals": ("Paired", "clustered_interval", "generator"),
    "mean_intervals": ("FEWEST_SAMPLED", "mean_estimate", "mean_interval"),
    "significance": ("holm", "signed_rank"),
    "verdict": ("ALPHA", "adjust", "decide"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used; stats cannot import `core.lazy`."""
    if name not in _HOME:
        raise AttributeError(f"module 'evenhand.stats' has no attribute '{name}'")
    return getattr(import_module(f"evenhand.stats.{_HOME[name]}"), name)
