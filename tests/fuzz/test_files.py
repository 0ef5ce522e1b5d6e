"""Files of users: pairs, templates, policies. They are measured, or refused with a sentence."""

import csv
import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand
from evenhand import Embed, Table
from evenhand.core.questions import Question
from helpers.audited_runs import noise
from helpers.fuzzing import Json, Text, call, command, contents, fuzzed
from helpers.served import audit

pytestmark = pytest.mark.usefixtures("without_pages")

WORDS = st.sampled_from(
    ["He is a nurse.", "She is a nurse.", "", " ", "he", "She said\tso.", "a\nb", "\x1b[2J he", '"', "\ud800"]
)
IDS = st.integers(0, 9).map(str) | st.just("\ud800") | Text
SENTENCES = st.lists(st.tuples(WORDS | Text, WORDS | Text, IDS), max_size=5)
SLOTS = st.sampled_from(
    ["{target} likes {attribute}.", "{attribute}{target}", "{target}", "{he} is a {profession}.", "{"]
)
NAMES = st.lists(st.sampled_from(["she", "he", "golf", "tennis", "the woman", ""]) | Text, max_size=4)
KEYS = ("name", "language", "templates", "targets", "attributes", "about", "source", "category", "captions", "other")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for one test; hypothesis writes each input over the last."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def answer(question: Question) -> tuple[float, ...]:
    if isinstance(question, Embed):
        return noise(repr(question)), noise(f"{question} again")
    return (noise(repr(question)) - 1.5,)


def measured(folder: Path, **asked: Any) -> None:
    """Audit a table on a file: a run with finite numbers, or a sentence and no trace of a run."""
    with tempfile.TemporaryDirectory() as out:
        run = call(lambda: evenhand.audit(Table(answer, "table", fingerprint="t"), out=out, **asked))
        if run is None:
            assert contents(Path(out)) == {}
            return
        json.dumps(run.results, allow_nan=False)
        (file,) = asked.values()
        again = call(lambda: evenhand.rescore(run.path, file=file))
        assert again is not None
        assert again.results == run.results


@fuzzed
@given(rows=SENTENCES, suffix=st.sampled_from(["csv", "tsv", "jsonl"]), header=st.booleans())
def test_pairs(folder: Path, rows: list[tuple[str, str, str]], suffix: str, header: bool) -> None:
    names = ["stereotype", "counterpart", "id"]
    if suffix == "jsonl":
        text = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
    else:
        made = io.StringIO()
        writer = csv.writer(made, delimiter="," if suffix == "csv" else "\t")
        writer.writerows([names] * header + [list(row) for row in rows])
        text = made.getvalue()
    file = folder / f"mine.{suffix}"
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    measured(folder, pairs=file)
    command("datasets", "lint", file, "--model", "none", "--json", watched=folder)


@fuzzed
@given(content=st.binary(max_size=300), suffix=st.sampled_from(["csv", "tsv", "jsonl", "parquet", "toml", "txt"]))
def test_any_bytes(folder: Path, content: bytes, suffix: str) -> None:
    file = folder / f"mine.{suffix}"
    file.write_bytes(content)
    measured(folder, **({"templates": file} if suffix == "toml" else {"pairs": file}))
    command("datasets", "lint", file, "--model", "none", watched=folder)


@fuzzed
@given(
    templates=st.lists(SLOTS | Text, max_size=3),
    female=NAMES,
    male=NAMES,
    words=NAMES,
    more=st.dictionaries(st.sampled_from(KEYS), Json, max_size=2),
)
def test_templates(
    folder: Path, templates: list[str], female: list[str], male: list[str], words: list[str], more: dict[str, Any]
) -> None:
    data = {
        **{"name": "mine", "language": "en", "templates": templates},
        **{"targets": {"female": female, "male": male}, "attributes": {"sports": words}},
    }
    file = folder / "mine.toml"
    file.write_text(toml(data | more), encoding="utf-8", errors="surrogatepass")
    measured(folder, templates=file)


@fuzzed
@given(
    sets=st.dictionaries(st.sampled_from(["X", "Y", "men", "women", "A", "B"]), NAMES | Json, min_size=2),
    more=st.dictionaries(st.sampled_from(["name", "language", "paired", "source", "other"]), Json, max_size=2),
    whole=st.booleans(),
)
def test_sets_of_words(folder: Path, sets: dict[str, Any], more: dict[str, Any], whole: bool) -> None:
    words = {key: [f"{key}{n}" for n in range(5)] for key in ("X", "Y", "men", "women")} if whole else {}
    file = folder / "mine.toml"
    data = {"name": "mine", "language": "en", **words, **sets, **more}
    file.write_text(toml(data), encoding="utf-8", errors="surrogatepass")
    measured(folder, templates=file)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return audit(tmp_path_factory.mktemp("run"), "plain", 1.0)


@fuzzed
@given(
    rules=st.lists(
        st.dictionaries(
            st.sampled_from(["measure", "dataset", "group", "within", "low", "high", "worse_by_at_most", "x"]),
            st.sampled_from(["likelihood-lean", "tgb", "all", "each", 0.5, -1, 9]) | Json,
            max_size=5,
        ),
        max_size=3,
    ),
    more=st.dictionaries(st.sampled_from(["baseline", "max_unscored", "x"]), Json, max_size=1),
)
def test_policies(folder: Path, run: Path, rules: list[dict[str, Any]], more: dict[str, Any]) -> None:
    file = folder / "policy.toml"
    file.write_text(
        toml({"rule": [{"measure": "likelihood-lean", **rule} for rule in rules], **more}),
        encoding="utf-8",
        errors="surrogatepass",
    )
    command("gate", run, "--policy", file, "--json", watched=folder)


def toml(data: dict[str, Any]) -> str:
    """The data as TOML, in inline tables; TOML has no None, but dates."""

    def value(data: Any) -> str:
        if isinstance(data, dict):
            return "{" + ", ".join(f"{json.dumps(key)} = {value(each)}" for key, each in data.items()) + "}"
        if isinstance(data, list):
            return f"[{', '.join(map(value, data))}]"
        return "2026-01-02" if data is None else json.dumps(data)

    return "".join(f"{json.dumps(key)} = {value(each)}\n" for key, each in data.items())
