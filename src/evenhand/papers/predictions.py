"""Predictions that papers published, StereoSet (Nadeem et al. 2021) and GEST (Pikuliak et al. 2024), scored again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evenhand import Dataset, Run, Score, Summary, datasets, from_scores, measures
from evenhand.errors import BadInput, check_known
from evenhand.papers.base import DATA, Reproduction, published_folder, read_file, versus
from evenhand.stats import ALPHA, Paired, generator, holm

TASKS = {"intrasentence": "stereoset-intrasentence", "intersentence": "stereoset-intersentence", "overall": "stereoset"}
MEASURES = {"LM": "stereoset-lm", "SS": "stereoset-ss", "ICAT": "icat"}
ROUNDING = 1e-9
"""Smaller differences in percent are 0: both sides are sums of the same numbers in another order."""


def nadeem2021(*, models: list[str] | None = None, out: str | Path = "runs/reproduce") -> Reproduction:
    """LM, SS and ICAT of the published predictions, in percent, by task and domain; all six `models`, or some.

    Each model becomes a run, with intervals over terms. Added to the paper: which orderings by ICAT are shown.
    """
    source = published_folder("published/stereoset", "the authors' repository, moinnadeem/StereoSet")
    published = read_file(source / "scores.json", json.loads)
    check_known("model with published predictions", models or (), published)
    runs = {name: _import_run(name, source, Path(out) / "nadeem2021") for name in models or published}
    cells = [cell for name, run in runs.items() for cell in _icat_cells(name, run, published[name])]
    notes = [
        "Percent, as printed. Published: the authors' own scores of these predictions. Intervals resample terms.",
        *(_icat_orderings(task, dataset, runs, published) for task, dataset in TASKS.items() if len(runs) > 1),
    ]
    return Reproduction(pd.DataFrame(cells), notes, runs=list(runs.values()))


def _import_run(name: str, source: Path, out: Path) -> Run:
    files = [path for path in sorted(source.glob("*.json")) if path.name.split("_")[0] == name]
    if len(files) != 1:
        raise BadInput(f"Exactly one file name in '{source}' must begin with '{name}_'. Got {len(files)}.")
    for dataset in TASKS.values():
        run = from_scores(files[0], dataset=dataset, name=Path(name).stem, out=out)
    return run


def _icat_cells(name: str, run: Run, published: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for task, dataset in TASKS.items():
        for what, measure in MEASURES.items():
            for value in run.values_of(dataset, measure):
                group = value.groups.get("bias_type", "overall")
                if task == "overall" and value.groups:  # domains of all tasks together are not published
                    continue
                printed = published[task] if task == "overall" else published[task][group]
                ours = {end: 100 * getattr(value, end) for end in ("value", "low", "high")}
                about = {"model": Path(name).stem, "task": task, "domain": group, "what": what}
                cell = versus(printed[f"{what} Score"], ours, **about)
                if abs(cell["difference"]) < ROUNDING:
                    cell["difference"] = 0.0
                yield cell


def _icat_orderings(task: str, dataset: str, runs: Mapping[str, Run], published: Mapping[str, Any]) -> str:
    scores = {Path(name).stem: _scores(run.scores_of(dataset, "icat")) for name, run in runs.items()}
    of_task = {Path(name).stem: published[name][task] for name in runs}
    printed = {name: (numbers.get("overall") or numbers)["ICAT Score"] for name, numbers in of_task.items()}
    summary: Any = measures.load("icat").summarise
    cluster = next(iter(runs.values())).task(dataset, "icat").cluster
    return orderings(f"ICAT, {task}", every_pair(printed), scores, summary, cluster)


def _scores(frame: pd.DataFrame) -> list[Score]:
    groups: Any = frame.drop(columns=["id", "score"]).astype(str).to_dict("records")
    return list(map(Score, frame["id"], frame["score"], groups))


SHOWN = ("bert-base-uncased", "gpt2")
SHARED = "3"
"""The template that masked and causal models have in common."""
KINDS = {"masked": "", "causal": "-causal"}
"""What the name of the dataset ends with, by kind of model."""
RATE: Any = measures.load("gest").summarise
"""The summary that gives g_s from all scores, and r_i from the scores of one stereotype."""


class Predicted(NamedTuple):
    """The published predictions of one model by one template, and the rates that the authors print."""

    model: str
    kind: str
    template: str
    rates: list[float]
    scores: list[Score]

    @property
    def by_stereotype(self) -> dict[str, list[Score]]:
        by_label: dict[str, list[Score]] = {}
        for score in self.scores:
            by_label.setdefault(score.groups["stereotype"], []).append(score)
        return dict(sorted(by_label.items()))


def pikuliak2024(*, models: list[str] | None = None, out: str | Path = "runs/reproduce") -> Reproduction:
    """r_i of the published predictions of `models` next to the printed ones, and g_s, which the paper draws.

    As released: version 1.0, and the exponential of scores to the base 10. Added to the paper: intervals, and which
    neighbours in the order by g_s are shown to differ, over all models. Nothing is written to `out`; to make runs, use
    `evenhand import`.
    """
    source = published_folder("published/gest", "the authors' repository, kinit-sk/gest, data/predictions")
    rows = [row for _, row in datasets.rows(DATA / "pikuliak2024.tsv", ())]
    check_known("model with published predictions", models or (), {row["model"] for row in rows})
    data = {kind: datasets.load(f"gest{suffix}", version="1.0", template=SHARED) for kind, suffix in KINDS.items()}
    predicted = [_read_predictions(row, source, data[row["kind"]]) for row in rows]
    cells = [
        cell
        for each in predicted
        if each.model in (models or SHOWN)
        for cell in _rate_cells(each, data[each.kind].cluster)
    ]
    apart = max(
        abs(float(np.exp(np.mean([score.value for score in part]))) - printed)
        for each in predicted
        for part, printed in zip(each.by_stereotype.values(), each.rates, strict=True)
    )
    notes = [
        "Published: r_i as the authors print them, to two decimals. g_s is published in a figure alone.",
        f"Of all {len(predicted)} models and templates, no r_i is more than {apart:.4f} away from the printed one.",
        "As released: version 1.0, the exponential of scores to the base 10. With natural logarithms g_s is the same "
        "to the power of 2.303.",
        *(_rate_orderings(kind, predicted, data[kind].cluster) for kind in KINDS),
        *([] if models else [f"Shown: {', '.join(SHOWN)}. Others: `model`."]),
    ]
    return Reproduction(pd.DataFrame(cells), notes)


def _read_predictions(row: Mapping[str, str], source: Path, data: Dataset) -> Predicted:
    number = int(row["template"]) - (1 if row["kind"] == "masked" else 3)  # the release counts from 0
    path = source / f"{row['model']}_template-{number}.txt"
    values = read_file(path, lambda text: [float(line) for line in text.splitlines()])
    if len(values) != len(data.items) or not np.isfinite(values).all():
        raise BadInput(f"'{path}' must have {len(data.items):,} finite numbers, one for each sentence.")
    scores = [Score(item.id, value, item.groups) for item, value in zip(data.items, values, strict=True)]
    rates = [float(row[f"r{i}"]) for i in range(1, 17)]
    return Predicted(row["model"], row["kind"], row["template"], rates, scores)


def _rate_cells(prediction: Predicted, cluster: str) -> Iterator[dict[str, Any]]:
    about = {"model": prediction.model, "template": prediction.template}
    yield versus(None, _rate(prediction.scores, cluster, {}), **about, what="g_s")
    for (label, scores), printed in zip(prediction.by_stereotype.items(), prediction.rates, strict=True):
        yield versus(printed, _rate(scores, cluster, {"stereotype": label}), **about, what=f"r, {label}")


def _rate(scores: Sequence[Score], cluster: str, groups: Mapping[str, str]) -> dict[str, float]:
    summary = RATE.inside(groups)
    resampled = summary.resampling([scores], [score.groups[cluster] for score in scores])
    low, high = resampled.interval(generator(0, groups))
    return {"value": summary(scores), "low": low, "high": high}


def _rate_orderings(kind: str, predicted: Sequence[Predicted], cluster: str) -> str:
    scores = {each.model: each.scores for each in predicted if each.kind == kind and each.template == SHARED}
    pairs = neighbours({name: RATE(rates) for name, rates in scores.items()})
    return orderings(f"g_s of {kind} models, template {SHARED}, each with the next", pairs, scores, RATE, cluster)


Pair = tuple[str, str]


def every_pair(order: Mapping[str, float]) -> list[Pair]:
    """All pairs of models, the higher model first."""
    return list(combinations(sorted(order, key=lambda model: -order[model]), 2))


def neighbours(order: Mapping[str, float]) -> list[Pair]:
    """Each model with the next lower model."""
    return list(pairwise(sorted(order, key=lambda model: -order[model])))


def orderings(
    name: str, pairs: Sequence[Pair], scores: Mapping[str, Sequence[Score]], summary: Summary, cluster: str
) -> str:
    """A sentence on which orderings are shown. The `scores` of all models are of the same items in the same order.

    An ordering is shown if the interval of the difference excludes 0 and its p, adjusted by Holm over all pairs,
    is below .05.
    """
    lows, ps = [], []
    for higher, lower in pairs:
        clusters = [score.groups[cluster] for score in scores[higher]]
        paired = Paired(summary.resampling([scores[lower], scores[higher]], clusters))
        rng = generator(0, {"models": f"{higher} {lower}"})
        lows.append(paired.difference.interval(rng)[0])
        ps.append(paired.swap_test(rng))
    shown = [low > 0 and p < ALPHA for low, p in zip(lows, holm(ps), strict=True)]
    sentence = f"{name}: {sum(shown)} of {len(pairs)} published orderings of two models are shown (p adjusted by Holm)."
    unshown = [
        f"{higher} above {lower}" for (higher, lower), is_shown in zip(pairs, shown, strict=True) if not is_shown
    ]
    return f"{sentence} Not shown: {'; '.join(unshown)}." if unshown else sentence
