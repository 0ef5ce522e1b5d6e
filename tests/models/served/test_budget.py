"""A budget is kept by every kind of server, and what is asked again for a larger one is only what is new."""

import json
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import Run
from evenhand.auditing.estimate import estimate
from evenhand.auditing.spec import AuditSpec, commands
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.errors import BadInput, RunError
from evenhand.models import ModelSource
from helpers import made_bbq
from helpers.openai_server import FakeServer

from .conftest import Connect

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined", "log_as_before")

TEXT = frozenset({"text", "models"})
NEXT = TEXT | {"next"}
WHOLE = NEXT | {"echo"}
ASKED: dict[str, Any] = {"dataset": ["bbq-ambiguous", "bbq-disambiguated"], "options": {"mass": 0}}


@pytest.fixture(autouse=True)
def bbq(shelf: Path) -> None:
    """Four templates of 12 questions, half of them about men; six questions of each are ambiguous."""
    made_bbq.write(shelf, made_bbq.rows(4))


def sent(server: FakeServer) -> list[str]:
    """The requests for questions of BBQ."""
    return [json.dumps(body, sort_keys=True) for body in server.seen if "On day" in str(body)]


@pytest.mark.parametrize(
    ("gives", "each"), [(WHOLE, 3), (NEXT, 1), (TEXT, 2)], ids=["whole texts", "next tokens", "text"]
)
def test_no_more_is_sent_than_the_budget_and_nothing_twice(
    connect: Connect, tmp_path: Path, gives: frozenset[str], each: int
) -> None:
    server, model = connect(gives=gives, samples=2)
    budget = 25 * each
    run = evenhand.audit(model, **ASKED, budget=budget, out=tmp_path)
    first = sent(server)
    assert len(first) == len(set(first)) == 24 * each
    evenhand.audit(model, **ASKED, budget=budget, out=tmp_path)
    assert sent(server) == first
    for task in run.record.tasks:
        assert (task.limit, task.partial, task.budget, task.seed) == (12, True, budget, 0)
    templates = run.scores.drop_duplicates(["dataset", "id"]).groupby(["dataset", "template"]).size()
    assert templates.tolist() == [6] * 4
    larger = evenhand.audit(model, **ASKED, budget=budget + 12 * each, out=tmp_path)
    assert len(sent(server)) == len(set(sent(server))) == 36 * each
    assert {task.limit for task in larger.record.tasks} == {18}
    with pytest.raises(RunError, match="18 items. Results for 12.*`budget`"):
        evenhand.audit(model, **ASKED, budget=budget, out=tmp_path)
    whole = evenhand.audit(model, **ASKED, budget=48 * each, out=tmp_path)
    assert not whole.record.partial
    assert {(task.limit, task.budget) for task in whole.record.tasks} == {(None, 48 * each)}


def test_what_a_server_cannot_be_asked_costs_nothing(connect: Connect, tmp_path: Path) -> None:
    server, model = connect(gives=NEXT)
    how = ASKED | {"dataset": [*ASKED["dataset"], "tgb"]}
    run = evenhand.audit(model, **how, budget=24, out=tmp_path)
    assert {task.limit for task in run.record.tasks} == {12}
    assert len(sent(server)) == 24
    assert "tgb" not in {task.dataset for task in run.record.tasks}


def test_a_question_that_one_measure_can_ask_and_another_cannot_is_counted(connect: Connect, tmp_path: Path) -> None:
    _, model = connect(gives=TEXT, samples=2)
    how: dict[str, Any] = {"dataset": "choices-decisions", "measure": ["decision-odds", "decision-share"]}
    how |= {"options": {"chat": False}, "budget": 160}
    run = evenhand.audit(model, **how, out=tmp_path)
    assert [task.measure for task in run.record.tasks] == ["decision-share"]
    *_, cost = estimate(ModelSource.of("openai:tiny"), AuditSpec.of(**how), samples=2)
    assert (cost.kind, cost.left_out) == ("c", ("choices-decisions by decision-odds",))
    assert 100 < cost.requests <= 160
    assert run.record.audits[0].work.questions == cost.requests / 2


def test_labels_of_inference_are_counted_as_they_are_asked(connect: Connect, tmp_path: Path) -> None:
    server, model = connect(gives=NEXT, labels="True,Neither,False")
    run = evenhand.audit(model, dataset="nli-en", measure="net-neutral", budget=150, out=tmp_path)
    (task,) = run.record.tasks
    assert task.limit == 144
    assert len({str(body) for body in server.seen if "Answer" in str(body)}) == 144


def test_a_budget_that_is_too_small_for_this_server_names_the_smallest(connect: Connect, tmp_path: Path) -> None:
    server, model = connect(gives=TEXT, samples=8)
    with pytest.raises(BadInput, match="at least 96.*Got 95"):
        evenhand.audit(model, **ASKED, budget=95, out=tmp_path)
    assert not sent(server)
    assert not (tmp_path / "tiny").exists()


def test_runs_of_two_budgets_are_compared_by_the_items_that_both_have(connect: Connect, tmp_path: Path) -> None:
    _, model = connect(gives=NEXT)
    runs = [evenhand.audit(model, **ASKED, budget=n, out=tmp_path / str(n)) for n in (24, 36)]
    assert set(evenhand.compare(*runs).shared.values()) == {12}
    other = evenhand.audit(model, **ASKED, budget=12, seed=8, out=tmp_path / "other")
    with pytest.raises(BadInput, match=r"6 items \(limit 6, budget 12, seed 8\)"):
        evenhand.compare(other, evenhand.audit(model, **ASKED, budget=12, seed=1, out=tmp_path / "another"))


def test_a_run_says_its_budget_and_the_command_repeats_it(connect: Connect, tmp_path: Path) -> None:
    server, model = connect(gives=NEXT)
    run = evenhand.audit(model, **ASKED, budget=25, out=tmp_path)
    assert run.record.sample == "Partial: a sample of what a budget of 25 allows of each dataset."
    (command,) = commands(run.record)
    assert "--budget 25" in command
    assert "--limit" not in command
    before = run.scores
    (run.path / "scores.parquet").unlink(missing_ok=True)
    for file in run.path.glob("scores*"):
        file.write_bytes(b"damaged")
    assert evenhand.rescore(run.path).scores.equals(before)
    assert len(sent(server)) == 24


COMMAND = ("audit", "openai:tiny", "--option", "mass=0", "--no-chat", "--dry-run", "--samples", "8")
DATASETS = [word for name in (*ASKED["dataset"], "tgb") for word in ("--dataset", name)]


def test_a_dry_run_has_a_table_by_dataset_for_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(app, [*COMMAND, *DATASETS]) == 0
    shown = capsys.readouterr().out
    kinds = [shown.partition(f"({kind}) ")[2] for kind in "abc"]
    rows = [
        {line.split()[0]: line.split()[-3:] for line in kind.splitlines() if line.rstrip()[-1:].isdigit()}
        for kind in (kinds[0].partition("(b) ")[0], kinds[1].partition("(c) ")[0], kinds[2])
    ]
    assert [list(row) for row in rows] == [["bbq-ambiguous", "bbq-disambiguated", "tgb", "total"]] + [
        ["bbq-ambiguous", "bbq-disambiguated", "total"]
    ] * 2
    for row in rows:
        requests = [int(cells[0].replace(",", "")) for cells in row.values()]
        assert sum(requests[:-1]) == requests[-1]
    assert [row["bbq-ambiguous"][0] for row in rows] == ["72", "24", "192"]
    assert "tgb by likelihood-lean" in kinds[1]
    assert kinds[0].index("total") < kinds[0].index("Cannot be asked")


def test_its_json_has_the_datasets_and_what_it_had_before(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(app, [*COMMAND, *DATASETS, "--json"]) == 0
    whole, following, text = json.loads(capsys.readouterr().out)["openai:tiny, plain prompts"]
    assert set(whole) == {"kind", "requests", "prompt_tokens", "reply_tokens", "left_out", "datasets", "too_few"}
    name = "bbq-ambiguous (mass=0.0)"
    assert [cost["datasets"][name]["requests"] for cost in (whole, following, text)] == [72, 24, 192]
    for cost in (whole, following, text):
        for column in ("requests", "prompt_tokens", "reply_tokens"):
            rows = [amount[column] for amount in cost["datasets"].values()]
            assert sum(rows) == pytest.approx(cost[column], abs=len(rows))


def test_what_two_datasets_share_is_counted_at_the_first() -> None:
    items = evenhand.datasets.load("tgb").items
    both = [evenhand.Dataset(name=name, items=items[:n]) for name, n in (("one", 20), ("two", 30))]
    cost, *_ = estimate(ModelSource.of("openai:tiny"), AuditSpec.of(dataset=both, measure="likelihood-lean"))
    assert {name: amount.requests for name, amount in cost.datasets.items()} == {"one": 40, "two": 20}
    assert cost.requests == 60


def test_a_dry_run_says_what_a_budget_is_for_each_kind(
    connect: Connect, shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made_bbq.write(shelf, made_bbq.rows(10))  # enough for verdicts
    server, model = connect(gives=NEXT)
    monkeypatch.setenv("OPENAI_BASE_URL", model.client.address.base_url)
    words = [*COMMAND, *DATASETS[:4], "--budget", "70"]
    assert run_command(app, [*words, "--json"]) == 0
    whole, following, text = json.loads(capsys.readouterr().out)["openai:tiny, plain prompts"]
    assert whole["requests"] <= 70
    assert set(whole["too_few"].values()) == {144}
    assert text["left_out"][0].startswith("`budget` must be at least 96, enough for one cluster of each kind; for a ")
    assert run_command(app, [*words, "--budget", "5"]) == 2
    told = [word for word in words if word != "--dry-run"]
    assert run_command(app, [*told, "--out", str(tmp_path), "--quiet"]) == 0
    assert len(sent(server)) == following["requests"] == 66
    assert Run.load(tmp_path / "tiny--plain-prompts").record.tasks[0].budget == 70
