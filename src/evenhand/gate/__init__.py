"""Is what was measured tolerable? A policy, the evidence it is held against, and the verdict."""
