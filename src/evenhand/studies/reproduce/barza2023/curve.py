"""Figure 13: the effect of debiasing by the amount of swapped text."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.analysis.trainings import COMBINED, replicate_changes, replicate_means
from evenhand.core.files import prepare
from evenhand.datasets.corpora.texts import sampled
from evenhand.errors import BadInput
from evenhand.mitigation.substitute import substituted
from evenhand.models.loading.names import DEFAULT, find
from evenhand.report import plots
from evenhand.studies.reproduce.barza2023.tables import ACROSS, cell, stands_in
from evenhand.studies.reproduce.base import Reproduction
from evenhand.studies.train_and_measure import Study

SIZES = (500, 1_000, 2_000, 4_000, 6_000, 8_000, 10_000, 12_000)
TASKS = {"tgb": ["likelihood-difference"]}
NOTE = (
    "Figure 13 has no numbers printed. The thesis sees ASLD fall up to 4,000 sentences and stagnate from 6,000 on. "
    "'change' is against the size before, with its 95 % interval over draws and pairs."
)


def reproduce(
    *,
    model: str = DEFAULT,
    corpus: str = "gap-flipped",
    sizes: Sequence[int] = SIZES,
    draws: int = 5,
    recipe: str = "default",
    limit: int | None = None,
    seed: int = 0,
    out: str | Path = "runs/reproduce",
    **loading: Any,
) -> Reproduction:
    """Fine-tune `model` on samples of growing size of the swapped corpus, `draws` of each, and measure ASLD."""
    if not sizes or min(sizes) < 1:
        raise BadInput(f"Sizes must be at least 1. Got {', '.join(map(str, sizes)) or 'none'}.")
    out = Path(out) / "learning-curve"
    study = Study(model, out, TASKS, recipe, draws, limit, seed, loading)
    text = substituted(corpus, seed=seed).sentences
    if max(sizes) > len(text):
        raise BadInput(f"'{corpus}' has {len(text):,} sentences. Got `size={max(sizes)}`: choose at most that many.")
    scores = {0: study.base_scores()}
    for size in sorted(set(sizes)):
        scores[size] = study.scores(f"{size}-sentences", lambda draw: sampled(text, size, (seed, size, draw)))  # noqa: B023
    values = {size: replicate_means(frame, size=True, seed=seed) for size, frame in scores.items()}
    steps = {
        size: replicate_changes(scores[before], scores[size], size=True, seed=seed) for before, size in pairwise(scores)
    }
    cells = [
        cell("Fig. 13", row["group"], f"{size:,} sentences", what, None, row)
        for what, tables in (("ASLD", values), ("change", steps))
        for size, table in tables.items()
        for row in table.to_dict("records")
    ]
    chart = out / "figures" / "learning-curve.svg"
    prepare(chart.parent)
    rows = pd.concat([table.assign(size=size) for size, table in values.items()], ignore_index=True)
    title = f"{find(model).name}: ASLD after debiasing on samples of {corpus}"
    plots.save(plots.learning_curve(rows, title=title), chart)
    return Reproduction(pd.DataFrame(cells), [*stands_in(model), NOTE, _verdict(steps)], charts=[chart], across=ACROSS)


def _verdict(steps: dict[int, pd.DataFrame]) -> str:
    falls = [size for size, step in steps.items() if (step[step["group"] == COMBINED]["lean"] == "below").all()]
    if not falls:
        return "No step is shown to lower the combined ASLD."
    shown = ", ".join(f"{size:,}" for size in falls)
    return f"The combined ASLD is shown to fall only with the step to {shown} sentences."
