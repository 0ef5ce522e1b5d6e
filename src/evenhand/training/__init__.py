"""Fine-tuning of masked language models and NLI classifiers, and several trainings of one model as one value."""

import os

from evenhand.core.lazy import loader

__getattr__ = loader(__name__)


def processes() -> int:
    """The number of processes that a launcher (torchrun, accelerate launch) started together, this one included."""
    return int(os.environ.get("WORLD_SIZE") or 1)


def is_worker_rank() -> bool:
    """True on every rank but 0, which alone does everything except training."""
    return int(os.environ.get("RANK") or 0) > 0
