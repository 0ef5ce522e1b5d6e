"""Values over draws and items, and what their intervals cover."""

import numpy as np
import pandas as pd
import pytest

from evenhand import BadInput
from evenhand.training import replicate_changes, replicate_means
from helpers.typed import numbers


def frame(values: np.ndarray) -> pd.DataFrame:
    """Scores of (draws, items), half of the items in each category."""
    draws, items = values.shape
    return pd.DataFrame(
        [
            {"id": f"i{i}", "draw": d, "category": "a" if i < items // 2 else "b", "score": values[d, i]}
            for d in range(draws)
            for i in range(items)
        ]
    )


def test_groups_then_all_together() -> None:
    found = replicate_means(frame(np.array([[1.0, -1.0, 3.0, -5.0]] * 2)), size=True).set_index("group")
    assert found["value"].to_dict() == {"a": 1.0, "b": 4.0, "combined": 2.5}
    assert found["n"].to_dict() == {"a": 2, "b": 2, "combined": 4}
    assert (
        replicate_means(frame(np.array([[1.0, -1.0, 3.0, -5.0]]))).set_index("group").loc["combined", "value"] == -0.5
    )


def test_intervals_cover_what_other_draws_and_items_would_give() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(40):
        values = rng.normal(0, 0.5, (5, 1)) + rng.normal(0, 1.0, (1, 40)) + rng.normal(0, 0.3, (5, 40))
        low, high = numbers(replicate_means(frame(values)).set_index("group"), "combined", ["low", "high"])
        covered += low <= 0 <= high
    assert covered >= 36  # 95 % nominal; it errs to the wide side


def test_draws_widen_the_interval() -> None:
    rng = np.random.default_rng(1)
    items = rng.normal(size=(1, 40))
    widths = []
    for spread in (0.0, 2.0):
        row = (
            replicate_means(frame(items + np.linspace(-spread, spread, 5)[:, None])).set_index("group").loc["combined"]
        )
        widths.append(row["high"] - row["low"])
    assert widths[1] > 2 * widths[0]


def test_changes_are_item_by_item() -> None:
    rng = np.random.default_rng(2)
    base = rng.normal(3, 1, (1, 30))
    after = base + rng.normal(-0.5, 0.05, (5, 30))
    found = replicate_changes(frame(base).drop(columns="draw"), frame(after)).set_index("group").loc["combined"]
    assert found["value"] == pytest.approx(-0.5, abs=0.02)
    assert -0.55 < found["low"] < found["high"] < -0.45  # the items' own spread of 1 does not enter
    sizes = replicate_changes(frame(-base), frame(after), size=True).set_index("group").loc["combined"]
    assert sizes["draws"] == 1  # only the draw that both have
    with pytest.raises(BadInput, match="same items"):
        replicate_changes(frame(base), frame(after[:, :20]))
