"""Measure one model or several, and write a run folder for each."""
