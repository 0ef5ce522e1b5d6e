"""How the items of a dataset belong together: what rows, intervals and verdicts follow from."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

import pandas as pd

from evenhand.core.contrasts import Partners
from evenhand.errors import BadInput

Estimand = Literal["stereotype", "default"]
ESTIMANDS: tuple[Estimand, ...] = ("stereotype", "default")
SAMPLES = ("template", "slot")
"""Templates and person words stand for others of their sort."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which gender a stereotype gives to an item: that of its label in `group`, one of `female` or of `male`.

    Items with other labels have no kind. `turned` names a group and a label by which the gender is the other one,
    `only` those of the items that count; the others are a control. Within a kind each member of the group `each` counts
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
    """The default where it is of all items, and the stereotype of some of them only."""
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
    """The groups that values are of, those that errors are shared in, and who is compared with whom: core.dataset."""

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
