"""Two processes train, are stopped, and go on to the end. BASE OUT"""

import sys
from collections.abc import Sequence
from pathlib import Path

from evenhand.training import loop
from evenhand.training.mlm import Recipe, finetune
from helpers import tiny
from helpers.two_processes import start_two

RECIPE = Recipe(learning_rate=1e-3, epochs=4, batch=3)


def work(base: str, out: Path) -> None:
    recent_loss = loop.recent_loss

    def stopping(losses: Sequence[float]) -> float:
        if len(losses) == 5:
            raise KeyboardInterrupt
        return recent_loss(losses)

    loop.recent_loss = stopping
    try:
        finetune(base, tiny.TEXTS, RECIPE, out, every=0.0)
    except KeyboardInterrupt:
        loop.recent_loss = recent_loss
        finetune(base, tiny.TEXTS, RECIPE, out)


if __name__ == "__main__":
    start_two(work, sys.argv[1], Path(sys.argv[2]))
