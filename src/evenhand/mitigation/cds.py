"""Counterfactual data substitution: fine-tune a model on texts in which a share of the documents is swapped."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from evenhand.core.model import Model
from evenhand.datasets.corpora.texts import reminders
from evenhand.datasets.gendered import gender
from evenhand.errors import BadInput
from evenhand.mitigation.base import Mitigation
from evenhand.models import check_masked
from evenhand.text.swap import WORD, substituted
from evenhand.training import recipe_of, train_masked


@dataclass
class Cds(Mitigation):
    """Swap a share of the documents (Maudslay et al. 2019), add reminders, and fine-tune: see `evenhand.debias`."""

    name: ClassVar[str] = "cds"
    needs_texts: ClassVar[bool] = True
    trains: ClassVar[bool] = True
    share: float | None = None
    remind: Sequence[str] = ()
    repeat: int = 1
    recipe: str = "default"
    seed: int = 0

    def __post_init__(self) -> None:
        recipe_of(self.recipe, seed=self.seed)
        if self.repeat < 1:
            raise BadInput(f"`repeat` must be at least 1. Got {self.repeat}.")

    def check(self, model: Model) -> None:
        check_masked(model)

    def texts_of(self, corpus: str) -> list[str]:
        """The sentences of the corpus after the swap, and the reminders."""
        self._swapped = substituted(corpus, share=self.share, seed=self.seed)
        self._reminders = [sentence for source in self.remind for sentence in reminders(source)] * self.repeat
        return self._swapped.sentences + self._reminders

    def made_of(self, texts: Sequence[str]) -> tuple[object, ...]:
        return self._swapped.sentences, self._reminders, recipe_of(self.recipe, seed=self.seed)

    def apply(self, model: str, texts: Sequence[str], out: Path) -> Path:
        train_masked(model, texts, recipe_of(self.recipe, seed=self.seed), out)
        return out

    @cached_property
    def balance(self) -> pd.DataFrame:
        return balance_table(self._swapped.before, self._swapped.after)

    @property
    def record(self) -> dict[str, Any]:
        """What was done to the texts. It lacks the name of the method, as before there were other methods."""
        counted = json.loads(self.balance.to_json(orient="records"))
        return {"share": self._swapped.share, "reminders": len(self._reminders), "balance": counted}

    def says(self, corpus: str) -> str:
        swapped = f"a share of {self._swapped.share:g} of its documents with the other gender"
        return f"Corpus: {corpus}, {swapped}; {len(self._reminders)} reminders."


def balance_table(before: Iterable[str], after: Iterable[str]) -> pd.DataFrame:
    """The female and male words of a corpus and their female share (NaN without any), before and after the swap."""
    texts = {"before": before, "after": after}
    counts = [Counter(gender(found[0]) for text in some for found in WORD.finditer(text)) for some in texts.values()]
    frame = pd.DataFrame({"corpus": list(texts), **{side: [n[side] for n in counts] for side in ("female", "male")}})
    return frame.assign(share=frame["female"] / (frame["female"] + frame["male"]))
