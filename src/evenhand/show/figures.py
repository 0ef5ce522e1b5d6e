"""The figures that a run's datasets give, as charts or as files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from evenhand.analysis.change import changes_frame
from evenhand.analysis.comparison import Comparison
from evenhand.analysis.equalising import Equalising, appd, before_after, by_size, equalising
from evenhand.analysis.nli_labels import distribution
from evenhand.analysis.ranking import side_by_side
from evenhand.analysis.workforce import by_profession, profession_means, shares
from evenhand.core.dataset import base_name
from evenhand.core.files import check_new, prepare
from evenhand.errors import BadInput
from evenhand.runs.comparable import measured, same_task
from evenhand.runs.folder import StoredRun
from evenhand.show import plots
from evenhand.show.comparison import by_task, judged_rows, title
from evenhand.show.page.runs import named

HELD_BY = {"female": "women", "male": "men", "balanced": "women and men"}
OTHER_TEMPLATES = ["tbd-simple", "tbd-becpro"]
Charts = dict[str, alt.TopLevelMixin]


def charts(*runs: StoredRun, seen: set[str] | None = None) -> Charts:
    """The charts of what the runs have measured, by name, for a notebook; several runs are drawn side by side.

    BEC-Pro: bars for each profession group, and the scatter against the workforce. Pronoun templates: bars for each
    category, with the professions in `seen` marked, and the scatter of two runs. TGB: samples of growing size.
    NLI: labels by set. Bars have 95 % intervals.
    """
    _check(runs)
    names, debiased = named(runs)
    drawn = dict(zip(names, runs, strict=True))
    colours = [plots.GREY, plots.BLUE] if debiased else plots.PALETTE
    coloured = {name: colours[place % len(colours)] for place, name in enumerate(names)}
    found = _becpro(drawn) | _pronouns(drawn, coloured, seen) | _pairs(drawn) | _labels(drawn)
    if not found:
        raise BadInput(f"'{runs[0].path}' has nothing to draw. Audit with the suite becpro, gbef or nli.")
    return found


def changes(comparison: Comparison) -> alt.TopLevelMixin:
    """The change of each value with its interval, a panel for each dataset and measure; the baseline is at 0."""
    runs = comparison.names[1:]
    panels: dict[str, list[Any]] = {}
    for (dataset, measure), members in by_task(judged_rows(comparison)).items():
        rows = changes_frame(members, run="end")
        colour = alt.Color("run:N", sort=runs, legend=None if len(runs) == 1 else alt.Legend(title=None)).scale(
            domain=runs, range=[plots.PALETTE[n % len(plots.PALETTE)] for n in range(len(runs))]
        )
        base = alt.Chart(rows[["run", "group", "before", "after", "change", "low", "high", "moved"]]).encode(
            y=alt.Y("group:N", sort=list(dict.fromkeys(rows["group"])), title=None, axis=alt.Axis(labelLimit=240)),
            color=colour,
        )
        if len(runs) > 1:
            base = base.encode(yOffset=alt.YOffset("run:N", sort=runs))
        tooltip = ["run", "group", *plots.numbers("before", "after", "change", "low", "high"), "moved"]
        shown = plots.intervals(base, "change", tooltip, size=60, title=f"change of {measure}")
        layers = alt.layer(plots.rule_at(0.0, color=plots.GREY, strokeDash=[4, 3]), *shown)
        unit = members[0].task.unit
        panels.setdefault(unit, []).append(layers.properties(width=300, height=alt.Step(18), title=dataset))
    # Panels in the same unit share one scale; those of another unit have their own.
    columns = [alt.concat(*of, columns=2).resolve_scale(y="independent", x="shared") for of in panels.values()]
    told = alt.TitleParams(title(comparison), subtitle="The baseline is at 0; lines are 95 % intervals.")
    whole: alt.TopLevelMixin = alt.vconcat(*columns).properties(title=told)
    return whole


def draw(
    runs: Sequence[StoredRun], out: Path, suffix: str, seen: set[str] | None = None, *, force: bool = True
) -> Iterator[Path]:
    """Write the charts, and yield the path of each file; without `force`, an error if one of them exists."""
    plots.suited(out / f"x.{suffix}")
    found = charts(*runs, seen=seen)
    for name in found:
        check_new(out / f"{name}.{suffix}", force)
    yield from _written(found, out, suffix)


def draw_models(
    runs: Sequence[StoredRun], tasks: Sequence[tuple[str, str]], out: Path, suffix: str = "svg"
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


def _check(runs: Sequence[StoredRun]) -> None:
    """All runs must have what the first one is drawn by."""
    for task in runs[0].record.tasks:
        if task.measure not in ("association", "pronoun") or not {"gender", "profession"} & {*task.by, task.within}:
            continue
        for run in runs[1:]:
            if task.name not in measured(run):
                raise BadInput(
                    f"'{run.path}' was not measured by {task.measure} on {task.dataset}, as '{runs[0].path}' was. "
                    "Audit both with the same suite."
                )
            same_task([runs[0], run], *task.name)


def _becpro(runs: Mapping[str, StoredRun]) -> Charts:
    found: Charts = {}
    first, models = next(iter(runs.values())), ", ".join(runs)
    tasks = [task for task in first.record.tasks if task.dataset_builder.startswith("becpro")]
    for task in (task for task in tasks if task.measure == "association"):
        dataset = task.dataset
        start, of = (_slug(f"{dataset}-"), f", {dataset}") if len({t.dataset for t in tasks}) > 1 else ("", "")
        means = pd.concat(
            profession_means(run.scores_of(dataset), seed=task.seed).assign(run=name) for name, run in runs.items()
        )
        for group, part in means.groupby("prof_gender"):
            title = f"{models}{of}: professions held by {HELD_BY[str(group)]}"
            found[f"{start}professions-{group}"] = plots.profession_bars(part, title=title)
        for place, (name, run) in enumerate(runs.items(), 1):
            title = f"{name}{of}: association and the workforce (US)"
            number = f"-{place}" if len(runs) > 1 else ""
            means_of = by_profession(run.scores_of(dataset))
            found[f"{start}workforce{number}"] = plots.workforce_scatter(means_of, shares(), title=title)
    return found


def _pronouns(runs: Mapping[str, StoredRun], colours: Mapping[str, str], seen: set[str] | None) -> Charts:
    scores = [_in_trade(_scores(run, "", "pronoun")) for run in runs.values()]
    if scores[0].empty:
        return {}
    words = appd(scores[0])
    models = ", ".join(runs)
    rows = pd.concat(_words(run).assign(run=name) for name, run in runs.items())
    found: Charts = {}
    for category, part in words.groupby("category"):
        better = "closer to 0" if set(part["better"]) == {"closer to 0"} else "farther from 0, on its side,"
        mine = rows[rows["category"] == category]
        title = f"{models}: {category} ({better} is better)"
        found[f"pronoun-{_slug(str(category))}"] = plots.pronoun_bars(mine, colours, seen, title=title)
    if len(runs) == 2:
        both = before_after(*scores)
        told = equalising(both, seed=next(iter(runs.values())).record.tasks[0].seed)
        found |= {"pronoun-change": _scatter(models, both, told)} if told is not None else {}
    return found


def _words(run: StoredRun) -> pd.DataFrame:
    """The value of each word with its interval: category, profession, appd, low, high."""
    return pd.DataFrame(
        {
            **{name: row.groups[name] for name in ("category", "profession")},
            **{"appd": row.value, "low": row.low, "high": row.high},
        }
        for dataset in run.datasets
        if base_name(dataset) not in OTHER_TEMPLATES
        for row in run.values_of(dataset, "pronoun")
        if {"category", "profession"} <= set(row.groups)
    )


def _scatter(models: str, words: pd.DataFrame, told: Equalising) -> alt.TopLevelMixin:
    lines = {"profession": told.professions} | ({plots.GENDERED: told.gendered} if told.gendered else {})
    note = [
        f"{name}: slope {line.slope:.2f} [{line.slope_low:.2f}, {line.slope_high:.2f}], "
        f"intercept {line.intercept:+.2f}, r {line.r:.2f} [{line.r_low:.2f}, {line.r_high:.2f}]"
        for name, line in lines.items()
    ]
    note += [f"professions: spread x {told.spread.shown('.2f')}", f"Merely equalised? {told.verdict}"]
    fits = {name: (line.slope, line.intercept) for name, line in lines.items()}
    return plots.pronoun_scatter(words, fits, title=f"{models}: pronouns in both", note=note)


def _pairs(runs: Mapping[str, StoredRun]) -> Charts:
    found: Charts = {}
    for place, (name, run) in enumerate(runs.items(), 1):
        tasks = [task for task in run.record.tasks if task.measure == "likelihood-difference" and "category" in task.by]
        for task in tasks:
            first, of = (_slug(f"{task.dataset}-"), f" on {task.dataset}") if len(tasks) > 1 else ("", "")
            rows = by_size(run.scores_of(*task.name), seed=task.seed)
            key = f"{first}sample-size" + (f"-{place}" if len(runs) > 1 else "")
            title = f"{name}{of}: ASLD on samples, 5 draws each"
            found |= {key: plots.sample_sizes(rows, title=title)} if len(rows) else {}
    return found


def _labels(runs: Mapping[str, StoredRun]) -> Charts:
    found: Charts = {}
    for dataset in next(iter(runs.values())).datasets:
        frames = [distribution(run.values_of(dataset)).assign(model=name) for name, run in runs.items()]
        if all(len(frame) for frame in frames):
            note = [f"{name}: {_coal(run, dataset)}" for name, run in runs.items()]
            title = f"{dataset}: labels by set"
            found[_slug(f"labels-{dataset}")] = plots.label_bars(pd.concat(frames), title=title, note=note)
    return found


def _coal(run: StoredRun, dataset: str) -> str:
    return ", ".join(
        f"{name} {row.brief('.3f')}"
        for measure, name in (("nli-coal", "NLI-CoAL"), ("fraction-neutral", "FN"))
        for row in run.values_of(dataset, measure)
        if not row.groups and row.known
    )


def _scores(run: StoredRun, dataset: str, measure: str) -> pd.DataFrame:
    """The scores by one measure on datasets whose names start with `dataset`, without the columns of others."""
    scores = run.scores[run.scores["dataset"].str.startswith(dataset) & (run.scores["measure"] == measure)]
    return scores.drop(columns=[c for c in scores.columns if c != "score" and scores[c].isna().all()])


def _in_trade(scores: pd.DataFrame) -> pd.DataFrame:
    """The scores without the same professions in other kinds of templates."""
    return scores[~scores["dataset"].map(base_name).isin(OTHER_TEMPLATES)] if len(scores) else scores


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name)
