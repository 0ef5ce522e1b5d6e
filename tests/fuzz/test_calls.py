"""Calls from Python with values that nobody meant: a result, or an error of ours, and no file left behind."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand
from evenhand import Table, measures
from evenhand.core.questions import Question
from helpers.audited_runs import noise
from helpers.fuzzing import Json, Scalars, Text, call, contents, fuzzed
from helpers.served import audit

pytestmark = pytest.mark.usefixtures("without_pages")

NAMES = st.sampled_from(
    ["tgb", "tbd", "becpro-en", "emotions-en", "likelihood-lean", "association", "pronoun", "gbef", "en"]
)
NUMBERS = st.sampled_from([0, 1, 3, -1, 10**30])


def answer(question: Question) -> tuple[float, ...]:
    return (noise(repr(question)) - 1.5,)


@fuzzed
@given(
    asked=st.fixed_dictionaries(
        {"limit": NUMBERS.filter(lambda n: n < 4)},
        optional={
            "dataset": NAMES | Text,
            "measure": NAMES | Text | st.lists(NAMES, max_size=2),
            "suite": NAMES | Text,
            "lang": NAMES | Text,
            "seed": NUMBERS,
            "name": Text,
            "options": st.dictionaries(st.sampled_from(["masks", "total", "file", "x"]), Scalars, max_size=2),
            "templates": Text,
            "pairs": Text,
        },
    )
)
def test_an_audit(asked: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        table = Table(answer, "table", fingerprint="t")
        run = call(lambda: evenhand.audit(table, out=Path(name) / "runs", **asked))
        if run is None:
            assert contents(Path(name)) == {}
        else:
            assert run.path.is_relative_to(Path(name) / "runs")
            json.dumps(run.results, allow_nan=False)


@fuzzed
@given(
    name=st.sampled_from(sorted(measures.MEASURES)),
    options=st.dictionaries(st.sampled_from(["masks", "total", "punctuation", "pll", "x"]), Scalars, max_size=2),
)
def test_a_measure(name: str, options: dict[str, Any]) -> None:
    call(lambda: measures.load(name, **options))


@fuzzed
@given(share=Json, seed=Scalars)
def test_a_swap(share: Any, seed: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.txt"
        file.write_text("He saw her. She saw him.\n" * 3)
        before = contents(Path(folder))
        done = call(lambda: evenhand.swap(file, share=share, seed=seed, jobs=1))
        if done is None:
            assert contents(Path(folder)) == before


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return audit(tmp_path_factory.mktemp("run"), "plain", 1.0)


@fuzzed
@given(
    to=st.sampled_from(["bibtex", "csv", "eval-results", "every-eval-ever", "latex", "model-card"]) | Text,
    options=st.dictionaries(
        st.sampled_from(["scores", "cite", "organization", "relationship", "hub", "x"]),
        st.booleans() | Text | st.lists(Text, max_size=2) | st.dictionaries(Text, Text, max_size=2),
        max_size=2,
    ),
)
def test_an_export(run: Path, to: str, options: dict[str, Any]) -> None:
    before = contents(run)
    found = call(lambda: evenhand.export(run, to, **options), TypeError)
    assert found is None or "nan" not in found.lower().split()
    assert contents(run) == before
