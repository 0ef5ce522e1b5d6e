"""Contrasts: the mean difference between items and their partners, which differ in gender alone."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from evenhand.core.scores import MacroMean, Value, generator
from evenhand.errors import BadInput
from evenhand.stats.mean_intervals import mean_estimate
from evenhand.stats.verdict import adjust


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
        """The name of the contrast: "female - male"."""
        return f"{self.one} - {self.other}"


FEMALE_MALE = Partners("gender", "female", "male", ("person",))
"""Sentences about a woman and about a man; `slot` says which person words are partners."""


def has_contrast(summarise: object, partners: Partners) -> bool:
    """Whether partners' scores can be compared: not where a measure scores the two sides by different rules."""
    return not (isinstance(summarise, MacroMean) and summarise.by == partners.group)


def pairs(scores: pd.DataFrame, partners: Partners) -> pd.DataFrame:
    """One row for each two partners: their groups, both ids and scores, and `difference` = one - other.

    `scores` has columns id, score and one for each group. Items whose partner was not measured are left out.
    """
    if partners.group not in scores:
        raise BadInput(f"Partners need the group '{partners.group}'. Got: {', '.join(map(str, scores.columns))}.")
    apart = (partners.group, *partners.differ, "id", "score")
    on = [column for column in scores.columns if column not in apart]
    sides = [scores[scores[partners.group] == label][[*on, "id", "score"]] for label in (partners.one, partners.other)]
    for side, label in zip(sides, (partners.one, partners.other), strict=True):
        if side.duplicated(on).any():
            one, two = side[side.duplicated(on, keep=False)]["id"].tolist()[:2]
            raise BadInput(
                f"Items '{one}' and '{two}' are both {label} and share all other groups, so it is not clear which one "
                "is whose partner. Give them a group in which they differ."
            )
    joined = sides[0].merge(sides[1], on=on, suffixes=(f"_{partners.one}", f"_{partners.other}"))
    joined["difference"] = joined[f"score_{partners.one}"] - joined[f"score_{partners.other}"]
    return joined


def contrasts(
    paired: pd.DataFrame, partners: Partners, *, by: Sequence[str], cluster: str, crossed: str = "", seed: int = 0
) -> list[Value]:
    """The mean difference between partners, for each label of the first group of `by` that they share.

    Takes what `pairs` gives. Neutral at 0; n counts pairs, of which `unscored` lack a score. Intervals resample
    `cluster` and `crossed` as the values' own do; p is adjusted over the labels.
    """
    level = next((group for group in by if group != partners.group), "")
    found = []
    for label, part in paired.groupby(level) if level else [("all", paired)]:
        known = part.dropna(subset="difference")
        rng = generator(seed, {level or "items": str(label), partners.group: partners.contrast})
        across = known[crossed].astype(str).tolist() if crossed else None
        estimate = mean_estimate(
            known["difference"].to_numpy(dtype=np.float64),
            known[cluster or f"id_{partners.one}"].astype(str).tolist(),
            rng,
            crossed=across,
            sets=[""] * len(known) if crossed else None,
        )
        told = {"groups": {level: str(label)} if level else {}, "contrast": partners.contrast}
        found.append(Value(**asdict(estimate) | {"unscored": len(part) - len(known)} | told))
    return adjust(found, crossed=bool(crossed)) if len(paired) else []
