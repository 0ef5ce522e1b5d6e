"""Nadeem, Bethke and Reddy 2021, StereoSet: the scores of six models, from their published predictions."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand import Run, Score, from_scores, measures
from evenhand.errors import BadInput, check_known
from evenhand.papers.base import Reproduction, every_pair, folder, orderings, read, versus

TASKS = {"intrasentence": "stereoset-intrasentence", "intersentence": "stereoset-intersentence", "overall": "stereoset"}
MEASURES = {"LM": "stereoset-lm", "SS": "stereoset-ss", "ICAT": "icat"}
ROUNDING = 1e-9
"""Smaller differences in percent are 0: both sides are sums of the same numbers in another order."""


def reproduce(*, models: list[str] | None = None, out: str | Path = "runs/reproduce") -> Reproduction:
    """LM, SS and ICAT of the published predictions, in percent, by task and domain; all six `models`, or some.

    Each model is left as a run, with intervals over terms. What the paper lacks: which orderings by ICAT are shown.
    """
    source = folder("published/stereoset", "the authors' repository, moinnadeem/StereoSet")
    published = read(source / "scores.json", json.loads)
    check_known("model with published predictions", models or (), published)
    runs = {name: _import_run(name, source, Path(out) / "nadeem2021") for name in models or published}
    cells = [cell for name, run in runs.items() for cell in _cells(name, run, published[name])]
    notes = [
        "Percent, as printed. Published: the authors' own scores of these predictions. Intervals resample terms.",
        *(_orderings(task, dataset, runs, published) for task, dataset in TASKS.items() if len(runs) > 1),
    ]
    return Reproduction(pd.DataFrame(cells), notes, runs=list(runs.values()))


def _import_run(name: str, source: Path, out: Path) -> Run:
    files = [path for path in sorted(source.glob("*.json")) if path.name.split("_")[0] == name]
    if len(files) != 1:
        raise BadInput(f"One file of '{source}' must begin with '{name}_'. Got {len(files)}.")
    for dataset in TASKS.values():
        run = from_scores(files[0], dataset=dataset, name=Path(name).stem, out=out)
    return run


def _cells(name: str, run: Run, published: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for task, dataset in TASKS.items():
        for what, measure in MEASURES.items():
            for value in run.values_of(dataset, measure):
                group = value.groups.get("bias_type", "overall")
                if task == "overall" and value.groups:  # which is not published
                    continue
                told = published[task] if task == "overall" else published[task][group]
                ours = {end: 100 * getattr(value, end) for end in ("value", "low", "high")}
                about = {"model": Path(name).stem, "task": task, "domain": group, "what": what}
                found = versus(told[f"{what} Score"], ours, **about)
                if abs(found["difference"]) < ROUNDING:
                    found["difference"] = 0.0
                yield found


def _orderings(task: str, dataset: str, runs: Mapping[str, Run], published: Mapping[str, Any]) -> str:
    scores = {Path(name).stem: _scores(run.scores_of(dataset, "icat")) for name, run in runs.items()}
    of_task = {Path(name).stem: published[name][task] for name in runs}
    told = {name: (numbers.get("overall") or numbers)["ICAT Score"] for name, numbers in of_task.items()}
    summary: Any = measures.load("icat").summarise
    cluster = next(iter(runs.values())).task(dataset, "icat").cluster
    return orderings(f"ICAT, {task}", every_pair(told), scores, summary, cluster)


def _scores(frame: pd.DataFrame) -> list[Score]:
    groups: Any = frame.drop(columns=["id", "score"]).astype(str).to_dict("records")
    return list(map(Score, frame["id"], frame["score"], groups))
