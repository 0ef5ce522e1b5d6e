"""Meta-evaluation on tiny models, on points whose answer is known, and what scorecards say of it."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenhand import BadInput, Run
from evenhand.calls.train_and_measure import Lessons, Study
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.datasets.corpora import check_rates
from evenhand.measures import MEASURES
from evenhand.papers import charts
from evenhand.papers.metaeval import EFFECT_SIZES, READINGS, DoseResponse, dose_response, inference, masked_response
from evenhand.show import plots
from helpers import made_release, tiny
from helpers.typed import number

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined", "few_draws")

RATES = [0.0, 0.5, 1.0]


def points(values: dict[str, list[float]]) -> list[dict[str, object]]:
    rates = np.linspace(0, 1, len(next(iter(values.values()))))
    return [
        {"measure": name, "rate": rate, "draw": 0, "value": value, "low": value - 0.05, "high": value + 0.05}
        for name, listed in values.items()
        for rate, value in zip(rates, listed, strict=True)
    ]


def test_what_follows_is_told_from_what_does_not() -> None:
    noise = [0.2, 0.7, 0.1, 0.9, 0.3, 0.8, 0.2, 0.6, 0.1, 0.7, 0.4]
    line = [0.1 + 0.5 * n / 10 for n in range(11)]
    found = dose_response("x", "m", "nli", points({"line": line, "noise": noise, "flat": [0.9] * 11}), [], 0)
    rows = found.follows.set_index("measure")
    assert rows.loc["line", "pearson"] == pytest.approx(1)
    assert rows.loc["line", "slope"] == pytest.approx(0.5)
    assert rows.loc["line", "smallest"] == pytest.approx(0.1)  # half-width 0.05 over a slope of 0.5
    assert number(rows, "noise", "p") > 0.05
    assert math.isnan(number(rows, "flat", "pearson"))  # no correlation, and no error


def test_rates_outside_the_dial_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_rates([1, 0, 0.5, 0.5], 20, "words") == RATES
    with pytest.raises(BadInput, match="Got 1.5"):
        check_rates([0, 0.5, 1.5], 20, "words")
    with pytest.raises(BadInput, match="20 words"):
        check_rates([0, 0.51, 1], 20, "words")
    with pytest.raises(BadInput, match="three rates"):
        check_rates([0, 1], 20, "words")
    arguments = ["metaeval", "--out", str(tmp_path)]
    assert run_command(app, [*arguments, "--rates", "0,half,1"]) == 2
    assert "Got 'half'" in capsys.readouterr().err
    assert run_command(app, [*arguments, "--measures", "nli-cole"]) == 2
    assert "Did you mean 'nli-coal'" in capsys.readouterr().err
    assert run_command(app, [*arguments, "--model", "mini-en", "--lang", "ja"]) == 2
    assert "has no option lang" in capsys.readouterr().err


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.save("roberta", tmp_path_factory.mktemp("base") / "tiny"))


@pytest.fixture(scope="module")
def turned(base: str, tmp_path_factory: pytest.TempPathFactory) -> DoseResponse:
    return masked_response(base, rates=RATES, size=60, limit=60, out=tmp_path_factory.mktemp("masked"))


def test_masked_models_are_measured_at_every_rate_by_every_reading(turned: DoseResponse) -> None:
    assert turned.points.groupby("measure")["rate"].apply(list).to_dict() == dict.fromkeys(
        [*READINGS, *EFFECT_SIZES], RATES
    )
    weat = turned.points[turned.points["measure"] == "weat"]
    assert weat["value"].abs().max() > 0.1  # an effect size; the mean association of such a model is near 0
    without = turned.points[turned.points["value"].isna()]["measure"]
    assert set(without) <= {"association"}  # a sample of sixty has no partners: no number, and no error
    assert {name.split(",")[0] for name in READINGS} <= set(MEASURES)
    with pytest.raises(BadInput, match="Did you mean 'association'"):
        masked_response("mini-en", measures=["asociation"])


def test_readings_go_towards_the_stereotype() -> None:
    rows = [
        {"dataset": "tbd", "measure": "pronoun", "id": job, "profession": job, "template": "1", "score": score}
        for job, score in (("firefighter", 0.6), ("secretary", -0.4), ("actuary", 0.9))
    ]
    found = READINGS["pronoun"](pd.DataFrame(rows))
    assert sorted(found["value"]) == [0.4, 0.6]  # he of the one, she of the other; the third has no stereotype
    assert READINGS["pronoun, size"](pd.DataFrame(rows))["value"].mean() == pytest.approx((0.6 + 0.4 + 0.9) / 3)


def test_models_of_inference_are_trained_at_every_rate_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = str(tiny.save_classifier("roberta", tmp_path / "nli", max_position_embeddings=512))
    options: dict[str, Any] = {"rates": RATES, "size": 60, "epochs": 1, "limit": 90, "out": tmp_path / "out"}
    found = inference(base, **options)
    assert found.points.groupby("measure").size().to_dict() == dict.fromkeys(found.follows["measure"], 3)
    assert "0: " in found.notes[0]
    monkeypatch.setattr("evenhand.training.nli.finetune_nli", None)  # would fail if it trained again
    pd.testing.assert_frame_equal(inference(base, **options).points, found.points)


def test_models_of_inference_can_be_measured_on_the_released_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made_release.write(tmp_path / "data")
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path / "data"))
    base = str(tiny.save_classifier("roberta", tmp_path / "nli", max_position_embeddings=512))
    options: dict[str, Any] = {"rates": RATES, "epochs": 1, "out": tmp_path / "out"}
    found = inference(base, size=12, evaluate="down-sampled", **options)
    assert found.name == "nli-nli-en-female-first-down-sampled"
    assert "our captions, with the words and labels of the released sets" in found.notes[1]
    runs = [
        Run.load(path) for path in (tmp_path / "out" / "inference" / "runs").glob("nli-coal-en-words=down-sampled*/*")
    ]
    assert {len(run.scores_of(run.datasets[0], "nli-coal")) for run in runs} == {18}
    captions = [f"the {{}} in room {n}." for n in range(5000)]
    made_release.write_train(tmp_path / "data", captions)
    lessons: list[int] = []

    def counted(study: Study, name: str, given: Lessons, train: object) -> list[object]:
        lessons.append(len(given(0)))
        return []

    monkeypatch.setattr(Study, "train_and_audit", counted)
    assert "Trained on the released sets;" in inference(base, evaluate="test", **options).notes[1]
    inference(base, evaluate="test", correct=0.5, size=80, **options)
    assert lessons == [30_000] * 3 + [80] * 3
    command = ["metaeval", "--model", base, "--out", str(tmp_path / "out")]
    for wrong, message in (
        (["--evaluate", "released"], "must be 'bundled'"),
        (["--evaluate", "test", "--order", "stratified"], "female-first"),
        (["--evaluate", "test", "--rates", "0,0.25,1"], "Got 0.25"),
        (["--correct", "2"], "`correct`, a share"),
    ):
        assert run_command(app, [*command, *wrong]) == 2
        assert message in capsys.readouterr().err


def test_a_chart_has_a_panel_for_each_measure(turned: DoseResponse, tmp_path: Path) -> None:
    plots.save(charts.dose_response(turned.points), tmp_path / "dial.svg")
    drawn = (tmp_path / "dial.svg").read_text()
    assert all(name in drawn for name in READINGS)
