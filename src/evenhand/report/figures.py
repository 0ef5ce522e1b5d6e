"""The figures that a run's datasets give, as charts or as files."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import altair as alt
import pandas as pd

from evenhand.analysis.equalising import appd, before_after, equalising
from evenhand.analysis.nli_labels import distribution
from evenhand.analysis.ranking import side_by_side
from evenhand.analysis.sample_size import by_size
from evenhand.analysis.workforce import by_profession, shares
from evenhand.core.dataset import base_name
from evenhand.core.files import check_new, prepare
from evenhand.errors import BadInput
from evenhand.report import plots
from evenhand.runs.comparable import before_and_after
from evenhand.runs.folder import Run

HELD_BY = {"female": "women", "male": "men", "balanced": "women and men"}
Charts = dict[str, alt.TopLevelMixin]


def charts(run: Run, after: Run | None = None, seen: set[str] | None = None) -> Charts:
    """The charts of what the run has measured, by name, for a notebook; with `after`, before and after a change.

    BEC-Pro: bars for each profession group, and the scatter against the workforce. Pronoun templates: bars for each
    category, with the professions in `seen` marked, and the scatter before and after. TGB: samples of growing size.
    NLI: labels by set.
    """
    found = _becpro(run, after) | _pronouns(run, after, seen) | _pairs(run) | _labels(run, after)
    if not found:
        raise BadInput(f"'{run.path}' has nothing to draw. Audit with the suite becpro, gbef or nli.")
    return found


def draw(
    run: Run, after: Run | None, out: Path, suffix: str, seen: set[str] | None = None, *, force: bool = True
) -> Iterator[Path]:
    """Write the charts, and yield the path of each file; without `force`, an error if one of them exists."""
    found = charts(run, after, seen)
    for name in found:
        check_new(out / f"{name}.{suffix}", force)
    yield from _written(found, out, suffix)


def draw_models(
    runs: Sequence[Run], tasks: Sequence[tuple[str, str]], out: Path, suffix: str = "svg"
) -> Iterator[Path]:
    """Write a chart of all models for each (dataset, measure), and yield the paths."""
    found = {
        _slug(f"models-{dataset}-{measure}"): plots.model_dots(
            side_by_side(runs, dataset, measure), measure=measure, title=f"{dataset}: {measure}, 95 % intervals"
        )
        for dataset, measure in tasks
    }
    yield from _written(found, out, suffix)


def _written(found: Charts, out: Path, suffix: str) -> Iterator[Path]:
    prepare(out)
    for name, chart in found.items():
        path = out / f"{name}.{suffix}"
        plots.save(chart, path)
        yield path


def _becpro(run: Run, after: Run | None) -> Charts:
    found: Charts = {}
    datasets = [task.dataset for task in run.record.tasks if task.dataset_builder.startswith("becpro")]
    for dataset in datasets:
        first, of = (_slug(f"{dataset}-"), f", {dataset}") if len(datasets) > 1 else ("", "")
        before = by_profession(run.scores_of(dataset))
        changed = by_profession(_of_after(after, dataset, "association")) if after else None
        for group, part in before.groupby("prof_gender"):
            later = changed[changed["prof_gender"] == group] if changed is not None else None
            title = f"{_models(run, after)}{of}: professions held by {HELD_BY[str(group)]}"
            found[f"{first}professions-{group}"] = plots.profession_bars(part, later, title=title)
        title = f"{run.record.model}{of}: association and the workforce (US)"
        found[f"{first}workforce"] = plots.workforce_scatter(before, shares(), title=title)
    return found


def _pronouns(run: Run, after: Run | None, seen: set[str] | None) -> Charts:
    scores = _in_trade(_scores(run, "", "pronoun"))
    if scores.empty:
        return {}
    words = appd(scores).rename(columns={"appd": "before"})
    if after is not None:
        words = before_after(scores, _in_trade(_of_after(after, "", "pronoun")))
    found: Charts = {}
    for category, part in words.groupby("category"):
        better = "closer to 0" if set(part["better"]) == {"closer to 0"} else "farther from 0, on its side,"
        title = f"{_models(run, after)}: {category} ({better} is better)"
        found[f"pronoun-{_slug(str(category))}"] = plots.pronoun_bars(part, seen, title=title)
    told = equalising(words, seed=run.record.tasks[0].seed) if after is not None else None
    if told is not None:
        lines = {"profession": told.professions} | ({plots.GENDERED: told.gendered} if told.gendered else {})
        note = [
            f"{name}: slope {line.slope:.2f} [{line.slope_low:.2f}, {line.slope_high:.2f}], "
            f"intercept {line.intercept:+.2f}, r {line.r:.2f} [{line.r_low:.2f}, {line.r_high:.2f}]"
            for name, line in lines.items()
        ]
        note += [f"professions: spread x {told.spread.shown('.2f')}", f"Merely equalised? {told.verdict}"]
        title = f"{_models(run, after)}: pronouns before and after"
        fits = {name: (line.slope, line.intercept) for name, line in lines.items()}
        found["pronoun-change"] = plots.pronoun_scatter(words, fits, title=title, note=note)
    return found


def _pairs(run: Run) -> Charts:
    found: Charts = {}
    tasks = [task for task in run.record.tasks if task.measure == "likelihood-difference" and "category" in task.by]
    for task in tasks:
        first, of = (_slug(f"{task.dataset}-"), f" on {task.dataset}") if len(tasks) > 1 else ("", "")
        rows = by_size(run.scores_of(*task.name), seed=task.seed)
        title = f"{run.record.model}{of}: ASLD on samples, 5 draws each"
        found |= {f"{first}sample-size": plots.sample_sizes(rows, title=title)} if len(rows) else {}
    return found


def _labels(run: Run, after: Run | None) -> Charts:
    found: Charts = {}
    runs = [run, after] if after else [run]
    named = list(zip(before_and_after(runs), runs, strict=True))
    for dataset in run.datasets:
        frames = [distribution(one.values_of(dataset)).assign(model=name) for name, one in named]
        if all(len(frame) for frame in frames):
            note = [f"{name}: {_coal(one, dataset)}" for name, one in named]
            title = f"{dataset}: labels by set"
            found[_slug(f"labels-{dataset}")] = plots.label_bars(pd.concat(frames), title=title, note=note)
    return found


def _coal(run: Run, dataset: str) -> str:
    return ", ".join(
        f"{name} {row.estimate.brief('.3f')}"
        for measure, name in (("nli-coal", "NLI-CoAL"), ("fraction-neutral", "FN"))
        for row in run.values_of(dataset, measure)
        if not row.groups and row.estimate.known
    )


def _scores(run: Run, dataset: str, measure: str) -> pd.DataFrame:
    """The scores by one measure on datasets whose names start with `dataset`, without the columns of others."""
    scores = run.scores[run.scores["dataset"].str.startswith(dataset) & (run.scores["measure"] == measure)]
    return scores.drop(columns=[c for c in scores.columns if c != "score" and scores[c].isna().all()])


def _in_trade(scores: pd.DataFrame) -> pd.DataFrame:
    """The scores without the same professions in other kinds of templates."""
    return scores[~scores["dataset"].map(base_name).isin(["tbd-simple", "tbd-becpro"])] if len(scores) else scores


def _slug(name: str) -> str:
    """The name with only characters that a file name may have."""
    return re.sub(r"[^\w.-]+", "-", name)


def _of_after(after: Run, dataset: str, measure: str) -> pd.DataFrame:
    scores = _scores(after, dataset, measure)
    if scores.empty:
        raise BadInput(
            f"'{after.path}' was not measured by {measure}, as the run before was. Audit both with the same suite."
        )
    return scores


def _models(run: Run, after: Run | None) -> str:
    return run.record.model if after is None else f"{run.record.model} and {after.record.model}"
