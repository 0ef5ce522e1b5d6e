"""Masked language models trained on text of which a known share follows stereotypes about jobs; our own design."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand.analysis.paired import pairs
from evenhand.core.files import slug
from evenhand.core.scores import generator
from evenhand.datasets.corpora.biased import stereotyped
from evenhand.datasets.kinds import professions
from evenhand.errors import UnknownName
from evenhand.models.loading.names import DEFAULT, find
from evenhand.stats.mean_intervals import mean_interval
from evenhand.studies.metaeval.dose_response import RATES, DoseResponse, check_rates, dose_response
from evenhand.studies.train_and_measure import Study

TASKS = {"becpro-en": ["association"], "tgb": ["likelihood-difference", "crows-pairs"], "tbd": ["pronoun"]}


def masked(
    model: str = DEFAULT,
    *,
    measures: Sequence[str] = (),
    rates: Sequence[float] = RATES,
    size: int = 6_000,
    draws: int = 1,
    recipe: str = "default",
    limit: int | None = None,
    out: str | Path = "runs/metaeval",
    seed: int = 0,
    **loading: Any,
) -> DoseResponse:
    """Train `model` at each rate, measure it on other sentences about the same jobs, and see what follows the rate.

    At rate 1 every sentence follows the stereotype, at 0 none does, at 0.5 jobs and genders are independent.
    `measures` are names of READINGS, by default all.
    """
    chosen = list(measures) or list(READINGS)
    for name in chosen:
        if name not in READINGS:
            raise UnknownName("measure of masked models", name, READINGS)
    study = Study(model, Path(out).expanduser() / "masked", TASKS, recipe, draws, limit, seed, loading)
    points = []
    for rate in check_rates(rates, size // 2, "pairs of sentences"):
        frame = study.scores(f"rate-{rate:g}", lambda draw: stereotyped(rate, size=size, seed=seed + draw))  # noqa: B023
        for draw, part in frame.groupby("draw"):
            points += [
                {"measure": name, "rate": rate, "draw": draw, **_value(READINGS[name](part), seed)} for name in chosen
            ]
    called = find(model).name
    return dose_response(f"masked-{slug(called)}", called, "masked", points, [], seed)


def _association(frame: pd.DataFrame) -> pd.DataFrame:
    """Female minus male association for professions held by women, male minus female for those held by men."""
    rows = _of(frame, "becpro-en", "association")
    rows = pairs(rows[rows["prof_gender"] != "balanced"].dropna(axis=1, how="all"))
    towards = np.where(rows["prof_gender"] == "female", 1.0, -1.0)
    return pd.DataFrame({"value": towards * rows["difference"], "cluster": rows["profession"]})


def _pairs(frame: pd.DataFrame, how: Callable[[pd.Series], pd.Series], measure: str) -> pd.DataFrame:
    rows = _of(frame, "tgb", measure)
    rows = rows[rows["category"] == "occupation"]
    return pd.DataFrame({"value": how(rows["score"]), "cluster": rows["id"]})


def _pronoun(frame: pd.DataFrame) -> pd.DataFrame:
    """P(he) - P(she) for jobs held by men, P(she) - P(he) for those held by women."""
    rows = _of(frame, "tbd", "pronoun")
    towards = rows["profession"].map(_towards_men())
    rows = rows[towards.notna()]
    return pd.DataFrame(
        {"value": rows["score"] * towards.dropna(), "cluster": rows["template"], "crossed": rows["profession"]}
    )


def _pronoun_size(frame: pd.DataFrame) -> pd.DataFrame:
    """|APPD| of every profession, as in the thesis. Its interval is over professions only."""
    means = _of(frame, "tbd", "pronoun").groupby("profession")["score"].mean().abs()
    return pd.DataFrame({"value": means.to_numpy(), "cluster": means.index})


READINGS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "association": _association,
    "likelihood-difference": lambda frame: _pairs(frame, pd.Series.abs, "likelihood-difference"),
    "likelihood-lean": lambda frame: _pairs(frame, lambda d: d, "likelihood-difference"),
    "stereotype-share": lambda frame: _pairs(frame, lambda d: (np.sign(d) + 1) / 2, "likelihood-difference"),
    "crows-pairs": lambda frame: _pairs(frame, lambda s: s, "crows-pairs"),
    "pronoun": _pronoun,
    "pronoun, size": _pronoun_size,
}
"""The number that each measure gives for stereotypes about jobs: the mean of `value`, by cluster.

Higher is more stereotyped. Pairs are those of tgb about occupations. A measure without a direction of its own
(association, pronoun) is taken towards the stereotype of each job.
"""


def _of(frame: pd.DataFrame, dataset: str, measure: str) -> pd.DataFrame:
    return frame[(frame["dataset"] == dataset) & (frame["measure"] == measure)].dropna(subset=["score"])


def _value(rows: pd.DataFrame, seed: int) -> dict[str, float]:
    if rows.empty:  # a sample may have no complete pairs
        return {"value": math.nan, "low": math.nan, "high": math.nan}
    values = rows["value"].to_numpy(dtype=np.float64)
    crossed = [rows["crossed"].astype(str).tolist()] if "crossed" in rows else []
    clusters = rows["cluster"].astype(str).tolist()
    low, high = mean_interval(values, clusters, generator(seed, {"of": "dial"}), crossed=crossed)
    return {"value": float(values.mean()), "low": low, "high": high}


def _towards_men() -> dict[str, float]:
    """1 for jobs held by men, -1 for jobs held by women, in the text that models are trained on."""
    kinds = professions()
    return dict.fromkeys(kinds.male, 1.0) | dict.fromkeys(kinds.female, -1.0)
