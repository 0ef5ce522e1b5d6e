"""From batches to log-probabilities: masked models, causal models, NLI classifiers."""
