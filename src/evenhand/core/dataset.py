"""What a dataset is: items, and what one must know to read their scores."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from evenhand.core.items import Item


@dataclass(frozen=True)
class Dataset:
    """Items with their provenance.

    `by` names the groups a scorecard shows, `within` one that divides them further. `cluster` names the group whose
    members share words and hence errors: intervals resample it whole; where it is empty, each item stands for itself.
    `crossed` names a second such group, whose members occur in all clusters. `options` are what it was built with, so
    that it can be built again.
    """

    name: str
    version: int
    language: str
    about: str
    source: str
    licence: str
    items: Sequence[Item] = field(repr=False)
    by: tuple[str, ...]
    cluster: str
    table: Callable[[], pd.DataFrame] = field(repr=False)
    """The rows as people exchange them; for a released corpus, with the release's columns."""
    within: str = ""
    crossed: str = ""
    flaws: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    builder: str = ""
    """The name to load it by, where it is not its own: a user's file has a name of its own."""
