"""The figures that a run's datasets give, as charts or as files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from evenhand.analysis.change import changes_frame
from evenhand.analysis.comparison import Comparison
from evenhand.analysis.ranking import side_by_side
from evenhand.core.files import check_new, prepare
from evenhand.core.foreign import foreign
from evenhand.core.sections import sections_of
from evenhand.errors import BadInput
from evenhand.runs.comparable import measured, same_task
from evenhand.runs.folder import StoredRun
from evenhand.show import plots
from evenhand.show.comparison import by_task, judged_rows, title
from evenhand.show.page.runs import named

Charts = dict[str, alt.TopLevelMixin]


def charts(*runs: StoredRun, seen: set[str] | None = None) -> Charts:
    """The charts of what the runs have measured, by name, for a notebook; several runs are drawn side by side.

    BEC-Pro: bars for each profession group, and the scatter against the workforce. Pronoun templates: bars for each
    category, with the professions in `seen` marked, and the scatter of two runs. TGB: samples of growing size.
    NLI: labels by set. Bars have 95 % intervals. A dataset of your own: what its sections draw.
    """
    drawn = dict(zip(named(runs)[0], runs, strict=True))
    found: Charts = {}
    for sections in sections_of(task.dataset for task in runs[0].record.tasks):
        with foreign("The sections of a dataset failed to draw figures", sections):
            for name, one in sections.figures(drawn, marked=seen).items():
                if not isinstance(one, alt.TopLevelMixin):
                    raise BadInput(f"`figures` gives charts of Altair's by name. Got {one!r} for {name!r}.")
                found[slug(name)] = one
    if not found:
        raise BadInput(f"'{runs[0].path}' has nothing to draw. Audit with the suite becpro, gbef or nli.")
    return found


def colours_of(runs: Mapping[str, StoredRun]) -> dict[str, str]:
    """A colour for each run, by name: grey and blue for a model before and after."""
    colours = [plots.GREY, plots.BLUE] if named(list(runs.values()))[1] else plots.PALETTE
    return {name: colours[place % len(colours)] for place, name in enumerate(runs)}


def check_measured(runs: Sequence[StoredRun], measure: str) -> None:
    """All runs must have what the first one is drawn by."""
    for task in runs[0].record.tasks:
        if task.measure != measure or not {"gender", "profession"} & {*task.by, task.within}:
            continue
        for run in runs[1:]:
            if task.name not in measured(run):
                raise BadInput(
                    f"'{run.path}' was not measured by {task.measure} on {task.dataset}, as '{runs[0].path}' was. "
                    "Audit both with the same suite."
                )
            same_task([runs[0], run], *task.name)


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
        slug(f"models-{dataset}-{measure}"): plots.model_dots(
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


def slug(name: str) -> str:
    """The name as a part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", name)
