"""Which labels an NLI classifier gives to the pairs of each set (Anantaprayoon et al. 2024, Table 3)."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pandas as pd

SETS = ("pro", "anti", "non")
MEASURES = {label: f"fraction-{label}" for label in ("entailment", "contradiction", "neutral")}
"""By label, the measure that counts it; for neutral the one that counts all others."""


def distribution(values: Sequence[Any]) -> pd.DataFrame:
    """A row for each set and label: `set`, `label`, `value`, `low`, `high`, the last three from 0 to 1.

    Takes the values of a run on one dataset. Empty where not all three labels of its sets were counted.
    """
    found = {(row.measure, row.groups["set"]): row for row in values if list(row.groups) == ["set"]}
    rows = []
    for name, (label, measure) in product(SETS, MEASURES.items()):
        if (measure, name) not in found:
            return pd.DataFrame()
        share = found[measure, name]
        ends = (share.value, share.low, share.high)
        value, low, high = (1 - share.value, 1 - share.high, 1 - share.low) if label == "neutral" else ends
        rows.append({"set": name, "label": label, "value": value, "low": low, "high": high})
    return pd.DataFrame(rows)
