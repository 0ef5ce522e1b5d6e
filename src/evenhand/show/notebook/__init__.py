"""The output in a notebook of a run, a comparison, a training, a verdict, the doctor's findings and a run's charts.

The words, numbers and drawings are those of the page. The output contains all of them, and loads nothing.
"""

import base64
import re
from collections.abc import Hashable, Sequence
from functools import cache, singledispatch
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import altair as alt
from markupsafe import Markup

from evenhand.analysis.change import Change, changes_frame
from evenhand.analysis.comparison import Comparison
from evenhand.analysis.tracking import Track
from evenhand.core.files import public_path
from evenhand.core.model import Findings
from evenhand.core.shown import Shown
from evenhand.errors import BadInput
from evenhand.gate.verdict import Verdict
from evenhand.runs.folder import StoredRun
from evenhand.show import figures, plots
from evenhand.show.figures import changes
from evenhand.show.page import readings
from evenhand.show.page.runs import FILE, environment
from evenhand.show.page.section import measured_tasks
from evenhand.show.page.short import lead, summary
from evenhand.show.track import chart as curves
from evenhand.show.track import lead as where
from evenhand.show.track import notes, sentence
from evenhand.stats.verdict import SIZES

ROWS = 20
"""The most rows of a table; data frames have the others."""
COLUMNS = ["run", "dataset", "measure", "group", "before", "after", "change", "low", "high", "p_holm", "moved"]


class Figures(Shown, dict[str, alt.TopLevelMixin]):
    """The charts of one or more runs by name, as Altair objects; a notebook shows all of them."""

    def __init__(self, *runs: StoredRun, seen: set[str] | None = None) -> None:
        super().__init__(figures.charts(*runs, seen=seen))

    def save(self, folder: str | Path, form: str = "svg") -> list[Path]:
        """Write each chart to a file of its name, in a format of `evenhand figures`, and return the paths."""
        return list(figures.write_charts(self, Path(folder).expanduser(), form))


class Picture(NamedTuple):
    """A chart as an image inside the output, with its width in pixels."""

    image: Markup
    caption: str
    width: float


def picture(chart: alt.TopLevelMixin, caption: str) -> Picture:
    """A chart as SVG in a data: URL, where no script can run, whatever its labels contain."""
    svg = plots.render(chart, "svg")
    width = re.search(r'<svg[^>]* width="([\d.]+)', svg)
    address = f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
    image = Markup('<img alt="{}" src="{}">').format(caption, address)
    return Picture(image, caption, float(width[1]) if width else 640.0)


@singledispatch
def html(shown: Any) -> str:
    """The HTML that a notebook shows for an object of evenhand."""
    raise BadInput(f"A notebook cannot show {shown!r}.")


@html.register
def _(run: StoredRun) -> str:
    lines = summary(measured_tasks(run))
    page = run.path / FILE
    shown = public_path(page)  # a private path is cut to its name, which cannot be a link
    link = quote(shown) if page.exists() and Path(shown).absolute() == page.absolute() else ""
    return _fill_template("run", run=run, lead=lead(lines), lines=lines[:ROWS], more=len(lines[ROWS:]), link=link)


@html.register
def _(comparison: Comparison) -> str:
    moved = [row for row in comparison.rows if row.moved]
    judged = [row for row in comparison.rows if row.needed]
    main = [row for row in judged if row.contrast or not row.groups][: 2 * ROWS]
    caption = "Changes with their 95 % intervals"
    drawn = picture(changes(Comparison(comparison.runs, tuple(main))), caption) if main else None
    return _fill_template("comparison", comparison=comparison, moved=_rows(moved), every=_rows(judged), drawn=drawn)


@html.register
def _(track: Track) -> str:
    shown = [(row.start, row.end, sentence(track, row)) for row in track.shown]
    drawn = picture(curves(track), "Values with their 95 % intervals, by checkpoint")
    return _fill_template("track", lead=where(track), notes=list(notes(track)), shown=shown[:ROWS], drawn=drawn)


def _rows(rows: Sequence[Change]) -> list[dict[Hashable, object]]:
    return changes_frame(rows, run="end")[COLUMNS].to_dict("records")


@html.register
def _(verdict: Verdict) -> str:
    return _fill_template("verdict", verdict=verdict)


@html.register
def _(findings: Findings) -> str:
    return _fill_template("findings", findings=findings)


@html.register
def _(charts: Figures) -> str:
    return _fill_template("figures", drawn=[picture(chart, name) for name, chart in charts.items()])


def _fill_template(kind: str, **known: Any) -> str:
    return str(_environment().get_template("shown.html.j2").render(kind=kind, **known))


@cache
def _environment() -> Any:
    made = environment("notebook", "page")
    made.globals |= {
        "title_of": readings.dataset,
        "rows": ROWS,
        "sizes": SIZES,
        "by_chance": readings.BY_CHANCE,
        "style": Markup(made.loader.get_source(made, "notebook.css")[0]),
    }
    return made
