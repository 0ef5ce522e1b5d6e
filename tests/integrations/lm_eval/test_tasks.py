"""Datasets as tasks of lm-evaluation-harness, without the harness: what is written, and what is refused."""

import json
import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from evenhand import datasets
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core import answers
from evenhand.core.dataset import Dataset
from evenhand.core.items import Choice, texts
from evenhand.core.measure import Unscored
from evenhand.core.questions import Answer
from evenhand.core.scores import Score
from evenhand.errors import BadInput
from evenhand.integrations.lm_eval import exported, tasks
from evenhand.measures.choices import BbqBias, ChoiceAccuracy
from helpers import made_bbq


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_a_task_has_the_sentences_of_every_pair_and_says_whose_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(app, ["datasets", "export", "tgb", "--as", "lm-eval", "--out", str(tmp_path / "new")]) == 0
    assert "--tasks evenhand_tgb" in capsys.readouterr().out
    rows = [json.loads(line) for line in _lines(tmp_path / "new" / "evenhand_tgb.jsonl")]
    dataset = datasets.load("tgb")
    assert [(row["id"], row["context"], *row["choices"]) for row in rows] == [
        (item.id, "", *texts(item)) for item in dataset.items
    ]
    config = (tmp_path / "new" / "evenhand_tgb.yaml").read_text(encoding="utf-8")
    assert f"# Licence: {dataset.licence}\n" in config
    assert "  - metric: likelihood-lean\n    aggregation: mean\n    higher_is_better: null\n" in config
    assert (tmp_path / "new" / "evenhand_tasks.py").read_text() == Path(exported.__file__).read_text()


def test_a_task_is_replaced_only_if_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["datasets", "export", "tgb", "--as", "lm-eval", "--out", str(tmp_path)]
    (tmp_path / "evenhand_tgb.yaml").write_text("mine")
    assert run_command(app, command) == 2
    assert "exists already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["evenhand_tgb.yaml"]
    assert run_command(app, [*command, "--force"]) == 0
    assert "task: evenhand_tgb" in (tmp_path / "evenhand_tgb.yaml").read_text()


@pytest.mark.parametrize(
    ("name", "form", "says"),
    [
        ("becpro-en", "lm-eval", "Sentence"),
        ("nli-en", "lm-eval", "NliPair"),
        ("tgb", "lm_eval", "Did you mean 'lm-eval'"),
    ],
)
def test_what_cannot_be_a_task_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, form: str, says: str
) -> None:
    assert run_command(app, ["datasets", "export", name, "--as", form, "--out", str(tmp_path / "new")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_pronoun_blank_is_its_sentences_and_a_question_its_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_bbq.write(tmp_path)
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    found = {}
    for name in ("tbd", "bbq-disambiguated"):
        task = tasks.write(datasets.load(name), tmp_path)
        found[name] = json.loads(_lines(tmp_path / f"{task}.jsonl")[0])
    assert found["tbd"]["choices"] == ["He is a doctor.", "She is a doctor.", "They is a doctor."]
    asked = found["bbq-disambiguated"]
    assert asked["choices"] == [" A", " B", " C"]
    assert "\nA. Ann\n" in asked["context"]
    assert asked["context"].endswith("\nAnswer:")


@pytest.mark.parametrize(("lean", "share"), [(1.5, 1.0), (-0.5, 0.0), (0.0, 0.5), (math.nan, math.nan)])
def test_metrics_of_pairs_keep_the_sign(lean: float, share: float) -> None:
    found = exported.pairs({}, [(-10 + lean, False), (-10, False)])
    assert list(found.values()) == pytest.approx([abs(lean), lean, share], nan_ok=True)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 0.5, 1000.0])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_no_metric_is_made_of_what_can_be_no_likelihood(bad: float, place: int) -> None:
    """Whatever backend gave it: not finite, or a probability above 1."""
    given = [(bad if i == place else -0.4, False) for i in range(3)]
    document = {"right": 2, "stereotype": 0, "unknown": 2}
    found = [exported.blanks({}, given), exported.choices(document, given)]
    found += [exported.pairs({}, given[:2])] if place < 2 else []
    for metrics in found:
        numbers = [value[0] if isinstance(value, tuple) else value for value in metrics.values()]
        assert all(map(math.isnan, numbers)), metrics


def test_rounding_is_ours() -> None:
    assert exported.ROUNDING == answers.ROUNDING
    assert exported.pairs({}, [(answers.ROUNDING / 2, False), (-1.0, False)])["stereotype-share"] == 1.0


CHOICE = Choice("a", "They met.", "Who?", ("Ann", "Bob", "Unknown"), 2, 0, 2, {"condition": "disambiguated"})
LOGPS = [
    (-0.1, -3.0, -4.0),
    (-3.0, -0.1, -4.0),
    (-4.0, -3.0, -0.1),
    (-0.1, -3.0, -5.0),
    (-2.0, -2.5, -3.0),
    (-1.0,) * 3,
]


@pytest.mark.parametrize("condition", ["ambiguous", "disambiguated"])
@pytest.mark.parametrize("logps", [LOGPS, LOGPS[2:3], LOGPS[4:]])
def test_metrics_of_questions_are_our_measures(condition: str, logps: Sequence[tuple[float, ...]]) -> None:
    """Letters that cover less than half of the probability, and ties, have no answer there, either."""
    document = {"right": 2, "stereotype": 0, "unknown": 2, "groups": {"condition": condition}}
    found = [exported.choices(document, [(logp, False) for logp in given]) for given in logps]
    for measure, name, aggregation in (
        (BbqBias(), "bbq-bias", exported.bias_score),
        (ChoiceAccuracy(), "choice-accuracy", exported.mean_of_answered),
    ):
        scores = []
        for given in logps:
            with suppress(Unscored):
                scores.append(Score("a", measure.score(CHOICE, [Answer(given)]), {"condition": condition}))
        ours = measure.summarise(scores) if scores else math.nan
        assert aggregation([row[name] for row in found]) == pytest.approx(ours, nan_ok=True)


def test_a_dataset_of_mixed_items_is_refused(tmp_path: Path) -> None:
    pairs, blanks = datasets.load("tgb"), datasets.load("tbd")
    mixed = Dataset(name="mixed", items=[pairs.items[0], blanks.items[0]])
    with pytest.raises(BadInput, match="Blank, Pair"):
        tasks.write(mixed, tmp_path)


def test_a_task_without_its_documents_says_how_to_write_them() -> None:
    with pytest.raises(FileNotFoundError, match="evenhand_tgb.jsonl"):
        exported.documents("evenhand_tgb.jsonl")
