"""How often verdicts on stereotype and default are wrong, and what they find: the table of docs/verdicts.md.

    PYTHONPATH=tests python tools/simulate_verdicts.py --runs 1000

takes about half an hour on two cores. Finished parts are kept in runs/simulated.jsonl, and the same command goes on
from there. Datasets that are not on this machine are left out: set EVENHAND_DATA.
"""

import argparse
import json
import re
import statistics
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.errors import DataNotFound
from evenhand.stats.intervals import proportion_interval
from helpers.worlds import WORLDS, Headline, headlines, main_rows, outcomes

PAGE = Path(__file__).parents[1] / "docs" / "verdicts.md"
BEGIN, END = "<!-- simulated: begin -->", "<!-- simulated: end -->"
PART = 50
"""Simulated models of one job."""


class Job(NamedTuple):
    """Some simulated models of one headline in one world."""

    dataset: str
    model: str
    world: str
    start: int
    effect: float = 0.0


def work(job: Job) -> tuple[Job, list[dict[str, Any]]]:
    """The outcomes of a job."""
    of = next(of for of in headlines() if (of.dataset, of.model) == (job.dataset, job.model))
    return job, list(outcomes(of, job.world, range(job.start, job.start + PART), job.effect))


class Kept:
    """Outcomes by headline and world, in a file that a later call goes on from."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[Job, list[dict[str, Any]]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            job, made = json.loads(line)
            self.found[Job(*job)] = made

    def run(self, jobs: list[Job], workers: int) -> None:
        """Do what is missing."""
        left = [job for job in jobs if job not in self.found]
        with ProcessPoolExecutor(workers) as pool, self.path.open("a", encoding="utf-8") as file:
            for done, future in enumerate(as_completed([pool.submit(work, job) for job in left]), 1):
                job, made = future.result()
                self.found[job] = made
                print(json.dumps([job, made]), file=file, flush=True)
                print(f"{done} of {len(left)}", end="\r", flush=True, file=sys.stderr)

    def of(self, headline: Headline, world: str, runs: int, *, effect: bool = False) -> list[dict[str, Any]]:
        """The outcomes of a headline in a world."""
        mine = (headline.dataset, headline.model, world)
        parts = [(job, made) for job, made in self.found.items() if job[:3] == mine and bool(job.effect) == effect]
        return [one for job, made in sorted(parts) if job.start < runs for one in made]


def there() -> list[Headline]:
    """The headlines whose data are on this machine."""
    found = []
    for of in headlines():
        try:
            main_rows(of.dataset, of.measure)
            found.append(of)
        except DataNotFound as error:
            print(error, file=sys.stderr)
    return found


def detectable(kept: Kept, of: Headline, runs: int) -> float:
    """What the headline could detect: the median over models in the symmetric world."""
    return float(statistics.median(one["detectable"] for one in kept.of(of, "symmetric", runs)))


def table(kept: Kept, runs: int) -> Iterator[str]:
    """The lines of the table."""
    heads = ["dataset", "effects of", "wrong: symmetric", "skewed", "default alone", "coverage: stereotype", "default"]
    yield f"| {' | '.join([*heads, 'detectable', 'shown at it'])} |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    for of in there():
        worlds = {world: kept.of(of, world, runs) for world in WORLDS}
        wrong = {world: sum(any(one["leans"]) for one in made) for world, made in worlds.items()}
        wrong["default"] = sum(_claimed(one, "stereotype") for one in worlds["default"])
        skewed = "–" if of.threshold == "sign" else f"{wrong['skewed'] / runs:.1%}"
        covered = [
            1 - sum(one["outside"][one["estimands"].index(name)] for one in worlds["symmetric"]) / runs
            for name in ("stereotype", "default")
        ]
        power = [one["leans"][0] for one in kept.of(of, "symmetric", runs, effect=True)]
        cells = [of.dataset, of.model, f"{wrong['symmetric'] / runs:.1%}", skewed, f"{wrong['default'] / runs:.1%}"]
        cells += [*(f"{share:.1%}" for share in covered), f"{detectable(kept, of, runs):.3f}"]
        yield f"| {' | '.join([*cells, f'{sum(power) / len(power):.0%}'])} |"
    low, high = proportion_interval(0.05 * runs, runs)
    yield f"\nOf {runs:,} simulated models each, 5 % are between {low:.1%} and {high:.1%} in 19 of 20 cases."


def _claimed(outcome: dict[str, Any], estimand: str) -> bool:
    return any(leans for leans, name in zip(outcome["leans"], outcome["estimands"], strict=True) if name == estimand)


def main() -> None:
    """Simulate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help=f"simulated models in each world, a multiple of {PART}")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, default=Path("runs/simulated.jsonl"))
    asked = parser.parse_args()
    kept, starts = Kept(asked.keep), range(0, asked.runs, PART)
    kept.run([Job(of.dataset, of.model, w, s) for of in there() for w in WORLDS for s in starts], asked.workers)
    effects = {of: round(detectable(kept, of, asked.runs), 4) for of in there()}
    kept.run([Job(of.dataset, of.model, "symmetric", s, effects[of]) for of in there() for s in starts], asked.workers)
    lines = "\n".join(table(kept, asked.runs))
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n{lines}\n{END}", text, flags=re.S), encoding="utf-8")
    print(lines)


if __name__ == "__main__":
    main()
