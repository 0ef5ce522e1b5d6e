"""Numbers of seeded examples: whatever moves them moves what people have published, and is meant or a fault.

If it is meant: a row in docs/versions.md, and `PYTHONPATH=src:tests python -m stats.test_pinned` for the new numbers.
"""

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.stats.correlation import correlate, fit_line, ratio_of_spreads
from evenhand.stats.intervals import Floats, Paired, by_calls, by_totals, clustered_interval
from evenhand.stats.mean_intervals import mean_estimate, mean_test
from evenhand.stats.partitions import TwoSets, mean_effect_interval, partition_test
from evenhand.stats.ratios import mean_of_ratios
from evenhand.stats.significance import detectable, interval_test, pairing_test, sign_flip_test, signed_rank
from evenhand.stats.verdict import adjust

FILE = Path(__file__).with_name("pinned.json")
V = np.random.default_rng(1).normal(0.3, 1, 60)
YES = (V > 0).astype(float)
TERNARY = np.sign(np.round(V))
WORDS, TEMPLATES, SLOTS = ([str(i // wide % n) for i in range(60)] for n, wide in ((12, 1), (5, 12), (3, 4)))
UNEQUAL = [str(min(i // 2, 12)) for i in range(60)]
SETS = ["small" if word in "012" else "large" for word in WORDS]
SHARING = ["small" if word in "012" or (word == "3" and i < 30) else "large" for i, word in enumerate(WORDS)]
THREE = [("pro", "anti", "non")[i // 12 % 3] for i in range(60)]
KNOWN = ("value", "low", "high", "p", "p_holm", "n", "clusters", "needed", "detectable", "freedom")


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def names(n: int) -> list[str]:
    return [str(i % n) for i in range(60)]


def crossed(values: Floats = V, *ways: list[str], **how: Any) -> Any:
    return mean_test(values, WORDS, rng(), crossed=ways, **how)


def ratio(totals: Floats) -> Floats:
    return np.asarray(totals[:, 0] / totals[:, 1])


def detect(freedom: float, clusters: int, rows: int) -> float:
    return detectable(-0.5, 0.7, freedom, clusters, rows=rows)


def before_and_after(n: int) -> Paired:
    parts = np.column_stack([np.concatenate([V, V[::-1] + 0.4]), np.repeat([1.0, 1.2], 60)])
    return Paired(by_totals(parts, [f"{run}\0{name}" for run in (0, 1) for name in names(n)], ratio))


def two_sets(scores: Floats, names: Iterable[str] = "abcdefghijklmn") -> TwoSets:
    totals = np.stack([np.ones(len(scores)), scores, scores**2], axis=1)
    return TwoSets(totals, [n < len(scores) // 2 for n in range(len(scores))], list(names)[: len(scores)])


EFFECTS = [two_sets(V[:12]), two_sets(V[20:34], "ghijklmnopqrst")]
CASES: dict[str, Callable[[], Any]] = {
    "means over clusters": lambda: [clustered_interval(V, names(n), rng()) for n in (2, 7, 8, 12)],
    "mean over unequal clusters": lambda: clustered_interval(V, UNEQUAL, rng(), level=0.8),
    "crossed": lambda: crossed(V, TEMPLATES),
    "crossed unequally": lambda: crossed(V, UNEQUAL),
    "crossed with few": lambda: crossed(V, ["ab"[i // 12 % 2] for i in range(60)]),
    "crossed by two others": lambda: crossed(V, TEMPLATES, SLOTS),
    "crossed, of shares": lambda: crossed(YES, TEMPLATES, unit=True, neutral=0.5),
    "sets": lambda: crossed(V, sets=SETS),
    "sets and templates": lambda: crossed(V, TEMPLATES, sets=THREE, neutral=0.25),
    "sets that share a word": lambda: crossed(V, sets=SHARING),
    "sets of shares": lambda: crossed(np.where(np.array(SETS) == "small", 1.0, YES), sets=SETS, unit=True),
    "sets of differences": lambda: crossed(np.where(np.array(SETS) == "small", 0.0, TERNARY), TEMPLATES, sets=SETS),
    "an estimate": lambda: astuple(mean_estimate(V, WORDS, rng(), crossed=[TEMPLATES], sets=THREE)),
    "totals": lambda: by_totals(np.column_stack([V, YES + 1]), WORDS, ratio).interval(rng()),
    "totals of few": lambda: by_totals(np.column_stack([V, YES + 1]), names(5), ratio).interval(rng()),
    "calls": lambda: by_calls(lambda indices: float(np.median(V[indices])), WORDS).interval(rng()),
    "a change": lambda: before_and_after(12).difference.interval(rng()),
    "a change over few": lambda: before_and_after(4).difference.interval(rng()),
    "swaps": lambda: [before_and_after(n).swap_test(rng()) for n in (4, 12)],
    "sign flips": lambda: [sign_flip_test(V, names(n), rng(), draws=9_999) for n in (3, 12, 16, 17, 60)],
    "sign flips of chance": lambda: [sign_flip_test(V[:n] - 0.2, names(60)[:n], rng(), draws=999) for n in (9, 20, 33)],
    "signed ranks": lambda: [*astuple(signed_rank(V)), *astuple(signed_rank(TERNARY))],
    "pairs": lambda: pairing_test(V.reshape(6, 10), rng(), draws=999),
    "detectable by flips": lambda: [detect(math.nan, n, rows) for n, rows in ((6, 1), (9, 9), (20, 3), (70, 2))],
    "detectable by t": lambda: [detect(t, 9, rows) for t, rows in ((1.0, 1), (3.5, 4), (19.0, 2), (1.0, 10**5))],
    "p of intervals": lambda: [interval_test(v, v - 0.5, v + 0.9, 6.5) for v in (-1.1, -0.3, 0.2, 0.6)],
    "partitions": lambda: [partition_test(EFFECTS[:1], rng(), one_sided=side) for side in (False, True)],
    "partitions of two tests": lambda: [partition_test(EFFECTS, rng(), draws=999)],
    "how many partitions": lambda: [EFFECTS[1].partitions, EFFECTS[1].largest],
    "an effect": lambda: mean_effect_interval(EFFECTS[:1], 0.4, rng()),
    "two effects": lambda: mean_effect_interval(EFFECTS, 0.4, rng()),
    "ratios": lambda: mean_of_ratios(V[:9], YES[:9] + 0.5, WORDS[:4] * 2 + WORDS[:1]),
    "correlations": lambda: [
        number
        for kind in ("pearson", "spearman")
        for number in (lambda c: (c.value, c.low, c.high, c.p))(correlate(V[:20], V[20:40] + V[:20], rng(), kind=kind))
    ],
    "a line": lambda: astuple(fit_line(V[:20], V[20:40] + V[:20], rng())),
    "spreads": lambda: ratio_of_spreads(V[:20], V[20:40], rng()),
    "a family": lambda: [
        getattr(one, name)
        for one in adjust([mean_estimate(V[i : i + 40], WORDS[i : i + 40], rng()) for i in (0, 10, 20)])
        for name in KNOWN
    ],
}


def found(name: str) -> list[float]:
    numbers = np.ravel(np.array(CASES[name](), dtype=object))
    return [float(number) for number in numbers if not isinstance(number, str)]


@pytest.mark.parametrize("name", CASES)
def test_seeded_numbers_are_those_of_the_last_version(name: str) -> None:
    pinned = json.loads(FILE.read_text(encoding="utf-8"))[name]
    assert found(name) == pytest.approx(pinned, rel=1e-7, abs=1e-12, nan_ok=True)


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}: {json.dumps(found(name))}" for name in CASES)
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
