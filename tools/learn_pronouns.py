"""Learn from raw text whether an object or a possessive stands in a context; writes text/data/pronouns-en.tsv.

    python tools/learn_pronouns.py --without tests/text/her-his.tsv GAP.tsv... EBOOK.xhtml... SPEECHES.txt...

Takes GAP's tsv files (their documents in `--without` are left out, so that they can test the result), the chapters of
e-books, and plain text with a paragraph on each line. The file in the package was learned from GAP (Apache-2.0), the
State of the Union addresses of NLTK's data, and these books of Standard Ebooks (public domain in the USA, github.com/
standardebooks): Addams, Twenty Years at Hull-House; Alcott, Little Women; Cather, One of Ours, The Song of the Lark;
Christie, The Man in the Brown Suit, The Murder of Roger Ackroyd, The Mysterious Affair at Styles, The Secret Adversary;
Doyle, The Adventures of Sherlock Holmes; Dreiser, An American Tragedy, Sister Carrie; Fitzgerald, The Beautiful and
Damned, The Great Gatsby, This Side of Paradise; Forster, Howards End, A Room with a View; Galsworthy, The Forsyte Saga;
Grey, Riders of the Purple Sage; Hardy, Tess of the d'Urbervilles; Keller, The Story of My Life; Lawrence, Sons and
Lovers, Women in Love; Lewis, Arrowsmith, Babbitt, Main Street; London, Martin Eden; Maugham, Of Human Bondage;
Montgomery, Anne of Avonlea, Anne of Green Gables, Anne of the Island, Emily of New Moon; Sayers, Clouds of Witness,
Whose Body?; Wharton, The Age of Innocence, The House of Mirth; Wodehouse, Love Among the Chickens, Piccadilly Jim;
Woolf, Night and Day; and the Short Fiction of Anderson, Budrys, Dick, Fitzgerald, Henry, Lardner, Leiber, Piper,
Sheckley and Wodehouse.
"""

import argparse
import csv
import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

from evenhand.text.pronouns import features, tokens

OBJECTS, POSSESSIVES = {"him", "them", "me", "us"}, {"his", "their", "my", "our"}
WORD = re.compile(rf"\b({'|'.join(sorted(OBJECTS | POSSESSIVES))})\b", re.I)
PARAGRAPH, TAG = re.compile(r"<p\b[^>]*>(.*?)</p>", re.S), re.compile(r"<[^>]+>")
SEEN_AT_LEAST, SMALLEST, GAP_COUNTS = 3, 0.2, 4.0
"""GAP is small, and more like what is swapped than novels are."""
PENALTIES = (3.0, 2.0)
"""Of all features, and of those whose weights were not small."""
COMMON, KINDS, NEIGHBOURS, DIMENSIONS = 40, 64, 300, 50


def main() -> None:
    """Read, learn, write, and say how it went."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--without", type=Path)
    parser.add_argument("--out", type=Path, default=Path("src/evenhand/text/data/pronouns-en.tsv"))
    given = parser.parse_args()
    without = {line.split("\t")[0] for line in given.without.read_text().splitlines()} if given.without else set()
    counts = {
        text: GAP_COUNTS if path.suffix == ".tsv" else 1.0 for path in given.files for text in texts(path, without)
    }
    everything = sorted(counts)
    kinds = kinds_of(everything)
    places = [
        (text, match.start(), match.end())
        for text in everything
        for match in WORD.finditer(text)
        if match[0] not in ("US", "ME")
    ]
    rows = [features(*place, kinds) for place in places]
    labels = np.array([1.0 if text[start:stop].lower() in POSSESSIVES else -1.0 for text, start, stop in places])
    weights = learned(rows, labels, np.array([counts[text] for text, *_ in places]))
    words = defaultdict(list)
    for word, kind in sorted(kinds.items()):
        words[kind].append(word)
    lines = [f"={kind}\t{' '.join(found)}" for kind, found in sorted(words.items())]
    lines += [f"{name}\t{weight:.1f}" for name, weight in sorted(weights.items())]
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
    elif path.suffix == ".xhtml":
        for found in PARAGRAPH.findall(path.read_text(encoding="utf-8")):
            plain = html.unescape(TAG.sub("", found)).replace("\u2060", "").replace("\ufeff", "")
            yield " ".join(plain.split())
    else:
        yield from path.open(encoding="utf-8")


def kinds_of(everything: list[str]) -> dict[str, str]:
    """A number for each common word: words with like neighbours get the same, as parts of speech would."""
    sentences = [["<s>", *map(str.lower, tokens(text)), "</s>"] for text in everything]
    seen = Counter(word for words in sentences for word in words)
    common = sorted(word for word, n in seen.items() if n >= COMMON and not word[0].isdigit())
    row = {word: i for i, word in enumerate(common)}
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


def learned(rows: list[list[str]], labels: np.ndarray, counts: np.ndarray) -> dict[str, float]:
    """Logistic regression, twice: the second time with the features that had no small weight the first time."""
    seen = Counter(feature for row in rows for feature in row)
    names = sorted(feature for feature, n in seen.items() if n >= SEEN_AT_LEAST)
    index = {feature: i for i, feature in enumerate(names)}
    columns = [[index[f] for f in row if f in index] for row in rows]
    starts = np.cumsum([0, *map(len, columns)])
    matrix = csr_matrix((np.ones(starts[-1]), np.concatenate(columns), starts), shape=(len(rows), len(names)))
    found = np.zeros(0)
    for penalty in PENALTIES:
        if len(found):
            matrix, names = (
                matrix[:, abs(found) >= SMALLEST],
                [names[i] for i in np.flatnonzero(abs(found) >= SMALLEST)],
            )
        found = fitted(matrix, labels, counts, penalty)
    return {name: round(float(weight), 1) for name, weight in zip(names, found, strict=True) if abs(weight) >= 0.05}


def fitted(matrix: csr_matrix, labels: np.ndarray, counts: np.ndarray, penalty: float) -> np.ndarray:
    """The weights of a logistic regression, in which a row counts as often as `counts` says."""

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = labels * (matrix @ weights)
        slope = -labels * counts / (1 + np.exp(np.clip(margins, -30, 30)))
        value = (counts * np.logaddexp(0, -margins)).sum() + penalty * (weights**2).sum() / 2
        return float(value), matrix.T @ slope + penalty * weights

    start = np.zeros(matrix.shape[1])
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 120}).x)


if __name__ == "__main__":
    main()
