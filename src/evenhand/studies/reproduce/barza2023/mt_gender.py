"""Section 6.1: how training on MT Gender changes professions that are in it, and others."""

from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import ttest_ind

from evenhand.analysis.equalising import before_after, equalising, seen
from evenhand.calls import audit
from evenhand.core.scores import generator
from evenhand.core.words import capitalised
from evenhand.datasets.corpora.texts import sentences
from evenhand.models.loading.names import DEFAULT
from evenhand.report.figures import draw
from evenhand.run import Run
from evenhand.stats.intervals import clustered_interval
from evenhand.studies.reproduce.barza2023.tables import ACROSS, cell, stands_in
from evenhand.studies.reproduce.base import Reproduction
from evenhand.studies.train_and_measure import check, recipe_of, trained

NOTE = (
    "The thesis prints no numbers, only bars and a scatter (Figures 8 to 10, 14 to 19). |APPD| closer to 0 is better. "
    "Intervals resample professions."
)


def reproduce(
    *,
    model: str = DEFAULT,
    corpus: str = "mt-gender",
    recipe: str = "default",
    limit: int | None = None,
    seed: int = 0,
    out: str | Path = "runs/reproduce",
    **loading: Any,
) -> Reproduction:
    """Fine-tune `model` on `corpus`, and compare the pronoun probability differences before and after."""
    check(recipe, limit=limit)
    out = Path(out) / "mt-gender"
    texts = sentences(corpus)
    after_model = str(trained(model, texts, recipe_of(recipe, seed=seed), out, "after"))
    before = audit(model, suite="gbef", limit=limit, out=out / "runs", seed=seed, **loading)
    after = audit(after_model, suite="gbef", limit=limit, out=out / "runs", seed=seed, **loading)
    words = before_after(_pronouns(before), _pronouns(after))
    known = seen(words["profession"], texts)
    ordinary = words[words["better"] == "closer to 0"]
    groups = {
        "professions in the corpus": ordinary[ordinary["profession"].isin(known)],
        "professions not in it": ordinary[~ordinary["profession"].isin(known)],
    }
    rows, shrunk = [], {}
    for label, part in groups.items():
        sizes = {name: part[name].abs() for name in ("before", "after")}
        sizes["change"] = sizes["after"] - sizes["before"]
        for what, values in sizes.items():
            rows.append(cell("6.1", f"{len(part)} {label}", what, "|APPD|", None, _mean(values, seed, label + what)))
        shrunk[label] = sizes["change"]
    rows.append(cell("6.1", "in the corpus - not in it", "change", "|APPD|", None, _apart(*shrunk.values())))
    for category, part in words.groupby("category", sort=False):
        for what in ("before", "after"):
            rows.append(cell("6.1", str(category), what, "APPD", None, _mean(part[what], seed, str(category) + what)))
    told = equalising(words, seed=seed)
    notes = [*stands_in(model), NOTE]
    if told:
        line, spread = told.professions, told.spread
        notes.append(
            f"Figure 10, professions: after = {line.intercept:+.2f} {line.slope:+.2f} x before, "
            f"r {line.r:.2f} [{line.r_low:.2f}, {line.r_high:.2f}]; "
            f"their spread x {spread.value:.2f} [{spread.low:.2f}, {spread.high:.2f}]."
        )
        notes.append(f"Are pronouns merely being equalised? {capitalised(told.verdict)}.")
    charts = list(draw([before, after], out / "figures", "svg", known))
    return Reproduction(pd.DataFrame(rows), notes, runs=[before, after], charts=charts, across=ACROSS)


def _pronouns(run: Run) -> pd.DataFrame:
    return pd.concat([run.scores_of(name, "pronoun") for name in ("tbd", "tbd-gendered")], ignore_index=True)


def _mean(values: pd.Series, seed: int, name: str) -> dict[str, float]:
    low, high = clustered_interval(
        values.to_numpy(dtype=float), values.index.astype(str).tolist(), generator(seed, {"of": name})
    )
    return {"value": float(values.mean()), "low": low, "high": high}


def _apart(one: pd.Series, other: pd.Series) -> dict[str, float]:
    """The difference of two means, with Welch's interval."""
    low, high = ttest_ind(one, other, equal_var=False).confidence_interval()
    return {"value": float(one.mean() - other.mean()), "low": float(low), "high": float(high)}
