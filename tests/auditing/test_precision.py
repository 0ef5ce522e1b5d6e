"""Half precision says what it costs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import evenhand
from evenhand import Answer, Likelihood, Pair, models
from evenhand.auditing.precision import compare, doubts
from evenhand.core.loop import measure_all
from evenhand.core.questions import Question
from evenhand.core.scores import Result, Value
from evenhand.models.loading import checkpoint
from evenhand.suites import tasks_on
from helpers import tiny
from helpers.typed import all_of

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")


def result_with(low: float, high: float) -> Result:
    value = Value((low + high) / 2, low, high, 100)
    return Result("m", "f", "tgb", "likelihood-lean", 1, 0.0, (), (value,))


class Shifted:
    """A model that says of every stereotype what another says, and a little more."""

    name, fingerprint = "shifted", "s"

    def __init__(self, model: evenhand.Model, by: float) -> None:
        self.model, self.by = model, by
        self.stereotypes = {item.stereotype for item in all_of(Pair, TASKS[0].dataset.items)}

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        found = self.model.answer(questions)
        return [
            Answer(tuple(p + self.by / len(a.logps) for p in a.logps), a.note) if q.text in self.stereotypes else a
            for q, a in zip(all_of(Likelihood, questions), found, strict=True)
        ]


TASKS = tasks_on("tgb", ["likelihood-lean"])


class Plain:
    """Every piece is as likely as its sentence is long."""

    name, fingerprint = "plain", "p"

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return [Answer((-float(len(q.text)),)) for q in all_of(Likelihood, questions)]


@pytest.mark.parametrize(
    ("low", "high", "doubtful"), [(0.2, 0.4, ()), (0.05, 0.4, ("all",)), (-0.4, 0.05, ("all",)), (-0.3, -0.1, ())]
)
def test_a_verdict_within_the_shift_is_marked(low: float, high: float, doubtful: tuple[str, ...]) -> None:
    lean = measure_all(Plain(), TASKS)[0]
    shift = measure_all(Shifted(Plain(), 0.1), TASKS)[0].value - lean.value
    assert shift != 0
    compared = compare(Shifted(Plain(), 0.1 * 0.1 / shift), Plain, TASKS, [result_with(low, high)], seed=0)
    (found,) = compared.deviations
    assert found.shift == pytest.approx(0.1, abs=1e-6)
    assert found.items == 100
    assert found.doubtful == doubtful
    assert bool(list(doubts(compared, "bfloat16"))) == bool(doubtful)


def test_the_same_model_does_not_deviate() -> None:
    (found,) = compare(Plain(), Plain, TASKS, [result_with(0.0001, 1.0)], seed=0).deviations
    assert (found.shift, found.largest, found.doubtful) == (0.0, 0.0, ())


def test_auto_takes_what_the_device_has(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = torch.device("cpu")
    for native, chosen in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda native=native: {"bf16": native}, raising=False)
        assert checkpoint.chosen_dtype("auto", cpu) == chosen
    with pytest.raises(evenhand.BadInput, match="'half'"):
        checkpoint.chosen_dtype("half", cpu)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.save("bert-uncased", tmp_path_factory.mktemp("models") / "bert"))


def test_a_run_in_half_precision_says_so(folder: str, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"suite": "gbef", "limit": 10}
    run = evenhand.audit(folder, out=tmp_path / "runs", dtype="bfloat16", **asked)
    assert torch.backends.mkldnn.enabled  # torch turns it off where bfloat16 fails in it
    precision = evenhand.Run.load(run.path).record.audits[-1].precision
    assert precision is not None
    assert precision.asked == "bfloat16"
    again = evenhand.audit(folder, out=tmp_path / "runs", dtype="bfloat16", **asked)
    assert again.record.audits[-1].precision == precision
    assert {d.dataset for d in precision.deviations} <= {"tgb", "tbd", "tbd-gendered"}
    exact = evenhand.audit(folder, out=tmp_path / "exact", **asked)
    assert exact.record.audits[-1].precision is None
    both = run.scores.merge(exact.scores, on=["dataset", "measure", "id"])
    both["apart"] = (both["score_x"] - both["score_y"]).abs()
    largest = both.groupby(["dataset", "measure"])["apart"].max()
    for found in precision.deviations:  # a sample of 10 is smaller than that of the deviation: all are in it
        if found.measure != "likelihood-difference":
            assert found.largest == pytest.approx(largest[found.dataset, found.measure], abs=1e-6)


def test_a_model_that_fits_in_half_precision_only_is_measured(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = models.load

    def small(name: str, *, dtype: str, **options: Any) -> Any:
        return load(name, dtype=dtype, **options | ({"device": "nowhere"} if dtype == "float32" else {}))

    monkeypatch.setattr(models, "load", small)
    run = evenhand.audit(folder, suite="gbef", limit=5, out=tmp_path / "runs", dtype="float16")
    assert run.record.audits[-1].precision is not None
    assert run.record.audits[-1].precision.deviations == ()
    assert run.record.audits[-1].precision.why.startswith("Not compared with float32: Device 'nowhere' cannot be used")


def test_few_clusters_give_a_record_that_can_be_written(folder: str, tmp_path: Path) -> None:
    run = evenhand.audit(folder, suite="gbef", limit=4, out=tmp_path / "runs", dtype="float16")
    precision = evenhand.Run.load(run.path).record.audits[-1].precision
    assert precision is not None
    assert precision.asked == "float16"
