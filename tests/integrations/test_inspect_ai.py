"""inspect_ai runs our tasks with any model, and `evenhand import` makes runs of its logs."""

import importlib
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import BadInput, RunError, datasets, from_scores
from evenhand.auditing.sampling import draw_sample
from evenhand.core.way import Way
from helpers import inspected, made_bbq, packages, planted, tiny
from helpers.inspected import evaluated, metrics

pytestmark = [
    pytest.mark.usefixtures("hosts", "without_pages"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

A, B, C = "A", "B", "C"
"""The letters of True, Neither and False: entailment, neutral and contradiction."""


def nli(**given: Any) -> Any:
    from evenhand.integrations.inspect_ai import nli as task

    return task(**given)


def bbq(**given: Any) -> Any:
    from evenhand.integrations.inspect_ai import bbq as task

    return task(**given)


def follows(about: dict[str, Any], epoch: int) -> str:
    """Entailment for women in `pro`, contradiction in one of 24 captions of `anti`, for men in `non`; else neutral."""
    if about["set"] == "pro":
        return "A. True" if about["gender"] == "female" else "B"
    if about["set"] == "anti":
        return "The answer is C." if about["template"] == "camera" else "Neither"
    return C if about["gender"] == "male" else B


def items(n: int = 90) -> list[Any]:
    """The pairs that a limit of n takes."""
    return list(draw_sample(datasets.load("nli-en"), n, 0).items)


def share(label: str, pairs: str) -> float:
    """How many pairs of a set get this letter from `follows`: True, say, is A."""
    words = {"A": "A. True", "C": ("The answer is C.", "C")}[label]
    given = [follows(dict(item.groups), 0) in words for item in items() if item.groups["set"] == pairs]
    return sum(given) / len(given)


def value(run: evenhand.Run, dataset: str, measure: str, **groups: str) -> float:
    (found,) = [one.value for one in run.values_of(dataset, measure) if dict(one.groups) == groups]
    assert found is not None
    return found


def test_nli_coal_is_what_was_planted_in_inspect_and_in_the_run(tmp_path: Path) -> None:
    log = evaluated(nli(), follows, tmp_path)
    run = from_scores(log, out=tmp_path / "runs")
    planted = {"pro": share(A, "pro"), "anti": share(C, "anti"), "non": 0.5}
    assert 0.3 < planted["pro"] < 0.7
    assert 0 < planted["anti"] < 0.2
    known = sum(planted.values()) / 3
    assert run.record.model == "mockllm/planted"
    assert run.path.name == "mockllm--planted"
    assert value(run, "nli-en", "nli-coal") == pytest.approx(known, abs=1e-12)
    for name, biased in planted.items():
        assert value(run, "nli-en", "nli-coal", set=name) == pytest.approx(biased, abs=1e-12)
    theirs = metrics(log)
    assert theirs["nli-coal"] == pytest.approx({"evenhand/value": known, **planted}, abs=1e-12)
    for measure in ("fraction-neutral", "fraction-entailment", "fraction-contradiction"):
        assert theirs[measure]["mean"] == pytest.approx(value(run, "nli-en", measure), abs=1e-12)
        assert theirs[measure]["stderr"] > 0
    assert {task.measure for task in run.record.tasks} == set(theirs)  # none of probabilities, which replies have not
    audit = run.record.audits[0]
    assert audit.imported is not None
    assert (audit.imported.format, audit.imported.numbers) == ("log of inspect_ai", ("answers",))
    assert "the option that a reply names" in audit.caveats[0]


def test_a_reply_that_names_no_option_is_no_answer(tmp_path: Path) -> None:
    def shy(about: dict[str, Any], epoch: int) -> str:
        return {"pro": "I would rather not say.", "anti": ""}.get(about["set"], B)

    log = evaluated(nli(), shy, tmp_path)
    run = from_scores(log, out=tmp_path / "runs")
    unscored = {"the reply names no option": 30, "the reply is empty": 30}
    assert run.record.unscored["nli-en/fraction-neutral"] == unscored
    assert value(run, "nli-en", "fraction-neutral") == 0 == metrics(log)["fraction-neutral"]["mean"]
    with pytest.raises(BadInput, match="no number for any item"):
        from_scores(evaluated(nli(language="ja"), lambda *_: "?", tmp_path, limit=4), out=tmp_path / "none")


def test_log_probabilities_are_used_where_a_provider_gives_them(tmp_path: Path) -> None:
    def sure(about: dict[str, Any], epoch: int) -> inspected.Reply:
        if about["set"] == "pro":
            return {A: math.log(0.6), B: math.log(0.2), "The": math.log(0.2)}
        if about["set"] == "anti":
            return {"False": math.log(0.6), A: math.log(0.4)}  # the letters have too little: what is said counts
        return {"B": math.log(0.75), C: math.log(0.25)}

    log = evaluated(nli(), sure, tmp_path, logprobs=True, top_logprobs=5)
    run = from_scores(log, out=tmp_path / "runs")
    assert value(run, "nli-en", "nli-coal-weighted", set="pro") == pytest.approx(0.75)
    assert value(run, "nli-en", "nli-coal-weighted", set="non") == pytest.approx(0.25)
    assert value(run, "nli-en", "nli-coal", set="pro") == 1
    assert run.record.unscored["nli-en/net-neutral"] == {"no log-probabilities in the log": 30}
    assert value(run, "nli-en", "nli-coal", set="anti") == 1
    assert run.record.audits[0].imported is not None
    assert run.record.audits[0].imported.numbers == ("log-probabilities",)


def test_measures_of_probabilities_are_not_made_of_replies(tmp_path: Path) -> None:
    log = evaluated(nli(), lambda *_: B, tmp_path, limit=8)
    with pytest.raises(BadInput, match="net-neutral.* --logprobs"):
        from_scores(log, measure="net-neutral", out=tmp_path / "runs")
    with pytest.raises(BadInput, match="`dataset` tgb"):
        from_scores(log, dataset="tgb", out=tmp_path / "runs")
    with pytest.raises(BadInput, match="`columns` and `option`"):
        from_scores(log, options={"chat": True}, out=tmp_path / "runs")


def test_inspects_limit_takes_the_sample_that_an_audit_takes(tmp_path: Path) -> None:
    log = evaluated(nli(), lambda *_: B, tmp_path, limit=20)
    run = from_scores(log, name="mine", out=tmp_path / "runs")
    assert set(run.scores_of("nli-en", "nli-coal")["id"]) == {item.id for item in items(20)}
    assert {(task.limit, task.partial) for task in run.record.tasks} == {(20, True)}
    assert run.record.model == "mine"


def test_of_several_epochs_the_most_frequent_answer_counts(tmp_path: Path) -> None:
    def wavering(about: dict[str, Any], epoch: int) -> str:
        if about["set"] == "non":
            return (B, "Hm.", "Well.")[epoch]  # most are no answer
        return (A, B, A)[epoch] if about["set"] == "pro" else (A, C, B)[epoch]

    log = evaluated(nli(), wavering, tmp_path, epochs=3, limit=30)
    run = from_scores(log, measure="fraction-entailment", out=tmp_path / "runs")
    assert value(run, "nli-en", "fraction-entailment", set="pro") == 1
    assert value(run, "nli-en", "fraction-entailment", set="anti") == pytest.approx(1 / 3)  # a tie is shared
    assert run.record.unscored["nli-en/fraction-entailment"] == {"the reply names no option": 10}
    assert "asked 3 times. Its answer is the most frequent one" in run.record.audits[0].caveats[1]


def test_bbq_has_its_bias_and_whether_the_model_can_do_the_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_bbq.write(tmp_path)
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))

    def stereotyped(about: dict[str, Any], epoch: int) -> str:
        """Right where the context says it; otherwise three times of four what the stereotype says, else unknown."""
        item = about["item"]
        open_ = about["condition"] == "ambiguous"
        place = item["right"] if not open_ or int(item["id"]) % 8 == 0 else item["stereotype"]
        return "ABC"[place]

    log = evaluated(bbq(), stereotyped, tmp_path, limit=None, system_message="Be brief.")
    run = from_scores(log, out=tmp_path / "runs")
    theirs = metrics(log)
    ids = [item.id for item in datasets.load("bbq-ambiguous").items]
    planted = sum(int(id) % 8 != 0 for id in ids) / len(ids)
    assert value(run, "bbq-ambiguous", "bbq-bias") == pytest.approx(planted)
    assert theirs["bbq-bias"]["ambiguous"] == pytest.approx(planted)
    assert theirs["choice-accuracy"]["disambiguated"] == 1
    assert theirs["choice-accuracy"]["ambiguous"] == pytest.approx(1 - planted)
    assert theirs["choice-accuracy"]["ambiguous stderr"] > 0
    disambiguated = value(run, "bbq-disambiguated", "bbq-bias")
    assert theirs["bbq-bias"]["disambiguated"] == pytest.approx(disambiguated)
    (found,) = [one for one in run.record.audits[0].doctor if one.check == "task"]
    assert found.verdict == "fine"
    assert found.says.startswith("bbq-disambiguated: 100% are right [68%, 100%], guessing gives 50%")


@pytest.mark.parametrize("order", ["balanced", "all"])
def test_bbq_in_inspect_is_that_of_an_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str) -> None:
    made_bbq.write(tmp_path)
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    names = ["bbq-ambiguous", "bbq-disambiguated"]
    options = {"chat": True, "order": order}
    direct = evenhand.audit(planted.model(), dataset=names, options=options, out=tmp_path / "runs")
    log = evaluated(bbq(order=order), listed, tmp_path, limit=None, logprobs=True, top_logprobs=5)
    planted.assert_same(from_scores(log, out=tmp_path / "runs"), direct)


def listed(about: dict[str, Any], epoch: int) -> inspected.Reply:
    """The log-probabilities of the planted model."""
    asked = about["asked"]
    return dict(zip("ABC", planted.logps(asked["text"], len(asked["options"])), strict=False))


@pytest.mark.parametrize("questions", ["pronouns", "decisions", "descriptions"])
def test_choices_in_inspect_are_those_of_an_audit(tmp_path: Path, questions: str) -> None:
    from evenhand.integrations.inspect_ai import choices

    names = [f"choices-{questions}", f"choices-{questions}-control"]
    direct = evenhand.audit(planted.model(), dataset=names, options={"chat": True}, out=tmp_path / "runs", limit=12)
    log = evaluated(choices(questions=questions), listed, tmp_path, limit=24, logprobs=True, top_logprobs=5)
    run = from_scores(log, out=tmp_path / "runs")
    planted.assert_same(run, direct)
    theirs = metrics(log)
    if questions == "decisions":
        name = run.record.tasks[0].dataset
        scores = run.scores_of(name, "decision-share")
        for gender, mean in scores.groupby("gender")["score"].mean().items():
            assert theirs["decision-share"][str(gender)] == pytest.approx(mean)
    else:
        gap = value(run, run.record.tasks[0].dataset, "choice-gap")
        assert theirs["choice-gap"] == pytest.approx({f"choices-{questions}": gap})


def test_replies_to_choices_are_shares_and_not_odds(tmp_path: Path) -> None:
    """A model that always says A takes yes where it stands first: half of the time."""
    from evenhand.integrations.inspect_ai import choices

    log = evaluated(choices(questions="decisions"), lambda *_: A, tmp_path, limit=12)
    run = from_scores(log, out=tmp_path / "runs")
    assert {task.measure for task in run.record.tasks} == {"decision-share", "choice-accuracy", "choice-first"}
    assert metrics(log)["decision-share"] == {"female": 0.5, "male": 0.5}
    (first,) = {task.dataset for task in run.record.tasks if task.measure == "decision-share"}
    assert value(run, first, "choice-first") == 1


def test_german_choices_are_a_language_and_unknown_questions_are_a_sentence(tmp_path: Path) -> None:
    from inspect_ai._util.error import PrerequisiteError

    from evenhand.integrations.inspect_ai import choices

    asked = {sample.metadata["dataset"] for sample in choices(language="de").dataset if sample.metadata}
    assert asked == {name for name in datasets.BUILDERS if re.fullmatch("choices-.*-de", name)}
    ids = [sample.id for sample in choices().dataset]
    assert len(ids) == len(set(ids))  # a profession may be an item of two sets
    with pytest.raises(PrerequisiteError, match="'pronoun'.*pronouns"):
        choices(questions="pronoun")


def test_texts_in_inspect_are_those_of_an_audit(tmp_path: Path) -> None:
    from evenhand.integrations.inspect_ai import stories

    how = {"forms": "story,headline", "subjects": "activities"}
    log = evaluated(
        stories(**how), lambda about, epoch: planted.written(about["asked"]["text"], epoch), tmp_path, limit=None
    )
    run = from_scores(log, out=tmp_path / "runs")
    measures = [task.measure for task in run.record.tasks]
    options = {**how, "chat": True}
    direct = evenhand.audit(
        planted.model(), dataset="stories-en", measure=measures, options=options, out=tmp_path / "runs"
    )
    planted.assert_same(run, direct)
    (name,) = run.datasets
    share = value(run, name, "written-share")
    assert metrics(log)["written-share"] == {"evenhand/value": pytest.approx(share)}
    assert metrics(log)["written-undetected"]["mean"] == pytest.approx(value(run, name, "written-undetected"))
    assert run.record.asked == Way(chat=True, temperature=1.0)
    assert run.record.tasks[0].measure_options["longest"] == 40


def test_a_text_that_was_cut_loses_its_last_word(tmp_path: Path) -> None:
    """It may be the beginning of another: "he" of "her"."""
    from evenhand.integrations.inspect_ai import stories

    log = evaluated(stories(forms="story"), lambda *_: ("A nurse. He", "max_tokens"), tmp_path, limit=2, epochs=1)
    assert metrics(log)["written-undetected"]["mean"] == 1
    run = from_scores(log, out=tmp_path / "runs")
    assert value(run, run.datasets[0], "written-undetected") == 1


def test_logs_of_one_model_asked_in_one_way_are_of_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_bbq.write(tmp_path)
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    for number, task in enumerate((nli(), bbq())):
        log = evaluated(task, lambda *_: B, tmp_path, limit=12, temperature=0.5, max_connections=number + 1)
        run = from_scores(log, out=tmp_path / "runs")
    assert run.record.audits[0].loaded == {"settings": "temperature=0.5, labels=True,Neither,False"}
    assert run.record.audits[1].loaded == {"settings": "temperature=0.5"}
    assert {task.dataset for task in run.record.tasks} == {"nli-en", "bbq-ambiguous", "bbq-disambiguated"}
    assert run.record.asked == Way(chat=True, system="", temperature=0.5)
    assert run.record.model.endswith(", temperature 0.5")
    labelled = evaluated(nli(labels="Yes,Perhaps,No"), lambda *_: B, tmp_path, limit=12, temperature=0.5)
    with pytest.raises(RunError, match="another `out`"):
        from_scores(labelled, out=tmp_path / "runs")
    warmer = evaluated(nli(language="zh"), lambda *_: B, tmp_path, limit=12, temperature=1.0)
    assert from_scores(warmer, out=tmp_path / "runs").path != run.path
    with pytest.raises(RunError, match="asked at temperature 0.5. This audit asks at temperature 1.0"):
        from_scores(warmer, out=tmp_path / "runs", name=run.record.model)


def test_a_log_of_another_task_or_of_a_failed_evaluation_is_a_sentence(tmp_path: Path) -> None:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import exact

    other = evaluated(
        Task(dataset=[Sample("Hello?", target=B)], scorer=exact(), name="greeting"), lambda *_: B, tmp_path
    )
    with pytest.raises(BadInput, match="greeting"):
        from_scores(other, out=tmp_path / "runs")

    def broken(*_: Any) -> str:
        raise ValueError("no answer today")

    with pytest.raises(BadInput, match="no answer today.* inspect eval-retry"):
        from_scores(evaluated(nli(), broken, tmp_path, limit=2), out=tmp_path / "runs")
    with pytest.raises(BadInput, match="inspect score"):
        from_scores(evaluated(nli(), lambda *_: B, tmp_path, limit=2, score=False), out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_without_inspect_its_archives_cannot_be_read_and_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = evaluated(nli(), lambda *_: B, tmp_path, limit=2)
    packages.without("inspect-ai", monkeypatch, "0.3.100")
    with pytest.raises(BadInput, match="0.3.100 is installed"):
        from_scores(log, out=tmp_path / "runs")
    import evenhand.integrations.inspect_ai as tasks

    with pytest.raises(BadInput, match="0.3.285 or newer"):
        importlib.reload(tasks)


def inspect(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What the command `inspect` does in a folder."""
    command = [sys.executable, "-m", "inspect_ai", *words, "--display", "plain"]
    return subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True)


def test_a_local_model_runs_through_to_a_page(tmp_path: Path, pages: None) -> None:
    """The network answers A to everything, whatever it is asked."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    path = tiny.save_causal("gpt2", tmp_path / "says-a", max_position_embeddings=512)
    network = AutoModelForCausalLM.from_pretrained(path)
    with torch.no_grad():
        last, letter = network.transformer.ln_f, AutoTokenizer.from_pretrained(path).convert_tokens_to_ids(A)
        last.weight.zero_()
        last.bias.copy_(10 * network.transformer.wte.weight[letter])
    network.save_pretrained(path)
    words = ("eval", "evenhand/nli", "--model", "hf/local", "-M", "model_path=says-a", "--max-tokens", "1")
    done = inspect(*words, "--limit", "24", "--logprobs", "--top-logprobs", "5", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = (tmp_path / "logs").glob("*.eval")
    run = from_scores(log, out=tmp_path / "runs")
    assert run.record.model == "hf/local"
    assert value(run, "nli-en", "nli-coal") == pytest.approx(2 / 3)
    assert value(run, "nli-en", "net-neutral") == pytest.approx(0, abs=1e-3)
    assert (run.path / "report.html").is_file()


def test_data_that_was_not_fetched_is_a_sentence_of_ours(tmp_path: Path) -> None:
    there = {"EVENHAND_DATA": "", "XDG_CACHE_HOME": str(tmp_path)}
    done = inspect("eval", "evenhand/bbq", "--model", "mockllm/model", folder=tmp_path, **there)
    assert "'bbq' is not available. Get it with: evenhand datasets fetch bbq." in " ".join(done.stdout.split())
    assert "Traceback" not in done.stdout + done.stderr
    done = inspect("eval", "evenhand/nli", "-T", "language=de", "--model", "mockllm/model", folder=tmp_path)
    assert "Unknown language 'de'. Available: en, ja, zh." in done.stdout


def test_the_page_shows_what_its_stand_in_gives(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "integrations" / "inspect.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.S)
    (shown,) = re.findall(r"```\n( +value .*?)```", page, re.S)
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    (log,) = (tmp_path / "logs").glob("*.eval")
    command = [sys.executable, "-m", "evenhand", "import", str(log)]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | {"COLUMNS": "100"}, stdout=subprocess.PIPE, text=True)
    printed = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    assert shown in printed + "\n"
