"""Fine-tune masked language models and NLI classifiers, and combine the scores of several trained models."""

import os

from evenhand.core.lazy import loader

__getattr__ = loader(__name__)


def processes() -> int:
    """The number of processes that a launcher (torchrun, accelerate launch) started together, this one included."""
    return int(os.environ.get("WORLD_SIZE") or 1)


def is_worker_rank() -> bool:
    """Whether this process has a rank above 0. Only rank 0 measures and writes; all ranks train."""
    return int(os.environ.get("RANK") or 0) > 0
