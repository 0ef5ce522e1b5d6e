"""Association tests on vectors: the statistics of the released algorithm beside ours, large files, a whole suite."""

import math
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import evenhand
from benchmarks.rows import Row
from benchmarks.timing import in_turn, largest, now, ratios
from evenhand import Embed
from evenhand.stats.partitions import TwoSets, effect_sizes, partition_test

PARTS = 7
WORDS, SIZE = 400_000, 300
ASKED = 400
SETS = {"X": 64, "Y": 64, "A": 101, "B": 112}
"""The sentences of SEAT 6."""
DRAWS = 10_000
Vectors = dict[str, Any]


def rows() -> Iterator[Row]:
    """Statistics of one test, then files, then mini-en."""
    rng = np.random.default_rng(0)
    parts = [{name: rng.normal(size=(n, 768)) for name, n in SETS.items()} for _ in range(PARTS)]
    us, them = in_turn([partial(ours, part) for part in parts], [partial(released, part) for part in parts])
    found = ratios(them, us, [1.0] * PARTS)
    yield Row(
        f"Effect size and p of {DRAWS:,} permutations: algorithm of sent-bias",
        ours=us.total / PARTS,
        peer=them.total / PARTS,
        ratio=median(found),
        spread=found,
        goal=20,
        difference=largest(us.answers, them.answers),
        note="128 sentences of 768 dimensions, 213 attributes; without intervals, which the peer lacks",
    )
    with tempfile.TemporaryDirectory() as folder:
        for suffix, write in ((".bin", write_binary), (".txt", write_text)):
            path = Path(folder) / f"words{suffix}"
            write(path, rng)
            start = now()
            evenhand.load(str(path)).answer([Embed(f"word{n}") for n in range(0, WORDS, WORDS // ASKED)])
            taken = now() - start
            note = f"{path.stat().st_size / 2**20:.0f} MiB, {ASKED} words asked for"
            yield Row(f"A {suffix} file of {WORDS:,} x {SIZE} opened", ours=taken, goal=20, note=note)
            path.unlink()
        start = now()
        evenhand.audit("mini-en", suite="vectors", out=folder, progress=False)
        yield Row("mini-en, suite vectors, with its page", ours=now() - start, goal=40, note="loading included")


def ours(part: Vectors) -> list[float]:
    """The effect size."""
    lengths = {name: np.sqrt(np.einsum("ij,ij->i", vectors, vectors)) for name, vectors in part.items()}
    unit = {name: vectors / lengths[name][:, np.newaxis] for name, vectors in part.items()}
    scores = np.concatenate([unit["X"], unit["Y"]]) @ (unit["A"].mean(axis=0) - unit["B"].mean(axis=0))
    totals = np.stack([np.ones(len(scores)), scores, scores**2], axis=1)
    test = TwoSets(totals, [n < len(part["X"]) for n in range(len(scores))], [str(n) for n in range(len(scores))])
    partition_test([test], np.random.default_rng(0), one_sided=True, draws=DRAWS)
    return [float(effect_sizes(*(side.sum(axis=0) for side in test.sides)))]


def released(part: Vectors) -> list[float]:
    """The same by the steps of the released code: a cosine at a time, a shuffle at a time."""
    targets, attributes = ([row for name in names for row in part[name]] for names in ("XY", "AB"))
    cosines = np.zeros((len(targets), len(attributes)))
    for i, x in enumerate(targets):
        for j, a in enumerate(attributes):
            cosines[i, j] = np.dot(x, a) / math.sqrt(np.dot(x, x) * np.dot(a, a))
    size = len(part["X"])
    scores = cosines[:, : len(part["A"])].mean(axis=1) - cosines[:, len(part["A"]) :].mean(axis=1)
    places, rng, hits = np.arange(len(scores)), np.random.RandomState(1111), 0
    for _ in range(DRAWS - 1):
        rng.shuffle(places)
        hits += scores[places[:size]].sum() >= scores[:size].sum()
    return [float((scores[:size].mean() - scores[size:].mean()) / np.std(scores, ddof=1))]


def write_binary(path: Path, rng: np.random.Generator) -> None:
    """Random vectors, as word2vec writes them."""
    with path.open("wb") as file:
        file.write(f"{WORDS} {SIZE}\n".encode())
        for n in range(WORDS):
            file.write(f"word{n} ".encode() + rng.standard_normal(SIZE, dtype=np.float32).tobytes() + b"\n")


def write_text(path: Path, rng: np.random.Generator) -> None:
    """The same numbers over and over, which take as long to read as others."""
    line = " ".join(f"{number:.5f}" for number in rng.normal(size=SIZE))
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{WORDS} {SIZE}\n")
        file.writelines(f"word{n} {line}\n" for n in range(WORDS))
