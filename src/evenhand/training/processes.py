"""Whether a launcher (torchrun, accelerate launch) started this process together with others."""

import os


def processes() -> int:
    """How many there are, this one included."""
    return int(os.environ.get("WORLD_SIZE") or 1)


def helping() -> bool:
    """Is this one of those that only help the first one?"""
    return int(os.environ.get("RANK") or 0) > 0
