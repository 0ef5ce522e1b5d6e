"""Engines that are not evenhand's: a plugin's, with options of its own, whose models stream, refuse and speak up."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import (
    Answer,
    BadInput,
    Dataset,
    EvenhandError,
    Finding,
    Likelihood,
    LikelihoodDifference,
    ModelError,
    Pair,
    Table,
    plugins,
)
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.models.engines import ENGINES, Engine

PLUGIN = '''
"""An engine as a package for models behind a queue would bring it."""

from evenhand import Answer, Finding

ASKED, LOADED = [], []


class Queue:
    kind = "causal"

    def __init__(self, name, temperature):
        self.name, self.temperature = name, float(temperature)
        self.fingerprint = f"queue {name} {self.temperature}"
        self.stops_after = 10**9

    def answer(self, questions):
        return [answer for _, answer in sorted(self.answers(questions), key=lambda one: one[0])]

    def answers(self, questions):
        for number in reversed(range(len(questions))):
            if len(ASKED) >= self.stops_after:
                raise KeyboardInterrupt
            text = questions[number].text
            ASKED.append(text)
            yield number, Answer((-len(text) / self.temperature - 3 * text.startswith("She"),))


class Choosy(Queue):
    def cannot(self, question):
        return "it was told nothing of dragons" if "dragon" in question.text else ""


class Frank(Queue):
    def findings(self, language):
        return [Finding("training data", "careful", f"Half of what it read in '{language}' is older than 1950.")]


def load(rest, temperature=1.0):
    """One of three models, by name."""
    LOADED.append(rest)
    return {"choosy": Choosy, "frank": Frank}.get(rest, Queue)(rest, temperature)


MODELS = {"queue": load}
'''
pytestmark = pytest.mark.usefixtures("without_pages")


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Path]:
    before = dict(ENGINES)
    path = tmp_path / "queueing.py"
    path.write_text(PLUGIN)
    yield path
    ENGINES.clear()
    ENGINES.update(before)


@pytest.fixture
def queue(plugin: Path) -> Any:
    """The plugin's module, when it is loaded."""
    plugins.load_file(plugin)
    return ENGINES["queue"].function.__globals__


@pytest.fixture
def how(tmp_path: Path) -> dict[str, Any]:
    things = ("lamp", "boat", "dragon", "piano", "ladder")
    items = [Pair(f"{n} {t}", f"He had {n} {t}s.", f"She had {n} {t}s.") for t in things for n in range(2, 7)]
    return {"dataset": Dataset(name="things", items=items), "measure": LikelihoodDifference(), "out": tmp_path / "runs"}


def test_ctrl_c_in_the_middle_of_a_stream_loses_no_answer(queue: Any, how: dict[str, Any]) -> None:
    model: Any = evenhand.load("queue:large")
    model.stops_after = 20
    with pytest.raises(KeyboardInterrupt):
        evenhand.audit(model, **how)
    first = list(queue["ASKED"])
    assert len(first) == 20
    run = evenhand.audit("queue:large", **how)
    assert not set(queue["ASKED"][20:]) & set(first)
    assert len(queue["ASKED"]) == 50
    assert run.record.audits[0].work.kept == 20
    whole = evenhand.audit("queue:large", **{**how, "out": how["out"] / "whole"})
    assert whole.results == run.results


@pytest.mark.parametrize("numbers", [[0, 1], [0] * 50, [7, 99]])
def test_a_stream_that_leaves_questions_out_is_an_error_that_names_it(
    numbers: list[int], queue: Any, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = evenhand.load("queue:large")
    monkeypatch.setattr(model, "answers", lambda _: ((n, Answer((-1.0,))) for n in numbers))
    with pytest.raises((ModelError, BadInput), match=r"'large' (gave \d+ answers to 50 questions|failed to answer)"):
        evenhand.audit(model, **how)


def test_an_engines_options_are_its_functions_parameters(queue: Any, how: dict[str, Any]) -> None:
    assert evenhand.load("queue:large", temperature=2.0).fingerprint == "queue large 2.0"
    run = evenhand.audit("queue:large", model_options={"temperature": 4.0}, **how)
    assert run.record.fingerprint == "queue large 4.0"
    both = list(evenhand.sweep(["queue:a", "queue:b"], model_options={"temperature": 3}, **how))
    assert [one.record.fingerprint for one in both] == ["queue a 3.0", "queue b 3.0"]


@pytest.mark.parametrize("option", [{"temprature": 2.0}, {"dtype": "float16"}])
def test_an_option_that_it_has_not_is_refused_before_anything_is_loaded(
    option: dict[str, Any], queue: Any, how: dict[str, Any]
) -> None:
    for call in (
        lambda: evenhand.load("queue:large", **option),
        lambda: evenhand.audit("queue:large", model_options=option, **how),
        lambda: evenhand.doctor("queue:large", model_options=option),
    ):
        with pytest.raises(BadInput, match=f"'queue:' '{min(option)}'.*temperature"):
            call()
    assert queue["LOADED"] == []
    assert not how["out"].exists()


def test_a_server_and_a_network_have_options_of_their_own(how: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="'openai:' 'temperature'.*concurrency"):
        evenhand.audit("openai:tiny", model_options={"temperature": 2.0}, **how)
    with pytest.raises(BadInput, match="'mini-en' 'temperature'.*dtype"):
        evenhand.audit("mini-en", model_options={"temperature": 2.0}, **how)
    with pytest.raises(TypeError, match=r"load\(\).*'temperature'"):
        evenhand.load("mini-en", temperature=2.0)
    with pytest.raises(TypeError, match=r"audit\(\).*'temperature'"):
        evenhand.audit(Table({}), model_options={"temperature": 2.0}, **how)


def test_models_that_are_swept_together_get_the_options_that_each_has(queue: Any, how: dict[str, Any]) -> None:
    options = {"temperature": 2.0}
    runs = list(evenhand.sweep(["queue:large", "mini-en"], dtype="float32", model_options=options, **how))
    assert runs[0].record.fingerprint == "queue large 2.0"
    assert runs[1].record.loaded["dtype"] == "float32"
    with pytest.raises(BadInput, match="'warmth'"):
        evenhand.sweep(["queue:large", "mini-en"], model_options={"warmth": 1}, **how)


def test_items_that_it_cannot_be_asked_are_unscored_with_its_reason(queue: Any, how: dict[str, Any]) -> None:
    run = evenhand.audit("queue:choosy", **how)
    assert run.record.audits[0].unscored == {"things/likelihood-difference": {"it was told nothing of dragons": 5}}
    assert not [text for text in queue["ASKED"] if "dragon" in text]
    scores = run.scores_of("things", "likelihood-difference")["score"]
    assert (scores.isna().sum(), len(scores)) == (5, 25)
    assert evenhand.audit("queue:choosy", **how).record.audits[0].work.kept == 50  # reasons are kept, too
    dragons = Dataset(name="dragons", items=[one for one in how["dataset"].items if "dragon" in one.id])
    with pytest.raises(ModelError, match="told nothing of dragons: dragons by"):
        evenhand.audit("queue:choosy", **{**how, "dataset": dragons})


def test_what_it_knows_of_itself_is_the_doctors_and_stands_in_its_runs(queue: Any, how: dict[str, Any]) -> None:
    found = {finding.check: finding for finding in evenhand.doctor("queue:frank")}
    assert found["training data"].says == "Half of what it read in 'en' is older than 1950."
    assert "numbers" in found
    before = len(queue["ASKED"])
    run = evenhand.audit("queue:frank", **how)
    assert [finding.check for finding in run.record.audits[0].doctor] == ["training data"]
    assert len(queue["ASKED"]) - before == 50  # an audit asks nothing but what it measures


def test_findings_that_are_none_are_an_error_that_names_the_model() -> None:
    class Mumbling(Table):
        def findings(self, language: str) -> list[str]:
            return ["all is well"]

    with pytest.raises(BadInput, match="'table'.*`Finding`s"):
        evenhand.doctor(Mumbling(lambda _: [-1.0]))


def test_an_installed_package_brings_an_engine(
    plugin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]
) -> None:
    """As pip would install it: the package is found by its entry point, and loaded when it is asked for."""
    about = tmp_path / "queueing-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: queueing\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[evenhand.models]\nline = queueing:load\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "line" not in ENGINES
    assert evenhand.load("line:large", temperature=2.0).fingerprint == "queue large 2.0"
    assert evenhand.audit("line:large", **how).record.model == "large"


def test_its_options_may_be_given_on_the_command_line(
    plugin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("stereotype,counterpart\n" + "".join(f"He had {n} keys.,She had {n} keys.\n" for n in range(9)))
    line = ["audit", "queue:large", "--plugin", str(plugin), "--pairs", str(pairs), "--out", str(tmp_path / "runs")]
    assert run_command(app, [*line, "--model-option", "temperature=2.5"]) == 0
    assert evenhand.Run.load(tmp_path / "runs" / "large").record.fingerprint == "queue large 2.5"
    assert run_command(app, [*line, "--model-option", "warmth=2"]) == 2
    assert "Unknown option of 'queue:' 'warmth'. Available: temperature." in capsys.readouterr().err
    line = ["doctor", "queue:frank", "--plugin", str(plugin), "--model-option", "temperature=2"]
    assert run_command(app, line) == 1  # it is noise
    assert "older than 1950" in " ".join(capsys.readouterr().out.split())


def test_its_own_defaults_count(how: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    def load(rest: str, samples: int = 5, device: str = "cuda:1") -> Table:
        given.append((samples, device))
        return Table(lambda question: Answer((-1.0,)), name="own")

    monkeypatch.setitem(ENGINES, "own", Engine(load))
    evenhand.load("own:a")
    evenhand.load("own:a", samples=7)
    assert given == [(5, "cuda:1"), (7, "cuda:1")]
    with pytest.raises(BadInput, match="'own:' 'dtype'"):
        list(evenhand.sweep(["own:a"], dtype="float16", **how))


def test_a_debiasing_takes_the_options_of_an_engine(queue: Any, tmp_path: Path) -> None:
    class Same(evenhand.Mitigation):
        name = "wrap"

        def apply(self, model: Any, texts: Any, out: Path) -> Any:
            return evenhand.Wrapper(model, self)

    done = evenhand.debias(
        "queue:large", method=Same(), model_options={"temperature": 4.0}, suite="gbef", limit=5, out=tmp_path / "out"
    )
    assert done.before.record.fingerprint == "queue large 4.0"


HALF = "half \ud800"
TWICE = [Finding("age", "careful", HALF)]
BAD: list[tuple[str, Any]] = [
    *(("about", about) for about in [5, {"dtype": object()}, {"source": HALF}, {5: object()}]),
    *(("spend", spend) for spend in [5, lambda _: 5, lambda _: {"requests": "x"}, lambda _: {"requests": 2**70}]),
    *(("cannot", cannot) for cannot in [5, lambda *_: 5, lambda *_: HALF]),
    *(("requests", requests) for requests in [5, lambda *_: 5, lambda *_: [[]]]),
    *(("count_tokens", count) for count in [5, lambda *_: 5, lambda *_: [], lambda *_: ["x"] * 99]),
    *(("findings", findings) for findings in [5, lambda *_: [Finding("age", "fine", 5)], lambda *_: TWICE]),  # type: ignore
    *(("answers", answers) for answers in [5, lambda *_: 5, lambda *_: [5], lambda *_: [(99, Answer((-1.0,)))]]),
    *(("reference", reference) for reference in [5, {Likelihood("a"): 5}, {5: Answer((-1.0,))}]),
    *(("tolerance", tolerance) for tolerance in ["much", None]),
    *(("good", good) for good in ["often", None]),
    ("chats", "yes"),
    ("note", HALF),
    ("note", 5),
    ("overflowed", "many"),
    ("kind", "banana"),
    ("name", HALF),
    ("fingerprint", HALF),
    *((name, property(lambda _: 1 / 0)) for name in ("about", "spend", "cannot", "chats", "reference", "plan")),
]


RECOGNISED = {"reference": {Likelihood("a"): Answer((-1.0,))}, "tolerance": 0.1, "good": 0}


@pytest.fixture
def unlogged() -> Iterator[None]:
    """Nothing is logged: half a character in a line cannot be sent between the processes of the tests."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("place", range(len(BAD)))
def test_an_ability_that_gives_nonsense_is_an_error_of_the_model(
    place: int, how: dict[str, Any], unlogged: None
) -> None:
    name, bad = BAD[place]

    class Mine:
        name = fingerprint = "mine"
        note = ""

        def answer(self, questions: Any) -> Any:
            return [Answer((-float(len(each.text)),), self.note) for each in questions]

    if name in RECOGNISED:
        Mine.answers = lambda self, questions: enumerate(self.answer(questions))  # type: ignore[attr-defined]
        for ability, good in RECOGNISED.items():
            setattr(Mine, ability, good)
    setattr(Mine, name, bad)
    if name == "requests":
        how["budget"] = 20
    with pytest.raises(EvenhandError, match=r"'mine|[Tt]he model|A model is"):
        evenhand.audit(Mine(), **how)
    assert not list(how["out"].rglob("run.json"))


def test_findings_are_refused_before_they_are_logged(how: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    class Mine(evenhand.Table):
        def findings(self, language: str) -> list[Finding]:
            return TWICE

    with pytest.raises(BadInput, match="`findings` of the model 'table' failed.*half of a surrogate pair"):
        evenhand.audit(Mine(lambda _: (-1.0,)), **how)
    assert HALF not in caplog.text
