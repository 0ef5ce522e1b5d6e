"""The public run, and the comparison of several runs."""

from pathlib import Path
from typing import Any

from evenhand.analysis import comparison
from evenhand.analysis.comparison import Comparison
from evenhand.core.parameters import COMPARED, describe
from evenhand.errors import BadInput
from evenhand.runs.folder import StoredRun


class Run(StoredRun):
    """A finished run: its folder, its record, its values and scores as data frames, its page and its charts."""

    def report(self, out: str | Path | None = None, *, force: bool = False) -> Path:
        """Write the run's page to `out`, by default report.html in the run's folder, and return its path.

        An existing file is replaced only with `force`, or if it is the page in the run's own folder.
        """
        from evenhand.show.page.runs import save

        return save([self], out, force=force)

    def figures(self, *others: "Run", seen: set[str] | None = None) -> Any:
        """The charts of the run by name; with `others`, the runs are drawn side by side.

        Professions in `seen` are marked, for example those that the model's training texts are about.
        """
        from evenhand.show.notebook import Figures  # drawing libraries take a second

        return Figures(self, *others, seen=seen)

    def to_latex(self, **options: Any) -> str:
        """The values as LaTeX tables; `options` are those of `evenhand.export`, such as `out`."""
        from evenhand.formats import export

        return export(self, "latex", **options)


@describe(runs=COMPARED)
def compare(*runs: StoredRun | str | Path, judged: bool = False) -> Comparison:
    """Compare runs with the first one: the change of each value, with its interval and test.

    Items are compared one by one, so the runs must have measured the same items. Runs with different versions or
    options of a dataset or measure are refused, and so are samples that share fewer than half of the items of the
    smaller one. Datasets and measures that only some of the runs have are excluded, and listed in `left_out`. With
    `judged`, values that get no verdict are excluded, too, and `worse` is not computed where no change is shown, which
    is faster.
    """
    if len(runs) < 2:
        raise BadInput(f"A comparison needs at least two runs, the baseline first. Got {len(runs)}.")
    return comparison.compare([Run.load(run) for run in runs], judged=judged)
