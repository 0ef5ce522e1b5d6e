"""Datasets as tasks of lm-evaluation-harness, without the harness: what is written, and what is refused."""

import json
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from evenhand import datasets, from_scores
from evenhand.auditing.sampling import draw_sample
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core import answers
from evenhand.core.dataset import Dataset
from evenhand.core.items import Blank, Choice, Pair, Prompt, texts
from evenhand.core.measure import Unscored
from evenhand.core.questions import Answer
from evenhand.core.scores import Score
from evenhand.errors import BadInput
from evenhand.integrations.lm_eval import exported, tasks
from evenhand.measures import MEASURES
from helpers import every_dataset, made_bbq

pytestmark = pytest.mark.usefixtures("without_pages")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_a_task_has_the_sentences_of_every_pair_and_says_whose_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(app, ["datasets", "export", "tgb", "--as", "lm-eval", "--out", str(tmp_path / "new")]) == 0
    assert "--tasks evenhand_tgb" in capsys.readouterr().out
    rows = [json.loads(line) for line in _lines(tmp_path / "new" / "evenhand_tgb.jsonl")]
    dataset = datasets.load("tgb")
    assert sorted((row["id"], row["context"], *row["choices"]) for row in rows) == sorted(
        (item.id, "", *texts(item)) for item in dataset.items
    )
    sample = draw_sample(dataset, 20, 0)  # what the harness's --limit 20 takes
    assert {row["id"] for row in rows[:20]} == {item.id for item in sample.items}
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


def test_the_export_says_how_to_run_and_to_import_its_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*words: str) -> str:
        assert run_command(app, ["datasets", "export", *words, "--as", "lm-eval", "--out", str(tmp_path)]) == 0
        return " ".join(capsys.readouterr().out.split())

    assert "--tasks evenhand_tgb --log_samples" in told("tgb")
    chat = "--tasks evenhand_stories_en_chat --apply_chat_template --log_samples"
    assert chat in told("stories-en", "--option", "chat=true", "--option", "texts=2")
    assert "repeats: 2\n" in (tmp_path / "evenhand_stories_en_chat.yaml").read_text()
    file = every_dataset.options("pairs", tmp_path)["file"]
    assert f"_DATE.jsonl --name MODEL --dataset pairs --option file={file}" in told("pairs", "--option", f"file={file}")
    words = [
        "datasets",
        "export",
        "choices-pronouns",
        "--as",
        "lm-eval",
        "--out",
        str(tmp_path),
        "--option",
        "by=digits",
    ]
    assert run_command(app, words) == 2
    assert "'by'. Available: chat" in capsys.readouterr().err


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
        rows = map(json.loads, _lines(tmp_path / f"{task}.jsonl"))
        found[name] = next(row for row in rows if row["id"] == datasets.load(name).items[0].id)
    assert found["tbd"]["choices"] == ["He is a doctor.", "She is a doctor.", "They is a doctor."]
    asked = found["bbq-disambiguated"]
    assert asked["choices"] == [" A", " B", " C"]
    (context,) = asked["context"]
    assert "\nA. Ann\n" in context
    assert context.endswith("\nAnswer:")


@pytest.mark.parametrize(("lean", "share"), [(1.5, 1.0), (-0.5, 0.0), (0.0, 0.5), (math.nan, math.nan)])
def test_metrics_of_pairs_keep_the_sign(lean: float, share: float) -> None:
    found = exported.pairs({}, [(-10 + lean, False), (-10, False)])
    assert list(found.values()) == pytest.approx([abs(lean), lean, share], nan_ok=True)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 0.5, 1000.0])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_no_metric_is_made_of_what_can_be_no_likelihood(tmp_path: Path, bad: float, place: int) -> None:
    """Whatever backend gave it: not finite, or a probability above 1."""
    given = [(bad if i == place else -0.4, False) for i in range(3)]
    found = [exported.blanks({}, given), exported.choices(document(choice(()), tmp_path), given)]
    found += [exported.pairs({}, given[:2])] if place < 2 else []
    for metrics in found:
        numbers = [value[0] if isinstance(value, tuple) else value for value in metrics.values()]
        assert all(map(math.isnan, numbers)), metrics


def test_rounding_is_ours() -> None:
    assert exported.ROUNDING == answers.ROUNDING
    assert exported.pairs({}, [(answers.ROUNDING / 2, False), (-1.0, False)])["stereotype-share"] == 1.0


def document(item: Choice, folder: Path) -> dict[str, Any]:
    """The document of an item with everything that a measure of choices may need."""
    task = tasks.write(Dataset(name="made", items=[item]), folder, force=True)
    (line,) = _lines(folder / f"{task}.jsonl")
    return dict(json.loads(line))


def choice(orders: Sequence[tuple[int, ...]], condition: str = "ambiguous") -> Choice:
    groups = {"condition": condition, "expects": "female", "gender": "female"}
    places: Any = {"right": 2, "stereotype": 0, "unknown": 2, "female": 0, "male": 1}
    return Choice("a", "They met.", "Who?", ("Ann", "Bob", "Unknown"), groups=groups, orders=tuple(orders), **places)


LOGPS = [
    (-0.1, -3.0, -4.0),
    (-3.0, -0.1, -4.0),
    (-4.0, -3.0, -0.1),
    (-0.1, -3.0, -5.0),
    (-2.0, -2.5, -3.0),  # too little for an answer
    (-1.0,) * 3,  # a tie
    (-0.2, -30.0, -800.0),
]
ORDERS = tuple(permutations(range(3)))
METRICS = {
    name: measure for name, measure in MEASURES.items() if name in (*tasks.OF_CHOICES, "bbq-bias", "choice-coverage")
}


@pytest.mark.parametrize("orders", [(), ORDERS, ORDERS[:2]])
@pytest.mark.parametrize("condition", ["ambiguous", "disambiguated"])
def test_metrics_of_questions_are_our_measures(tmp_path: Path, condition: str, orders: Any) -> None:
    """Letters that cover less than half of the probability, and ties, have no answer there, either."""
    item = choice(orders, condition)
    doc = document(item, tmp_path)
    assert set(doc["metrics"]) == set(METRICS)
    given = [[LOGPS[(first + n) % len(LOGPS)] for n in range(max(1, len(orders)))] for first in range(len(LOGPS))]
    found = [exported.choices(doc, [(logp, False) for row in rows for logp in row]) for rows in given]
    for name, measure in METRICS.items():
        scores, ours = [], measure()
        for rows, values in zip(given, found, strict=True):
            with suppress(Unscored):
                scores.append(Score("a", ours.score(item, [Answer(row) for row in rows]), item.groups))
                value = values[name][0] if name == "bbq-bias" else values[name]
                assert value == pytest.approx(scores[-1].value, abs=1e-12), (name, rows)
        aggregation = {"bbq-bias": exported.bias_score}.get(name, exported.mean_of_answered)
        assert scores
        assert aggregation([row[name] for row in found]) == pytest.approx(ours.summarise(scores), nan_ok=True)


@pytest.mark.parametrize("name", every_dataset.NAMES)
def test_a_task_of_every_dataset_is_imported_or_refused_with_what_to_use(name: str, tmp_path: Path) -> None:
    """What is logged are random likelihoods, or texts: all of the items have a score."""
    dataset = every_dataset.loaded(name, tmp_path)
    dataset = replace(dataset, items=dataset.items[:: max(1, len(dataset.items) // 20)])
    if type(dataset.items[0]) not in {Pair, Blank, Choice, Prompt}:
        with pytest.raises(BadInput, match=f"evenhand audit MODEL --(dataset {name}|templates FILE)"):
            tasks.write(dataset, tmp_path)
        return
    task = tasks.write(dataset, tmp_path)
    draw = Random(0)
    with (tmp_path / "samples.jsonl").open("w", encoding="utf-8") as file:
        for doc in map(json.loads, _lines(tmp_path / f"{task}.jsonl")):
            contexts = doc["context"] if isinstance(doc["context"], list) else [doc["context"]]
            asked = [[context, choice] for context in contexts for choice in doc.get("choices", [{}])]
            all_of_them = math.log(len(doc.get("choices", [{}])))  # their probabilities add up to less than 1
            logged = [[[str(-all_of_them - draw.uniform(0.1, 0.4)), "False"]] for _ in asked]
            resps = logged if "choices" in doc else [["She sang.", "He and he."]]
            file.write(json.dumps({"doc": doc, "arguments": asked, "resps": resps}) + "\n")
    own = every_dataset.options(name, tmp_path)
    run = from_scores(tmp_path / "samples.jsonl", dataset=name if own else None, options=own, out=tmp_path / "runs")
    for measured in run.record.tasks:
        scores = run.scores_of(measured.dataset, measured.measure).set_index("id")["score"]
        assert scores[[item.id for item in dataset.items]].notna().all(), measured.measure


def test_a_dataset_of_mixed_items_is_refused(tmp_path: Path) -> None:
    pairs, blanks = datasets.load("tgb"), datasets.load("tbd")
    mixed = Dataset(name="mixed", items=[pairs.items[0], blanks.items[0]])
    with pytest.raises(BadInput, match="Blank, Pair"):
        tasks.write(mixed, tmp_path)


def test_a_task_without_its_documents_says_how_to_write_them() -> None:
    with pytest.raises(FileNotFoundError, match="evenhand_tgb.jsonl"):
        exported.documents("evenhand_tgb.jsonl")
