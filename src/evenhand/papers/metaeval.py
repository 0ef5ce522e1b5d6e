"""Models trained with known rates of bias, and how far each measure follows the rate.

`inference` trains NLI classifiers (Anantaprayoon et al. 2024, section 3). `masked_response` trains masked language
models on text of which a known share follows stereotypes about jobs; our own design.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from evenhand import NliPair, Run, datasets
from evenhand import measures as known_measures
from evenhand.calls.train_and_measure import Study, check
from evenhand.datasets.corpora import CORRECT, SIZE, Example, Order, check_rates, controlled, released_sets, stereotyped
from evenhand.errors import BadInput, check_known
from evenhand.models import find
from evenhand.papers.base import file_name
from evenhand.papers.findings import pairs
from evenhand.stats import correlate, fit_line, generator, mean_interval

POINTS = ["measure", "rate", "draw", "value", "low", "high"]
RATES = tuple(n / 10 for n in range(11))


@dataclass(frozen=True)
class DoseResponse:
    """The values of each measure at each rate, and how they follow the rate.

    `points` has a row for each measure, rate and draw: value, low, high. `follows` has a row for each measure: its
    correlation with the rate, Pearson's (Anantaprayoon et al. 2024, Table 2) and Spearman's, NaN where the values do
    not change at all; `slope`, the change of the value from rate 0 to rate 1; `smallest`, the change of the rate that
    moves the value by half the width of a model's interval (the median): one audit detects it half of the time.
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
    rows = [_follows_row(str(measure), part, seed) for measure, part in frame.groupby("measure", sort=False)]
    return DoseResponse(name, model, kind, frame, pd.DataFrame(rows), notes)


def _follows_row(measure: str, part: pd.DataFrame, seed: int) -> dict[str, Any]:
    part = part.dropna(subset=["value"])
    x, y = (part[name].to_numpy(dtype=np.float64) for name in ("rate", "value"))
    row: dict[str, Any] = {"measure": measure, "models": len(part)}
    for kind in ("pearson", "spearman"):
        correlation = correlate(x, y, generator(seed, {"of": kind}), kind=kind)
        row |= {kind: correlation.value, f"{kind}_low": correlation.low, f"{kind}_high": correlation.high}
        if kind == "pearson":
            row["p"] = correlation.p
    row |= dict.fromkeys(("slope", "slope_low", "slope_high", "smallest"), math.nan)
    if len(y) > 2 and np.ptp(y) == 0:
        row["slope"] = 0.0
    elif len(y) > 2:
        line = fit_line(x, y, generator(seed, {"of": "slope"}))
        half = float((part["high"] - part["low"]).median()) / 2
        row |= {"slope": line.slope, "smallest": half / abs(line.slope) if line.slope else math.nan}
        if not math.isnan(row["pearson_low"]):  # with few points neither correlation nor slope has an interval
            row |= {"slope_low": line.slope_low, "slope_high": line.slope_high}
    return row


MEASURES = ("nli-coal", "nli-coal-weighted", "fraction-neutral", "net-neutral")
STEP = 60
"""The size of a dev set is a multiple of this: 30 occupations, two genders."""
WORDS = 20
"""Occupations that are biased or inverted."""
Evaluate = Literal["bundled", "down-sampled", "dev", "test"]


def inference(
    model: str = "mini-en-nli",
    *,
    measures: Sequence[str] = MEASURES,
    rates: Sequence[float] = RATES,
    size: int = SIZE,
    draws: int = 1,
    lang: str = "en",
    order: Order | None = None,
    correct: float = CORRECT,
    evaluate: Evaluate = "bundled",
    epochs: int = 3,
    learning_rate: float = 2e-5,
    limit: int | None = None,
    out: str | Path = "runs/metaeval",
    seed: int = 0,
    **loading: Any,
) -> DoseResponse:
    """Train `model` at each rate of bias, measure it on the same occupations, and see which measures follow the rate.

    The defaults are the paper's: 30,000 examples, 3 epochs, 2e-5, batches of 32. `correct` is the share of correct
    examples: a third in the released sets, a half by the paper's text. `evaluate` says what models are measured on: our
    `nli-<lang>` ("bundled"), or `nli-coal-<lang>` with its option `words` (down-sampled: the paper's 600 pairs). With
    `nli-coal-<lang>`, models are trained on the released sets, which are filled female-first; if a released set is not
    available, on ours with its words and labels but other captions. Runs are kept in `out`, and the same call resumes a
    study that was stopped.
    """
    from evenhand.training import NLI_RECIPE

    check(draws=draws, limit=limit)
    known = [name for name, kind in known_measures.MEASURES.items() if getattr(kind, "items", None) is NliPair]
    check_known("NLI measure", measures, known)
    if evaluate not in (allowed := get_args(Evaluate)):
        raise BadInput(f"`evaluate` must be {' or '.join(map(repr, allowed))}. Got {evaluate!r}.")
    released = evaluate != "bundled"
    if released and order == "stratified":
        raise BadInput("The released sets are filled female-first, not stratified. Leave out `order` or `evaluate`.")
    order = order or ("female-first" if released else "stratified")
    tasks = {f"nli-coal-{lang}" if released else f"nli-{lang}": list(measures)}
    options = {"words": evaluate} if released else {}
    made_as = "-".join(
        [lang, order, *([evaluate] if released else []), *([f"correct-{correct:g}"] if correct != CORRECT else [])]
    )
    out = Path(out).expanduser() / "inference"
    dev = max(size // 10 // STEP, 1) * STEP  # the paper's 3,000 for 30,000
    steps = (10, "steps of the released sets") if released else (WORDS, "words")
    points, theirs, learnt = list[dict[str, Any]](), list[bool](), dict[float, float]()
    for rate, draw in product(check_rates(rates, *steps), range(draws)):
        if released:
            examples, unseen, as_released = released_sets(lang, rate, size=size, correct=correct, seed=seed + draw)
            theirs.append(as_released)
        else:
            made = partial(controlled, rate, language=lang, order=order, seed=seed + draw)
            examples, unseen = made(size=size, correct=correct), made(size=dev, part="dev")
        recipe = replace(NLI_RECIPE, epochs=epochs, learning_rate=learning_rate, seed=NLI_RECIPE.seed + draw)
        study = Study(model, out, tasks, recipe, limit=limit, seed=seed, loading=loading, options=options)
        train = partial(_train, unseen, out / "accuracy")
        for _, run in study.train_and_audit(f"{made_as}-{rate:g}-{draw}", lambda _: examples, train):  # noqa: B023
            rows = [row for row in run.results if not (row["groups"] or row["contrast"])]
            points += [{**row, "rate": rate, "draw": draw} for row in rows]
            right = json.loads((out / "accuracy" / f"{run.path.name}.json").read_text(encoding="utf-8"))
            learnt[rate] = min(right, learnt.get(rate, 1.0))
    shown = ", ".join(f"{rate:g}: {accuracy:.2f}" for rate, accuracy in learnt.items())
    notes = [f"Share of unseen captions that get the label of the biased training set, by rate: {shown}."]
    if released:
        ours = "" if all(theirs) else "our captions, with the words and labels of "
        notes.append(f"Trained on {ours}the released sets; unseen captions are those of the released dev sets.")
    return dose_response(f"nli-{file_name(model)}-{made_as}", find(model).name, "nli", points, notes, seed)


def _train(
    dev: Sequence[Example], accuracies: Path, base: str, lessons: Sequence[Example], recipe: Any, folder: Path
) -> None:
    from evenhand.training import finetune_nli

    done = finetune_nli(base, lessons, recipe, folder, dev=dev)
    accuracies.mkdir(parents=True, exist_ok=True)
    (accuracies / f"{folder.name}.json").write_text(json.dumps(done.accuracy.share), encoding="utf-8")


TASKS = {
    "becpro-en": ["association"],
    "tgb": ["likelihood-difference", "crows-pairs"],
    "tbd": ["pronoun"],
    "weat-professions-en": ["weat"],
    "seat-professions-en": ["seat", "c-seat"],
}
EFFECT_SIZES = ("weat", "seat", "c-seat")
"""Measures whose value over all items is used as it is, since their items are about stereotypes of jobs."""


def masked_response(
    model: str = "mini-en",
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
    """Train `model` at each rate, measure it on other sentences about the same jobs: which measures follow the rate?

    At rate 1 every sentence follows the stereotype, at 0 none does, at 0.5 jobs and genders are independent.
    `measures` are names of READINGS or EFFECT_SIZES, by default all.
    """
    chosen = list(measures) or [*READINGS, *EFFECT_SIZES]
    check_known("measure of masked models", chosen, [*READINGS, *EFFECT_SIZES])
    study = Study(model, Path(out).expanduser() / "masked", TASKS, recipe, draws, limit, seed, loading)
    points = []
    for rate in check_rates(rates, size // 2, "pairs of sentences"):
        lessons = lambda draw: stereotyped(rate, size=size, seed=seed + draw)  # noqa: B023, E731
        by_draw: dict[int, list[Run]] = {}
        for draw, run in study.train_and_audit(f"rate-{rate:g}", lessons):
            by_draw.setdefault(draw, []).append(run)
        for draw, runs in by_draw.items():
            frame = pd.concat([run.scores for run in runs], ignore_index=True)
            rows = [
                row for run in runs for row in run.results if not any(map(row.get, ("groups", "contrast", "estimand")))
            ]
            by_measure = {row["measure"]: row for row in rows}
            values = {
                name: _mean(READINGS[name](frame), seed) if name in READINGS else by_measure[name] for name in chosen
            }
            points += [{**values[name], "measure": name, "rate": rate, "draw": draw} for name in chosen]
    return dose_response(f"masked-{file_name(model)}", find(model).name, "masked", points, [], seed)


def _association(frame: pd.DataFrame) -> pd.DataFrame:
    """Female minus male association for professions held by women, male minus female for those held by men."""
    rows = _scores_of(frame, "becpro-en", "association")
    rows = pairs(rows[rows["prof_gender"] != "balanced"].dropna(axis=1, how="all"))
    towards = np.where(rows["prof_gender"] == "female", 1.0, -1.0)
    return pd.DataFrame({"value": towards * rows["difference"], "cluster": rows["profession"]})


def _pairs(frame: pd.DataFrame, convert: Callable[[pd.Series], pd.Series], measure: str) -> pd.DataFrame:
    rows = _scores_of(frame, "tgb", measure)
    rows = rows[rows["category"] == "occupation"]
    return pd.DataFrame({"value": convert(rows["score"]), "cluster": rows["id"]})


def _pronoun(frame: pd.DataFrame) -> pd.DataFrame:
    """P(he) - P(she) for jobs held by men, P(she) - P(he) for those held by women."""
    rows = _scores_of(frame, "tbd", "pronoun")
    kinds: Any = datasets.load("tbd").kinds
    towards = rows["profession"].map(dict.fromkeys(kinds.male, 1.0) | dict.fromkeys(kinds.female, -1.0))
    rows = rows[towards.notna()]
    return pd.DataFrame(
        {"value": rows["score"] * towards.dropna(), "cluster": rows["template"], "crossed": rows["profession"]}
    )


def _pronoun_size(frame: pd.DataFrame) -> pd.DataFrame:
    """|APPD| of every profession, as in the thesis. Its interval is over professions only."""
    means = _scores_of(frame, "tbd", "pronoun").groupby("profession")["score"].mean().abs()
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
"""By name, a function that gives the numbers for stereotypes about jobs: columns `value` and `cluster`.

The mean of `value` is the value of the measure; higher is more stereotyped. Pairs are those of tgb about occupations.
The sign of association and pronoun is turned, so that it points to the stereotype of each job.
"""


def _scores_of(frame: pd.DataFrame, dataset: str, measure: str) -> pd.DataFrame:
    return frame[(frame["dataset"] == dataset) & (frame["measure"] == measure)].dropna(subset=["score"])


def _mean(rows: pd.DataFrame, seed: int) -> dict[str, float]:
    if rows.empty:  # a sample may have no complete pairs
        return dict.fromkeys(("value", "low", "high"), math.nan)
    values = rows["value"].to_numpy(dtype=np.float64)
    crossed = [rows["crossed"].astype(str).tolist()] if "crossed" in rows else []
    clusters = rows["cluster"].astype(str).tolist()
    low, high = mean_interval(values, clusters, generator(seed, {"of": "dial"}), crossed=crossed)
    return {"value": float(values.mean()), "low": low, "high": high}
