"""Fine-tuning of masked language models and NLI classifiers, and several trainings of one model as one value."""

from evenhand.core.lazy import loader

__getattr__ = loader(__name__)
