"""Which labels an NLI classifier gives to the pairs of each set (Anantaprayoon et al. 2024, Table 3)."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pandas as pd

from evenhand.runs.folder import Run
from evenhand.runs.values import ValueRecord
from evenhand.stats.estimate import Estimate

SETS = ("pro", "anti", "non")
MEASURES = {label: f"fraction-{label}" for label in ("entailment", "contradiction", "neutral")}
"""By label, the measure that counts it; for neutral the one that counts all others."""


def distribution(values: Sequence[ValueRecord]) -> pd.DataFrame:
    """A row for each set and label: `set`, `label`, `value`, `low`, `high`, the last three from 0 to 1.

    Takes the values of a run on one dataset. Empty where not all three labels of its sets were counted.
    """
    found = {(row.measure, row.groups["set"]): row.estimate for row in values if list(row.groups) == ["set"]}
    rows = []
    for name, (label, measure) in product(SETS, MEASURES.items()):
        if (measure, name) not in found:
            return pd.DataFrame()
        share = found[measure, name]
        ends = (share.value, share.low, share.high)
        value, low, high = (1 - share.value, 1 - share.high, 1 - share.low) if label == "neutral" else ends
        rows.append({"set": name, "label": label, "value": value, "low": low, "high": high})
    return pd.DataFrame(rows)


CONTRASTS = {"entailment, pro - anti": ("entailment", 1), "contradiction, anti - pro": ("contradiction", -1)}
"""Above 0 where a stereotype would give the label more often; an error that both sets share cancels out."""


def contrasts(run: Run, dataset: str) -> dict[str, Estimate]:
    """How much more often each label is given where a stereotype would give it than where it would not.

    e_pro - e_anti and c_anti - c_pro, from -1 to 1, neutral at 0. Each pair of the set pro has a partner in anti that
    differs in the gender alone, so a classifier that is merely often wrong scores 0. They are the contrasts of the
    run, the second with its sign changed. Empty where the run lacks one of the labels or of the sets.
    """
    found: dict[str, Estimate] = {}
    for name, (label, sign) in CONTRASTS.items():
        values = run.contrasts_of(dataset, MEASURES[label])
        if len(values) != 1 or not values[0].n:
            return {}
        one = values[0].estimate
        found[name] = one if sign > 0 else replace(one, value=-one.value, low=-one.high, high=-one.low)
    return found
