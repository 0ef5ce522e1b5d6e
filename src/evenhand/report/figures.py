"""The figures of a BEC-Pro run, as files."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from evenhand.analysis.workforce import by_profession, shares
from evenhand.errors import BadInput
from evenhand.folder import Run, prepare
from evenhand.report.plots import profession_bars, save, workforce_scatter


def draw(run: Run, after: Run | None, out: Path, suffix: str) -> Iterator[Path]:
    """Bars for each profession group, before and after if there is one, and the scatter; each file as it is done."""
    prepare(out)
    before = _means(run)
    changed = _means(after) if after else None
    model = run.about["model"] if after is None else f"{run.about['model']} and {after.about['model']}"
    for group, part in before.groupby("prof_gender"):
        path = out / f"professions-{group}.{suffix}"
        later = changed[changed["prof_gender"] == group] if changed is not None else None
        save(profession_bars(part, later, title=f"{model}: professions held by {_held(str(group))}"), path)
        yield path
    path = out / f"workforce.{suffix}"
    save(workforce_scatter(before, shares(), title=f"{run.about['model']}: association and the workforce (US)"), path)
    yield path


def _means(run: Run) -> pd.DataFrame:
    scores = run.scores[run.scores["dataset"].str.startswith("becpro")]
    if scores.empty:
        raise BadInput(f"'{run.path}' has no BEC-Pro scores to draw. Audit with --suite becpro.")
    return by_profession(scores)


def _held(group: str) -> str:
    return {"female": "women", "male": "men", "balanced": "women and men alike"}[group]
