"""An audit of a model behind a server: what can be asked is measured, the rest is said, and nothing is asked twice."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from socket import gethostname

import pytest
from tokenizers import decoders

import evenhand
from evenhand import Run
from evenhand.auditing.estimate import estimate
from evenhand.auditing.spec import AuditSpec
from evenhand.cli.app import app
from evenhand.cli.terminal import BAD_INPUT
from evenhand.cli.terminal import run as run_command
from evenhand.errors import BadInput, ModelError, RunError, UnfitModel
from evenhand.models import ModelSource
from evenhand.models.networks.causal import CausalLM
from evenhand.models.served.connection import Address
from evenhand.models.served.model import ServedModel
from helpers import made_bbq, tiny
from helpers.openai_server import FakeServer, serving
from helpers.typed import load

pytestmark = pytest.mark.usefixtures("without_pages")

KEY = "sk-very-secret-1234"


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> CausalLM:
    tokenizer = tiny.continuing_bytes()
    tokenizer.model_max_length = 512
    tokenizer.backend_tokenizer.decoder = decoders.ByteLevel()
    folder = tmp_path_factory.mktemp("models") / "tiny"
    return load(CausalLM, str(tiny.save_causal("gpt2", folder, tokenizer=tokenizer, max_position_embeddings=512)))


@pytest.fixture
def server(local: CausalLM, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServer]:
    """A server, whose address and key are in the environment; and some questions as BBQ has them."""
    made_bbq.write(tmp_path / "data", made_bbq.rows(10))
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("evenhand.models.served.client.FIRST_WAIT", 0.01)
    fake = FakeServer(local, key=KEY)
    with serving(fake.app()) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        yield fake


def command(tmp_path: Path, *more: str) -> list[str]:
    return ["audit", "openai:tiny", "--out", str(tmp_path / "runs"), *more]


def values(run: Run) -> dict[tuple[str, str], float]:
    return {(row["dataset"], row["measure"]): row["value"] for row in run.results if not row["groups"]}


@pytest.mark.usefixtures("log_as_before")
def test_a_log_file_names_no_key_and_nothing_else_of_the_environment(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {"HOME": str(tmp_path / "jane-doe-of-hers"), "USER": "jane-doe-of-hers", "HOSTNAME": "janes-laptop"}
    for name, value in {**secrets, "HF_TOKEN": "hf_very-secret"}.items():
        monkeypatch.setenv(name, value)
    log = tmp_path / "all.log"
    line = command(tmp_path, "--suite", "gbef", "--limit", "2", "--verbose", "--log-file", str(log))
    assert run_command(app, line) == 0
    written = log.read_text()
    assert "items" in written
    for secret in (KEY, *secrets.values(), "hf_very-secret", gethostname()):
        assert secret not in written


def test_pairs_pronouns_and_choices_are_those_of_the_model_in_this_process(
    server: FakeServer, local: CausalLM, tmp_path: Path
) -> None:
    how = {"suite": ["gbef", "choices"], "limit": 4, "options": {"mass": 0, "chat": False}}
    served = evenhand.audit("openai:tiny", out=tmp_path / "served", **how)  # type: ignore[arg-type]
    here = evenhand.audit(local, out=tmp_path / "here", **how)  # type: ignore[arg-type]
    assert values(served) == pytest.approx(values(here), abs=1e-3, nan_ok=True)
    assert len(values(served)) > 10
    loaded = served.record.loaded
    assert loaded["gives"] == "a: log-probabilities of whole texts"
    assert loaded["two_askings_differ_by"] == 0.0
    assert [one.check for one in served.record.doctor if one.verdict == "fine"][:2] == ["server", "two askings"]
    for file in (tmp_path / "served").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


def test_a_stopped_run_goes_on_and_asks_nothing_twice(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = {"dataset": "tgb", "measure": "likelihood-lean", "limit": 60, "out": tmp_path}
    monkeypatch.setattr("evenhand.models.served.client.LONGEST_WAIT", 0.05)
    model = ServedModel(Address.of("openai:tiny"), patience=0.3)
    server.stops_after = len(server.seen) + 50
    with pytest.raises(ModelError, match="kept"):
        evenhand.audit(model, **how)  # type: ignore[arg-type]
    with sqlite3.connect(tmp_path / "tiny" / "answers.sqlite") as store:
        (kept,) = store.execute("SELECT COUNT(*) FROM answers").fetchone()
    assert 0 < kept - 1 <= 50  # and the answer that the model is known by
    asked = [json.dumps(body, sort_keys=True) for body in server.seen[-50:]]
    server.stops_after = 10**9
    before = len(server.seen)
    run = evenhand.audit(ServedModel(Address.of("openai:tiny")), **how)  # type: ignore[arg-type]
    later = [json.dumps(body, sort_keys=True) for body in server.seen[before:] if body.get("echo")]
    again = [body for body in later if body in asked and "Monday" not in body]
    assert len(again) <= 50 - (kept - 1)  # those that were under way when it stopped
    assert run.record.audits[0].work.kept == kept - 1
    whole = evenhand.audit(ServedModel(Address.of("openai:tiny")), **{**how, "out": tmp_path / "whole"})  # type: ignore[arg-type]
    assert values(run) == values(whole)
    before = len(server.seen)
    evenhand.audit(ServedModel(Address.of("openai:tiny")), **how)  # type: ignore[arg-type]
    assert len(server.seen) - before < 25  # the probe alone


def test_another_model_behind_the_name_is_another_run(
    server: FakeServer, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    how = {"dataset": "tgb", "measure": "likelihood-lean", "limit": 5, "out": tmp_path}
    evenhand.audit("openai:tiny", **how)  # type: ignore[arg-type]
    tokenizer = server.model.tokenizer
    folder = tiny.save_causal("gpt-neox", tmp_path / "other", tokenizer=tokenizer, max_position_embeddings=512)
    server.model = load(CausalLM, str(folder))
    with pytest.raises(RunError, match="Another model.*'tiny'"):
        evenhand.audit("openai:tiny", **how)  # type: ignore[arg-type]
    evenhand.audit("openai:tiny", fresh=True, **how)  # type: ignore[arg-type]


@pytest.mark.usefixtures("pages")
def test_what_cannot_be_asked_is_on_the_page_and_in_the_terminal(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.faults = frozenset({"echo ignored"})
    asked = command(tmp_path, "--suite", "choices", "--suite", "gbef", "--option", "mass=0", "--limit", "4")
    assert run_command(app, asked) == BAD_INPUT  # gbef was named
    shown = " ".join(" ".join(capsys.readouterr()).split())
    reason = "Not asked of the server"
    assert reason in shown
    run = Run.load(tmp_path / "runs" / "tiny")
    names = {task.dataset for task in run.record.tasks}
    assert {"bbq-ambiguous (mass=0.0)", "choices-decisions (mass=0.0)"} <= names
    assert run.record.asked.chat
    assert not any(name.startswith(("tgb", "tbd")) for name in names)
    assert "`chat=False`" in " ".join(run.record.caveats)
    page = (run.path / "report.html").read_text()
    assert reason in page
    assert "tgb by likelihood-difference, likelihood-lean" in page
    assert "b: log-probabilities of the next token" in page
    assert KEY not in page


def test_a_server_that_can_be_asked_nothing_of_a_suite_is_refused(server: FakeServer, tmp_path: Path) -> None:
    server.faults = frozenset({"echo ignored"})
    with pytest.raises(UnfitModel, match="Not asked"):
        evenhand.audit("openai:tiny", suite="gbef", out=tmp_path)
    assert not (tmp_path / "tiny").exists()


def test_datasets_that_were_not_fetched_are_named_once(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("EVENHAND_DATA")
    caplog.set_level("INFO")
    with pytest.raises(BadInput, match="`budget`"):  # which is known once the server was asked
        evenhand.audit("openai:tiny", suite="choices", budget=1, out=tmp_path)
    assert caplog.text.count("not fetched") == 1


def test_a_dry_run_sends_nothing_and_counts_what_is_sent_later(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = {"dataset": ["bbq-ambiguous", "bbq-disambiguated"], "options": {"mass": 0, "chat": False}}
    asked = command(tmp_path, *(f"--dataset={name}" for name in how["dataset"]), "--option", "mass=0", "--no-chat")
    assert run_command(app, [*asked, "--dry-run"]) == 0
    assert not server.seen
    shown = capsys.readouterr().out
    whole, following, text = estimate(ModelSource.of("openai:tiny"), AuditSpec.of(**how))  # type: ignore[arg-type]
    totals = [line.split()[1] for line in shown.splitlines() if "total" in line]
    assert totals == [f"{cost.requests:,}" for cost in (whole, following, text)]
    assert (whole.requests, following.requests, text.requests) == (360, 120, 2400)
    assert not whole.left_out
    run = evenhand.audit("openai:tiny", out=tmp_path, **how)  # type: ignore[arg-type]
    chosen = [body for body in server.seen if "On day" in str(body.get("prompt"))]
    assert len(chosen) == whole.requests
    assert run.record.audits[0].work.inputs == 120
    costs = estimate(ModelSource.of("openai:tiny"), AuditSpec.of(suite="gbef", limit=4))
    assert costs[0].requests > 0
    assert costs[1].requests == costs[2].requests == 0
    assert "tgb by likelihood-lean" in costs[1].left_out
    assert run_command(app, [*asked, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["openai:tiny, plain prompts"][1]["requests"] == 120
    with pytest.raises(BadInput, match="`dry_run`"):
        estimate(ModelSource.of("mini-en"), AuditSpec.of())


def test_the_doctor_says_what_a_server_gives(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(app, ["doctor", "openai:tiny"]) == 1  # its weights are random
    assert "The server gives log-probabilities of whole texts." in " ".join(capsys.readouterr().out.split())
    server.faults = frozenset({"log10"})
    assert run_command(app, ["doctor", "openai:tiny"]) == 1
    assert "not natural" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--base-url", "nowhere"], "`base_url`"),
        (["--base-url", f"http://u:{KEY}@localhost/v1"], "password"),
        (["--base-url", "http://127.0.0.1:9/v1"], "no server"),
        (["--concurrency", "0"], "`concurrency`"),
        (["--samples", "0"], "`samples`"),
        (["--suite", "nli"], "Not asked"),
        (["--engine", "ray"], "behind a server"),
    ],
)
def test_bad_input_is_a_sentence_with_exit_code_2(
    more: list[str], word: str, server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(app, command(tmp_path, *more)) == 2
    printed = capsys.readouterr().err
    assert word in " ".join(printed.split())
    assert KEY not in printed


def test_an_unknown_model_is_exit_code_2(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(app, ["audit", "openai:huge", "--out", str(tmp_path)]) == 2
    assert "has no model 'huge'. It has: tiny." in " ".join(capsys.readouterr().err.split())
