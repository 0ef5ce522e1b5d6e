"""Check sentence pairs and NLI pairs for faults before measuring with them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from evenhand import datasets, models
from evenhand.core.dataset import Dataset
from evenhand.core.foreign import foreign
from evenhand.core.items import NliPair, Pair
from evenhand.core.model import TokenCounter
from evenhand.core.parameters import Lint, describe
from evenhand.core.progress import bar
from evenhand.core.questions import Span
from evenhand.datasets.faults import LEAKS, RULES, Count, Fault, Sentences, faults, leaks, tally
from evenhand.datasets.files.language import not_english
from evenhand.datasets.pairs import sentences
from evenhand.errors import BadInput


@dataclass(frozen=True)
class Linted:
    """The number of pairs that were checked, and their faults."""

    pairs: int
    faults: list[Fault]
    unchecked: tuple[str, ...] = ()
    """Rules that were not checked."""
    rules: Collection[str] = tuple(RULES)
    """Rules that were checked."""

    @property
    def failing(self) -> dict[str, int]:
        """The number of pairs that break each rule."""
        return dict(tally(self.faults, self.rules))

    @property
    def clean(self) -> int:
        """The number of pairs without faults."""
        return self.pairs - len({fault.row for fault in self.faults})

    @property
    def frame(self) -> pd.DataFrame:
        """The faults as rows with the columns id, rule, what."""
        rows = [[" ".join(text.split()) for text in (f.id, f.rule, f.what)] for f in self.faults]
        return pd.DataFrame(rows, columns=["id", "rule", "what"])


@describe(Lint)
def lint(
    file: str | Path, *, stereotype: str = "stereotype", counterpart: str = "counterpart", model: str | None = "mini-en"
) -> Linted:
    """The faults of a file of pairs, or of a dataset by name.

    Datasets of NLI pairs are checked for captions that state a gender.
    """
    named = None if Path(file).exists() or str(file) not in datasets.BUILDERS else datasets.load(str(file))
    if named and isinstance(named.items[0], NliPair):
        inference = [item for item in named.items if isinstance(item, NliPair)]
        return Linted(len(inference), list(leaks(inference, named.language)), rules=tuple(LEAKS))
    if named and named.language != "en":
        raise BadInput(f"Only English can be checked for gendered words. '{file}' is in '{named.language}'.")
    read = partial(_pairs, str(file), named, stereotype, counterpart)
    if named is None and (why := not_english(text for _, *texts in read() for text in texts)):
        raise BadInput(f"'{file}': {why} Only English can be checked for gendered words.")
    count = _token_counter(model) if model else None
    n = 0

    def count_pairs() -> Iterator[Sentences]:
        nonlocal n
        for pair in bar("Checking", "pairs", iterable=read()):
            n += 1
            yield pair

    broken = list(faults(count_pairs(), count))
    if not n:
        raise BadInput(f"'{file}' has no rows.")
    return Linted(n, broken, () if count else ("pieces",))


def _pairs(file: str, named: Dataset | None, stereotype: str, counterpart: str) -> Iterator[Sentences]:
    if named is None:
        yield from sentences(file, stereotype, counterpart)
        return
    for item in named.items:
        if not isinstance(item, Pair):
            raise BadInput(
                f"Dataset '{file}' has {type(item).__name__} items. Only sentence pairs and NLI pairs can be checked."
            )
        yield item.id, item.stereotype, item.counterpart


def _token_counter(name: str) -> Count:
    model = models.load(name)
    if not isinstance(model, TokenCounter):
        raise BadInput(f"'{name}' cannot count tokens. Choose a masked language model as `model`, or none.")

    def count(texts: Sequence[str]) -> list[int]:
        known = [(text, Span(0, len(text))) for text in texts if text.strip()]
        with foreign(f"The model '{name}' failed to count tokens", model):
            counts = iter(model.count_tokens(known))
            return [int(next(counts)) if text.strip() else 0 for text in texts]

    return count
