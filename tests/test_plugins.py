"""Measures, datasets and models of one's own: in Python, from a file, and from an installed package."""

import os
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import BadInput, Dataset, Pair, datasets, measures, plugins
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.models.engines import ENGINES
from evenhand.suites import tasks_on

PLUGIN = '''
import statistics
from dataclasses import dataclass
from typing import ClassVar

from evenhand import Answer, Dataset, Likelihood, Pair, Table


@dataclass(frozen=True)
class MedianGap:
    """The median difference of the two sentences."""

    name: ClassVar[str] = "median-gap"
    version: ClassVar[int] = 1
    neutral: ClassVar[float] = 0.0
    reading: ClassVar[str] = "above 0 the stereotype is likelier"
    title: ClassVar[str] = "The usual gap"
    leans: ClassVar[tuple[str, str]] = ("leans to women", "leans to men")

    def ask(self, pair):
        return Likelihood(pair.stereotype), Likelihood(pair.counterpart)

    def score(self, pair, answers):
        return answers[0].logp - answers[1].logp

    def summarise(self, scores):
        return statistics.median(score.value for score in scores) if scores else float("nan")


def keys(pairs: int = 12) -> Dataset:
    """Who has how many keys."""
    items = [
        Pair(str(i), f"He has {i} keys.", f"She has {i} keys.", {"parity": "odd" if i % 2 else "even"})
        for i in range(int(pairs))
    ]
    return Dataset(name="keys", items=items, by=("parity",))


def model(rest: str) -> Table:
    """A model that prefers men by as much as its name says."""

    def rule(question):
        who, _, number, _ = question.text.split()
        against = float(rest) * (1 + int(number) % 3 / 10) if who == "She" else 0.0
        return Answer((-5.0 - len(question.text) / 100 - against,))

    return Table(rule, name=f"made {rest}")


MEASURES = [MedianGap]
DATASETS = {"keys": keys}
MODELS = {"made": model}
'''
pytestmark = pytest.mark.usefixtures("without_pages")


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """What a test adds is gone after it."""
    kept = [dict(known) for known in (measures.MEASURES, datasets.BUILDERS, ENGINES)]
    yield
    for known, before in zip((measures.MEASURES, datasets.BUILDERS, ENGINES), kept, strict=True):
        known.clear()  # type: ignore[attr-defined]
        known.update(before)  # type: ignore[attr-defined]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN)
    return path


def test_a_file_brings_measure_dataset_and_model(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "runs"
    for name in ("0.5", "1.5"):
        words = ["audit", f"made:{name}", "--plugin", str(file), "--dataset", "keys", "--measure", "median-gap"]
        assert run_command(app, [*words, "--option", "pairs=10", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "keys (pairs=10) · the usual gap" in printed
    assert "■ leans to men" in printed
    runs = [str(out / f"made {name}") for name in ("0.5", "1.5")]
    assert run_command(app, ["compare", *runs, "--plugin", str(file)]) == 0
    assert "+0.560   +1.660   +1.100" in capsys.readouterr().out
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\ndataset = "keys (pairs=10)"\nmeasure = "median-gap"\nhigh = 1.0\n')
    assert run_command(app, ["gate", runs[0], "--policy", str(policy), "--plugin", str(file)]) == 0
    assert run_command(app, ["gate", runs[1], "--policy", str(policy), "--plugin", str(file)]) == 1
    assert run_command(app, ["rescore", runs[0], "--plugin", str(file)]) == 0


def test_a_measure_without_a_docstring_is_listed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(PLUGIN.replace('"""The median difference of the two sentences."""', "", 1))
    assert run_command(app, ["measures", "--plugin", str(file)]) == 0
    assert "median-gap (version 1, neutral at 0)" in capsys.readouterr().out


def test_an_edit_is_loaded_though_time_and_size_are_the_same(file: Path) -> None:
    plugins.load_file(file)
    written = file.stat()
    file.write_text(PLUGIN.replace("The usual gap", "A changed gap"))
    os.utime(file, ns=(written.st_atime_ns, written.st_mtime_ns))
    assert file.stat().st_size == written.st_size
    for known, name in ((measures.MEASURES, "median-gap"), (datasets.BUILDERS, "keys"), (ENGINES, "made")):
        del known[name]
    plugins.load_file(file)
    assert measures.MEASURES["median-gap"].title == "A changed gap"  # type: ignore[attr-defined]
    assert not (file.parent / "__pycache__").exists()


def test_without_the_plugin_a_comparison_says_what_is_missing(file: Path, tmp_path: Path) -> None:
    plugins.load_file(file)
    one = evenhand.audit("made:1", dataset="keys", measure="median-gap", out=tmp_path)
    del measures.MEASURES["median-gap"]
    with pytest.raises(BadInput, match="`plugin`"):
        evenhand.compare(one, one)
    del datasets.BUILDERS["keys"]
    with pytest.raises(BadInput, match="by a plugin"):
        evenhand.rescore(one.path)


def test_objects_of_ones_own_make_a_run(file: Path, tmp_path: Path) -> None:
    plugins.load_file(file)
    data, how, model = datasets.load("keys"), measures.MEASURES["median-gap"], evenhand.load("made:1")
    whole = evenhand.audit(model, dataset=data, measure=how(), out=tmp_path / "a")
    assert [row.groups for row in whole.values_of("keys", "median-gap")] == [{}, {"parity": "even"}, {"parity": "odd"}]
    both: Any = [how, "stereotype-share"]
    items = evenhand.audit(model, dataset=list(data.items), measure=both, out=tmp_path / "b")
    assert items.datasets == ["items"]
    assert {task.measure for task in items.record.tasks} == {"median-gap", "stereotype-share"}
    assert items.record.tasks[0].by == ("parity",)


def test_a_result_is_saved_as_a_run(file: Path, tmp_path: Path) -> None:
    plugins.load_file(file)
    data, how, model = datasets.load("keys"), measures.MEASURES["median-gap"], evenhand.load("made:1")
    result = evenhand.measure(model, data.items, how(), by=("parity",))
    run = evenhand.from_scores(result.frame, dataset=data, measure=how(), name="saved", out=tmp_path)
    assert run.values["value"].tolist() == result.values["value"].tolist()
    assert run.values["low"].tolist() == pytest.approx(result.values["low"].tolist(), nan_ok=True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\ny = x / 0\n", "failed: ZeroDivisionError: division by zero"),
        ("x = (\n", "failed: SyntaxError: '(' was never closed (bad.py, line 1)"),
        ("import nowhere_to_be_found\n", "failed: ModuleNotFoundError"),
        ("x = 1\n", "defines none of MEASURES, DATASETS, MODELS"),
        ("MEASURES = 5\n", "MEASURES and MITIGATIONS are lists of classes"),
        ("MEASURES = [int]\n", "A measure needs name, version, neutral, reading, ask, score, summarise"),
        ("DATASETS = {'tgb': dict}\n", "'tgb' is the name of a built-in dataset"),
        ("DATASETS = {'mine': 3}\n", "needs a name and a function that returns it"),
    ],
)
def test_a_plugin_that_fails_is_a_sentence(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text)
    assert run_command(app, ["measures", "--plugin", str(path)]) == 2
    assert says in capsys.readouterr().err


def test_a_plugin_is_a_python_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Python file"):
        plugins.load_file(tmp_path / "none.py")


def test_builders_and_loaders_return_what_they_should(tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    path.write_text("DATASETS = {'odd': lambda: {}}\nMODELS = {'odd': str}\n")
    plugins.load_file(path)
    with pytest.raises(BadInput, match=r"evenhand.Dataset. Got \{\}"):
        datasets.load("odd")
    with pytest.raises(BadInput, match="A model is a name"):
        evenhand.audit("odd:1", dataset="tgb", out=tmp_path)


def test_ours_are_not_replaced(file: Path) -> None:
    file.write_text(PLUGIN.replace("median-gap", "stereotype-share"))
    with pytest.raises(BadInput, match="name of a measure"):
        plugins.load_file(file)


def test_no_plugin_takes_the_prefix_of_served_models(file: Path) -> None:
    file.write_text(f"{PLUGIN}\nMODELS = {{'openai': model}}\n")
    ours = ENGINES["openai"]
    with pytest.raises(BadInput, match="'openai:'.*another prefix"):
        plugins.load_file(file)
    assert ENGINES["openai"] is ours


def test_installed_packages_bring_theirs(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(file.parent))
    entries = {
        "evenhand.measures": [EntryPoint("median-gap", "mine:MedianGap", "evenhand.measures")],
        "evenhand.datasets": [EntryPoint("keys", "mine:keys", "evenhand.datasets")],
        "evenhand.models": [EntryPoint("made", "mine:model", "evenhand.models")],
        "evenhand.mitigations": [],
    }
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries.get(group, []))
    plugins.load_installed.__wrapped__()
    assert "median-gap" in measures.MEASURES
    assert len(datasets.load("keys", pairs=3).items) == 3
    assert evenhand.load("made:2").name == "made 2"
    entries["evenhand.models"] = [EntryPoint("x", "mine:nothing", "evenhand.models")]
    with pytest.raises(BadInput, match="'mine:nothing'"):
        plugins.load_installed.__wrapped__()


def test_a_dataset_needs_a_name_and_items_alone() -> None:
    data = Dataset(name="two", items=[Pair("a", "He ran.", "She ran.", {"verb": "ran"})])
    assert data.table().to_dict("index") == {"a": {"text": "He ran.", "other": "She ran.", "verb": "ran"}}
    with pytest.raises(BadInput, match="'none'.*no items"):
        evenhand.audit(dataset=Dataset(name="none", items=[]))


def test_an_error_in_a_measure_is_its_own(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(PLUGIN.replace("answers[0].logp -", "answers[0].lgp -"))
    words = ["audit", "made:1", "--plugin", str(file), "--dataset", "keys", "--measure", "median-gap"]
    assert run_command(app, [*words, "--out", str(file.parent)]) == 2
    printed = capsys.readouterr().err
    assert "'median-gap' failed on item '0': AttributeError: 'Answer' object has no attribute 'lgp'" in printed
    assert f"{file}, line " in printed
    file.write_text(PLUGIN.replace("return Likelihood(pair.stereotype)", "return Likelihood(pair.stereotyped)"))
    assert run_command(app, [*words, "--out", str(file.parent / "other")]) == 2
    assert "no attribute 'stereotyped'" in capsys.readouterr().err


def test_a_gate_is_suggested_without_the_plugin_and_asks_for_it_to_judge(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugins.load_file(file)
    run = evenhand.audit("made:1", dataset="keys", measure="median-gap", out=tmp_path)
    del measures.MEASURES["median-gap"]
    assert run_command(app, ["gate", "--suggest", str(run.path)]) == 0
    policy = tmp_path / "policy.toml"
    policy.write_text(capsys.readouterr().out)
    assert 'measure = "median-gap"' in policy.read_text()
    assert run_command(app, ["gate", str(run.path), "--policy", str(policy)]) == 2
    assert "load its file with `plugin`" in capsys.readouterr().err
    assert run_command(app, ["gate", str(run.path), "--policy", str(policy), "--plugin", str(file)]) == 0


def test_a_measure_that_says_not_whom_it_favours_is_told_what_it_lacks(caplog: pytest.LogCaptureFixture) -> None:
    class Gap:
        name, version, neutral, reading = "gap", 1, 0.0, "above 0 the stereotype is likelier"
        summarise = evenhand.mean

        def ask(self, pair: Pair) -> tuple[evenhand.Likelihood, ...]:
            return evenhand.Likelihood(pair.stereotype), evenhand.Likelihood(pair.counterpart)

        def score(self, pair: Pair, answers: list[evenhand.Answer]) -> float:
            return answers[0].logp - answers[1].logp

    class Directed(Gap):
        name, favours = "directed", "stereotype"

    own: list[Any] = [Gap, Directed]
    for each in own:
        measures.add(each)
    tasks_on("tgb", [each() for each in own])
    assert ["'gap' has no stereotype and default on 'tgb'" in record.message for record in caplog.records] == [True]
