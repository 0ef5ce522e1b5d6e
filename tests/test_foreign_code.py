"""Plugins and objects of one's own that fail: an error that names them, never a success and never a bug of ours."""

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import evenhand
from evenhand import EvenhandError, plugins
from evenhand.cli import terminal
from evenhand.cli.app import app
from test_plugins import PLUGIN, _forgotten  # noqa: F401 (a fixture that every test uses)

pytestmark = pytest.mark.usefixtures("without_pages")
MINE = "not evenhand's own code"
AUDIT = ["audit", "made:1", "--dataset", "keys", "--measure", "median-gap"]
ENDS = ["sys.exit()", "sys.exit(0)", "sys.exit('done')", "raise GeneratorExit", "raise BaseException('panic')"]
PLACES = {
    "the module": ("import statistics\n", "import statistics\n{}\n"),
    "the loader": ("    def rule(question)", "    {}\n    def rule(question)"),
    "the dataset": ("    items = [", "    {}\n    items = ["),
    "the rule": ("        who, _,", "        {}\n        who, _,"),
    "ask": ("        return Likelihood", "        {}\n        return Likelihood"),
    "score": ("        return answers[0]", "        {}\n        return answers[0]"),
    "summarise": ("        return statistics", "        {}\n        return statistics"),
    "constructor": ("    def ask", "    def __post_init__(self):\n        {}\n\n    def ask"),
    "prior": ("    def ask", "    def prior(self, answers):\n        {}\n\n    def ask"),
}
"""Where a plugin can fail, and what is replaced there by the line that does."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mine.py"


def write(file: Path, place: str, line: str) -> None:
    old, new = PLACES[place]
    assert old in PLUGIN
    file.write_text("import sys\n" + PLUGIN.replace(old, new.format(line), 1))


def audited(file: Path, *more: str) -> int:
    return terminal.run(app, [*AUDIT, "--plugin", str(file), "--out", str(file.parent / "runs"), *more])


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("place", PLACES)
def test_a_gate_does_not_pass_because_a_plugin_ends_python(
    place: str, end: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = file.with_name("policy.toml")
    policy.write_text('[[rule]]\ndataset = "keys"\nmeasure = "median-gap"\nhigh = 9.0\n')
    file.write_text(PLUGIN)
    plugins.load_file(file)  # so that the rule's measure is known
    write(file, place, end)
    assert audited(file, "--gate", str(policy)) == terminal.BAD_INPUT
    printed = capsys.readouterr().err
    assert MINE in printed
    assert any(name in printed for name in ("SystemExit", "GeneratorExit", "BaseException: panic"))


@pytest.mark.parametrize("place", PLACES)
def test_an_error_in_a_plugin_names_what_failed_and_the_line(
    place: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(file, place, "1 / 0")
    assert audited(file) == terminal.BAD_INPUT
    printed = capsys.readouterr().err
    assert f"ZeroDivisionError: division by zero ({file}, line " in printed
    assert MINE in printed
    assert any(name in printed for name in ("mine.py' failed", "'median-gap'", "'keys'", "'made:'", "'made 1'"))


WRONG = {
    "neutral": ("neutral: ClassVar[float] = 0.0", "neutral = 'zero'"),
    "bounds": ("    title:", "    bounds = 'wide'\n    title:"),
    "bounds of one": ("    title:", "    bounds = (0.0,)\n    title:"),
    "better": ("    title:", "    better = 'lower'\n    title:"),
    "rank": ("    title:", "    rank = 'first'\n    title:"),
    "name": ('name: ClassVar[str] = "median-gap"', "name = ['median-gap']"),
    "version": ("version: ClassVar[int] = 1", "version = 'one'"),
    "reading": ('"above 0 the stereotype is likelier"', "5"),
    "leans": ('("leans to women", "leans to men")', "5"),
    "ask, a number": ("return Likelihood(pair.stereotype), Likelihood(pair.counterpart)", "return 5"),
    "ask, texts": ("return Likelihood(pair.stereotype), Likelihood(pair.counterpart)", "return ['a', 'b']"),
    "ask, nothing": ("return Likelihood(pair.stereotype), Likelihood(pair.counterpart)", "pass"),
    "ask, of a number": ("return Likelihood(pair.stereotype)", "return Likelihood(5)"),
    "score, a text": ("return answers[0].logp - answers[1].logp", "return 'high'"),
    "score, nothing": ("return answers[0].logp - answers[1].logp", "pass"),
    "summarise, a text": ("return statistics.median", "return 'high' or statistics.median"),
    "summarise, nothing": ("return statistics.median", "statistics.median"),
    "prior, a text": ("    def ask", "    def prior(self, answers):\n        return 'high'\n\n    def ask"),
    "dataset, nothing": ('return Dataset(name="keys"', 'Dataset(name="keys"'),
    "dataset, numbers": ("items=items", "items=[1, 2, 3]"),
    "dataset, a number": ("items=items", "items=5"),
    "dataset, no name": ('Dataset(name="keys"', "Dataset(name=5"),
    "dataset, by": ('by=("parity",)', "by=5"),
    "dataset, cluster": ('by=("parity",)', "cluster=5"),
    "dataset, kinds": ('by=("parity",)', "kinds='women'"),
    "dataset, groups": ('{"parity": "odd" if i % 2 else "even"}', "5"),
    "dataset, a group named as a column": ('{"parity":', '{"score":'),
    "dataset, half a character": ('Dataset(name="keys"', 'Dataset(about="\\ud800", name="keys"'),
    "measure, half a character": ("above 0 the stereotype is likelier", "above 0 \\ud800"),
    "dataset, texts": ('f"He has {i} keys."', "i"),
    "dataset, no such option": ("def keys(pairs: int = 12)", "def keys()"),
    "model, nothing": ("return Table", "Table"),
    "model, a name": ('name=f"made {rest}"', "name=5"),
    "model, a kind": ('name=f"made {rest}"', "kind='banana'"),
    "model, answers": ("return Answer((", "return Answer(5) or ((("),
    "models, a number": ('MODELS = {"made": model}', 'MODELS = {"made": 5}'),
    "datasets, a list": ('DATASETS = {"keys": keys}', "DATASETS = [keys]"),
    "datasets, a number as name": ('DATASETS = {"keys": keys}', "DATASETS = {5: keys}"),
    "measures, an object": ("MEASURES = [MedianGap]", "MEASURES = [MedianGap()]"),
    "models that raise": ('MODELS = {"made": model}', "def __getattr__(name):\n    raise KeyError(name)\n"),
}
"""What a plugin can have or give that is of a wrong type."""


@pytest.mark.parametrize("what", WRONG)
def test_what_is_of_a_wrong_type_in_a_plugin_is_not_called_our_bug(
    what: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = WRONG[what]
    assert old in PLUGIN
    file.write_text(PLUGIN.replace(old, new, 1))
    assert audited(file) == terminal.BAD_INPUT
    printed = capsys.readouterr().err
    names = ("mine.py", "median-gap", "MedianGap", "'keys'", "'made:'", "'made 1'", "dataset 'keys'")
    assert any(name in printed for name in names), printed


TABLES = {
    "an error": "1 / 0",
    "a number": "5",
    "the ids as a column": "pandas.DataFrame({'id': ['a']})",
    "half a character": "pandas.DataFrame({'text': ['\\ud800']})",
    "what is no JSON": "pandas.DataFrame({'text': [object()]})",
}


@pytest.mark.parametrize("what", TABLES)
def test_a_table_that_cannot_be_read_names_its_dataset(
    what: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = f"table=lambda: {TABLES[what]}"
    file.write_text("import pandas\n" + PLUGIN.replace("items=items", f"items=items, {table}", 1))
    plugins.load_file(file)
    shown = ["datasets", "show", "keys"]
    exported = ["datasets", "export", "keys", "--out", str(file.with_suffix(".jsonl"))]
    for words in (exported, shown) if "column" in what or what in ("an error", "a number") else (exported,):
        assert terminal.run(app, words) == terminal.BAD_INPUT
        printed = capsys.readouterr().err
        assert "The table of the dataset 'keys' cannot be read" in printed
        assert MINE in printed


@pytest.mark.parametrize("line", ["1 / 0", "return 'high'", "return None"])
def test_numbers_that_a_measure_cannot_compare_name_it(
    line: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = f'    answers = ("one", "two")\n\n    def of_numbers(self, one, two):\n        {line}\n\n    def ask'
    file.write_text(PLUGIN.replace("    def ask", more, 1))
    scores = file.with_name("scores.csv")
    scores.write_text("id,one,two\n" + "".join(f"{i},-1,-2\n" for i in range(12)))
    plugins.load_file(file)
    words = ["import", str(scores), "--dataset", "keys", "--measure", "median-gap"]
    assert terminal.run(app, [*words, "--out", str(file.with_name("runs"))]) == terminal.BAD_INPUT
    printed = capsys.readouterr().err
    assert "The measure 'median-gap' failed on item '0'" in printed
    assert MINE in printed


def test_an_installed_package_that_ends_python_is_named(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    file.with_name("ends_at_once.py").write_text("import sys\nsys.exit()\n")
    monkeypatch.syspath_prepend(str(file.parent))
    entries = {"evenhand.measures": [EntryPoint("x", "ends_at_once:X", "evenhand.measures")]}
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries.get(group, []))
    with pytest.raises(EvenhandError, match="'ends_at_once:X'.*SystemExit"):
        plugins.load_installed.__wrapped__()


class Ends:
    """A model that ends Python."""

    name = fingerprint = "ends"

    def answer(self, questions: object) -> object:
        sys.exit(0)


def test_a_model_of_ones_own_that_ends_python_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EvenhandError, match="'ends'.*SystemExit"):
        evenhand.audit(Ends(), dataset="tgb", measure="stereotype-share", limit=3, out=tmp_path)  # type: ignore[arg-type]
    assert not any(tmp_path.iterdir()) or not any(tmp_path.rglob("run.json"))


def test_ctrl_c_in_a_plugin_is_still_an_interrupt(file: Path) -> None:
    write(file, "score", "raise KeyboardInterrupt")
    assert audited(file) == terminal.INTERRUPTED


def test_an_error_of_our_own_measure_stays_as_it_is() -> None:
    class Odd:
        id, groups = "odd", dict[str, str]()

    how = evenhand.LikelihoodDifference()
    with pytest.raises(EvenhandError, match="'odd'.*type Odd"):
        evenhand.measure(evenhand.Table({}), [Odd()], how)  # type: ignore[misc]


@pytest.mark.parametrize("code", [None, "text", (), 2.5])
def test_an_exit_code_that_is_no_number_is_no_success(code: object) -> None:
    def ends(_: object) -> None:
        sys.exit(code)  # type: ignore[arg-type]

    assert terminal.run(ends, []) == terminal.BAD_INPUT


def test_a_librarys_panic_is_neither_a_pass_nor_a_fail(capsys: pytest.CaptureFixture[str]) -> None:
    class Panic(BaseException):
        """As of a library in Rust, when no file can be opened."""

    def panics(_: object) -> None:
        raise Panic("called `Result::unwrap()` on an `Err` value: Too many open files")

    assert terminal.run(panics, []) == terminal.OUR_FAULT


@pytest.mark.parametrize("asked", [["--help"], ["--version"], ["audit", "--help"]])
def test_help_and_version_are_a_success(asked: list[str]) -> None:
    assert terminal.run(app, asked) == terminal.OK


def test_a_command_that_is_ended_from_anywhere_has_not_succeeded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ends(*_: object) -> Iterator[object]:
        sys.exit(0)

    monkeypatch.setattr("evenhand.cli.terminal.show", ends)
    assert terminal.run(app, ["measures"]) == terminal.BAD_INPUT
    assert "sys.exit(0)" in capsys.readouterr().err
