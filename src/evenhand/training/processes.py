"""Whether a launcher (torchrun, accelerate launch) started this process together with others."""

import os


def processes() -> int:
    """The number of processes, this one included."""
    return int(os.environ.get("WORLD_SIZE") or 1)


def is_worker_rank() -> bool:
    """True on every rank but 0, which alone does everything except training."""
    return int(os.environ.get("RANK") or 0) > 0
