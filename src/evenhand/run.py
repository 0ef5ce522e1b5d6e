"""The public run, and the comparison of several."""

from pathlib import Path
from typing import Any

from evenhand.analysis import comparison
from evenhand.analysis.comparison import Comparison
from evenhand.core.parameters import COMPARED, describe
from evenhand.errors import BadInput
from evenhand.runs.folder import StoredRun


class Run(StoredRun):
    """A finished run: the folder, its record, its values and scores as data frames, and what can be made of them."""

    def report(self, out: str | Path | None = None, *, force: bool = False) -> Path:
        """Write the run's page, and give its path: report.html in the run's folder, or `out`.

        A file that exists is replaced only with `force`, or if it is the run's own page.
        """
        from evenhand.show.page.runs import save

        return save([self], out, force=force)

    def figures(self, *others: "Run", seen: set[str] | None = None) -> Any:
        """The charts of what the run has measured, by name; with other runs, side by side.

        Professions in `seen` are marked: those that a model has read about, for example.
        """
        from evenhand.show.notebook import Figures  # drawing libraries take a second

        return Figures(self, *others, seen=seen)

    def to_latex(self, **options: Any) -> str:
        """The values as a LaTeX table; `options` are those of the format latex of `evenhand.export`."""
        from evenhand.formats import export

        return export(self, "latex", **options)


@describe(runs=COMPARED)
def compare(*runs: StoredRun | str | Path, judged: bool = False) -> Comparison:
    """Compare runs, or run folders, with the first one: for each measure and group, what changed, with its test.

    Items are compared one by one, so the runs must have the same ones: a different version of a dataset or measure and
    different options are refused, and samples that share fewer than half of their items. What only some of the runs
    have is excluded, and named. With `judged`, values that get no verdict are excluded, too, and `worse` is
    not computed where no change is shown, which is faster.
    """
    if len(runs) < 2:
        raise BadInput(f"A comparison needs two runs or more, the baseline first. Got {len(runs)}.")
    return comparison.compare([Run.load(run) for run in runs], judged=judged)
