"""Models trained with known rates of bias, and how far each measure follows the rate.

`inference` trains NLI classifiers (Anantaprayoon et al. 2024, section 3). `masked` trains masked language models on
text of which a known share follows stereotypes about jobs; our own design.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from evenhand.calls.train_and_measure import Study, check
from evenhand.core.files import prepare, slug, write_whole
from evenhand.core.scores import generator
from evenhand.datasets.checking import check_choice
from evenhand.datasets.corpora.biased import CORRECT, Order, controlled, labelled, stereotyped
from evenhand.datasets.corpora.nli_examples import SETS, Example, released_dev, released_labels, released_train, whole
from evenhand.datasets.kinds import professions
from evenhand.errors import BadInput, UnknownName, check_known
from evenhand.models.loading.names import DEFAULT, find
from evenhand.papers.paired import pairs
from evenhand.stats.correlation import correlation, fitted
from evenhand.stats.intervals import FEW
from evenhand.stats.mean_intervals import mean_interval
from evenhand.suites import SUITES

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
    row |= dict.fromkeys(("slope", "slope_low", "slope_high", "smallest"), math.nan)
    if len(y) <= 2 or np.ptp(y) == 0:
        return row | ({"slope": 0.0} if len(y) > 2 else {})
    line = fitted(x, y, generator(seed, {"of": "slope"}))
    half = float((part["high"] - part["low"]).median()) / 2
    row |= {"slope": line.slope, "smallest": half / abs(line.slope) if line.slope else math.nan}
    return row | ({"slope_low": line.slope_low, "slope_high": line.slope_high} if len(y) >= FEW else {})


MEASURES = ("nli-coal", "nli-coal-weighted", "fraction-neutral", "net-neutral")
SIZE = 30_000
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
    """Train `model` at each rate, measure it on the occupations it was trained on, and see what follows the rate.

    The defaults are the paper's: 30,000 examples, 3 epochs, 2e-5, batches of 32. `correct` is the share of correct
    examples: a third in the released sets, a half by the paper's text. `evaluate` says what models are measured on: our
    `nli-<lang>`, or `nli-coal-<lang>` with these `words` (down-sampled: the paper's 600 pairs). For the latter,
    training sets have the words and labels of the released sets, which are filled female-first: the released sets
    themselves where they are at hand, otherwise ours with other captions. Runs are kept in `out`, and the same call
    resumes a study that was stopped.
    """
    from evenhand.training.nli import RECIPE

    check(draws=draws, limit=limit)
    for measure in measures:
        if measure not in (known := [name for _, name in SUITES["nli"]["en"]]):
            raise UnknownName("NLI measure", measure, known)
    check_choice("evaluate", evaluate, "bundled", "down-sampled", "dev", "test")
    released = evaluate != "bundled"
    if released and order == "stratified":
        raise BadInput("The released sets are filled female-first: leave out `order`, or `evaluate`.")
    order = order or ("female-first" if released else "stratified")
    tasks = {f"nli-coal-{lang}" if released else f"nli-{lang}": list(measures)}
    options = {"words": evaluate} if released else {}
    made_as = "-".join(
        [lang, order, *([evaluate] if released else []), *([f"correct-{correct:g}"] if correct != CORRECT else [])]
    )
    out = Path(out).expanduser() / "inference"
    dev = max(size // 10 // STEP, 1) * STEP  # the paper's 3,000 for 30,000
    steps = (SETS, "steps of the released sets") if released else (WORDS, "words")
    points, theirs, learnt = list[dict[str, Any]](), list[bool](), dict[float, float]()
    for rate, draw in product(check_rates(rates, *steps), range(draws)):
        if released:
            made = partial(labelled, released_labels(lang, rate), language=lang, size=size, correct=correct)
            train_set = released_train(lang, rate) if (size, correct) == (SIZE, CORRECT) else []
            theirs.append(bool(train_set))
            examples, unseen = train_set or made(rng=np.random.default_rng(seed + draw)), released_dev(lang, rate)
        else:
            made = partial(controlled, rate, language=lang, order=order, seed=seed + draw)
            examples, unseen = made(size=size, correct=correct), made(size=dev, part="dev")
        recipe = replace(RECIPE, epochs=epochs, learning_rate=learning_rate, seed=RECIPE.seed + draw)
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
    called = find(model).name
    return dose_response(f"nli-{slug(called)}-{made_as}", called, "nli", points, notes, seed)


def _train(
    dev: Sequence[Example], accuracies: Path, base: str, lessons: Sequence[Example], recipe: Any, folder: Path
) -> None:
    from evenhand.training.nli import finetune_nli

    done = finetune_nli(base, lessons, recipe, folder, dev=dev)
    prepare(accuracies)
    share = json.dumps(done.accuracy.share).encode()
    write_whole(accuracies / f"{folder.name}.json", lambda file: file.write(share))


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
    check_known("measure of masked models", chosen, READINGS)
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
    rows, kinds = _of(frame, "tbd", "pronoun"), professions()
    towards = rows["profession"].map(dict.fromkeys(kinds.male, 1.0) | dict.fromkeys(kinds.female, -1.0))
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
        return dict.fromkeys(("value", "low", "high"), math.nan)
    values = rows["value"].to_numpy(dtype=np.float64)
    crossed = [rows["crossed"].astype(str).tolist()] if "crossed" in rows else []
    clusters = rows["cluster"].astype(str).tolist()
    low, high = mean_interval(values, clusters, generator(seed, {"of": "dial"}), crossed=crossed)
    return {"value": float(values.mean()), "low": low, "high": high}
