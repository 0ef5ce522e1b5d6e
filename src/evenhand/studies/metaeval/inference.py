"""NLI classifiers trained with known rates of bias (Anantaprayoon et al. 2024, section 3)."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evenhand.core.files import prepare, slug, write_whole
from evenhand.datasets.checking import check_choice
from evenhand.datasets.corpora.biased import CORRECT, Order, controlled, labelled
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.datasets.corpora.released_nli import SETS, released_dev, released_labels, released_train
from evenhand.errors import BadInput, UnknownName
from evenhand.models.loading.names import find
from evenhand.studies.metaeval.dose_response import RATES, DoseResponse, check_rates, dose_response
from evenhand.studies.train_and_measure import Study, check
from evenhand.suites import SUITES

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
    points = []
    learnt: dict[float, float] = {}
    steps = (SETS, "steps of the released sets") if released else (WORDS, "words")
    theirs = []
    for rate, draw in product(check_rates(rates, *steps), range(draws)):
        if released:
            made = partial(labelled, released_labels(lang, rate), language=lang, size=size, correct=correct)
            train_set = released_train(lang, rate) if (size, correct) == (SIZE, CORRECT) else []
            theirs.append(bool(train_set))
            examples, unseen = train_set or made(rng=np.random.default_rng(seed + draw)), released_dev(lang, rate)
        else:
            ours = partial(controlled, rate, language=lang, order=order, seed=seed + draw)
            examples, unseen = ours(size=size, correct=correct), ours(size=dev, part="dev")
        recipe = replace(RECIPE, epochs=epochs, learning_rate=learning_rate, seed=RECIPE.seed + draw)
        study = Study(model, out, tasks, recipe, limit=limit, seed=seed, loading=loading, options=options)
        train = partial(_train, unseen, out / "accuracy")
        for _, run in study.train_and_audit(f"{made_as}-{rate:g}-{draw}", lambda _: examples, train):  # noqa: B023
            points += [
                {**row, "rate": rate, "draw": draw} for row in run.results if not (row["groups"] or row["contrast"])
            ]
            right = json.loads((out / "accuracy" / f"{run.path.name}.json").read_text(encoding="utf-8"))
            learnt[rate] = min(right, learnt.get(rate, 1.0))
    shown = ", ".join(f"{rate:g}: {accuracy:.2f}" for rate, accuracy in learnt.items())
    notes = [f"Share of unseen captions that get the label of the biased training set, by rate: {shown}."]
    if released:
        captions = (
            "the released sets" if all(theirs) else "our captions, with the words and labels of the released sets"
        )
        notes.append(f"Trained on {captions}; unseen captions are those of the released dev sets.")
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
