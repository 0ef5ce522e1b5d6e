"""What a run's scores show beyond its values: pairs, the workforce, hypotheses, German forms, labels of NLI."""

import csv
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand import Partners, Run
from evenhand.datasets.becpro import professions
from evenhand.errors import BadInput
from evenhand.stats import FEWEST_SAMPLED, Estimate, adjust, correlate, decide, generator, mean_estimate, signed_rank

FEWEST_RANKED = 6
"""Pairs below which ranks say nothing: the signed-rank test cannot reach .05, and r of one pair is -0.71 or +0.71."""


def pairs(scores: pd.DataFrame) -> pd.DataFrame:
    """One row for each female-male pair in a frame of scores: `Partners.pairs`.

    If the form of a profession agrees with the person (German), partners differ in the form too.
    """
    if missing := {"gender", "slot"} - set(scores.columns):
        raise BadInput(f"Pairs need the groups gender and slot. Missing: {', '.join(sorted(missing))}.")
    differ = ("person", "form") if agreeing(scores) else ("person",)
    return Partners("gender", "female", "male", differ).pairs(scores)


def agreeing(scores: pd.DataFrame) -> bool:
    """Whether each profession's form agrees with the person's gender (German), so that grammar explains differences."""
    return "form" in scores and not scores.groupby("gender")["form"].nunique().gt(1).any()


def signed_ranks(paired: pd.DataFrame, by: str = "prof_gender") -> pd.DataFrame:
    """The paper's signed-rank test over the single pairs of each group of `by`, with the mean `difference`.

    `w` is the sum of positive ranks, and `r` is signed, over pairs that differ; `r_printed` and `p_printed` are as in
    the paper's tables. `p_printed` takes pairs of one profession for independent, so no verdict rests on it.
    """
    rows: list[dict[str, object]] = []
    for label, part in paired.dropna(subset="difference").groupby(by):
        test = signed_rank(part["difference"].to_numpy())
        printed = {"w": test.w, "r": test.r, "r_printed": test.r_as_printed, "p_printed": test.p}
        if len(part) < FEWEST_RANKED:
            printed = dict.fromkeys(printed, math.nan)
        rows.append({by: str(label), "pairs": len(part), "difference": part["difference"].mean(), **printed})
    return pd.DataFrame(rows, columns=[by, "pairs", "difference", "w", "r", "r_printed", "p_printed"])


def changes(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The scores of `after` minus those of `before`, item by item, as scores: what the paper tests in Table 4."""
    keys = [c for c in before.columns if c != "score" and c in after.columns]
    joined = before.merge(after, on=keys, suffixes=("", "_after"), validate="one_to_one")
    if len(joined) != len(before) or len(joined) != len(after):
        raise BadInput(
            f"Both runs must have the same items. Got {len(before)} and {len(after)}, {len(joined)} in common."
        )
    joined["score"] = joined["score_after"] - joined["score"]
    return joined.drop(columns="score_after")


SETS = ("pro", "anti", "non")
MEASURES = {label: f"fraction-{label}" for label in ("entailment", "contradiction", "neutral")}
"""By label, the measure that counts the label; fraction-neutral counts all other labels."""


def distribution(values: Sequence[Any]) -> pd.DataFrame:
    """A row for each set and label: `set`, `label`, `value`, `low`, `high`, the last three from 0 to 1.

    Takes the values of a run on one dataset. Empty unless all three labels of every set were counted.
    """
    by_set = {(row.measure, row.groups["set"]): row for row in values if list(row.groups) == ["set"]}
    rows = []
    for name, (label, measure) in product(SETS, MEASURES.items()):
        if (measure, name) not in by_set:
            return pd.DataFrame()
        share = by_set[measure, name]
        ends = (share.value, share.low, share.high)
        value, low, high = (1 - share.value, 1 - share.high, 1 - share.low) if label == "neutral" else ends
        rows.append({"set": name, "label": label, "value": value, "low": low, "high": high})
    return pd.DataFrame(rows)


WHAT = ("female", "male", "difference")


def by_profession(scores: pd.DataFrame, *, by: str = "prof_gender", cluster: str = "profession") -> pd.DataFrame:
    """Mean association of each profession with female and male words, and their difference; one row per profession."""
    means = scores.pivot_table(index=[by, cluster], columns="gender", values="score")
    means = means.reindex(columns=["female", "male"]).reset_index()
    means["difference"] = means["female"] - means["male"]
    return means.rename_axis(columns=None)


def profession_means(scores: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Mean association of each profession with female and male words, with 95 % intervals.

    A row for each profession and gender: prof_gender, profession, words, association, low, high. The sentences of a
    profession cross person words and templates: the interval covers other person words and other templates.
    """
    rows = []
    for (group, profession, words), part in scores.groupby(["prof_gender", "profession", "gender"], sort=False):
        known = part.dropna(subset="score")
        clusters = {name: known[name].astype(str).tolist() for name in ("person", "template")}
        rng = generator(seed, {"profession": str(profession), "gender": str(words)})
        mean = mean_estimate(
            known["score"].to_numpy(dtype=float), clusters["person"], rng, crossed=[clusters["template"]]
        )
        labels = {"prof_gender": group, "profession": profession, "words": words}
        rows.append({**labels, "association": mean.value, "low": mean.low, "high": mean.high})
    return pd.DataFrame(rows)


def workforce_shares() -> dict[str, float]:
    """Percentage of women by profession in the US, 2019: the paper's Tables 6-8."""
    return {job.name: job.percent_women for job in professions()}


def german_shares(path: Path) -> dict[str, float]:
    """Percentage of women by profession in Germany, from the released table (professions_us_de.tsv).

    The percentages are of broad categories (79.36 for all health jobs), not of single professions, so many are tied.
    """
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
        return {row["simplified_professions"]: float(row["percent_de"]) for row in rows}
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"'{path}' must be the released professions_us_de.tsv, with columns simplified_professions and percent_de. "
            f"Got: {error}."
        ) from error


def correlate_with(
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
    share of women, so the overall correlation is mostly that of three group means; correlations within groups have the
    rest.
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
                r = correlate(known[score].to_numpy(), known["number"].to_numpy(dtype=float), rng, kind=kind)
                row |= {kind: r.value, f"{kind}_low": r.low, f"{kind}_high": r.high, f"{kind}_p": r.p}
            rows.append(row)
    return pd.DataFrame(rows)


TYPICAL = (("female", "female"), ("male", "male"))
ANTI = (("female", "male"), ("male", "female"))
MARGIN = 0.1
"""Nats that count as no difference for H3: one word is at most 1.11 times as likely as the other."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing a hypothesis expects, and what the scores say.

    `supported` if the value leans to the expected side, by the rule of stats.verdict with p adjusted over all claims;
    `refuted` if it leans to the other side; otherwise `undecided`. A claim of no difference is supported if the whole
    interval lies within +-0.1 nats, and refuted if the value leans and the whole interval lies outside.
    """

    hypothesis: str
    claim: str
    estimate: Estimate
    sign: int
    """1 or -1: the expected side; 0: no difference is expected."""
    contrast: Estimate | None = None
    """These words minus the other gender's words with the same professions: the effect beyond the professions."""

    @property
    def verdict(self) -> str:
        estimate, ruled = self.estimate, decide(self.estimate)
        if ruled.why:
            return "undecided"
        if self.sign:
            return "undecided" if ruled.side == 0 else "supported" if ruled.side == self.sign else "refuted"
        if -MARGIN < estimate.low <= estimate.high < MARGIN:
            return "supported"
        return "refuted" if ruled.side and (estimate.low > MARGIN or estimate.high < -MARGIN) else "undecided"


def evaluate_hypotheses(before: pd.DataFrame, after: pd.DataFrame | None = None, *, seed: int = 0) -> list[Claim]:
    """The claims of H1 to H3 on the scores before and, if given, after fine-tuning.

    H1: typical pairs (female word, female profession) have positive association, which fine-tuning lowers. H2:
    anti-typical pairs have negative association, which fine-tuning raises. H3: with balanced professions female and
    male do not differ, and fine-tuning changes little.
    """
    claims = list(_claims(before, changes(before, after) if after is not None else None, seed))
    adjusted = adjust([claim.estimate for claim in claims], crossed=True)
    return [replace(claim, estimate=estimate) for claim, estimate in zip(claims, adjusted, strict=True)]


def _claims(before: pd.DataFrame, change: pd.DataFrame | None, seed: int) -> Iterator[Claim]:
    paired = pairs(before)
    for hypothesis, settings, sign in (("H1", TYPICAL, 1), ("H2", ANTI, -1)):
        for gender, jobs in settings:
            says, moves = ("positive", "falls") if sign > 0 else ("negative", "rises")
            words = f"{gender} words with {jobs} professions"
            beyond = paired[paired["prof_gender"] == jobs]
            beyond = beyond.assign(score=beyond["difference"] * (1 if gender == "female" else -1))
            contrast = _estimate(beyond, jobs, "female - male", seed)
            yield Claim(hypothesis, f"{words}: {says}", _cell(before, gender, jobs, seed), sign, contrast=contrast)
            if change is not None:
                yield Claim(hypothesis, f"{words}: {moves} after fine-tuning", _cell(change, gender, jobs, seed), -sign)
    balanced = paired[paired["prof_gender"] == "balanced"].assign(score=lambda rows: rows["difference"])
    difference = _estimate(balanced, "balanced", "female - male", seed)
    yield Claim("H3", "female and male words do not differ with balanced professions", difference, 0)
    if change is not None:
        for gender in ("female", "male"):
            claim = f"{gender} words with balanced professions: no change after fine-tuning"
            yield Claim("H3", claim, _cell(change, gender, "balanced", seed), 0)


def _cell(scores: pd.DataFrame, gender: str, jobs: str, seed: int) -> Estimate:
    return _estimate(scores[(scores["gender"] == gender) & (scores["prof_gender"] == jobs)], jobs, gender, seed)


def _estimate(part: pd.DataFrame, jobs: str, gender: str, seed: int) -> Estimate:
    part = part.dropna(subset="score")
    rng = generator(seed, {"prof_gender": jobs, "gender": gender})
    ways = [part[name].astype(str).tolist() for name in ("template", "slot") if name in part]
    crossed = ways if all(len(set(way)) >= FEWEST_SAMPLED for way in ways) else []  # as in core.estimands
    one_set = [""] * len(part)
    return mean_estimate(part["score"].to_numpy(), part["profession"].tolist(), rng, crossed=crossed, sets=one_set)


EFFECTS = ("social", "agreement", "form", "level")


def decompose(scores: pd.DataFrame) -> pd.DataFrame:
    """The 2 x 2 of person (F, M) and form (f, m) for each profession, as four effects in nats; all are neutral at 0.

    social    = [a(F,f) + a(F,m) - a(M,f) - a(M,m)] / 2   women against men, over both forms
    agreement = [a(F,f) - a(F,m) - a(M,f) + a(M,m)] / 2   how much likelier a person word is if it agrees with the form
    form      = [a(F,f) - a(F,m) + a(M,f) - a(M,m)] / 2   the feminine form against the masculine, for both persons
    level     = [a(F,f) + a(F,m) + a(M,f) + a(M,m)] / 4   how much likelier any person word is next to any form

    a is the mean association over templates and person words. The released corpus has a(F,f) and a(M,m)
    alone. Their difference is social + form, their mean level + agreement / 2, and neither sum can be separated.
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


def summarise_effects(effects: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Mean of each effect by profession group, with an interval over professions, a sign-flip p and Holm's p."""
    labels, means = [], []
    for label, part in effects.groupby("prof_gender"):
        for effect in EFFECTS:
            known = part.dropna(subset=effect)
            rng = generator(seed, {"prof_gender": str(label), "effect": effect})
            labels.append({"prof_gender": label, "effect": effect})
            means.append(mean_estimate(known[effect].to_numpy(), known["profession"].tolist(), rng))
    numbers = pd.DataFrame(adjust(means), columns=["value", "low", "high", "p", "p_holm", "clusters", "needed"])
    return pd.DataFrame(labels).join(numbers)


@dataclass(frozen=True)
class DatasetFindings:
    """What could be computed for one dataset; fields that do not apply are empty."""

    dataset: str
    by: str
    """The group whose labels are compared, such as the kinds of professions or of emotions."""
    ranks: pd.DataFrame = field(default_factory=pd.DataFrame)
    """The paper's test of female - male over single pairs, by group: `signed_ranks`."""
    claims: list[Claim] = field(default_factory=list)
    """Empty if each German form agrees with its person, since grammar would decide, or if the model is unfit."""
    workforce: dict[str, pd.DataFrame] = field(default_factory=dict)
    """Correlation of female - male with the share of women, by country: `correlate_with`."""
    confounds: dict[str, pd.DataFrame] = field(default_factory=dict)
    """Correlation of female - male with the number of tokens and, if given, with frequency: `correlate_with`."""
    agreement: pd.DataFrame = field(default_factory=pd.DataFrame)
    """Social, agreement and form effects of crossed German forms: `summarise_effects`."""


def findings(run: Run, dataset: str = "", *, frequency: Mapping[str, float] | None = None) -> list[DatasetFindings]:
    """The findings for each task of the run with women and men to compare, or only for tasks on `dataset`.

    `frequency` gives a number for each profession (or other attribute), to see if scores merely follow the number.
    """
    results = []
    for task in run.tasks_on(dataset) if dataset else run.record.tasks:
        scores = run.scores_of(*task.name)
        if task.by_gender and "slot" in scores and scores["score"].notna().any():
            by = next((group for group in task.by if group != "gender"), "items")
            scores = scores if by in scores else scores.assign(**{by: "all"})
            numbers = {"tokens": run.record.tokens.get(task.dataset), "frequency": frequency}
            known, unfit = {k: v for k, v in numbers.items() if v}, task.dataset in run.unmeasured
            results.append(_task_findings(scores, by, task, known, unfit))
    return results


def _task_findings(
    scores: pd.DataFrame, by: str, task: Any, numbers: Mapping[str, Mapping[str, float]], unfit: bool
) -> DatasetFindings:
    against = partial(correlate_with, scores, by=by, cluster=task.cluster, seed=task.seed, what=["difference"])
    ranks = signed_ranks(pairs(scores), by)
    confounds = {k: against(v, within=False) for k, v in numbers.items() if task.cluster}
    if by != "prof_gender":
        return DatasetFindings(task.dataset, by, ranks, confounds=confounds)
    grammar = agreeing(scores)
    crossed = "form" in scores and not grammar
    return DatasetFindings(
        task.dataset,
        by,
        ranks,
        claims=[] if grammar or unfit else evaluate_hypotheses(scores, seed=task.seed),
        workforce={country: against(share) for country, share in _shares_by_country(task.dataset_builder).items()},
        confounds=confounds,
        agreement=summarise_effects(decompose(scores), seed=task.seed) if crossed else pd.DataFrame(),
    )


def _shares_by_country(dataset: str) -> dict[str, dict[str, float]]:
    """The US shares of the paper; for a German dataset also the German shares, if the user has the released table."""
    known = {"US": workforce_shares()}
    released = Path(os.environ.get("EVENHAND_DATA", "")) / "becpro" / "professions_us_de.tsv"
    if dataset == "becpro-de" and released.is_file():
        known["Germany"] = german_shares(released)
    return known
