"""Run by two processes at once: train, are stopped, and go on to the end. BASE OUT"""

import sys
from collections.abc import Sequence
from pathlib import Path

from evenhand.training import loop
from evenhand.training.mlm import Recipe, finetune
from helpers import tiny

RECIPE = Recipe(learning_rate=1e-3, epochs=4, batch=3)

if __name__ == "__main__":
    base, out = sys.argv[1], Path(sys.argv[2])
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
