"""Whether a launcher (torchrun, accelerate launch) started this process together with others."""

import os


def processes() -> int:
    """How many processes there are, this one included."""
    return int(os.environ.get("WORLD_SIZE") or 1)


def is_worker_rank() -> bool:
    """True on every rank but 0, which does everything but the training alone."""
    return int(os.environ.get("RANK") or 0) > 0
