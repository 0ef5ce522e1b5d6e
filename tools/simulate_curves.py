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
from pathlib import Path

import evenhand
from evenhand import Run
from evenhand.analysis.tracking import Curve, tracked
from evenhand.stats import intervals, significance
from evenhand.stats.intervals import proportion_interval
from helpers.null_curves import Noise, false_alarms, noise_of

PAGE = Path(__file__).parents[1] / "docs" / "track.md"
BEGIN, END = "<!-- simulated: begin -->", "<!-- simulated: end -->"
CHECKPOINTS = 5
WORLDS = {"women minus men, by profession": "becpro-en", "stereotype-share of sentence pairs": "tgb"}


@cache
def real(folder: str, dataset: str) -> tuple[Run, tuple[Curve, ...], list[Noise]]:
    """The run of the bundled model, its curves on a dataset, and the noise for them."""
    run = Run.load(folder)
    curves = tuple(curve for curve in tracked([run, run]).curves if curve.task.dataset == dataset)
    return run, curves, noise_of(run, curves)


def once(job: tuple[str, str, int]) -> tuple[str, list[bool]]:
    """One simulated training."""
    significance.MOST_COINS, intervals.DRAWS = 0, 1_000  # fewer draws, for speed
    folder, world, seed = job
    return world, false_alarms(*real(folder, WORLDS[world]), CHECKPOINTS, seed)


def table(curves: int, workers: int, out: str) -> Iterator[str]:
    """The lines of the table, from the run of mini-en in the folder `out`."""
    found: dict[str, list[list[bool]]] = {world: [] for world in WORLDS}
    jobs = [
        (f"{out}/mini-en", world, seed)
        for world, dataset in WORLDS.items()
        for seed in range(math.ceil(curves / len(real(f"{out}/mini-en", dataset)[1])))
    ]
    with ProcessPoolExecutor(workers) as pool:
        for done, (world, wrong) in enumerate(pool.map(once, jobs, chunksize=10), 1):
            found[world].append(wrong)
            print(f"{done} of {len(jobs)}", end="\r", flush=True, file=sys.stderr)
    yield "| curves | trainings | with a false alarm | 95 % interval | curves | with a false alarm |"
    yield "|---|--:|--:|--:|--:|--:|"
    for world, rows in found.items():
        n, wrong = len(rows), sum(map(any, rows))
        low, high = proportion_interval(wrong, n)
        each = [curve for row in rows for curve in row]
        share = f"{wrong / n:.1%} | [{low:.1%}, {high:.1%}]"
        yield f"| {world} | {n:,} | {share} | {len(each):,} | {sum(each) / len(each):.1%} |"


def main() -> None:
    """Simulate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--curves", type=int, default=1000, help="simulated curves of each kind, at least")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        evenhand.audit("mini-en", dataset=list(WORLDS.values()), limit=600, out=out)
        lines = "\n".join(table(asked.curves, asked.workers, out))
    text = PAGE.read_text(encoding="utf-8")
    block = f"{BEGIN}\n{lines}\n{END}"
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: block, text, flags=re.S), encoding="utf-8")
    print(lines)


if __name__ == "__main__":
    main()
