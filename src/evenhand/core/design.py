"""Groups, clusters, partners and kinds of the items of a dataset: rows, intervals and verdicts follow from them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

import pandas as pd

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

        `scores` has columns id, score and one for each group. Items whose partner was not measured are left out.
        """
        if self.group not in scores:
            raise BadInput(f"Partners need the group '{self.group}'. Got: {', '.join(map(str, scores.columns))}.")
        apart = (self.group, *self.differ, "id", "score")
        on = [column for column in scores.columns if column not in apart]
        sides = [scores[scores[self.group] == label][[*on, "id", "score"]] for label in (self.one, self.other)]
        for side, label in zip(sides, (self.one, self.other), strict=True):
            if side.duplicated(on).any():
                one, two = side[side.duplicated(on, keep=False)]["id"].tolist()[:2]
                raise BadInput(
                    f"Items '{one}' and '{two}' are both {label} and share all other groups, so it is not clear which "
                    "one is whose partner. Give them a group in which they differ."
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
