"""Samples of tasks that evenhand exported to lm-evaluation-harness."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from evenhand import BadInput, Run, datasets, from_scores
from evenhand.integrations.lm_eval import tasks

pytestmark = pytest.mark.usefixtures("without_pages")


def logged(name: str, folder: Path, logps: list[Any], **changed: Any) -> Path:
    """The samples of the first documents, all with these likelihoods."""
    task = tasks.write(datasets.load(name), folder, force=True)
    file = folder / "samples_2026.jsonl"
    with file.open("w", encoding="utf-8") as written:
        for line in (folder / f"{task}.jsonl").read_text(encoding="utf-8").splitlines()[:30]:
            doc = json.loads(line) | changed
            asked = [["", choice] for choice in doc["choices"]]
            resps = [[[str(logp), "False"]] for logp in logps]
            written.write(json.dumps({"doc": doc, "arguments": asked, "resps": resps}) + "\n")
    return file


def taken(file: Path, dataset: str, **more: Any) -> Run:
    return from_scores(file, dataset=dataset, name="mine", out=file.parent / "runs", **more)


def test_likelihoods_of_sentences_are_the_pronouns_of_a_causal_model(tmp_path: Path) -> None:
    file = logged("tbd", tmp_path, [math.log(0.02), math.log(0.01), math.log(0.01)])
    run = taken(file, "tbd", measure="pronoun")
    assert run.scores_of("tbd", "pronoun")["score"].dropna().tolist() == pytest.approx([0.25] * 30)
    assert run.record.audits[0].kind == "causal"
    for asked in ({"kind": "masked"}, {"measure": "log-probability-bias"}):
        with pytest.raises(BadInput, match="line 1: likelihoods"):
            taken(file, "tbd", **{"measure": "pronoun", "fresh": True} | asked)


def test_a_log_of_a_task_with_other_options_is_refused(tmp_path: Path) -> None:
    """The options of a question stand in another order there, and its letters would be taken for others."""
    file = logged("tgb", tmp_path, [-1.0, -2.0], options={"order": "released"})
    with pytest.raises(BadInput, match="order=released"):
        taken(file, "tgb")


def test_a_log_of_an_exported_task_names_its_dataset(tmp_path: Path) -> None:
    run = from_scores(logged("tgb", tmp_path, [-1.0, -2.0]), name="mine", out=tmp_path / "runs")
    assert run.datasets == ["tgb"]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"dataset": "crows-pairs"}, "'crows-pairs', version 1, not 'tgb', version 1"),
        ({"version": 0}, "version 0, not"),
    ],
)
def test_a_log_of_another_dataset_or_version_is_refused(tmp_path: Path, changed: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        taken(logged("tgb", tmp_path, [-3.0, -4.0], **changed), "tgb")


def test_nan_is_no_score_where_our_backend_wrote_it_and_an_error_elsewhere(tmp_path: Path) -> None:
    file = logged("tgb", tmp_path, ["nan", -4.0])
    with pytest.raises(BadInput, match="Got 'nan'"):
        taken(file, "tgb")
    (tmp_path / "results_2026.json").write_text('{"config": {"model_kind": "masked"}}')
    with pytest.raises(BadInput, match="no number"):
        taken(file, "tgb")
    (tmp_path / "samples_2026.jsonl").unlink()
    run = taken(logged("tgb", tmp_path, [-3.0, -4.0]), "tgb")
    assert run.record.audits[0].kind == "masked"
