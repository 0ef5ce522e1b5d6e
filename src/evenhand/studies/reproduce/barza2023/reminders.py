"""Table 5: do sentences that remind a debiased model of gendered words bring their gender back?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.analysis.trainings import COMBINED, replicate_changes, replicate_means
from evenhand.datasets.corpora.texts import reminders as sentences_with
from evenhand.datasets.corpora.texts import sampled
from evenhand.mitigation.substitute import substituted
from evenhand.models.loading.names import DEFAULT
from evenhand.studies.reproduce.barza2023.cells import TABLE_5, cell, stands_in
from evenhand.studies.reproduce.base import Reproduction, published
from evenhand.studies.train_and_measure import Study

WORDS = {"pregnancy": "pregnant", "breastfeed": "breastfeed"}
TASKS = {"tbd-gendered": ["pronoun"], "tbd": ["pronoun"]}
COLUMNS = {"gap_50": 1, "gap_100": 2, "gap_150": 3}
"""How often each of the fifty sentences is there."""
NOTES = (
    "APPD, P(he) - P(she): of these two words farther below 0 is better. 'professions' are the ordinary ones, where "
    "closer to 0 is better: does reminding undo the debiasing? The thesis does not have that row.",
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

    `size` takes a sample of so many sentences of the corpus, for a small version; `draws` trains each model so many
    times, with other samples and seeds, and the intervals are over these too.
    """
    study = Study(model, Path(out) / "reminders", TASKS, recipe, draws, limit, seed, loading)
    numbers = published("barza2023")
    text = substituted(corpus, seed=seed).sentences
    before = study.base_scores()
    after = {
        name: study.scores(name, lambda draw: [*sampled(text, size, (seed, draw)), *extra])  # noqa: B023
        for name, extra in _lessons().items()
    }
    rows = []
    for category, word in WORDS.items():
        models = {"base": before, "debias": after["alone"]} | {c: after[f"{word}-{n}"] for c, n in COLUMNS.items()}
        for group in (category, "professions"):
            for column, frame in models.items():
                number = numbers["table5"][category][column] if group == category else None
                label = group if group == category else f"professions ({category})"
                rows.append(
                    cell(
                        "5",
                        label,
                        column,
                        "APPD",
                        number,
                        _combined(replicate_means(_of(frame, group), cluster="template", seed=seed)),
                    )
                )
        for column in COLUMNS:
            alone, with_them = (_of(models[name], category) for name in ("debias", column))
            step = _combined(replicate_changes(alone, with_them, cluster="template", seed=seed))
            rows.append(cell("5", category, f"{column} - debias", "change", None, step))
    notes = [stands_in(model, numbers), *NOTES]
    notes.append(_trained_on(corpus, size if size else len(text), draws, recipe))
    return Reproduction(pd.DataFrame(rows), [note for note in notes if note])


def _lessons() -> dict[str, list[str]]:
    return {"alone": []} | {
        f"{word}-{times}": sentences_with(word) * times for word in WORDS.values() for times in COLUMNS.values()
    }


def _of(scores: pd.DataFrame, group: str) -> pd.DataFrame:
    return scores[(scores["dataset"] == "tbd") if group == "professions" else (scores["category"] == group)]


def _combined(table: pd.DataFrame) -> Mapping[str, Any]:
    return dict(table.set_index("group").loc[COMBINED])


def _trained_on(corpus: str, n: int, draws: int, recipe: str) -> str:
    times = "once" if draws == 1 else f"{draws} times"
    return f"Ours: {n:,} sentences of {corpus}, recipe '{recipe}', each model trained {times}."
