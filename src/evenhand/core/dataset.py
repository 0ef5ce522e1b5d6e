"""Datasets: items, and what is needed to interpret their scores."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd

from evenhand.core.described import Named
from evenhand.core.design import Kinds, Partners
from evenhand.core.foreign import is_ours
from evenhand.core.items import Item, check_texts, texts
from evenhand.core.sections import Sections, add_sections
from evenhand.core.typed import check_fields, typed
from evenhand.errors import BadInput


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Items with their provenance; a name and items are enough.

    `by` names the groups a scorecard shows, `within` one that divides them further. `cluster` names the group whose
    members share words and hence errors: intervals resample it whole; if it is empty, items are resampled. `crossed`
    names a second such group, whose members occur in all clusters. `partners` says which items differ in gender alone:
    every measure then has their mean difference, too. `kinds` says which gender a stereotype gives to each item, so
    that stereotype and default can be told apart. `options` are what it was built with.
    """

    name: str
    items: Sequence[Item] = field(repr=False)
    version: int = 1
    language: str = "en"
    about: str = ""
    source: str = ""
    licence: str = ""
    by: Sequence[str] = ()
    cluster: str = ""
    table: Callable[[], pd.DataFrame] = field(default=pd.DataFrame, repr=False)
    """The rows for export, with a release's columns if there is one; by default texts and groups of the items."""
    within: str = ""
    crossed: str = ""
    partners: Partners | None = None
    kinds: Kinds | None = None
    flaws: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    builder: str = ""
    """The name to load it by, if that is not `name`, as for a user's file."""
    sections: Sections | None = field(default=None, repr=False)
    """Extra charts, tables and text in reports of its runs."""

    @typed
    def __post_init__(self) -> None:
        if not len(self.items):
            raise BadInput(f"Dataset '{self.name}' has no items.")
        for one in filter(is_ours, (self, self.items[0])):
            check_fields(one, "items", "id")  # items are many, and their ids may be numbers
        seen = set()
        for item in self.items:
            try:
                check_texts(*texts(item), *map(str, (item.id, *item.groups, *item.groups.values())))
            except BadInput as error:
                raise BadInput(f"Item {item.id!r} of dataset '{self.name}': {error}") from error
            if item.id in seen:
                raise BadInput(f"Dataset '{self.name}' has two items with the id {item.id!r}. Each needs its own.")
            seen.add(item.id)
        if self.table is pd.DataFrame:
            object.__setattr__(self, "table", partial(_table, self.items))
        if self.sections is not None:
            add_sections(self.name, self.sections)


def _table(items: Sequence[Item]) -> pd.DataFrame:
    rows = [dict(zip(("text", "other"), texts(item), strict=True)) | dict(item.groups) for item in items]
    return pd.DataFrame(rows, index=pd.Index([item.id for item in items], name="id"))


def base_name(dataset: str) -> str:
    """The name of a dataset without its options: "becpro-de (forms=crossed)" is becpro-de."""
    return dataset.partition(" (")[0]


Datasets = Named | Dataset | Sequence[Dataset] | Sequence[Item]
"""Datasets: by name, as objects, or as a list of items."""
