"""Scores of items, values made of them, and results, which hold both. How values are made: core.summary."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pandas as pd

from evenhand.core.items import Groups
from evenhand.stats.estimate import Estimate
from evenhand.stats.intervals import generator as generator


@dataclass(frozen=True, slots=True)
class Score:
    """One item's score; NaN, with the reason as `note`, where it has none."""

    id: str
    value: float
    groups: Groups = field(default_factory=dict)
    note: str = ""
    prior: float = math.nan
    """The measure's `prior` for the item, with which the page describes its score."""
    kept: Mapping[str, Any] = field(default_factory=dict)
    """What the measure keeps of the item besides: `Traits.weight`."""


@dataclass(frozen=True, slots=True)
class Value(Estimate):
    """The value of the scores of `groups` ({} means all); with `contrast` or `estimand`, a row of core.estimands."""

    groups: Groups = field(default_factory=dict)
    contrast: str = ""
    estimand: str = ""
    narrow_low: float = math.nan
    narrow_high: float = math.nan
    """The interval for these templates and words alone, where the row's own covers others, too."""
    prior: float = math.nan
    """The mean log odds of the woman's word against the man's without the attribute."""


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of one model by one measure on one dataset, and their values.

    `frame` and `values` are tables of both; `evenhand.from_scores(result.frame, ...)` makes a run of it.
    """

    model: str
    fingerprint: str
    dataset: str
    measure: str
    version: int
    neutral: float
    scores: tuple[Score, ...]
    estimates: tuple[Value, ...]
    """The value of all scores first, then by group."""
    rows: tuple[Value, ...] = ()
    """Stereotype and default, where the dataset has kinds; women minus men, where it has partners: core.estimands."""

    @property
    def value(self) -> float:
        """The value over all items."""
        return self.estimates[0].value

    @property
    def values(self) -> pd.DataFrame:
        """One row for each value, stereotype and default first; a column for each group, empty in rows of all items."""
        rows = ({**asdict(found), **found.groups} for found in (*self.rows, *self.estimates))
        return pd.DataFrame(rows).drop(columns="groups")

    @property
    def contrasts(self) -> tuple[Value, ...]:
        """The rows that are mean differences between partners."""
        return tuple(row for row in self.rows if row.contrast)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each item: id, score, note, and a column for each group, and for what the measure keeps."""
        return pd.DataFrame({"id": s.id, "score": s.value, "note": s.note, **s.groups, **s.kept} for s in self.scores)

    @property
    def unscored(self) -> Counter[str]:
        """How many items have no score, by reason."""
        return Counter(s.note for s in self.scores if math.isnan(s.value))
