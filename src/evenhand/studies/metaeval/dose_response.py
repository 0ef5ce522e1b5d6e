"""How far the values of a measure follow the rate of bias that models were trained at."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.files import write_whole
from evenhand.core.scores import generator
from evenhand.errors import BadInput
from evenhand.stats.correlation import correlation, fitted
from evenhand.stats.intervals import FEW

POINTS = ["measure", "rate", "draw", "value", "low", "high"]
FOLLOWS = [
    "measure",
    "models",
    "pearson",
    "pearson_low",
    "pearson_high",
    "p",
    "spearman",
    "spearman_low",
    "spearman_high",
    "slope",
    "slope_low",
    "slope_high",
    "smallest",
]


@dataclass(frozen=True)
class DoseResponse:
    """The values of each measure at each rate, and how they follow it.

    `points` has a row for each measure, rate and draw: value, low, high. `follows` has a row for each measure: its
    correlation with the rate, Pearson's (Anantaprayoon et al. 2024, Table 2) and Spearman's, NaN where the values do
    not change at all; `slope`, by how much the value changes from rate 0 to rate 1; `smallest`, the change of the rate
    that on average moves the value by half the width of one model's interval: one audit sees it every other time.
    """

    name: str
    """Of the study: what it is of, for files."""
    model: str
    kind: str
    points: pd.DataFrame
    follows: pd.DataFrame
    notes: list[str] = field(default_factory=list)


def dose_response(
    name: str, model: str, kind: str, points: Sequence[dict[str, Any]], notes: list[str], seed: int
) -> DoseResponse:
    """The points of a study as a table, and what follows from them."""
    frame = pd.DataFrame(list(points), columns=POINTS)
    rows = [_follows(str(measure), part, seed) for measure, part in frame.groupby("measure", sort=False)]
    return DoseResponse(name, model, kind, frame, pd.DataFrame(rows, columns=FOLLOWS), notes)


def check_rates(rates: Sequence[float]) -> list[float]:
    """The rates in order, each once; an error where they are no dial."""
    for rate in rates:
        if not 0 <= rate <= 1:
            raise BadInput(f"A rate of bias is between 0 and 1. Got {rate:g}.")
    if len(set(rates)) < 3:
        raise BadInput(f"At least three rates are wanted, as in 0, 0.5, 1. Got {len(set(rates))}.")
    return sorted(set(rates))


def write(found: DoseResponse, out: Path) -> list[Path]:
    """Both tables as tsv, named after the study."""
    paths = []
    for what, frame in (("points", found.points), ("follows", found.follows)):
        path = out / f"{what}-{found.name}.tsv"
        text = frame.to_csv(sep="\t", index=False, float_format="%.6g").encode()
        write_whole(path, lambda file, text=text: file.write(text))  # type: ignore[misc]
        paths.append(path)
    return paths


def _follows(measure: str, part: pd.DataFrame, seed: int) -> dict[str, Any]:
    part = part.dropna(subset=["value"])
    x, y = (part[name].to_numpy(dtype=np.float64) for name in ("rate", "value"))
    pearson, spearman = (
        correlation(x, y, generator(seed, {"of": kind}), kind=kind) for kind in ("pearson", "spearman")
    )
    varies = len(y) > 2 and np.ptp(y) > 0
    line = fitted(x, y, generator(seed, {"of": "slope"})) if varies else None
    widths = (part["high"] - part["low"]).dropna()
    half = float(widths.median()) / 2 if len(widths) else math.nan
    return {
        "measure": measure,
        "models": len(part),
        "pearson": pearson.value,
        "pearson_low": pearson.low,
        "pearson_high": pearson.high,
        "p": pearson.p,
        "spearman": spearman.value,
        "spearman_low": spearman.low,
        "spearman_high": spearman.high,
        "slope": line.slope if line else 0.0 if len(y) > 2 else math.nan,
        "slope_low": line.slope_low if line and len(y) >= FEW else math.nan,
        "slope_high": line.slope_high if line and len(y) >= FEW else math.nan,
        "smallest": half / abs(line.slope) if line and line.slope else math.nan,
    }
