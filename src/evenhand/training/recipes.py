"""Fine-tune by a recipe, or by its name, unless the same training has finished before."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import check_known

if TYPE_CHECKING:
    from evenhand.training import loop

log = logging.getLogger(__name__)


def recipe_of(recipe: "str | loop.Recipe", draw: int = 0, seed: int = 0) -> "loop.Recipe":
    """The recipe, given itself or by name, with a different seed for each draw and each seed of the study."""
    from evenhand.training.mlm import RECIPES

    if isinstance(recipe, str):
        check_known("recipe", [recipe], RECIPES)
        recipe = RECIPES[recipe]
    return replace(recipe, seed=recipe.seed + draw + 1_000 * seed)


def train_masked(base: str, texts: Sequence[str], recipe: Any, out: Path) -> None:
    """Fine-tune a masked model and save it in `out`, unless a finished training is there."""
    from evenhand.training.loop import is_finished
    from evenhand.training.mlm import finetune

    if is_finished(out):
        log.info(f"Fine-tuned before, from the same model, texts and recipe: {out}")
    else:
        finetune(base, texts, recipe, out)
