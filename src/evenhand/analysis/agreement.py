"""Tells grammar from bias in German, where each profession has both forms with both genders."""

import pandas as pd

from evenhand.core.scores import generator
from evenhand.errors import BadInput
from evenhand.stats.mean_intervals import mean_estimate
from evenhand.stats.verdict import adjust

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
