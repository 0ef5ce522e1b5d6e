"""The public functions that measure; a gate and a page then read the run."""
