"""Samples of tasks that evenhand exported to lm-evaluation-harness."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from evenhand import BadInput, Run, RunError, datasets, from_scores
from evenhand.core.way import Way
from evenhand.integrations.lm_eval import tasks
from helpers import made_bbq

pytestmark = pytest.mark.usefixtures("without_pages")


def logged(name: str, folder: Path, logps: list[Any], **changed: Any) -> Path:
    """The samples of the first documents, all with these likelihoods."""
    return asked(tasks.write(datasets.load(name), folder, force=True), folder, logps, **changed)


def asked(task: str, folder: Path, logps: list[Any], wrap: str = "{}", **changed: Any) -> Path:
    """Samples of an exported task; `wrap` is the chat template."""
    file = folder / f"samples_{task}_2026.jsonl"
    with file.open("w", encoding="utf-8") as written:
        for line in (folder / f"{task}.jsonl").read_text(encoding="utf-8").splitlines()[:30]:
            doc = json.loads(line) | changed
            contexts = doc["context"] if isinstance(doc["context"], list) else [doc["context"]]
            requests = [[wrap.format(context), choice] for context in contexts for choice in doc["choices"]]
            resps = [[[str(logp), "False"]] for _ in contexts for logp in logps]
            written.write(json.dumps({"doc": doc, "arguments": requests, "resps": resps}) + "\n")
    return file


def drawn(folder: Path, wrap: str = "{}", version: int = 0, **how: Any) -> Path:
    """Samples of texts."""
    dataset = datasets.load("stories-en", forms="story", subjects="activities", chat=True)
    task = tasks.write(dataset, folder, force=True)
    file = folder / "samples_texts_2026.jsonl"
    with file.open("w", encoding="utf-8") as written:
        for line in (folder / f"{task}.jsonl").read_text(encoding="utf-8").splitlines():
            doc = json.loads(line)
            doc["version"] = version or doc["version"]
            request = [wrap.format(doc["context"]), {"until": [], "max_gen_toks": 40, "temperature": 1.0, **how}]
            written.write(json.dumps({"doc": doc, "arguments": [request], "resps": [["She sang.", "He sat."]]}) + "\n")
    return file


CHAT = "<user>{}</user>"


def taken(file: Path, dataset: str, **more: Any) -> Run:
    return from_scores(file, dataset=dataset, name="mine", out=file.parent / "runs", **more)


def test_likelihoods_of_sentences_are_the_pronouns_of_a_causal_model(tmp_path: Path) -> None:
    file = logged("tbd", tmp_path, [math.log(0.02), math.log(0.01), math.log(0.01)])
    run = taken(file, "tbd", measure="pronoun")
    assert run.scores_of("tbd", "pronoun")["score"].dropna().tolist() == pytest.approx([0.25] * 30)
    assert run.record.audits[0].kind == "causal"
    for asked in ({"kind": "masked"}, {"measure": "log-probability-bias"}):
        with pytest.raises(BadInput, match=r"line \d+: likelihoods"):
            taken(file, "tbd", **{"measure": "pronoun", "fresh": True} | asked)


def test_the_options_of_a_task_need_not_be_given_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The options of a question stand in another order with `released`, and its letters would be taken for others."""
    made_bbq.write(tmp_path)
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    task = tasks.write(datasets.load("bbq-ambiguous", order="released"), tmp_path)
    file = asked(task, tmp_path, [-1.0, -2.0, -3.0])
    for given in ({}, {"dataset": "bbq-ambiguous"}, {"options": {"order": "released"}}):
        run = from_scores(file, name="mine", out=tmp_path / "runs", **given)
        assert {row.dataset_options["order"] for row in run.record.tasks} == {"released"}
    with pytest.raises(BadInput, match="order=released, not balanced"):
        from_scores(file, name="mine", options={"order": "balanced"}, out=tmp_path / "runs")
    with pytest.raises(BadInput, match="line 1: the task was exported with order=released, not balanced"):
        from_scores(file, dataset=datasets.load("bbq-ambiguous"), name="mine", out=tmp_path / "runs")
    broken = asked(task, tmp_path, [-1.0, -2.0, -3.0], options="released")
    with pytest.raises(BadInput, match="must be an object"):
        from_scores(broken, name="mine", out=tmp_path / "runs")


def test_what_was_asked_in_a_chat_is_known_and_what_was_not_is_refused(tmp_path: Path) -> None:
    data = datasets.load("choices-descriptions")
    plain, chat = tasks.write(data, tmp_path), tasks.write(data, tmp_path, options={"chat": "true"})
    assert (plain, chat) == ("evenhand_choices_descriptions", "evenhand_choices_descriptions_chat")
    logps = [-1.0, -1.0, -2.0]
    run = from_scores(asked(chat, tmp_path, logps, CHAT), name="chat", out=tmp_path / "runs")
    assert run.record.asked.chat
    run = from_scores(asked(plain, tmp_path, logps), name="plain", out=tmp_path / "runs")
    assert not run.record.asked.chat
    with pytest.raises(BadInput, match="line 1: .*Run it with --apply_chat_template"):
        from_scores(asked(chat, tmp_path, logps), name="none", out=tmp_path / "runs")
    with pytest.raises(BadInput, match="line 1: .*Run it without --apply_chat_template .*option chat=true"):
        from_scores(asked(plain, tmp_path, logps, CHAT), name="none", out=tmp_path / "runs")
    tgb = asked(tasks.write(datasets.load("tgb"), tmp_path), tmp_path, [-1.0, -2.0], CHAT)
    with pytest.raises(BadInput, match="Run it without"):
        from_scores(tgb, name="none", out=tmp_path / "runs")


def test_samples_of_one_evaluation_are_of_one_model(tmp_path: Path) -> None:
    """The results beside them say which; without results, another file is another model."""
    options = {"chat": True}
    names = ("choices-decisions", "choices-decisions-control")
    files = [
        asked(tasks.write(datasets.load(name), tmp_path, options=options), tmp_path, [-1.0, -1.0], CHAT)
        for name in names
    ]
    results = {"config": {"model": "hf", "model_args": {"pretrained": "m"}}, "system_instruction": "Be fair."}
    (tmp_path / "results_2026.json").write_text(json.dumps(results))
    for file in files:
        run = from_scores(file, name="mine", out=tmp_path / "runs")
    assert {task.dataset_builder for task in run.record.tasks} == set(names)
    assert run.record.asked == Way(chat=True, system="Be fair.")
    (found,) = (each for each in run.record.doctor if each.check == "task")
    assert found.says.startswith("It is not shown to do the task")  # by the control, which came later
    (tmp_path / "results_2026.json").write_text(json.dumps(results | {"system_instruction": "Be brief."}))
    with pytest.raises(RunError, match="another"):
        from_scores(files[0], name="mine", out=tmp_path / "runs")
    (tmp_path / "results_2026.json").unlink()
    from_scores(files[0], name="other", out=tmp_path / "runs")
    with pytest.raises(RunError, match="another"):
        from_scores(files[1], name="other", out=tmp_path / "runs")


def test_requests_say_how_texts_were_drawn(tmp_path: Path) -> None:
    run = from_scores(drawn(tmp_path, CHAT, temperature=0.5), name="mine", out=tmp_path / "runs")
    assert run.record.asked == Way(chat=True, temperature=0.5)
    assert run.record.tasks[0].measure_options["longest"] == 40
    assert not any("not known" in line for line in run.record.caveats)
    with pytest.raises(BadInput, match="temperature=0.5, not 1"):
        from_scores(drawn(tmp_path, CHAT, temperature=0.5), options={"temperature": 1.0}, out=tmp_path / "runs")
    with pytest.raises(BadInput, match="`temperature` must be a number above 0"):
        from_scores(drawn(tmp_path, CHAT, temperature=0.0), out=tmp_path / "runs")
    with pytest.raises(BadInput, match="line 1: .*--apply_chat_template"):
        from_scores(drawn(tmp_path), out=tmp_path / "runs")
    with pytest.raises(BadInput, match="is of version 7 of 'stories-en"):
        from_scores(drawn(tmp_path, CHAT, version=7), out=tmp_path / "runs")


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
    file.unlink()
    run = taken(logged("tgb", tmp_path, [-3.0, -4.0]), "tgb")
    assert run.record.audits[0].kind == "masked"
