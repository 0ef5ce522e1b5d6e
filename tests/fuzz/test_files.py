"""Files of users: pairs, templates, policies. They are measured, or refused with a sentence."""

import csv
import io
import json
import shutil
import tempfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.parquet import write_table

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


CELLS = Json.map(json.dumps) | st.integers(1, 7_000).map(lambda digits: "9" * digits) | st.just("1e999")
WANTED = st.sampled_from(["id", "text", "stereotype", "counterpart", "score", "written", "prompt", "other"])
"""Names that commands look for."""


@fuzzed
@given(
    names=st.lists(WANTED | Text, max_size=12),
    more=st.integers(0, 4_000),
    cells=st.lists(CELLS | WORDS.map(json.dumps), min_size=1, max_size=30),
    suffix=st.sampled_from(["csv", "tsv", "jsonl", "parquet"]),
)
def test_columns(folder: Path, names: list[str], more: int, cells: list[str], suffix: str) -> None:
    """Many, twice, with odd names, and with values of all kinds."""
    names, file = [*names, *map(str, range(more))], folder / f"mine.{suffix}"
    lines = [list(islice(cycle(cells[start:] + cells[:start]), len(names))) for start in range(3)]
    if suffix == "jsonl":
        objects = (", ".join(map("{}: {}".format, map(json.dumps, names), line)) for line in lines)
        file.write_text("".join(f"{{{row}}}\n" for row in objects), encoding="utf-8")
    elif suffix == "parquet":
        made = [pa.array([line[i] if i % 2 else [line[i]] for line in lines]) for i in range(len(names))]
        write_table(pa.Table.from_arrays(made, names=names), file)
    else:
        with file.open("w", encoding="utf-8", newline="") as table:
            csv.writer(table, delimiter="\t" if suffix == "tsv" else ",").writerows([names, *lines])
    measured(folder, pairs=file)
    command("datasets", "lint", file, "--model", "none", "--json", watched=folder)
    with tempfile.TemporaryDirectory() as out:
        command("import", file, "--dataset", "tgb", "--measure", "stereotype-share", "--out", out, watched=folder)
        command("import", file, "--dataset", "stories-en", "--out", out, watched=folder)
        command("swap", file, "--lang", "en", "--out", f"{out}/new.{suffix}", watched=folder)
        command("corpus", file, "--lang", "en", "--column", "text", "--json", "--out", f"{out}/c", watched=folder)


PLACES = st.sampled_from(["a.txt", "b.txt", "c.csv", "d", "d/e.txt", "d/f", "runs", "g.html"])
POINTS = PLACES | st.sampled_from(["../elsewhere", "/dev/null", ".", "..", "nothing", "a.txt/b", "x" * 300])


@fuzzed
@given(links=st.dictionaries(PLACES, POINTS, max_size=6), named=PLACES, out=PLACES)
def test_links(folder: Path, links: dict[str, str], named: str, out: str) -> None:
    """In circles, to nothing, elsewhere and to a device: as what is read, in a folder that is read, and as output."""
    shutil.rmtree(folder)
    tree = folder / "tree"
    for name in ("tree/a.txt", "tree/b.txt", "tree/d/e.txt", "elsewhere/h.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("He saw her, and she saw him.\n")
    for name, point in links.items():
        place = tree / name
        if not place.parent.is_symlink():
            shutil.rmtree(place, ignore_errors=True)
            place.unlink(missing_ok=True)
            place.symlink_to(point)
    for read in (tree / named, tree):
        command("swap", read, "--lang", "en", "--out", tree / out, watched=folder)
        command("corpus", read, "--lang", "en", "--out", tree / out, watched=folder)
        command("audit", "--pairs", read, "--out", tree / out, watched=folder)
        command("import", read, "--dataset", "tgb", "--out", tree / out, watched=folder)
        command("runs", read, watched=folder)
        command("report", read, "--out", tree / out, watched=folder)


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
