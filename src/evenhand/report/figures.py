"""The figures of a BEC-Pro run, as files."""

from collections.abc import Iterator
from pathlib import Path

import altair as alt
import pandas as pd

from evenhand.analysis.workforce import by_profession, shares
from evenhand.errors import BadInput
from evenhand.folder import Run, prepare
from evenhand.report.plots import profession_bars, save, workforce_scatter

HELD_BY = {"female": "women", "male": "men", "balanced": "women and men alike"}


def charts(run: Run, after: Run | None = None) -> dict[str, alt.TopLevelMixin]:
    """Bars for each profession group, before and after if there is one, and the scatter; by name, for a notebook."""
    before = _means(run)
    changed = _means(after) if after else None
    model = run.about["model"] if after is None else f"{run.about['model']} and {after.about['model']}"
    found = {}
    for group, part in before.groupby("prof_gender"):
        later = changed[changed["prof_gender"] == group] if changed is not None else None
        title = f"{model}: professions held by {HELD_BY[str(group)]}"
        found[f"professions-{group}"] = profession_bars(part, later, title=title)
    title = f"{run.about['model']}: association and the workforce (US)"
    return found | {"workforce": workforce_scatter(before, shares(), title=title)}


def draw(run: Run, after: Run | None, out: Path, suffix: str) -> Iterator[Path]:
    """The charts as files; each path as it is written."""
    prepare(out)
    for name, chart in charts(run, after).items():
        path = out / f"{name}.{suffix}"
        save(chart, path)
        yield path


def _means(run: Run) -> pd.DataFrame:
    scores = run.scores[run.scores["dataset"].str.startswith("becpro")]
    if scores.empty:
        raise BadInput(f"'{run.path}' has no BEC-Pro scores to draw. Audit with --suite becpro.")
    return by_profession(scores)
