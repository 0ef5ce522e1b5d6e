"""Learn from raw text whether an object or a possessive stands in a context; writes mitigation/data/pronouns-en.tsv.

    python tools/learn_pronouns.py --without tests/mitigation/her-his.tsv GAP.tsv... NLI.jsonl... NOVEL.txt...

Takes GAP's tsv files (their documents in `--without` are left out, so that they can test the result), jsonl files with
premise and hypothesis, and plain text. The file in the package was learned from GAP, the English NLI pairs of its
fine-tuning data (SNLI and MNLI), Moby-Dick and the State of the Union addresses.
"""

import argparse
import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

from evenhand.mitigation.pronouns import TOKEN, features

OBJECTS, POSSESSIVES = {"him", "them", "me", "us"}, {"his", "their", "my", "our"}
WORD = re.compile(rf"\b({'|'.join(sorted(OBJECTS | POSSESSIVES))})\b", re.I)
SEEN_AT_LEAST, PENALTY, SMALLEST = 3, 3.0, 0.1
COMMON, KINDS, NEIGHBOURS, DIMENSIONS = 6, 36, 300, 50


def main() -> None:
    """Read, learn, write, and say how it went."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--without", type=Path)
    parser.add_argument("--out", type=Path, default=Path("src/evenhand/mitigation/data/pronouns-en.tsv"))
    given = parser.parse_args()
    without = {line.split("\t")[0] for line in given.without.read_text().splitlines()} if given.without else set()
    everything = sorted({text for path in given.files for text in texts(path, without)})
    kinds = kinds_of(everything)
    places = [
        (text, match.start(), match.end())
        for text in everything
        for match in WORD.finditer(text)
        if match[0] not in ("US", "ME")
    ]
    rows = [list(features(*place, kinds)) for place in places]
    labels = np.array([1.0 if text[start:stop].lower() in POSSESSIVES else -1.0 for text, start, stop in places])
    weights = learned(rows, labels)
    lines = [f"={word}\t{kind}" for word, kind in sorted(kinds.items())]
    lines += [f"{name}\t{weight:.2f}" for name, weight in sorted(weights.items())]
    given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    right = np.mean(
        [(sum(weights.get(f, 0) for f in row) > 0) == (label > 0) for row, label in zip(rows, labels, strict=True)]
    )
    print(f"{len(rows):,} contexts, {len(kinds):,} words, {len(weights):,} weights; {right:.2%} right in training")


def texts(path: Path, without: set[str]) -> Iterator[str]:
    """The texts of a file."""
    if path.suffix == ".tsv":
        for row in csv.DictReader(path.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["ID"] not in without:
                yield row["Text"]
    elif path.suffix == ".jsonl":
        for line in path.open(encoding="utf-8"):
            row = json.loads(line)
            yield from (row["premise"], row["hypothesis"])
    else:
        yield from path.open(encoding="utf-8")


def kinds_of(everything: list[str]) -> dict[str, str]:
    """A number for each common word: words with like neighbours get the same, as parts of speech would."""
    sentences = [["<s>", *(word.lower() for word in TOKEN.findall(text)), "</s>"] for text in everything]
    seen = Counter(word for words in sentences for word in words)
    row = {word: i for i, word in enumerate(sorted(word for word, n in seen.items() if n >= COMMON))}
    column = {word: i for i, (word, _) in enumerate(seen.most_common(NEIGHBOURS))}
    table = np.zeros((len(row), 2 * NEIGHBOURS), dtype=np.float32)
    for words in sentences:
        for one, other in pairwise(words):
            if other in row and one in column:
                table[row[other], column[one]] += 1
            if one in row and other in column:
                table[row[one], NEIGHBOURS + column[other]] += 1
    table = np.sqrt(table / (table.sum(axis=1, keepdims=True) + 5))
    left, sizes, _ = svds(csr_matrix(table), k=DIMENSIONS, rng=np.random.default_rng(0))
    places = left * sizes
    places /= np.linalg.norm(places, axis=1, keepdims=True) + 1e-6
    _, numbers = kmeans2(places, KINDS, rng=np.random.default_rng(0), minit="++", iter=30)
    return {word: str(numbers[i]) for word, i in row.items()}


def learned(rows: list[list[str]], labels: np.ndarray) -> dict[str, float]:
    """Logistic regression; small weights are left out."""
    seen = Counter(feature for row in rows for feature in row)
    names = sorted(feature for feature, n in seen.items() if n >= SEEN_AT_LEAST)
    index = {feature: i for i, feature in enumerate(names)}
    columns = [[index[f] for f in row if f in index] for row in rows]
    starts = np.cumsum([0, *map(len, columns)])
    matrix = csr_matrix((np.ones(starts[-1]), np.concatenate(columns), starts), shape=(len(rows), len(names)))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = labels * (matrix @ weights)
        slope = -labels / (1 + np.exp(np.clip(margins, -30, 30)))
        value = np.logaddexp(0, -margins).sum() + PENALTY * (weights**2).sum() / 2
        return float(value), matrix.T @ slope + PENALTY * weights

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    return {name: float(weight) for name, weight in zip(names, found, strict=True) if abs(weight) >= SMALLEST}


if __name__ == "__main__":
    main()
