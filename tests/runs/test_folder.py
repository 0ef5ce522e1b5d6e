"""Run folders: whole or as they were, whatever happens."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from filelock import FileLock

from evenhand import Run, RunError
from evenhand.calls.audit import rescore
from evenhand.core.scores import Result, Score, Value
from evenhand.runs.folder import StoredRun, write
from helpers.made_scores import PAPER, run, scores
from helpers.written_runs import record, task

NAN = float("nan")
RECORD = record(task("data", "how", cluster=""))
RESULT = Result(
    "m",
    "f00d",
    "data",
    "how",
    1,
    0.0,
    (Score("1", 0.5, {"gender": "female"}), Score("2", NAN, {"gender": "male"}, "unknown word")),
    (Value(0.5, n=1, unscored=1), Value(NAN, n=0, unscored=1, groups={"gender": "male"})),
)
KEYS = ["model", "fingerprint", "dataset", "measure", "version", "groups"]
KEYS += ["value", "low", "high", "n", "unscored", "neutral", "p", "p_holm", "clusters"]
KEYS += ["freedom", "needed", "detectable"]
KEYS += ["contrast", "estimand", "narrow_low", "narrow_high", "prior", "dataset_version", "partial"]


def test_results_and_scores_have_the_agreed_shape(tmp_path: Path) -> None:
    written = write(tmp_path, RECORD, [RESULT], {})
    rows = json.loads((tmp_path / "results.json").read_text())
    assert [list(row) for row in rows] == [KEYS, KEYS]
    assert rows[0]["groups"] == {}
    assert rows[0]["value"] == 0.5
    assert rows[1]["value"] is None  # no value is null, never 0
    kept = pd.read_parquet(tmp_path / "scores.parquet")
    assert list(kept.columns) == ["dataset", "measure", "id", "score", "gender"]
    assert kept["score"].isna().tolist() == [False, True]
    assert written.values["gender"].tolist()[1] == "male"
    assert Run.load(tmp_path).scores.equals(kept)


def test_results_that_the_record_does_not_vouch_for_are_refused(tmp_path: Path) -> None:
    write(tmp_path, RECORD, [RESULT], {})
    (tmp_path / "results.json").write_text("[]")
    with pytest.raises(RunError, match="rescore"):
        Run.load(tmp_path)
    assert Run.load(tmp_path, checked=False).results == []


def test_damaged_results_and_scores_are_refused(tmp_path: Path) -> None:
    written = write(tmp_path, RECORD, [RESULT], {})
    (tmp_path / "results.json").write_text("{}")
    (tmp_path / "scores.parquet").write_bytes(b"PAR1")
    with pytest.raises(RunError, match="results.json.* array"):
        _ = written.values
    with pytest.raises(RunError, match="scores.parquet"):
        _ = written.scores


def test_scores_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    written = write(tmp_path, RECORD, [RESULT], {})
    scores = pd.read_parquet(tmp_path / "scores.parquet")
    scores.assign(note="plain").to_parquet(tmp_path / "scores.parquet", compression=None)
    damaged = (tmp_path / "scores.parquet").read_bytes().replace(b"plain", b"pl\xe9in")
    (tmp_path / "scores.parquet").write_bytes(damaged)
    with pytest.raises(RunError, match="scores.parquet.* UTF8"):
        _ = written.scores


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no run folder"):
        Run.load(tmp_path / "nowhere")
    with pytest.raises(RunError, match="no run.json"):
        Run.load(tmp_path)
    (tmp_path / "answers.sqlite").touch()
    with pytest.raises(RunError, match="not finished"):
        Run.load(tmp_path)


@pytest.mark.parametrize("depth", ["mini-en", "before/mini-en"])
def test_who_names_a_run_or_its_folder_is_told_where_runs_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depth: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / depth).mkdir(parents=True)
    (tmp_path / "runs" / depth / "run.json").touch()
    with pytest.raises(RunError, match=f"Did you mean 'runs/{depth}'"):
        Run.load(depth)
    with pytest.raises(RunError, match="contains runs: list them with `evenhand runs runs`"):
        Run.load("runs")


def pronouns() -> pd.DataFrame:
    """A dataset without partners, with a group of its own."""
    frame = pd.DataFrame({"dataset": "tbd", "measure": "pronoun", "id": ["1", "2"], "score": [0.1, NAN]})
    return frame.assign(category="jobs")


def test_scores_of_a_dataset_are_its_own_without_the_groups_of_others() -> None:
    both = run(pd.concat([scores(PAPER), pronouns()], ignore_index=True), [])
    found = both.scores_of("tbd", "pronoun")
    assert list(found) == ["dataset", "measure", "id", "score", "category"]
    assert found["id"].tolist() == ["1", "2"]
    assert "category" not in both.scores_of("becpro-en")
    assert len(both.scores_of("becpro-en")) == 144
    assert both.scores_of("becpro-en", "pronoun").empty


def test_scores_that_are_all_missing_are_still_a_column() -> None:
    assert "score" in run(pronouns().assign(score=NAN), []).scores_of("tbd", "pronoun")


FULL = """
import resource, sys
from pathlib import Path
from evenhand import Likelihood, Remembering, RunError, Table
folder = Path(sys.argv[1])
table = Table(lambda q: (-float(len(q.text)),), fingerprint="table")
Remembering(table, folder / "answers.sqlite").answer([Likelihood("old")])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # no file may grow beyond this
try:
    Remembering(table, folder / "answers.sqlite").answer([Likelihood("new" * i) for i in range(1, 900)])
except RunError as error:
    print(error)
silent = Table({}, fingerprint="table")
assert Remembering(silent, folder / "answers.sqlite").answer([Likelihood("old")])[0].logp == -3.0
assert silent.asked == []
"""


def test_a_full_disk_keeps_the_answers_that_were_there(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "cannot be read or written" in done.stdout


def test_a_disk_that_cannot_be_written_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(FileLock, "acquire", fails)
    write(tmp_path, RECORD, [RESULT], {})
    with pytest.raises(RunError, match="Read-only"):
        rescore(tmp_path)


@pytest.mark.parametrize(
    "numbers",
    [{"low": 9.0, "high": -9.0}, {"value": 99.0}, {"p": 7.0}, {"p": -1.0}, {"narrow_low": 9.0, "narrow_high": -9.0}],
)
def test_numbers_that_contradict_one_another_are_refused_though_hashes_match(
    numbers: dict[str, float], tmp_path: Path
) -> None:
    write(tmp_path, RECORD, [RESULT], {})
    (row, *rows) = json.loads((tmp_path / "results.json").read_text())
    (tmp_path / "results.json").write_text(json.dumps([{**row, "low": -1.0, "high": 1.0, **numbers}, *rows]))
    record = json.loads((tmp_path / "run.json").read_text())
    record["sha256"]["results.json"] = hashlib.sha256((tmp_path / "results.json").read_bytes()).hexdigest()
    (tmp_path / "run.json").write_text(json.dumps(record))
    with pytest.raises(RunError, match="damaged.* must be"):
        StoredRun.load(tmp_path).rows  # noqa: B018
