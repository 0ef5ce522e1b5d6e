"""The main command, from Python and from the command line, on the bundled model and on tiny ones."""

import dataclasses
import io
import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evenhand
from evenhand import BadInput, Fill, Likelihood, ModelError, RunError, Sentence, Table
from evenhand.checks.fit import fit
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.questions import Question
from evenhand.models.networks.masked import MaskedLM
from evenhand.runs.folder import lock_folder
from helpers import scripts, tiny
from helpers.typed import all_of, only

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")


@pytest.fixture(scope="module")
def whole(
    mini_en: MaskedLM, without_pages: Any, unexamined: None, tmp_path_factory: pytest.TempPathFactory
) -> evenhand.Run:
    """The audit that `make audit` runs."""
    return evenhand.audit(mini_en, suite="becpro", out=tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save("roberta", tmp_path_factory.mktemp("models") / "tiny-roberta")  # knows every word


@pytest.fixture(scope="module")
def sample(
    tiny_bert: Path, without_pages: Any, unexamined: None, tmp_path_factory: pytest.TempPathFactory
) -> evenhand.Run:
    """A run of 60 items."""
    return evenhand.audit(tiny_bert, suite="becpro", limit=60, seed=1, out=tmp_path_factory.mktemp("sample"))


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("results.json", "scores.parquet", "items.parquet")}


def test_the_bundled_audit_costs_990_distinct_inputs(whole: evenhand.Run) -> None:
    work = whole.record.audits[-1].work
    assert (work.questions, work.inputs, work.kept) == (10_800, 990, 0)


def test_one_mask_for_each_word_costs_960(mini_en: MaskedLM) -> None:
    """970 are counted on the release's masked columns, whose defects add ten."""
    items = all_of(Sentence, evenhand.datasets.load("becpro-en").items)
    how = evenhand.Association(masks="words")
    plan = mini_en.plan(list(dict.fromkeys(q for item in items for q in how.ask(item))))
    assert plan.inputs == 960


def test_the_bundled_model_associates_as_measured_before(whole: evenhand.Run) -> None:
    """Women with male-typed jobs less than men: the paper's pattern, in a small model."""
    values = whole.values.dropna(subset="gender").set_index(["prof_gender", "gender"])["value"]
    assert values["male", "female"] == pytest.approx(-0.263, abs=5e-3)
    assert values["male", "male"] == pytest.approx(+0.237, abs=5e-3)
    assert values["female", "female"] == pytest.approx(+0.218, abs=5e-3)


def test_frames_agree_with_files(whole: evenhand.Run) -> None:
    again = evenhand.Run.load(whole.path)
    assert list(again.scores.columns) == [
        *("dataset", "measure", "id", "score"),
        *("prof_gender", "gender", "profession", "person", "slot", "template"),
    ]
    assert len(again.scores) == 5400
    means = again.scores.groupby(["prof_gender", "gender"])["score"].mean()
    values = again.values.dropna(subset="gender").set_index(["prof_gender", "gender"])["value"]
    assert means.to_dict() == pytest.approx(values.to_dict())
    record = json.loads((whole.path / "run.json").read_text())
    assert set(record) == {"schema", "model", "fingerprint", "audits", "sha256", "asked", "weights"}
    for key in ("tasks", "started", "seconds", "versions", "loaded"):
        assert key in record["audits"][0]


def test_rescoring_needs_no_model_and_gives_the_same_bytes(sample: evenhand.Run) -> None:
    before = files(sample.path)
    for name in before:
        (sample.path / name).unlink()
    with pytest.raises(RunError, match="evenhand rescore"):
        evenhand.Run.load(sample.path)
    code = "import evenhand, sys; evenhand.rescore(sys.argv[1]); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code, str(sample.path)], check=True)
    assert files(sample.path) == before


def test_a_second_audit_asks_nothing_and_changes_nothing(whole: evenhand.Run, mini_en: MaskedLM) -> None:
    before = files(whole.path)
    again = evenhand.audit(mini_en, suite="becpro", out=whole.path.parent)
    assert again.record.audits[-1].work.kept == 10_800
    assert again.record.audits[-1].work.batches == 0
    assert files(whole.path) == before


def test_a_limit_is_a_seeded_sample_marked_partial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tiny_bert: Path, sample: evenhand.Run
) -> None:
    runs = [
        sample,
        *(
            evenhand.audit(str(tiny_bert), suite="becpro", limit=60, seed=seed, out=tmp_path / str(seed))
            for seed in (1, 2)
        ),
    ]
    assert all(run.record.partial for run in runs)
    assert files(runs[0].path) == files(runs[1].path)
    assert set(runs[0].scores["id"]) != set(runs[2].scores["id"])
    assert set(runs[0].scores["prof_gender"].dropna()) == {"male", "female", "balanced"}
    everything = evenhand.audit(Table(lambda q: (-1.0,)), suite="emotions", limit=5400, out=tmp_path / "d")
    assert not everything.record.partial
    assert run_command(app, ["rescore", str(runs[1].path)]) == 0
    assert "Partial: a sample of at most 60 items" in capsys.readouterr().out
    assert files(runs[0].path) == files(runs[1].path)


def test_a_path_is_a_model_too_and_misspelt_arguments_are_not_swallowed(tiny_bert: Path, tmp_path: Path) -> None:
    assert evenhand.audit(tiny_bert, limit=5, out=tmp_path).record.model == "tiny-roberta"
    for model in (tiny_bert, Table(lambda q: (-1.0,))):
        with pytest.raises(TypeError, match="limt"):
            evenhand.audit(model, limt=5, out=tmp_path / "x")  # type: ignore[call-arg]
    assert not (tmp_path / "x").exists()


def test_an_audit_has_one_bar_with_its_name_unless_it_is_not_wanted(tiny_bert: Path, tmp_path: Path) -> None:
    for progress, bars in ((True, {"Measuring mine"}), (False, set())):
        with redirect_stderr(io.StringIO()) as shown:
            evenhand.audit(tiny_bert, suite="gbef", limit=3, out=tmp_path, name="mine", fresh=True, progress=progress)
        lines = shown.getvalue().replace("\r", "\n").split("\n")
        assert {line.partition(":")[0] for line in lines if "/s]" in line} == bars


def test_two_audits_at_once_are_refused(tmp_path: Path) -> None:
    (tmp_path / "table").mkdir()
    with lock_folder(tmp_path / "table"), pytest.raises(RunError, match="Another audit is writing"):
        evenhand.audit(Table(lambda q: (-1.0,)), limit=5, out=tmp_path)
    assert evenhand.audit(Table(lambda q: (-1.0,)), limit=5, out=tmp_path).record.tasks[0].limit == 5


def test_what_was_done_before_a_later_model_failed_is_printed(
    tiny_bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["audit", str(tiny_bert), "nobody/nothing", "--suite", "becpro", "--limit", "10", "--json"]
    assert run_command(app, [*command, "--out", str(tmp_path)]) == 2
    assert {row["model"] for row in json.loads(capsys.readouterr().out)} == {"tiny-roberta"}


def test_long_paths_and_narrow_terminals_lose_nothing(tiny_bert: Path, tmp_path: Path) -> None:
    out = tmp_path / ("a-rather-long-folder-name/" * 8)
    printed = scripts.command(f"COLUMNS=30 evenhand audit {tiny_bert} --suite becpro --limit 40 --out {out}", tmp_path)
    assert str(out / "tiny-roberta") in printed
    assert "…" not in printed


def test_frequency_stands_beside_the_other_confounds(
    whole: evenhand.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = sorted(whole.scores["profession"].unique())
    file = tmp_path / "frequency.tsv"
    file.write_text("".join(f"{job}\t{i}\n" for i, job in enumerate(jobs)))
    assert run_command(app, ["show", str(whole.path), "--frequency", str(file)]) == 0
    printed = capsys.readouterr().out
    for part in ("confound: frequency", "confound: tokens", "share of women, US", "H3  undecided", "p_holm"):
        assert part in printed
    file.write_text("taper often\n")
    assert run_command(app, ["show", str(whole.path), "--frequency", str(file)]) == 2
    assert "a word, a tab and a number" in capsys.readouterr().err


def test_a_full_disk_behind_stdout_is_no_fault() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "evenhand", "datasets", "list"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert "The output cannot be written" in done.stderr


def test_a_sample_does_not_replace_a_full_run(tmp_path: Path) -> None:
    table = Table(lambda q: (-1.0,))
    evenhand.audit(table, suite="emotions", out=tmp_path)
    before = files(tmp_path / "table")
    with pytest.raises(RunError, match="sample"):
        evenhand.audit(table, suite="emotions", limit=5, out=tmp_path)
    assert files(tmp_path / "table") == before


def test_scores_that_are_no_numbers_are_unscored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    endless = Table(only(Fill, lambda q: (-float("inf"),) if q.hidden else (-1.0,)))
    run = evenhand.audit(endless, suite="becpro", limit=20, out=tmp_path)
    assert run.record.unscored == {"becpro-en/association": {"not a finite number": 20}}
    assert run_command(app, ["show", str(run.path)]) == 0
    assert "without a score: 20 (not a finite number)." in capsys.readouterr().out


def test_a_word_is_not_called_unknown_for_its_neighbours(mini_en: MaskedLM) -> None:
    dataset = evenhand.datasets.load("becpro-en")
    items = all_of(Sentence, dataset.items)
    strange = [dataclasses.replace(item, text=item.text.replace("mail sorter", "mail Ж😀er")) for item in items]
    counted = fit(mini_en, dataclasses.replace(dataset, items=strange))
    assert set(counted.targets.values()) == {1}
    assert list(counted.warnings("mini-en")) == []


def test_a_model_of_another_language_is_warned_of(mini_en: MaskedLM, tmp_path: Path) -> None:
    run = evenhand.audit(mini_en, lang="de", limit=30, out=tmp_path)
    assert re.match(
        r"\d+ of 1\d target words of becpro-de \(forms=crossed\) are unknown to 'mini-en'", run.record.warnings[0]
    )


def test_any_object_that_answers_can_be_audited(tmp_path: Path) -> None:
    run = evenhand.audit(
        Table(only(Fill, lambda q: (-1.0 - len(q.hidden),)), name="mine/two"), suite="becpro", limit=50, out=tmp_path
    )
    assert run.path == tmp_path / "mine--two"
    apart = run.values["contrast"] + run.values["estimand"]
    assert run.values["value"].tolist() == [0.0 if one else 1.0 for one in apart]


def test_options_reach_datasets_and_measures(tmp_path: Path) -> None:
    table = Table(lambda q: (-1.0,))
    run = evenhand.audit(
        table, suite="becpro", out=tmp_path, limit=400, options={"masks": "words", "articles": "agree"}
    )
    blanks = all_of(Fill, table.asked)
    assert {q.masks for q in blanks if q.hidden} == {"words"}
    assert any(" an electric" in q.text for q in blanks)
    task = run.record.tasks[0]
    assert (task.dataset_options, task.measure_options) == (
        {"articles": "agree"},
        {"masks": "words", "among": "vocabulary"},
    )
    asked = len(table.asked)
    evenhand.rescore(run.path)
    assert len(table.asked) == asked


def test_unscored_items_are_shown_with_their_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def rule(question: evenhand.Fill) -> evenhand.Answer:
        lost = "taper" in question.text
        return evenhand.Answer.none("unknown word") if lost else evenhand.Answer((-1.0,))

    run = evenhand.audit(Table(only(Fill, rule)), suite="becpro", limit=900, out=tmp_path)
    lost = int(run.items["text"].str.contains("taper").sum())
    assert lost > 0
    assert run.record.unscored == {"becpro-en/association": {"unknown word": lost}}
    assert run_command(app, ["rescore", str(run.path)]) == 0
    assert f"without a score: {lost} (unknown word)." in capsys.readouterr().out


def test_several_models_get_a_folder_each(tmp_path: Path, tiny_bert: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["audit", str(tiny_bert), "mini-en", "--suite", "becpro", "--limit", "10", "--out", str(tmp_path)]
    assert run_command(app, [*command, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["model"] for row in rows} == {"tiny-roberta", "mini-en"}
    assert {p.name for p in tmp_path.iterdir()} == {"tiny-roberta", "mini-en"}
    assert run_command(app, [*command, "./mini-en"]) == 2
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "tiny-roberta"
    twin.symlink_to(tiny_bert)
    assert run_command(app, ["audit", str(tiny_bert), str(twin), "--out", str(tmp_path)]) == 2
    assert "would have the run folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["audit", "mini-em"], "Did you mean 'mini-en'?"),
        (["audit", "nobody/nothing"], "'nobody/nothing'"),
        (["audit", "--suite", "becpto"], "Did you mean 'becpro'?"),
        (["audit", "--lang", "eo"], "'eo'"),
        (["audit", "--option", "mask=words"], "Did you mean 'masks'?"),
        (["audit", "--option", "masks=letters"], "masks 'letters'"),
        (["audit", "--option", "masks"], "NAME=VALUE"),
        (["audit", "--option", "masks=words", "--option", "masks=pieces"], "twice"),
        (["audit", "--limit", "0"], "limit` must"),
        (["audit", "--seed", "-1"], "seed` must"),
        (["audit", "--batch-size", "many"], "--batch-size must"),
        (["audit", "--dtype", "int8"], "`dtype`"),
        (["audit", "--limit", "few"], "'--limit'"),
        (["datasets", "show", "becpro-em"], "Did you mean 'becpro-en'?"),
        (["datasets", "show", "becpro-en", "--option", "article=x"], "Did you mean 'articles'?"),
        (["datasets", "export", "becpro-en", "--out", "x.xlsx"], ".tsv"),
        (["datasets", "export", "becpro-en", "--out", "/proc/x.tsv"], "cannot be written"),
        (["rescore", "nowhere"], "'nowhere'"),
        (["audits"], "'audits'"),
    ],
)
def test_bad_input_ends_with_2_and_a_sentence(
    arguments: list[str],
    word: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(app, arguments) == 2
    printed = capsys.readouterr().err
    assert word in printed
    assert "Traceback" not in printed
    assert list(tmp_path.glob("runs/*")) == []  # nothing measured, nothing left


def test_a_model_that_fails_before_anything_is_measured_leaves_nothing(tmp_path: Path) -> None:
    class Failing(Table):
        def count_tokens(self, places: object) -> list[int]:
            raise ModelError("no pieces today")

    with pytest.raises(ModelError, match="today"):
        evenhand.audit(Failing(lambda q: (-1.0,)), limit=5, out=tmp_path / "runs")
    assert list(tmp_path.glob("runs/*")) == []


def test_a_run_does_not_turn_into_the_one_that_took_its_folder(tmp_path: Path) -> None:
    def rule(question: Question) -> tuple[float]:
        assert isinstance(question, Fill | Likelihood)
        return (-float(len(question.text)),)

    model = Table(rule)
    first = evenhand.audit(model, limit=10, out=tmp_path)
    second = evenhand.audit(model, limit=20, out=tmp_path)
    with pytest.raises(RunError, match="overwritten"):
        first.values  # noqa: B018
    assert second.values["n"].max() == 20
    with pytest.raises(RunError, match="20 items.*`limit`"):
        evenhand.audit(model, limit=10, out=tmp_path)
    assert repr(second) == f"Run(path={second.path!r})"


@pytest.mark.parametrize(
    ("model", "how", "word"),
    [
        (["a", "b"], {}, "Got 2"),
        ("mini-en", {"suite": {"becpro": "en"}}, "`suite`"),
        ("mini-en", {"limit": "40"}, "limit` must"),
        ("mini-en", {"limit": 1.5}, "limit` must"),
    ],
)
def test_slips_are_named(model: object, how: dict[str, object], word: str) -> None:
    with pytest.raises(BadInput, match=word):
        evenhand.audit(model, **how)  # type: ignore[arg-type]


def test_a_sweep_checks_all_names_before_the_first_is_measured(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nosuch"):
        evenhand.sweep(["mini-en", str(tmp_path / "nosuch")], out=tmp_path / "runs")
    with pytest.raises(BadInput, match="list"):
        evenhand.sweep("mini-en")


def test_a_small_sample_has_partners_and_no_nan(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run_command(app, ["audit", "--suite", "becpro", "--limit", "4", "--out", str(tmp_path)]) == 0
    assert "nan" not in capsys.readouterr().out
    assert run_command(app, ["show", str(tmp_path / "mini-en"), "--full"]) == 0
    shown = capsys.readouterr().out
    assert "over single pairs" in shown
    assert "nan" not in shown


def test_an_unknown_measure_gets_a_suggestion() -> None:
    with pytest.raises(BadInput, match="Did you mean 'association'"):
        evenhand.measures.load("asociation")


def test_a_folder_with_another_models_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evenhand.audit(Table(lambda q: (-1.0,)), limit=5, out=tmp_path)
    before = files(tmp_path / "table")
    with pytest.raises(RunError, match="'table'"):
        evenhand.audit(Table(lambda q: (-2.0,)), limit=5, out=tmp_path)
    assert files(tmp_path / "table") == before
    (tmp_path / "table" / "run.json").unlink()  # as if it had been stopped
    with pytest.raises(RunError, match="another model"):
        evenhand.audit(Table(lambda q: (-2.0,)), limit=5, out=tmp_path)


def test_our_own_fault_ends_with_70(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evenhand.auditing.measuring.measure_all", broken)
    assert run_command(app, ["audit", "--limit", "5"]) == 70
    printed = capsys.readouterr().err
    assert "ZeroDivisionError: ours" in printed
    assert "a bug in evenhand" in printed


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(app, ["--help"]) == 0
    printed = capsys.readouterr().out
    for command in ("audit", "rescore", "datasets", "measures"):
        assert command in printed
    assert run_command(app, ["--version"]) == 0
    assert run_command(app, ["measures"]) == 0
    assert "association (version 1, neutral at 0)" in capsys.readouterr().out
    assert run_command(app, ["datasets", "list"]) == 0
    assert "becpro-en  5,400 items" in capsys.readouterr().out


def test_a_closed_pipe_is_no_fault() -> None:
    show = [sys.executable, "-m", "evenhand", "datasets", "show", "becpro-en", "--rows", "5400"]
    with subprocess.Popen(show, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.wait() == 141
        assert process.stderr.read() == ""


COMMAND = ["audit", "--suite", "becpro", "--limit", "400", "--batch-size", "8"]
"""In batches small enough to be stopped between."""


def finished_batches(answers: Path) -> int:
    if not answers.exists():
        return 0
    with sqlite3.connect(f"file:{answers}?mode=ro", uri=True, timeout=10) as store:
        tables = store.execute("SELECT count(*) FROM sqlite_master WHERE name = 'batches'").fetchone()[0]
        count = store.execute("SELECT count(*) FROM batches").fetchone()[0] if tables else 0
    store.close()
    return count


def interrupted(out: Path) -> tuple[int, str]:
    """The exit code of the command in a process of its own that is interrupted in the middle, and what it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "evenhand", *COMMAND, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # what starts us may ignore it
    )
    deadline = time.monotonic() + 600
    while finished_batches(out / "mini-en" / "answers.sqlite") < 5:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    printed = "".join(process.communicate(timeout=300))
    return process.returncode, printed


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed")
    assert run_command(app, [*COMMAND, "--out", str(out)]) == 0
    return out / "mini-en"


@pytest.mark.proof
def test_a_stopped_audit_goes_on_and_gives_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    """Stopped by Ctrl-C; tests/test_random_kills.py kills one."""
    run = tmp_path / "mini-en"
    ended, printed = interrupted(tmp_path)
    assert ended == 130
    assert "the same command resumes from there" in printed
    assert "Traceback" not in printed
    done = finished_batches(run / "answers.sqlite")
    assert not (run / "run.json").exists()
    assert run_command(app, [*COMMAND, "--out", str(tmp_path)]) == 0
    work, total = (json.loads((path / "run.json").read_text())["audits"][0]["work"] for path in (run, undisturbed))
    assert work["inputs"] == total["inputs"]
    assert 5 <= done < total["batches"]
    assert work["batches"] == total["batches"] - done  # only what was not finished
    assert files(run) == files(undisturbed)
    assert finished_batches(run / "answers.sqlite") == 0  # kept for resuming alone


def test_scores_parquet_reads_anywhere(whole: evenhand.Run) -> None:
    assert len(pd.read_parquet(whole.path / "scores.parquet", columns=["score"])) == 5400
    assert not list(whole.path.glob(".*"))
