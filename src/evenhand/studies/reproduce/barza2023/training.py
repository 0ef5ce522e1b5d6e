"""Table 5: sentences that remind a debiased model of the gender of some words."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.analysis.trainings import COMBINED, replicate_changes, replicate_means
from evenhand.datasets.corpora.texts import reminders as sentences_with
from evenhand.datasets.corpora.texts import sampled
from evenhand.mitigation.substitute import substituted
from evenhand.models.loading.names import DEFAULT
from evenhand.studies.reproduce.barza2023.tables import ACROSS, TABLE_5, cell, stands_in
from evenhand.studies.reproduce.base import Reproduction, published
from evenhand.studies.train_and_measure import Study

WORDS = {"pregnancy": "pregnant", "breastfeed": "breastfeed"}
TASKS = {"tbd-gendered": ["pronoun"], "tbd": ["pronoun"]}
COLUMNS = {"gap_50": 1, "gap_100": 2, "gap_150": 3}
"""How many times each of the fifty sentences is added."""
NOTES = (
    "APPD, P(he) - P(she): for these two words farther below 0 is better. 'professions' are the ordinary ones, where "
    "closer to 0 is better; they show whether reminders undo the debiasing. The thesis does not have that row.",
    "The thesis's fifty sentences were taken from the web and never published: ours are our own.",
    TABLE_5,
)


def reproduce(
    *,
    model: str = DEFAULT,
    corpus: str = "gap-flipped",
    size: int | None = None,
    recipe: str = "default",
    draws: int = 1,
    limit: int | None = None,
    seed: int = 0,
    out: str | Path = "runs/reproduce",
    **loading: Any,
) -> Reproduction:
    """Fine-tune `model` on the swapped corpus alone, and with fifty reminders of each word once, twice, three times.

    `size` is the number of sentences to sample from the corpus, for a small version. Each model is trained `draws`
    times, with other samples and seeds, and the intervals are over these too.
    """
    study = Study(model, Path(out) / "reminders", TASKS, recipe, draws, limit, seed, loading)
    numbers = published("barza2023")["table5"]
    text = substituted(corpus, seed=seed).sentences
    lessons: dict[str, list[str]] = {"alone": []}
    for word, times in product(WORDS.values(), COLUMNS.values()):
        lessons[f"{word}-{times}"] = sentences_with(word) * times
    before = study.base_scores()
    after = {
        name: study.scores(name, lambda draw: [*sampled(text, size, (seed, draw)), *extra])  # noqa: B023
        for name, extra in lessons.items()
    }
    rows = []
    for category, word in WORDS.items():
        models = {"base": before, "debias": after["alone"]} | {c: after[f"{word}-{n}"] for c, n in COLUMNS.items()}
        about = {name: frame[frame["category"] == category] for name, frame in models.items()}
        professions = {name: frame[frame["dataset"] == "tbd"] for name, frame in models.items()}
        for label, frames in ((category, about), (f"professions ({category})", professions)):
            for column, frame in frames.items():
                number = numbers[category][column] if label == category else None
                value = _combined(replicate_means(frame, cluster="template", seed=seed))
                rows.append(cell("5", label, column, "APPD", number, value))
        for column in COLUMNS:
            step = _combined(replicate_changes(about["debias"], about[column], cluster="template", seed=seed))
            rows.append(cell("5", category, f"{column} - debias", "change", None, step))
    repeated = "once" if draws == 1 else f"{draws} times"
    data = f"Ours: {size or len(text):,} sentences of {corpus}, recipe '{recipe}', each model trained {repeated}."
    return Reproduction(pd.DataFrame(rows), [*stands_in(model), *NOTES, data], across=ACROSS)


def _combined(table: pd.DataFrame) -> Mapping[str, Any]:
    return dict(table.set_index("group").loc[COMBINED])
