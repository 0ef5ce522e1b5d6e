"""Datasets: items, and how they belong together. Rows, intervals and verdicts follow from that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Literal, Self

import pandas as pd

from evenhand.core.foreign import is_ours
from evenhand.core.items import Item, check_readable, texts
from evenhand.core.shown import Sections, add_sections
from evenhand.core.typed import Named, check_fields, typed
from evenhand.errors import BadInput

Estimand = Literal["stereotype", "default"]
ESTIMANDS: tuple[Estimand, ...] = ("stereotype", "default")
SAMPLES = ("template", "slot")
"""Templates and person words are samples of all that could have been used."""


@dataclass(frozen=True, slots=True)
class Partners:
    """Which items are partners: they have all groups in common but `group`, and those they may `differ` in.

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
        """Whether partners differ in a grammatical form, too (German), so that grammar may explain a difference."""
        return "form" in self.differ

    def pairs(self, scores: pd.DataFrame) -> pd.DataFrame:
        """One row for each two partners: their groups, both ids and scores, and `difference` = one - other.

        `scores` has columns id, score and one for each group. It excludes items whose partner was not measured.
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
                    f"Items '{first}' and '{second}' are both {label} and share all other groups, so it is not clear "
                    "which one is whose partner. Give them a group in which they differ."
                )
        joined = sides[0].merge(sides[1], on=on, suffixes=(f"_{self.one}", f"_{self.other}"))
        joined["difference"] = joined[f"score_{self.one}"] - joined[f"score_{self.other}"]
        return joined


FEMALE_MALE = Partners("gender", "female", "male", ("person",))
"""Sentences about a woman and about a man; `slot` says which person words are partners."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which gender a stereotype gives to an item: that of its label in `group`, one of `female` or of `male`.

    Items with other labels have no kind. `turned` is a group and a label: items with that label are of the other kind.
    `only` is a group and a label: items without it are a control. Within a kind each member of the group `each` counts
    once. `samples` are groups that are samples besides the clusters, such as templates and person words. Where items do
    not compare women with men, but two sentences about the same person, there are no `genders` to compare.
    """

    group: str
    female: tuple[str, ...] = ("female",)
    male: tuple[str, ...] = ("male",)
    turned: tuple[str, str] | None = None
    only: tuple[str, str] | None = None
    each: str = ""
    samples: tuple[str, ...] = ()
    headline: Estimand = "stereotype"
    """Use the default if the stereotype is of some of the items only."""
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
    """Whether some of the words call for he and others for she, so that the value of all of them has no direction."""
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
        for instance in filter(is_ours, (self, self.items[0])):
            check_fields(instance, "items", "id")  # items are many, and their ids may be numbers
        ids = set()
        for item in self.items:
            try:
                check_readable(*texts(item), *map(str, (item.id, *item.groups, *item.groups.values())))
            except BadInput as error:
                raise BadInput(f"Item {item.id!r} of dataset '{self.name}': {error}") from error
            if item.id in ids:
                raise BadInput(f"Dataset '{self.name}' has two items with the id {item.id!r}. Each needs its own.")
            ids.add(item.id)
        if self.table is pd.DataFrame:
            object.__setattr__(self, "table", partial(_table, self.items))
        if self.sections is not None:
            add_sections(self.name, self.sections)


def _table(items: Sequence[Item]) -> pd.DataFrame:
    rows = [dict(zip(("text", "other"), texts(item), strict=True)) | dict(item.groups) for item in items]
    return pd.DataFrame(rows, index=pd.Index([item.id for item in items], name="id"))


def base_name(dataset: str) -> str:
    """The name of a dataset without its options: "becpro-de" for "becpro-de (forms=crossed)"."""
    return dataset.partition(" (")[0]


Datasets = Named | Dataset | Sequence[Dataset] | Sequence[Item]
"""Datasets: by name, as objects, or as a list of items."""
