"""Intervals, tests, correlations: arrays in, numbers out. Nothing here knows what a model or a run is."""
