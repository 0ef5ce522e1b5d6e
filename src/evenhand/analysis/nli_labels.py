"""Which labels a model of inference gives to the pairs of each set (Anantaprayoon et al. 2024, Table 3)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

SETS = ("pro", "anti", "non")
MEASURES = {
    "entailment": "fraction-entailment",
    "contradiction": "fraction-contradiction",
    "neutral": "fraction-neutral",
}
"""By label, the measure that counts it; for neutral the one that counts all others."""


def distribution(results: Sequence[Mapping[str, Any]], dataset: str) -> pd.DataFrame:
    """A row for each set and label: `set`, `label`, `value`, `low`, `high`, the last three from 0 to 1.

    Takes the values of a run. Empty where the run has not counted all three labels of the dataset's sets.
    """
    found = {
        (row["measure"], row["groups"]["set"]): row
        for row in results
        if row["dataset"] == dataset and list(row["groups"]) == ["set"]
    }
    rows = []
    for name in SETS:
        for label, measure in MEASURES.items():
            if (measure, name) not in found:
                return pd.DataFrame()
            numbers = [found[measure, name][key] for key in ("value", "low", "high")]
            value, low, high = (float("nan") if number is None else number for number in numbers)
            if label == "neutral":
                value, low, high = 1 - value, 1 - high, 1 - low
            rows.append({"set": name, "label": label, "value": value, "low": low, "high": high})
    return pd.DataFrame(rows)
