"""The value on samples of growing size, from existing scores, to see how many pairs are enough."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evenhand.errors import BadInput

SIZES = (20, 40, 60, 80, 100)
DRAWS = 5


def by_size(
    scores: pd.DataFrame, *, by: str = "category", sizes: Sequence[int] = SIZES, draws: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Mean |score| of `draws` samples of each size in each group: columns `by`, size, draw, value.

    The study of Barza 2023, section 4.1.3 and Figure 6. Pairs are drawn without replacement; sizes larger than a group
    are left out, and the one of its own size gives the same value in every draw.
    """
    if draws < 1 or any(size < 1 for size in sizes):
        raise BadInput(f"Sizes and draws must be at least 1. Got sizes {tuple(sizes)} and {draws} draws.")
    rng = np.random.default_rng(seed)
    rows = []
    for label, part in scores.dropna(subset="score").groupby(by):
        values = part["score"].abs().to_numpy()
        for size in sizes:
            if size > len(values):
                continue
            for draw in range(1, draws + 1):
                sample = rng.choice(values, size=size, replace=False)
                rows.append({by: label, "size": size, "draw": draw, "value": float(sample.mean())})
    return pd.DataFrame(rows, columns=[by, "size", "draw", "value"])
