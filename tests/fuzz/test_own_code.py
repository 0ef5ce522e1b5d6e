"""Plugins with bad attributes and returns: results that hold together, or a sentence that names the plugin's part."""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import datasets, measures, mitigation
from evenhand.core import shown
from evenhand.models.engines import ENGINES
from evenhand.stats.estimate import Estimate
from helpers.fuzzing import REFUSED, contents, fuzzed, run

pytestmark = pytest.mark.usefixtures("without_pages")

PLUGIN = '''
import math
from dataclasses import dataclass
from decimal import Decimal

import altair as alt
import numpy as np
import pandas as pd

from evenhand import (Answer, BadInput, Dataset, Drawing, Finding, Kinds, Likelihood, Mitigation, OfTotals, Pair,
    Question, Sections, Summary, Wrapper)
from evenhand.core.measure import Unscored
from evenhand.core.questions import Span
from evenhand.stats.intervals import Resampled


class Panic(BaseException):
    pass


class Silent:
    def __repr__(self):
        raise ValueError("no words")

    __str__ = __len__ = __iter__ = __float__ = __bool__ = __repr__


class Gap:
    """How much likelier the first sentence is."""

    name, version, neutral, reading = "gap", 1, 0.0, "above 0 the first is likelier"

    def ask(self, item):
        return Likelihood(item.one), Likelihood(item.other)

    def score(self, item, answers):
        return answers[0].logp - answers[1].logp

    def summarise(self, scores):
        return sorted(score.value for score in scores)[len(scores) // 2] if scores else math.nan


class Low(Summary):
    def __call__(self, scores):
        return min(score.value for score in scores) if scores else math.nan


class Ratio(OfTotals):
    def totals(self, scores):
        return np.array([[1.0, score.value] for score in scores])

    def of(self, totals):
        return totals[:, 1] / totals[:, 0]

    def estimands(self, kinds):
        return {"stereotype": Low(), "default": self}


class OfRatio(Gap):
    name, summarise = "of-ratio", Ratio()


class OfLow(Gap):
    name, summarise = "of-low", Low()


class OfMean(Gap):
    name, summarise = "of-mean", __import__("evenhand").mean


@dataclass(frozen=True)
class Asked(Question):
    text: str


class OfVector(Gap):
    name = "of-vector"

    def ask(self, item):
        return Asked(item.one), Asked(item.other)


class Item:
    def __init__(self, number):
        self.id, self.one, self.other = f"box {number}", f"He has box {number}.", f"She has box {number}."
        self.groups = {"kind": "fm"[number % 2], "box": str(number % 6), "half": "ab"[number // 6]}

    def texts(self):
        return self.one, self.other


class More(Sections):
    pass


FIELDS = {"name": "boxes", "by": ("half",), "cluster": "box", "kinds": Kinds("kind", ("f",), ("m",))}


def boxes(first: int = 0):
    """Boxes of two people."""
    return Dataset(**{"items": [Item(number) for number in range(first, 12)], "sections": More(), **FIELDS})


class Model:
    name, fingerprint, numbers, note = "made", "made", 1, ""

    def answer(self, questions):
        return [Answer((-float(self.numbers + sum(map(ord, asked.text)) % 7),), self.note) for asked in questions]


def load(rest, heat: float = 1.0):
    return Model()


class Halved(Wrapper):
    def answer(self, questions):
        return [Answer(tuple(n / 2 for n in answer.numbers), answer.note) for answer in self.model.answer(questions)]


class Halve(Mitigation):
    name = "halve"

    def apply(self, model, texts, out):
        return Halved(model, self)


MEASURES = [Gap, OfRatio, OfLow, OfMean, OfVector]
DATASETS = {"boxes": boxes}
MODELS = {"made": load}
MITIGATIONS = [Halve]


def raises(error):
    def fail(*_, **__):
        raise error

    return fail
'''
NAMED = re.compile(
    r"mine\.py|'(gap|of-|boxes|box |made|halve)|\b(Gap|Of[RLMV]|Item|Model|More|Asked|Halved?)\b|\[Errno"
)
"""What a refusal names. Of a system's error, it names the file."""
MEASURED = {
    "Gap": "name version neutral reading title leans unit better bounds rank favours family items needs on_request "
    "answers takes_missing weight misread masked_only causal_only words chat ask score summarise prior keep counts "
    "of_numbers __init__ __doc__",
    "Ratio": "interval_and_test resampling inside lacks estimands why_none labels totals of",
    "Low": "__call__ interval_and_test resampling inside lacks estimands why_none labels",
    "Asked": "fault stored_as __hash__ __eq__ text",
    "Item": "id groups texts words_asked one right",
    "Model": "name fingerprint kind answer numbers note answers plan stream batched_answers cannot requests reference "
    "tolerance good chats spend findings ask overflowed longest mask cast count_tokens about limit exact",
    "FIELDS": "name items version language about source licence by cluster table within crossed partners kinds flaws "
    "options builder sections",
    "globals()": "MEASURES DATASETS MODELS SECTIONS boxes load",
}
SHOWN = {"More": "page terminal figures shown_here", "FIELDS": "sections about", "globals()": "SECTIONS"}
DEBIASED = {
    "Halve": "name apply check texts_of made_of options record balance says needs_texts trains __str__ __init__",
    "Halved": "answer about name fingerprint kind",
}
"""The attributes that are spoiled, by the class or the dict that has them."""
VALUES = r"""
None; True; 0; 5; -1; 0.5; 10**400; -10**400; 10**5000; 1e38; -1e60; 1e300; math.nan; math.inf; -math.inf; 2+1j;
Decimal("NaN"); np.float32("inf"); np.float64(0.5); np.array([1.0, 2.0]); b"x"; ""; "x"; "\ud800"; "\x00";
"\x1b[31m"; "a" * 20000; "../x"; "causal"; "men"; "higher"; []; [1]; ["\ud800"]; (); (1, 2); (2, 1); ("a", "b");
{}; {"a": 1}; {"a": object()}; {"a": math.nan}; {"\ud800": 1}; {1: 2}; {"a": "\ud800"}; {"a": 10**5000};
{"a": [1]}; {"id": "x"}; {"score": 2.0}; {"measure": "x"}; {"kind": 5}; {"kind": "f"}; {"kind": ["f"]};
{"kind": "\ud800", "box": "1", "half": "a"}; {"kind": "f", "box": "1", "half": "a", "score": "x"}; object();
Silent(); int; len; iter([1]); Low(); Ratio(); Model(); Item(1); [Item(1)]; [Item(1), Item(1)];
[Pair("1", "a", "b")]; Dataset(name="one", items=[Item(1)]); Likelihood("a \ud800"); [Likelihood("a \ud800")];
[Likelihood("a")]; [Asked("\ud800")]; [Asked(5)]; [Asked([1])]; Kinds("no"); Kinds("kind", ("no",), ("m",));
(9, -9, 0.5); (-9, 9, 7); (-9, 9, -1); (5, 6, 0.01); (-math.inf, math.inf, 0.5); (math.nan, 1, 0.5);
("a", "b", "c"); (-99, 99, 0.01, -1); (-99, 99, 0.01, 1e-9); (0, 1); [-99.0, 99.0, 0.5]; {"stereotype": 5};
{"other": Low()}; {"default": Low()}; Resampled(1, len); Resampled(12, lambda counts: counts);
Resampled(-1, lambda counts: counts.sum(axis=1)); [Answer((-10**400,))] * 24; [Answer(("x",))] * 24;
[Answer((2+1j,))] * 24; [Answer(())] * 24; [Answer(5)] * 24; [Answer((-1.0,), 5)] * 24;
[Answer((-1.0,), "\ud800")] * 24; [Answer((-1.0,), text=5)] * 24; [Answer((Decimal(-1),))] * 24;
[(0, Answer((-1.0,)))]; [(n, Answer((-1.0,))) for n in range(24)]; [(-n, Answer((-1.0,))) for n in range(24)];
[(99, 5)]; [5] * 24; [Finding("a", "fine", 5)]; [Finding("a", "careful", "\ud800")]; [Finding("a", "bad", "b")];
[Finding("a", "unfit", "b", datasets=5)]; ("\ud800", ""); (1, 2); ("a", "b", "c"); [("a", 5)];
[("abc", Span(5, 99))]; [(5, Span(0, 1))]; {Likelihood("a"): Answer((-1.0,))}; {Likelihood("a"): 5}; {5: 6};
{"requests": "x"}; {"requests": 2**70}; {"requests": -1.5}; {5: 1}; pd.DataFrame(); pd.DataFrame({"share": ["x"]});
[Drawing(5, "a")]; [Drawing(alt.Chart(pd.DataFrame({"a": [1]})).mark_bar(), 5)];
[Drawing(alt.Chart("no").mark_bar(), "\ud800")];
[Drawing(alt.Chart(pd.DataFrame({"a": [object()]})).mark_bar().encode(x="a"), "a")];
{"a": alt.Chart("x").mark_bar()}; {"../x": 5}; {5: alt.Chart("x").mark_bar()}
""".replace("\n", " ").split(";")
ERRORS = r"""
ValueError("x") KeyError("x") SystemExit(0) SystemExit(1) GeneratorExit() Panic("x") StopIteration() MemoryError()
RecursionError("x") BadInput("x") Unscored(5) Unscored("\ud800") OSError(28,"x") BrokenPipeError() UserWarning("x")
"""
HOW = ["{}", "lambda *_, **__: {}", "property(lambda self: {})", "lambda *_, **__: (yield {})"]


def spoils(parts: dict[str, str]) -> st.SearchStrategy[str]:
    """A line that gives one attribute of one part a bad value."""
    places = [
        f"{owner}[{name!r}]" if owner in ("FIELDS", "globals()") else f"{owner}.{name}"
        for owner, names in parts.items()
        for name in names.split()
    ]
    values = st.builds(lambda how, value: how.format(value.strip()), st.sampled_from(HOW), st.sampled_from(VALUES))
    errors = st.sampled_from(ERRORS.split()).map("raises({})".format)
    return st.builds("{} = {}".format, st.sampled_from(places), values | values | values | errors)


@contextmanager
def spoiled(line: str) -> Iterator[Path]:
    """A folder with a plugin that ends with this line. What it registers is forgotten afterwards."""
    registers: list[Any] = [measures.MEASURES, datasets.BUILDERS, ENGINES, mitigation.METHODS, shown._BY_DATASET]
    before = [dict(register) for register in registers]
    try:
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "mine.py").write_text(f"{PLUGIN}\n{line}\n")
            yield Path(name)
    finally:
        for register, known in zip(registers, before, strict=True):
            register.clear()
            register.update(known)


def done(line: str, *arguments: str | Path) -> int:
    """The exit code of a command, which names a part of the plugin if it is refused."""
    code, _, err = run(*arguments)
    renamed = ".name =" in line or "'name'" in line or "fingerprint" in line
    assert code != REFUSED or renamed or NAMED.search(err), f"{arguments[0]}: {line}\n{err}"
    return code


def results(folder: Path) -> dict[str, str]:
    """A digest of each file but kept answers, which a refused audit may add to."""
    return {name: digest for name, digest in contents(folder).items() if "answers.sqlite" not in name}


def check_numbers(folder: Path) -> None:
    for file in folder.rglob("results.json"):
        for row in json.loads(file.read_text(encoding="utf-8"), parse_constant=float):
            names = ("value", "low", "high", "p", "p_holm", "freedom", "detectable")
            known: dict[str, Any] = {name: float("nan") if row.get(name) is None else row[name] for name in names}
            assert not Estimate(**known).fault, row
            assert row["value"] is not None or row["note"] or not row["n"], row


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of the plugin as it should be."""
    with spoiled("") as folder:
        how = ("--dataset", "boxes", "--plugin", folder / "mine.py", "--out", folder / "runs")
        for measure in ("gap", "of-ratio", "of-low", "of-mean", "of-vector"):
            assert run("audit", "made:1", "--measure", measure, *how)[0] == 0
        return Path(shutil.copytree(folder / "runs", tmp_path_factory.mktemp("made") / "runs"))


@fuzzed
@given(
    line=spoils(MEASURED),
    measure=st.sampled_from(["gap", "of-ratio", "of-low", "of-mean", "of-vector"]),
    more=st.sampled_from([[], ["--limit", "8"], ["--budget", "30"], ["--option", "first=1"]]),
    fresh=st.booleans(),
    reader=st.sampled_from(["show", "compare", "gate", "rescore", "doctor", "measures"]),
)
def test_what_is_measured(made: Path, line: str, measure: str, more: list[str], fresh: bool, reader: str) -> None:
    with spoiled(line) as folder:
        plugin, policy, runs = ("--plugin", folder / "mine.py"), folder / "policy.toml", folder / "runs"
        policy.write_text(f'[[rule]]\nmeasure = "{measure}"\nwithin = 99.0\n')
        if not (more or fresh):  # a sample never replaces what is there
            shutil.copytree(made, runs)
        before = results(runs)
        how = ("--dataset", "boxes", "--measure", measure, "--gate", policy, "--out", runs, *plugin)
        if done(line, "audit", "made:1", *how, *more) == REFUSED:
            assert results(runs) == before, line
        check_numbers(runs)
        for path in [file.parent for file in runs.glob("*/run.json")]:
            asked: dict[str, tuple[str | Path, ...]] = {
                "show": ("show", path, "--full"),
                "compare": ("compare", path, path, "--json"),
                "gate": ("gate", path, "--policy", policy),
                "rescore": ("rescore", path),
            }
            done(line, *asked.get(reader, ("export", path, "--as", "csv")), *(plugin if reader in asked else ()))
        if reader in ("doctor", "measures"):
            done(line, reader, *(["made:1"] if reader == "doctor" else []), *plugin)


@pytest.mark.usefixtures("pages")
@fuzzed
@given(line=spoils(SHOWN), reader=st.sampled_from(["show", "report", "figures"]))
def test_what_is_shown(made: Path, line: str, reader: str) -> None:
    with spoiled(line) as folder:
        plugin, out = ("--plugin", folder / "mine.py"), ("--out", folder / "runs")
        done(line, "audit", "made:1", "--dataset", "boxes", "--measure", "gap", *plugin, *out)
        for path in [file.parent for file in folder.glob("runs/*/run.json")]:
            if reader == "figures":  # which need sections, but take no plugin
                run(reader, path, "--out", folder / "figures")
            else:
                done(line, reader, path, *(["--full"] if reader == "show" else ["--out", folder / "a.html"]), *plugin)


@fuzzed
@given(line=spoils(DEBIASED))
def test_what_debiases(line: str) -> None:
    with spoiled(line) as folder:
        how = ("--method", "halve", "--suite", "emotions", "--limit", "8", "--out", folder / "out")
        if done(line, "debias", "made:1", *how, "--plugin", folder / "mine.py") == REFUSED:
            assert not (folder / "out" / "report.html").exists()
        check_numbers(folder)
