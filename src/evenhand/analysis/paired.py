"""Female against male: each item with its partner, which differs only in gender."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from evenhand.core import contrasts
from evenhand.core.contrasts import FEMALE_MALE
from evenhand.errors import BadInput
from evenhand.stats.significance import signed_rank
from evenhand.stats.verdict import TESTS

AGREEING = (
    "Each profession agrees with its person word in gender here, so grammar alone can explain these differences. "
    "The option forms=crossed tells grammar and bias apart."
)
FEWEST_RANKED = 6
"""Pairs below which ranks say nothing: the signed-rank test cannot reach .05, and r of one pair is -0.71 or +0.71."""
COLUMNS = (
    *("pairs", "clusters", "needed", "difference", "low", "high", "p", "p_holm", "detectable"),
    *("w", "r", "r_printed", "p_printed"),
)


def pairs(scores: pd.DataFrame) -> pd.DataFrame:
    """One row for each female-male pair of a frame of scores: core.contrasts.pairs.

    A form that agrees with the person (German) is part of the gender: partners differ in it.
    """
    if missing := {"gender", "slot"} - set(scores.columns):
        raise BadInput(f"Pairs need the groups gender and slot. Missing: {', '.join(sorted(missing))}.")
    differ = ("person", "form") if agreeing(scores) else ("person",)
    return contrasts.pairs(scores, replace(FEMALE_MALE, differ=differ))


def agreeing(scores: pd.DataFrame) -> bool:
    """Whether each profession's form agrees with the person's gender (German), so that grammar explains differences."""
    return "form" in scores and not scores.groupby("gender")["form"].nunique().gt(1).any()


def first_group(scores: pd.DataFrame, by: Sequence[str]) -> tuple[pd.DataFrame, str]:
    """The scores, and the group to compare within, as core.contrasts has it; without one `items`, labelled "all"."""
    level = next((group for group in by if group != "gender"), "")
    return (scores, level) if level else (scores.assign(items="all"), "items")


def compared(
    paired: pd.DataFrame, *, by: str = "prof_gender", cluster: str = "profession", seed: int = 0
) -> pd.DataFrame:
    """The mean difference female - male of each group of `by`, with its test against 0.

    `difference` with `low` and `high` (95 %, clustered bootstrap); `p` by flipping signs of whole clusters, `p_holm`
    adjusted over the groups; `detectable`, the smallest mean difference such data would show four times in five;
    and the paper's signed-rank test over single pairs: `w` (sum of positive ranks), `r` with its direction (over pairs
    that differ), `r_printed` and `p_printed` as in its tables. The latter p takes pairs of one profession for
    independent, which they are not: no verdict rests on it.
    """
    rows: list[dict[str, Any]] = []
    for value in contrasts.contrasts(paired, FEMALE_MALE, by=(by,), cluster=cluster, seed=seed):
        ranked = signed_rank(paired[paired[by].astype(str) == value.groups[by]]["difference"].dropna().to_numpy())
        printed = {"w": ranked.w, "r": ranked.r, "r_printed": ranked.r_as_printed, "p_printed": ranked.p}
        if value.n < FEWEST_RANKED:
            printed = dict.fromkeys(printed, math.nan)
        row = {by: value.groups[by], "pairs": value.n, "difference": value.value, **printed}
        rows += [row | {name: getattr(value, name) for name in ("low", "high", *TESTS)}] if value.n else []
    return pd.DataFrame(rows, columns=[by, *COLUMNS])


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
