"""What a run's scores show beyond its values, by dataset, for the scorecard."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand import Run
from evenhand.errors import BadInput
from evenhand.papers import hypotheses, paired, workforce
from evenhand.stats import adjust, generator, mean_estimate

EFFECTS = ("social", "agreement", "form", "level")


def decompose(scores: pd.DataFrame) -> pd.DataFrame:
    """The 2 x 2 of person (F, M) and form (f, m) for each profession, as four effects in nats; all are neutral at 0.

    social    = [a(F,f) + a(F,m) - a(M,f) - a(M,m)] / 2   women against men, over both forms
    agreement = [a(F,f) - a(F,m) - a(M,f) + a(M,m)] / 2   how much likelier a person word that agrees with the form is
    form      = [a(F,f) - a(F,m) + a(M,f) - a(M,m)] / 2   the feminine form against the masculine, whoever it is
    level     = [a(F,f) + a(F,m) + a(M,f) + a(M,m)] / 4   how much likelier any person word is next to any form

    a is the mean association over templates and person words. The released corpus has a(F,f) and a(M,m)
    alone: their difference is social + form, their mean level + agreement / 2, and neither can be taken apart.
    """
    if "form" not in scores or set(scores["form"].dropna()) != {"feminine", "masculine"}:
        raise BadInput("Agreement needs both forms of each profession: audit in German with the option forms=crossed.")
    means = scores.pivot_table(index=["prof_gender", "profession"], columns=["gender", "form"], values="score")
    means = means.reindex(columns=pd.MultiIndex.from_product([("female", "male"), ("feminine", "masculine")]))
    ff, fm = means["female", "feminine"], means["female", "masculine"]
    mf, mm = means["male", "feminine"], means["male", "masculine"]
    effects = {
        "social": (ff + fm - mf - mm) / 2,
        "agreement": (ff - fm - mf + mm) / 2,
        "form": (ff - fm + mf - mm) / 2,
        "level": (ff + fm + mf + mm) / 4,
    }
    return pd.DataFrame(effects).reset_index()


def summary(effects: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Mean of each effect by profession group, with intervals over professions, a sign-flip p, and Holm's over all."""
    labels, found = [], []
    for label, part in effects.groupby("prof_gender"):
        for effect in EFFECTS:
            known = part.dropna(subset=effect)
            rng = generator(seed, {"prof_gender": str(label), "effect": effect})
            labels.append({"prof_gender": label, "effect": effect})
            found.append(mean_estimate(known[effect].to_numpy(), known["profession"].tolist(), rng))
    numbers = pd.DataFrame(adjust(found), columns=["value", "low", "high", "p", "p_holm", "clusters", "needed"])
    return pd.DataFrame(labels).join(numbers)


@dataclass(frozen=True)
class Findings:
    """What could be computed for one dataset; what does not apply is empty."""

    dataset: str
    by: str
    """The group whose parts are compared: kinds of professions, of emotions."""
    ranks: pd.DataFrame = field(default_factory=pd.DataFrame)
    """The paper's test of female - male over single pairs, by group: papers.paired.signed_ranks."""
    claims: list[hypotheses.Claim] = field(default_factory=list)
    """Empty where each German form agrees with its person, so that grammar would decide, or the model is unfit."""
    workforce: dict[str, pd.DataFrame] = field(default_factory=dict)
    """Correlation of female - male with the share of women, by country: papers.workforce.against."""
    confounds: dict[str, pd.DataFrame] = field(default_factory=dict)
    """The same, with the number of tokens, and with frequency where it is given."""
    agreement: pd.DataFrame = field(default_factory=pd.DataFrame)
    """Social, agreement and form effects of crossed German forms: `summary`."""


def findings(run: Run, dataset: str = "", *, frequency: Mapping[str, float] | None = None) -> list[Findings]:
    """The findings for each dataset of the run that has women and men to compare, or for one.

    `frequency` gives a number for each profession (or other attribute), to see whether scores merely follow it.
    """
    found = []
    for task in run.tasks_on(dataset) if dataset else run.record.tasks:
        scores = run.scores_of(*task.name)
        if task.by_gender and "slot" in scores and scores["score"].notna().any():
            by = next((group for group in task.by if group != "gender"), "items")
            scores = scores if by in scores else scores.assign(**{by: "all"})
            numbers = {"tokens": run.record.tokens.get(task.dataset), "frequency": frequency}
            found.append(
                _task_findings(scores, by, task, {k: v for k, v in numbers.items() if v}, run.record.unfit(task))
            )
    return found


def _task_findings(
    scores: pd.DataFrame, by: str, task: Any, numbers: Mapping[str, Mapping[str, float]], unfit: bool
) -> Findings:
    against = partial(workforce.against, scores, by=by, cluster=task.cluster, seed=task.seed, what=["difference"])
    ranks = paired.signed_ranks(paired.pairs(scores), by)
    confounds = {k: against(v, within=False) for k, v in numbers.items() if task.cluster}
    if by != "prof_gender":
        return Findings(task.dataset, by, ranks, confounds=confounds)
    agreeing = paired.agreeing(scores)
    crossed = "form" in scores and not agreeing
    shares = _shares(task.dataset_builder)
    return Findings(
        task.dataset,
        by,
        ranks,
        claims=[] if agreeing or unfit else hypotheses.evaluate(scores, seed=task.seed),
        workforce={country: against(share) for country, share in shares.items()},
        confounds=confounds,
        agreement=summary(decompose(scores), seed=task.seed) if crossed else pd.DataFrame(),
    )


def _shares(dataset: str) -> dict[str, dict[str, float]]:
    """The US shares of the paper; the German ones too, for a German run, where the user has the released table."""
    shares = {"US": workforce.shares()}
    released = Path(os.environ.get("EVENHAND_DATA", "")) / "becpro" / "professions_us_de.tsv"
    if dataset == "becpro-de" and released.is_file():
        shares["Germany"] = workforce.german_shares(released)
    return shares
