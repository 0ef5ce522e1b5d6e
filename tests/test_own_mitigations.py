"""Debiasing methods of one's own: in Python, from a file and from a package, measured before and after as ours are."""

import copy
import json
import math
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import pytest

import evenhand
from evenhand import Answer, BadInput, Mitigation, Table, Wrapper, mitigation, plugins
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.model import TokenCounter, about
from evenhand.core.questions import Question
from evenhand.mitigation.cds import Cds
from evenhand.models import engines
from evenhand.models.base import Examined, Planned, RunsInWorker, Streams
from evenhand.models.cache import Remembering, fingerprints
from helpers import tiny

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")

PLUGIN = '''
from dataclasses import dataclass

from evenhand import Answer, Mitigation, Table, Wrapper


class Flattened(Wrapper):
    """A model whose log-probabilities, and so their differences, are smaller by a factor."""

    def answer(self, questions):
        return [Answer(tuple(self.method.factor * p for p in a.logps), a.note) for a in self.model.answer(questions)]


@dataclass
class Flatten(Mitigation):
    """Bring all answers closer together."""

    name = "flatten"
    factor: float = 0.5

    def apply(self, model, texts, out):
        return Flattened(model, self)


def model(rest):
    """A model that prefers sentences with "He", by as much as its name says."""
    return Table(lambda q: Answer((-2.0 - float(rest) * ("He" not in q.text.split()) - len(q.text) / 99,)), name="made")


MITIGATIONS = [Flatten]
MODELS = {"made": model}
'''


class Halved(Wrapper):
    """Log-probabilities by half."""

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return [Answer(tuple(p / 2 for p in answer.logps), answer.note) for answer in self.model.answer(questions)]


class Halve(Mitigation):
    """Needs nothing but a model that answers."""

    name: ClassVar[str] = "halve"

    def apply(self, model: Any, texts: Sequence[str], out: Path) -> Halved:
        assert not texts
        return Halved(model, self)


@dataclass
class Memorise(Mitigation):
    """Wraps the model with a number that depends on the texts."""

    name: ClassVar[str] = "memorise"
    needs_texts: ClassVar[bool] = True
    least: int = 0

    def apply(self, model: Any, texts: Sequence[str], out: Path) -> Halved:
        self.read = [text for text in texts if len(text) >= self.least]
        return Halved(model, self, made_of=self.read)

    @property
    def record(self) -> dict[str, Any]:
        return {**super().record, "read": len(self.read)}


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """What a test adds is gone after it."""
    known: list[dict[str, Any]] = [mitigation.METHODS, engines.ENGINES]
    kept = [dict(one) for one in known]
    yield
    for one, before in zip(known, kept, strict=True):
        one.clear()
        one.update(before)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.save("roberta", tmp_path_factory.mktemp("base") / "tiny"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own_methods.py"
    path.write_text(PLUGIN)
    return path


def asked(out: Path) -> dict[str, Any]:
    return {"out": out, "suite": "emotions", "limit": 8}


def test_a_method_that_only_wraps_is_measured_before_and_after(base: str, tmp_path: Path) -> None:
    done = evenhand.debias(base, method=Halve(), **asked(tmp_path))
    before, after = (run.values["value"] for run in (done.before, done.after))
    assert after.tolist() == pytest.approx((before / 2).tolist())
    assert isinstance(done.wrapped, Halved)
    assert done.balance.empty
    assert done.language["change"] < 0
    assert done.language["after"] == pytest.approx(done.language["before"] ** 0.5, rel=0.1)
    assert not (tmp_path / "model").exists()
    answers = [fingerprints(run.path / "answers.sqlite") for run in (done.before, done.after)]
    assert answers == [{done.before.record.fingerprint}, {done.wrapped.fingerprint}]
    assert answers[0] != answers[1]


@pytest.mark.usefixtures("pages")
def test_page_and_records_name_the_method(base: str, tmp_path: Path) -> None:
    evenhand.debias(base, method=Memorise(60), **asked(tmp_path))
    record = json.loads((tmp_path / "debias.json").read_text())
    assert {"method": "memorise", "options": {"least": 60}, "corpus": "balanced"}.items() <= record.items()
    assert 0 < record["read"] < 4000
    assert "balance" not in record
    page = (tmp_path / "report.html").read_text()
    assert "<b>Method:</b> memorise, least 60." in page
    after = evenhand.Run.load(tmp_path / "after" / "tiny")
    assert after.record.loaded["mitigation"] == "memorise (least=60)"
    assert "memorise (least=60)" in (after.path / "report.html").read_text()


def test_the_same_call_asks_nothing_again_and_another_is_refused(tmp_path: Path) -> None:
    model = Table(lambda question: (-float(len(str(question))),), fingerprint="fixed")
    first = evenhand.debias(model, method=Halve(), **asked(tmp_path))
    times = len(model.asked)
    again = evenhand.debias(model, method=Halve(), **asked(tmp_path))
    assert len(model.asked) == times
    assert again.changes.equals(first.changes)
    with pytest.raises(BadInput, match="another model"):
        evenhand.debias(model, method=Memorise(), **asked(tmp_path))


def test_a_method_may_leave_a_folder(base: str, tmp_path: Path) -> None:
    class Retrain(Mitigation):
        name: ClassVar[str] = "retrain"
        trains: ClassVar[bool] = True

        def apply(self, model: Any, texts: Sequence[str], out: Path) -> Path:
            assert model == base  # as the user gave it
            return tiny.save("roberta", out, seed=5)

    done = evenhand.debias(base, method=Retrain(), **asked(tmp_path))
    assert done.wrapped is None
    assert done.after.record.fingerprint == evenhand.load(str(done.model)).fingerprint
    assert "## Debiased\n\nMethod: retrain.\n" in (done.model / "README.md").read_text()
    with pytest.raises(BadInput, match="checkpoint.*'table'"):
        evenhand.debias(Table({}), method=Retrain(), **asked(tmp_path))


def test_a_plugin_brings_a_method_to_the_command_line(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["debias", "made:3", "--plugin", str(file), "--suite", "emotions", "--limit", "8", "--method", "flatten"]
    assert run_command(app, [*words, "--method-option", "factor=0.25", "--out", str(tmp_path / "o")]) == 0
    printed = capsys.readouterr().out
    assert "item by item" in printed
    assert "substitution" not in printed
    assert "changed by flatten" in printed
    record = json.loads((tmp_path / "o" / "debias.json").read_text())
    assert (record["method"], record["options"]) == ("flatten", {"factor": 0.25})
    for wrong, says in (
        (["--share", "0.5"], "Available: factor"),
        (["--corpus", "gap"], "no texts"),
        (["--method-option", "factr=1"], "Did you mean 'factor'?"),
        (["--method-option", "factor=x"], "'made' failed"),
    ):
        assert run_command(app, [*words, *wrong, "--out", str(tmp_path / "p")]) == 2
        assert says in capsys.readouterr().err


def test_an_unknown_method_is_refused_before_a_model_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Did you mean 'cds'"):
        evenhand.debias("no/such-model", method="cda", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_installed_packages_bring_theirs(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(file.parent))
    entries = {"evenhand.mitigations": [EntryPoint("flatten", "own_methods:Flatten", "evenhand.mitigations")]}
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries.get(group, []))
    plugins.load_installed.__wrapped__()
    assert str(mitigation.load("flatten", factor=0.3)) == "flatten (factor=0.3)"


def test_a_name_that_is_taken_and_what_is_no_method_are_refused(file: Path, tmp_path: Path) -> None:
    file.write_text(PLUGIN.replace('"flatten"', '"cds"'))
    with pytest.raises(BadInput, match="'cds'"):
        plugins.load_file(file)
    file.write_text(PLUGIN.replace("[Flatten]", "[Flattened]"))
    with pytest.raises(BadInput, match="Got <class"):
        plugins.load_file(file)
    file.write_text(PLUGIN.replace("def apply", "def applied"))
    with pytest.raises(BadInput, match="Flatten lacks"):
        plugins.load_file(file)
    for wrong in (5, Halve):
        with pytest.raises(BadInput, match="extends"):
            evenhand.debias(Table({}), method=wrong, out=tmp_path)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="`share`"):
        evenhand.debias(Table({}), method=Halve(), share=0.1, out=tmp_path)
    assert mitigation.METHODS["cds"] is Cds


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (lambda model: None, "Got None"),
        (lambda model: "nowhere", "Got 'nowhere'"),
        (lambda model: model, "fingerprint"),
        (lambda model: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_method_that_gives_nonsense_is_named(given: Any, word: str, tmp_path: Path) -> None:
    class Odd(Mitigation):
        name: ClassVar[str] = "odd"

        def apply(self, model: Any, texts: Sequence[str], out: Path) -> Any:
            return given(model)

    with pytest.raises(BadInput, match=f"'odd' failed: .*{word}"):
        evenhand.debias(Table(lambda question: (-1.0,)), method=Odd(), **asked(tmp_path))
    assert not (tmp_path / "after").exists()


def test_options_that_cannot_be_recorded_are_an_error_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'memorise' failed: .* JSON"):
        evenhand.debias(Table({}), method=Memorise(tmp_path), **asked(tmp_path))  # type: ignore[arg-type]
    assert not (tmp_path / "before").exists()


def test_a_wrapper_passes_on_all_but_ways_past_its_answers(base: str) -> None:
    model = evenhand.load(base)
    assert isinstance(model, Examined)
    wrapped = Halved(model, Halve())
    assert (wrapped.name, wrapped.kind, wrapped.longest) == (model.name, model.kind, model.longest)
    assert wrapped.tokenizer is model.tokenizer
    assert isinstance(wrapped, TokenCounter)
    assert wrapped.count_tokens == model.count_tokens
    assert about(wrapped) == {**model.about, "mitigation": "halve"}
    for kind in (Planned, Examined, RunsInWorker, Streams):
        assert not isinstance(wrapped, kind)
    with pytest.raises(AttributeError):
        wrapped.nonsense  # noqa: B018


def test_a_wrapper_of_a_model_of_ones_own_has_what_that_has() -> None:
    table = Table(lambda question: (-1.0,), name="mine", kind="causal")
    wrapped: Any = Halved(table, Halve())
    assert (wrapped.name, wrapped.kind, wrapped.asked) == ("mine", "causal", [])
    assert not isinstance(wrapped, TokenCounter)
    for twin in (copy.copy(wrapped), pickle.loads(pickle.dumps(Halved(Plain(), Halve())))):
        assert isinstance(twin, Halved)
    assert about(Halved(wrapped, Memorise()))["mitigation"] == "halve, memorise (least=0)"
    with pytest.raises(BadInput, match="Got 5"):
        Halved(5, Halve())  # type: ignore[arg-type]


class Plain:
    """A model that can be pickled."""

    name = fingerprint = "plain"

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return [Answer((-1.0,)) for _ in questions]


def test_a_wrappers_fingerprint_follows_model_method_options_and_what_it_learned() -> None:
    model, other = Plain(), Table(lambda question: (-1.0,))
    made: list[Any] = [
        *(Halved(model, Halve()), Halved(other, Halve()), Halved(model, Memorise())),
        *(Halved(model, Memorise(3)), Halved(model, Memorise(3), made_of=["a text"])),
    ]
    assert len({one.fingerprint for one in [model, other, *made]}) == 7
    assert Halved(model, Memorise(3)).fingerprint == made[3].fingerprint


def test_answers_of_a_wrapper_and_its_model_are_kept_apart(base: str, tmp_path: Path) -> None:
    model = evenhand.load(base)
    one, other = (Remembering(each, tmp_path / "answers.sqlite") for each in (model, Halved(model, Halve())))
    questions = [evenhand.Likelihood("He is here."), evenhand.Likelihood("She is here.")]
    for _ in range(2):  # fresh, then kept
        whole, half = one.answer(questions), other.answer(questions)
        assert [answer.logp for answer in half] == pytest.approx([answer.logp / 2 for answer in whole])
    assert other.work.kept == len(questions)


def test_an_audit_asks_the_wrapper_and_finds_its_answers_again(base: str, tmp_path: Path) -> None:
    how: dict[str, Any] = {"dataset": "emotions-en", "limit": 8}
    plain = evenhand.audit(base, out=tmp_path / "plain", **how)
    wrapped = Halved(evenhand.load(base), Halve())
    for kept in (0, 1):
        run = evenhand.audit(wrapped, out=tmp_path / "wrapped", **how)
        work = run.record.audits[0].work
        assert work.kept == kept * work.questions
        assert run.values["value"].tolist() == pytest.approx((plain.values["value"] / 2).tolist())
    with pytest.raises(evenhand.RunError, match="holds a run"):
        evenhand.audit(wrapped, out=tmp_path / "plain", **how)


class Planning(Wrapper):
    """Its batches are the model's, for other questions."""

    model: Any

    def plan(self, questions: Sequence[Any]) -> Any:
        return self.model.plan([evenhand.Likelihood(f"{question.text} Really.") for question in questions])

    def stream(self, batches: Any) -> Any:
        return self.model.stream(batches)


def test_a_wrapper_with_plans_of_its_own_is_asked_by_them(base: str, tmp_path: Path) -> None:
    model = evenhand.load(base)
    planning = Planning(model, Halve())
    assert isinstance(planning, Planned)
    kept = Remembering(planning, tmp_path / "answers.sqlite")
    assert kept.answer([evenhand.Likelihood("He ran.")]) == model.answer([evenhand.Likelihood("He ran. Really.")])
    assert kept.work.batches == 1


class Reference(Table):
    """A model with answers to know it by, that refuses and finds."""

    reference: ClassVar[dict[Any, Answer]] = {}
    tolerance, good = 0.1, 0

    def cannot(self, question: Any) -> str:
        return "not this" if "dragon" in question.text else ""

    def findings(self, language: str) -> list[Any]:
        return []


def test_a_wrapped_model_keeps_its_abilities_but_not_what_it_is_known_by() -> None:
    from evenhand import Likelihood
    from evenhand.models.base import Recognisable, Selective, SelfChecked

    model = Halved(Reference({}, name="known"), Halve())
    assert not isinstance(model, Recognisable)  # its reference answers are not those of the wrapper
    assert isinstance(model, Selective)
    assert isinstance(model, SelfChecked)
    assert {"cannot", "findings"} <= set(vars(model))  # where isinstance looks from Python 3.12 on
    assert model.cannot(Likelihood("a dragon")) == "not this"
    own = type("Own", (Halved,), {"cannot": lambda self, question: "never"})
    assert own(Reference({}, name="known"), Halve()).cannot(Likelihood("a cat")) == "never"


def test_a_wrapper_needs_its_method_and_what_it_is_made_of() -> None:
    import numpy as np

    one, other = (Halved(Table({}, name="m"), Halve(), np.eye(2) * n).fingerprint for n in (1, 2))
    assert one != other
    with pytest.raises(BadInput, match="must be an evenhand.Mitigation"):
        Halved(Table({}, name="m"), "halve")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="`made_of` must be"):
        Halved(Table({}, name="m"), Halve(), object())


def test_a_model_that_is_changed_in_place_is_measured_before_it_is(tmp_path: Path) -> None:
    class Sharpened(Table):
        factor = 1.0

        def answer(self, questions: Any) -> list[Answer]:
            return [Answer(tuple(self.factor * n for n in one.numbers), one.note) for one in super().answer(questions)]

    class Sharpen(Mitigation):
        name = "sharpen"

        def apply(self, model: Any, texts: Any, out: Path) -> Any:
            model.factor = 2.0
            return Wrapper(model, self)

    model = Sharpened(lambda question: Answer((-1.0,) * len(question.text.split())), name="toy")
    done = evenhand.debias(model, method=Sharpen(), **asked(tmp_path))
    assert done.language["before"] == pytest.approx(math.e)
    assert done.language["after"] == pytest.approx(math.e**2)


def test_a_checkpoint_as_it_was_is_no_debiasing_and_stays_as_it_was(base: str, tmp_path: Path) -> None:
    class Same(Mitigation):
        name, trains = "same", True

        def apply(self, model: Any, texts: Any, out: Path) -> Any:
            return model

    before = {path: path.read_bytes() for path in Path(base).iterdir()}
    with pytest.raises(BadInput, match="as it was"):
        evenhand.debias(base, method=Same(), **asked(tmp_path))
    assert {path: path.read_bytes() for path in Path(base).iterdir()} == before


def test_a_class_is_no_method(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="extends"):
        evenhand.debias("mini-en", method=Halve, **asked(tmp_path))  # type: ignore[arg-type]
