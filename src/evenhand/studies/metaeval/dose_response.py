"""How far the values of a measure follow the rate of bias that models were trained with."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.files import write_whole
from evenhand.core.scores import generator
from evenhand.datasets.corpora.biased import whole
from evenhand.errors import BadInput
from evenhand.stats.correlation import correlation, fitted
from evenhand.stats.intervals import FEW

POINTS = ["measure", "rate", "draw", "value", "low", "high"]
RATES = tuple(n / 10 for n in range(11))


@dataclass(frozen=True)
class DoseResponse:
    """The values of each measure at each rate, and how they follow the rate.

    `points` has a row for each measure, rate and draw: value, low, high. `follows` has a row for each measure: its
    correlation with the rate, Pearson's (Anantaprayoon et al. 2024, Table 2) and Spearman's, NaN where the values do
    not change at all; `slope`, the change of the value from rate 0 to rate 1; `smallest`, the change of the rate that
    moves the value by half the width of one model's interval on average: one audit detects it half of the time.
    """

    name: str
    """The name of the study, for files."""
    model: str
    kind: str
    points: pd.DataFrame
    follows: pd.DataFrame
    notes: list[str] = field(default_factory=list)


def dose_response(
    name: str, model: str, kind: str, points: Sequence[dict[str, Any]], notes: list[str], seed: int
) -> DoseResponse:
    """The points of a study as a table, and how each measure follows the rate."""
    frame = pd.DataFrame(list(points), columns=POINTS)
    rows = [_follows(str(measure), part, seed) for measure, part in frame.groupby("measure", sort=False)]
    return DoseResponse(name, model, kind, frame, pd.DataFrame(rows), notes)


def check_rates(rates: Sequence[float], n: int, what: str) -> list[float]:
    """The rates in order, each once; an error if there are too few, or one is not a whole number of n `what`."""
    for rate in rates:
        if not 0 <= rate <= 1:
            raise BadInput(f"A rate of bias is between 0 and 1. Got {rate:g}.")
    if len(set(rates)) < 3:
        raise BadInput(f"At least three rates are needed, as in 0, 0.5, 1. Got {len(set(rates))}.")
    for rate in sorted(set(rates)):
        whole(rate, n, what)
    return sorted(set(rates))


def write(found: DoseResponse, out: Path) -> list[Path]:
    """Write both tables as .tsv files, named after the study."""
    tables = {out / f"points-{found.name}.tsv": found.points, out / f"follows-{found.name}.tsv": found.follows}
    for path, frame in tables.items():
        write_whole(path, lambda file: frame.to_csv(file, sep="\t", index=False, float_format="%.6g"))  # noqa: B023
    return list(tables)


def _follows(measure: str, part: pd.DataFrame, seed: int) -> dict[str, Any]:
    part = part.dropna(subset=["value"])
    x, y = (part[name].to_numpy(dtype=np.float64) for name in ("rate", "value"))
    row: dict[str, Any] = {"measure": measure, "models": len(part)}
    for kind in ("pearson", "spearman"):
        found = correlation(x, y, generator(seed, {"of": kind}), kind=kind)
        row |= {kind: found.value, f"{kind}_low": found.low, f"{kind}_high": found.high}
        if kind == "pearson":
            row["p"] = found.p
    varies = len(y) > 2 and np.ptp(y) > 0
    line = fitted(x, y, generator(seed, {"of": "slope"})) if varies else None
    widths = (part["high"] - part["low"]).dropna()
    half = float(widths.median()) / 2 if len(widths) else math.nan
    return row | {
        "slope": line.slope if line else 0.0 if len(y) > 2 else math.nan,
        "slope_low": line.slope_low if line and len(y) >= FEW else math.nan,
        "slope_high": line.slope_high if line and len(y) >= FEW else math.nan,
        "smallest": half / abs(line.slope) if line and line.slope else math.nan,
    }
