"""How often `evenhand track` finds a change where there is none: the table of docs/track.md.

    PYTHONPATH=tests python tools/simulate_curves.py --curves 1000

takes about ten minutes on two cores.
"""

import argparse
import math
import re
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import chain
from pathlib import Path

import evenhand
from evenhand import Run
from evenhand.analysis.tracking import Curve, make_track
from evenhand.stats import intervals, significance
from evenhand.stats.intervals import proportion_interval
from helpers.null_curves import Noise, false_alarms, noise_of

PAGE = Path(__file__).parents[1] / "docs" / "track.md"
BEGIN, END = "<!-- simulated: begin -->", "<!-- simulated: end -->"
CHECKPOINTS = 5


@cache
def real(folder: str) -> tuple[Run, tuple[Curve, ...], list[Noise]]:
    """A run of the bundled model, its curves (women minus men, by group of professions), and the noise for them."""
    run = Run.load(folder)
    curves = make_track([run, run]).curves
    return run, curves, noise_of(run, curves)


def once(job: tuple[str, int]) -> list[bool]:
    """One simulated training: for each curve, whether it has a false alarm."""
    significance.MOST_SIGNS, intervals.DRAWS = 0, 1_000  # fewer draws, for speed
    folder, seed = job
    return false_alarms(*real(folder), CHECKPOINTS, seed)


def lines(curves: int, workers: int, folder: str) -> Iterator[str]:
    """The lines of the table, from the run in the folder."""
    jobs = [(folder, seed) for seed in range(math.ceil(curves / len(real(folder)[1])))]
    found = []
    with ProcessPoolExecutor(workers) as pool:
        for wrong in pool.map(once, jobs, chunksize=10):
            found.append(wrong)
            print(f"{len(found)} of {len(jobs)}", end="\r", flush=True, file=sys.stderr)
    yield "| of | there are | with a false alarm | 95 % interval |"
    yield "|---|--:|--:|--:|"
    for what, alarms in (
        ("curves", list(chain(*found))),
        ("trainings, on any of their curves", list(map(any, found))),
    ):
        low, high = proportion_interval(sum(alarms), len(alarms))
        yield f"| {what} | {len(alarms):,} | {sum(alarms) / len(alarms):.1%} | [{low:.1%}, {high:.1%}] |"


def main() -> None:
    """Simulate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--curves", type=int, default=1000, help="simulated curves, at least")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        run = evenhand.audit("mini-en", suite="becpro", limit=300, out=out)
        table = "\n".join(lines(asked.curves, asked.workers, str(run.path)))
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table}\n{END}", text, flags=re.S), encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
