"""NLI classifiers trained with known rates of bias (Anantaprayoon et al. 2024, section 3)."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from evenhand.core.files import prepare, slug, write_whole
from evenhand.datasets.corpora.biased_nli import Order, controlled
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.errors import UnknownName
from evenhand.models.loading.names import find
from evenhand.studies.metaeval.dose_response import RATES, DoseResponse, check_rates, dose_response
from evenhand.studies.train_and_measure import Study, check
from evenhand.suites import OF_INFERENCE

MEASURES = ("nli-coal", "nli-coal-weighted", "fraction-neutral", "net-neutral")
SIZE = 30_000
STEP = 60
"""The size of a dev set is a multiple of this: 30 occupations, two genders."""
WORDS = 20
"""Occupations that are biased or inverted."""


def inference(
    model: str = "mini-en-nli",
    *,
    measures: Sequence[str] = MEASURES,
    rates: Sequence[float] = RATES,
    size: int = SIZE,
    draws: int = 1,
    lang: str = "en",
    order: Order = "stratified",
    epochs: int = 3,
    learning_rate: float = 2e-5,
    limit: int | None = None,
    out: str | Path = "runs/metaeval",
    seed: int = 0,
    **loading: Any,
) -> DoseResponse:
    """Train `model` at each rate, measure it on the occupations it was trained on, and see what follows the rate.

    The defaults are the paper's: 30,000 examples, 3 epochs, 2e-5, batches of 32. Runs are kept in `out`, and the same
    call resumes a study that was stopped.
    """
    from evenhand.training.nli import RECIPE

    check(draws=draws, limit=limit)
    for measure in measures:
        if measure not in OF_INFERENCE:
            raise UnknownName("NLI measure", measure, OF_INFERENCE)
    out = Path(out).expanduser() / "inference"
    dev = max(size // 10 // STEP, 1) * STEP  # the paper's 3,000 for 30,000
    points = []
    learnt: dict[float, float] = {}
    for rate, draw in product(check_rates(rates, WORDS, "words"), range(draws)):
        examples = partial(controlled, rate, language=lang, order=order, seed=seed + draw)
        recipe = replace(RECIPE, epochs=epochs, learning_rate=learning_rate, seed=RECIPE.seed + draw)
        study = Study(model, out, {f"nli-{lang}": list(measures)}, recipe, limit=limit, seed=seed, loading=loading)
        train = partial(_train, examples(size=dev, part="dev"), out / "accuracy")
        name = f"{lang}-{order}-{rate:g}-{draw}"
        for _, run in study.train_and_audit(name, lambda _: examples(size=size), train):  # noqa: B023
            points += [{**row, "rate": rate, "draw": draw} for row in run.results if not row["groups"]]
            right = json.loads((out / "accuracy" / f"{run.path.name}.json").read_text(encoding="utf-8"))
            learnt[rate] = min(right, learnt.get(rate, 1.0))
    shown = ", ".join(f"{rate:g}: {accuracy:.2f}" for rate, accuracy in learnt.items())
    note = f"Share of unseen captions that get the label of the biased training set, by rate: {shown}."
    called = find(model).name
    return dose_response(f"nli-{slug(called)}-{lang}-{order}", called, "nli", points, [note], seed)


def _train(
    dev: Sequence[Example], accuracies: Path, base: str, lessons: Sequence[Example], recipe: Any, folder: Path
) -> None:
    """Train a classifier, and keep its accuracy on the dev set."""
    from evenhand.training.nli import finetune_nli

    done = finetune_nli(base, lessons, recipe, folder, dev=dev)
    prepare(accuracies)
    share = json.dumps(done.accuracy.share).encode()
    write_whole(accuracies / f"{folder.name}.json", lambda file: file.write(share))
