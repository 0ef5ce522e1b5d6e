"""The figures of runs, as Altair charts or as files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from evenhand.analysis.change import changes_frame
from evenhand.analysis.comparison import Comparison, side_by_side
from evenhand.core.files import check_new, prepare
from evenhand.core.foreign import foreign, is_ours
from evenhand.core.shown import Drawing, Sections, sections_of
from evenhand.errors import BadInput
from evenhand.runs.comparable import same_task, task_names
from evenhand.runs.folder import StoredRun
from evenhand.show import plots
from evenhand.show.comparison import by_task, judged_rows, title
from evenhand.show.page.charts import colours_of as colours_of
from evenhand.show.page.charts import drawings_of
from evenhand.show.page.runs import run_names
from evenhand.show.page.section import Measured

Charts = dict[str, alt.TopLevelMixin]


def charts(*runs: StoredRun, seen: set[str] | None = None) -> Charts:
    """The charts of the runs by name, for a notebook; several runs are drawn side by side.

    BEC-Pro: bars for each profession group, and the scatter against the workforce. Pronoun templates: bars for each
    category, with the professions in `seen` marked, and the scatter of two runs. TGB: samples of growing size.
    NLI: labels by set. Bars have 95 % intervals. Your own dataset: the charts of its sections.
    """
    names = run_names(runs)[0]
    made: Charts = {}
    for sections in sections_of(task.dataset for task in runs[0].record.tasks):
        with foreign(f"The sections {type(sections).__name__} failed to draw figures", sections):
            drawn = sections.figures(dict(zip(names, runs, strict=True)), marked=seen)
            for name, chart in (_page_charts(sections, runs, names) if drawn is None else drawn).items():
                if not isinstance(chart, alt.TopLevelMixin):
                    raise BadInput(f"`figures` must give Altair charts by name. Got {chart!r} for {name!r}.")
                if not is_ours(sections):
                    plots.render(chart, "svg")  # what cannot be drawn is found here, where it is known whose it is
                made[slug(name)] = chart
    if not made:
        raise BadInput(f"'{runs[0].path}' has nothing to draw. Audit with the suite becpro, gbef or nli.")
    return made


def _page_charts(sections: Sections, runs: Sequence[StoredRun], names: Sequence[str]) -> Charts:
    """The charts that sections draw for the page, by dataset, measure and place, with their captions as titles."""
    made: Charts = {}
    for task in runs[0].record.tasks:
        if sections in sections_of([task.dataset]) and all(task.name in task_names(run) for run in runs):
            for place, drawing in enumerate(drawings_of(Measured(runs, names, task), sections), 1):
                made[f"{task.dataset}-{task.measure}-{place}"] = _with_caption(drawing)
    return made


def _with_caption(drawing: Drawing) -> alt.TopLevelMixin:
    """The chart with its caption as the title, unless it has one."""
    has_title = getattr(drawing.chart, "title", alt.Undefined) is not alt.Undefined
    chart: alt.TopLevelMixin = drawing.chart if has_title else plots.with_title(drawing.chart, drawing.caption)
    return chart


def check_measured(runs: Sequence[StoredRun], measure: str) -> None:
    """Raise an error unless all runs have the tasks of `measure` from which the charts of the first run are drawn."""
    for task in runs[0].record.tasks:
        if task.measure != measure or not {"gender", "profession"} & {*task.by, task.within}:
            continue
        for run in runs[1:]:
            if task.name not in task_names(run):
                raise BadInput(
                    f"'{run.path}' was not measured by {task.measure} on {task.dataset}, as '{runs[0].path}' was. "
                    "Audit both with the same suite."
                )
            same_task([runs[0], run], *task.name)


def changes(comparison: Comparison) -> alt.TopLevelMixin:
    """The change of each value with its interval, a panel for each dataset and measure; the baseline is at 0."""
    panels: dict[str, list[Any]] = {}
    for (dataset, measure), members in by_task(judged_rows(comparison)).items():
        rows = changes_frame(members, run="end").rename(columns={"run": "series", "change": "value"})
        rows = rows[["series", "group", "before", "after", "value", "low", "high", "moved"]].assign(leans=True)
        colours = plots.colours_by_name(comparison.names[1:])
        layers = plots.value_dots(rows, f"change of {measure}", neutral=0.0, colours=colours)
        panels.setdefault(members[0].task.unit, []).append(layers.properties(width=300, title=dataset))
    # Panels with the same unit share a scale.
    columns = [alt.concat(*each, columns=2).resolve_scale(y="independent", x="shared") for each in panels.values()]
    heading = alt.TitleParams(title(comparison), subtitle="The baseline is at 0; lines are 95 % intervals.")
    whole: alt.TopLevelMixin = alt.vconcat(*columns).properties(title=heading)
    return whole


def draw(
    runs: Sequence[StoredRun], out: Path, suffix: str, seen: set[str] | None = None, *, force: bool = True
) -> Iterator[Path]:
    """Write the charts, and yield the path of each file. A file that exists is replaced only with `force`."""
    plots.check_suffix(out / f"x.{suffix}")
    drawn = charts(*runs, seen=seen)
    for name in drawn:
        check_new(out / f"{name}.{suffix}", force)
    yield from write_charts(drawn, out, suffix)


def draw_models(
    runs: Sequence[StoredRun], tasks: Sequence[tuple[str, str]], out: Path, suffix: str = "svg"
) -> Iterator[Path]:
    """Write a chart of all models for each (dataset, measure), and yield the paths."""
    drawn = {
        slug(f"models-{dataset}-{measure}"): plots.model_dots(
            side_by_side(runs, dataset, measure), measure=measure, title=f"{dataset}: {measure}, 95 % intervals"
        )
        for dataset, measure in tasks
    }
    yield from write_charts(drawn, out, suffix)


def write_charts(drawn: Mapping[str, alt.TopLevelMixin], out: Path, suffix: str) -> Iterator[Path]:
    """Write each chart to a file of its name, and yield its path."""
    prepare(out)
    for name, chart in drawn.items():
        path = out / f"{name}.{suffix}"
        plots.save(chart, path)
        yield path


def slug(name: str) -> str:
    """The name with dashes for characters that do not belong in a file name."""
    return re.sub(r"[^\w.-]+", "-", name)
