"""Female against male: each item with its partner, which differs only in gender."""

import math

import pandas as pd

from evenhand import Partners
from evenhand.errors import BadInput
from evenhand.stats import signed_rank

FEWEST_RANKED = 6
"""Pairs below which ranks say nothing: the signed-rank test cannot reach .05, and r of one pair is -0.71 or +0.71."""


def pairs(scores: pd.DataFrame) -> pd.DataFrame:
    """One row for each female-male pair of a frame of scores: Partners.pairs.

    A form that agrees with the person (German) is part of the gender: partners differ in it.
    """
    if missing := {"gender", "slot"} - set(scores.columns):
        raise BadInput(f"Pairs need the groups gender and slot. Missing: {', '.join(sorted(missing))}.")
    differ = ("person", "form") if agreeing(scores) else ("person",)
    return Partners("gender", "female", "male", differ).pairs(scores)


def agreeing(scores: pd.DataFrame) -> bool:
    """Whether each profession's form agrees with the person's gender (German), so that grammar explains differences."""
    return "form" in scores and not scores.groupby("gender")["form"].nunique().gt(1).any()


def signed_ranks(paired: pd.DataFrame, by: str = "prof_gender") -> pd.DataFrame:
    """The paper's signed-rank test over the single pairs of each group of `by`, with the mean `difference`.

    `w` is the sum of positive ranks, `r` has a direction (over pairs that differ), `r_printed` and `p_printed` are as
    in its tables. That p takes pairs of one profession for independent, which they are not: no verdict rests on it.
    """
    rows: list[dict[str, object]] = []
    for label, part in paired.dropna(subset="difference").groupby(by):
        found = signed_rank(part["difference"].to_numpy())
        printed = {"w": found.w, "r": found.r, "r_printed": found.r_as_printed, "p_printed": found.p}
        if len(part) < FEWEST_RANKED:
            printed = dict.fromkeys(printed, math.nan)
        rows.append({by: str(label), "pairs": len(part), "difference": part["difference"].mean(), **printed})
    return pd.DataFrame(rows, columns=[by, "pairs", "difference", "w", "r", "r_printed", "p_printed"])


def changes(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The scores of `after` minus those of `before`, item by item, as scores: what the paper tests in Table 4."""
    keys = [c for c in before.columns if c != "score" and c in after.columns]
    joined = before.merge(after, on=keys, suffixes=("", "_after"), validate="one_to_one")
    if len(joined) != len(before) or len(joined) != len(after):
        raise BadInput(
            f"Both runs must have the same items. Got {len(before)} and {len(after)}, {len(joined)} in common."
        )
    joined["score"] = joined["score_after"] - joined["score"]
    return joined.drop(columns="score_after")
