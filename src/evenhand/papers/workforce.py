"""Correlations of scores with the share of women in a profession, and with what else might explain them."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from evenhand.datasets.becpro import professions
from evenhand.errors import BadInput
from evenhand.stats import correlate, generator, mean_estimate

WHAT = ("female", "male", "difference")


def by_profession(scores: pd.DataFrame, *, by: str = "prof_gender", cluster: str = "profession") -> pd.DataFrame:
    """Mean association of each profession with female and male words, and their difference; one row per profession."""
    means = scores.pivot_table(index=[by, cluster], columns="gender", values="score")
    means = means.reindex(columns=["female", "male"]).reset_index()
    means["difference"] = means["female"] - means["male"]
    return means.rename_axis(columns=None)


def profession_means(scores: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Mean association of each profession with female and male words, with 95 % intervals.

    A row for each profession and gender: prof_gender, profession, words, association, low, high. The sentences of one
    profession share person words and templates, which cross: the interval covers other ones of both.
    """
    rows = []
    for (group, profession, words), part in scores.groupby(["prof_gender", "profession", "gender"], sort=False):
        known = part.dropna(subset="score")
        clusters = {name: known[name].astype(str).tolist() for name in ("person", "template")}
        rng = generator(seed, {"profession": str(profession), "gender": str(words)})
        found = mean_estimate(
            known["score"].to_numpy(dtype=float), clusters["person"], rng, crossed=[clusters["template"]]
        )
        named = {"prof_gender": group, "profession": profession, "words": words}
        rows.append({**named, "association": found.value, "low": found.low, "high": found.high})
    return pd.DataFrame(rows)


def shares() -> dict[str, float]:
    """Percentage of women by profession in the US, 2019: the paper's Tables 6-8."""
    return {job.name: job.percent_women for job in professions()}


def german_shares(path: Path) -> dict[str, float]:
    """Percentage of women by profession in Germany, from the released table (professions_us_de.tsv).

    They are of broad categories (79.36 for all health jobs), not of single professions, so ties are many.
    """
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
        return {row["simplified_professions"]: float(row["percent_de"]) for row in rows}
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"'{path}' must be the released professions_us_de.tsv, with columns simplified_professions and percent_de. "
            f"Got: {error}."
        ) from error


def against(
    scores: pd.DataFrame,
    numbers: Mapping[str, float],
    *,
    by: str = "prof_gender",
    cluster: str = "profession",
    seed: int = 0,
    what: Sequence[str] = WHAT,
    within: bool = True,
) -> pd.DataFrame:
    """Correlation over professions of female, male and difference scores with `numbers`, overall and `within` groups.

    Pearson and Spearman with 95 % intervals (bootstrap over professions) and two-sided p. The groups were chosen by the
    share of women, so the overall correlation is mostly one of three groups; those within say what is left.
    """
    means = by_profession(scores, by=by, cluster=cluster)
    means["number"] = means[cluster].map(numbers)
    parts = {"all": means} | ({str(label): part for label, part in means.groupby(by)} if within else {})
    rows = []
    for group, part in parts.items():
        for score in what:
            known = part.dropna(subset=[score, "number"])
            row: dict[str, object] = {"group": group, "score": score, "n": len(known)}
            for kind in ("pearson", "spearman"):
                rng = generator(seed, {"group": group, "score": score, "kind": kind})
                found = correlate(known[score].to_numpy(), known["number"].to_numpy(dtype=float), rng, kind=kind)
                row |= {kind: found.value, f"{kind}_low": found.low, f"{kind}_high": found.high, f"{kind}_p": found.p}
            rows.append(row)
    return pd.DataFrame(rows)
