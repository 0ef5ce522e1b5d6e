"""How often the verdicts that evenhand prints are wrong where there is nothing: the table of docs/verdicts.md.

    PYTHONPATH=tests python tools/simulate_verdicts.py --runs 200

takes about half an hour on two cores.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from evenhand.stats import intervals, significance
from evenhand.stats.intervals import proportion_interval
from helpers.simulated import WORLDS, false_claims

PAGE = Path(__file__).parents[1] / "docs" / "verdicts.md"
BEGIN, END = "<!-- simulated: begin -->", "<!-- simulated: end -->"


def once(job: tuple[str, int]) -> tuple[str, dict[str, list[tuple[bool, bool]]]]:
    """One simulation in one world."""
    significance.MOST_COINS, intervals.DRAWS = 0, 2_000  # fewer draws, for speed
    name, seed = job
    with tempfile.TemporaryDirectory() as folder:
        return name, false_claims(name, Path(folder), seed)


def table(runs: int) -> Iterator[str]:
    """The lines of the table."""
    counts: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    jobs = [(name, seed) for seed in range(1, runs + 1) for name in WORLDS]
    with ProcessPoolExecutor(2) as pool:
        for done, (name, found) in enumerate(pool.map(once, jobs), 1):
            for kind, families in found.items():
                counts.setdefault((kind, name), []).extend(families)
            print(f"{done} of {len(jobs)}", end="\r", flush=True, file=sys.stderr)
    yield "| verdict | world | families | wrong by the rule | 95 % interval | wrong by intervals alone |"
    yield "|---|---|--:|--:|--:|--:|"
    for (kind, name), rows in sorted(counts.items()):
        n, ruled, alone = len(rows), sum(a for a, _ in rows), sum(b for _, b in rows)
        low, high = proportion_interval(ruled, n)
        beside = "–" if kind.startswith("best") else f"{alone / n:.1%}"
        yield f"| {kind} | {name} | {n:,} | {ruled / n:.1%} | [{low:.1%}, {high:.1%}] | {beside} |"
    every = [ruled for rows in counts.values() for ruled, _ in rows]
    yield f"\nAll {len(every):,} families together: {sum(every) / len(every):.1%} wrong by the rule."


def main() -> None:
    """Simulate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="simulations in each world")
    runs = parser.parse_args().runs
    lines = "\n".join(table(runs))
    text = PAGE.read_text(encoding="utf-8")
    block = f"{BEGIN}\n{runs} simulations in each world.\n\n{lines}\n{END}"
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: block, text, flags=re.S), encoding="utf-8")
    print(lines)


if __name__ == "__main__":
    main()
