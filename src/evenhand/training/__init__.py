"""Fine-tuning of masked language models and NLI classifiers."""
