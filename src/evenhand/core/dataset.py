"""Datasets: items, and a design that says how they belong together, on which intervals and verdicts depend."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Literal, Self

import pandas as pd

from evenhand.core.foreign import foreign, is_ours
from evenhand.core.items import Item, check_labels, check_readable, texts
from evenhand.core.shown import Sections, add_sections
from evenhand.core.typed import Named, check_fields, typed
from evenhand.errors import BadInput

Estimand = Literal["stereotype", "default"]
ESTIMANDS: tuple[Estimand, ...] = ("stereotype", "default")
SAMPLES = ("template", "slot")
"""Groups whose members, templates and person words, are a sample of all that could have been used."""


@dataclass(frozen=True, slots=True)
class Partners:
    """Which items are partners: those whose labels agree in all groups but `group` and the groups in `differ`.

    The contrast is the score of the item with the label `one` minus that of its partner, labelled `other`.
    """

    group: str
    one: str
    other: str
    differ: tuple[str, ...] = ()

    @property
    def contrast(self) -> str:
        return f"{self.one} - {self.other}"

    @property
    def agreeing(self) -> bool:
        """Whether partners also differ in grammatical form (German), so that grammar may explain a difference."""
        return "form" in self.differ

    def pairs(self, scores: pd.DataFrame) -> pd.DataFrame:
        """One row for each pair of partners: their groups, both ids and scores, and `difference` = one - other.

        `scores` has columns id, score and one for each group. Items whose partner was not measured are excluded.
        """
        if self.group not in scores:
            raise BadInput(f"Partners need the group '{self.group}'. Got: {', '.join(map(str, scores.columns))}.")
        apart = (self.group, *self.differ, "id", "score")
        on = [column for column in scores.columns if column not in apart]
        sides = [scores[scores[self.group] == label][[*on, "id", "score"]] for label in (self.one, self.other)]
        for side, label in zip(sides, (self.one, self.other), strict=True):
            if side.duplicated(on).any():
                first, second = side[side.duplicated(on, keep=False)]["id"].tolist()[:2]
                raise BadInput(
                    f"Items '{first}' and '{second}' are both {label} and agree in all other groups, so their "
                    "partners are ambiguous. Give the items a group in which these two differ."
                )
        joined = sides[0].merge(sides[1], on=on, suffixes=(f"_{self.one}", f"_{self.other}"))
        joined["difference"] = joined[f"score_{self.one}"] - joined[f"score_{self.other}"]
        return joined


FEMALE_MALE = Partners("gender", "female", "male", ("person",))
"""A sentence about a woman and one about a man, whose person words have the same label in the group `slot`."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kind of each item: the gender that a stereotype gives to it.

    An item is of the kind female if its label in `group` is one of `female`, of the kind male if it is one of `male`,
    and otherwise has no kind. `turned` is a group and a label: items with that label have the opposite kind. `only` is
    a group and a label: items without that label are a control. Within a kind each member of the group `each` counts
    once. `samples` names groups whose members, such as templates and person words, are a sample, as clusters are.
    `genders` is False if items compare two sentences about the same person, and not women with men.
    """

    group: str
    female: tuple[str, ...] = ("female",)
    male: tuple[str, ...] = ("male",)
    turned: tuple[str, str] | None = None
    only: tuple[str, str] | None = None
    each: str = ""
    samples: tuple[str, ...] = ()
    headline: Estimand = "stereotype"
    """What the dataset is judged by. Use "default" if only some of the items have a kind."""
    genders: bool = True

    def of(self, items: pd.DataFrame) -> "pd.Series[str]":
        """The kind of each item: female, male, or empty."""
        known = dict.fromkeys(self.female, "female") | dict.fromkeys(self.male, "male")
        kind = pd.Series([known.get(label, "") for label in items[self.group]], index=items.index, dtype=str)
        if self.turned is not None:
            other = {"female": "male", "male": "female", "": ""}
            kind = kind.where(items[self.turned[0]] != self.turned[1], kind.map(other))
        return kind


CALLS_FOR = "calls_for"
"""The group that says which pronoun an item's word calls for."""


def without_direction(scores: pd.DataFrame, better: str) -> bool:
    """Whether some words call for he and others for she: a value over all of them then has no direction."""
    return better == "closer" and CALLS_FOR in scores and bool(scores[CALLS_FOR].nunique() > 1)


@dataclass(frozen=True, slots=True)
class Design:
    """The fields of a dataset that say how its items belong together: see `Dataset`."""

    by: Sequence[str] = ()
    within: str = ""
    cluster: str = ""
    crossed: str = ""
    partners: Partners | None = None
    kinds: Kinds | None = None

    def __post_init__(self) -> None:
        if isinstance(self.by, str):
            raise BadInput(f"`by` is a list of group names, as in by=({self.by!r},). Got {self.by!r}.")

    @classmethod
    def of(cls, source: Any) -> Self:
        """The design of a dataset, or of the record of a task."""
        return cls(*(getattr(source, field.name) for field in fields(cls)))


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Items with their provenance. Only `name` and `items` are required.

    `by` names the groups that a scorecard shows, `within` a group that divides these further. `cluster` names a group
    of which items with the same label share words and hence errors, so that intervals resample them together; if it is
    empty, intervals resample items. `crossed` names a second such group, whose labels occur in all clusters. `partners`
    says which items differ in gender alone: every measure then also has their mean difference. `kinds` says which
    gender a stereotype gives to items, so that stereotype and default can be told apart. `options` are its builder's.
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
    """Gives the rows for export: those of the release or, by default, the texts and groups of the items."""
    within: str = ""
    crossed: str = ""
    partners: Partners | None = None
    kinds: Kinds | None = None
    flaws: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    builder: str = ""
    """The name that loads the dataset if it differs from `name`, as for a user's file."""
    sections: Sections | None = field(default=None, repr=False)
    """Extra charts, tables and text in reports of its runs."""

    @typed
    def __post_init__(self) -> None:
        if not len(self.items):
            raise BadInput(f"Dataset '{self.name}' has no items.")
        for instance in filter(is_ours, (self, self.items[0])):
            check_fields(instance, "items", "id")  # not `items`, which are many, nor ids, which may be numbers
        ids = set()
        for item in self.items:
            try:
                check_readable(*texts(item), str(item.id))
                check_labels(item.groups)
            except BadInput as error:
                raise BadInput(f"Item {item.id!r} of dataset '{self.name}': {error}") from error
            if item.id in ids:
                raise BadInput(f"Dataset '{self.name}' has two items with the id {item.id!r}. Each needs its own id.")
            ids.add(item.id)
        if self.table is pd.DataFrame:
            object.__setattr__(self, "table", partial(_table, self.items))
        if self.sections is not None:
            add_sections(self.name, self.sections)


def _table(items: Sequence[Item]) -> pd.DataFrame:
    rows = [dict(zip(("text", "other"), texts(item), strict=True)) | dict(item.groups) for item in items]
    return pd.DataFrame(rows, index=pd.Index([item.id for item in items], name="id"))


@contextmanager
def table_of(dataset: Dataset) -> Iterator[pd.DataFrame]:
    """The rows of a dataset for export, to be read within the block: a fault of a user's table names the dataset."""
    whose = f"The table of the dataset '{dataset.name}' cannot be read"
    with foreign(whose, getattr(dataset.table, "func", dataset.table)):
        table = dataset.table()
        if not isinstance(table, pd.DataFrame) or table.index.nlevels > 1 or (table.index.name or "id") in table:
            raise TypeError(f"it must be a DataFrame with ids as its index, and no column of that name. Got {table!r}")
        yield table


def base_name(dataset: str) -> str:
    """The name of a dataset without its options: "becpro-de" for "becpro-de (forms=crossed)"."""
    return dataset.partition(" (")[0]


Datasets = Named | Dataset | Sequence[Dataset] | Sequence[Item]
"""Datasets: by name, as objects, or as a list of items."""
