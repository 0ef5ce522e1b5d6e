"""Run folders of earlier versions: they open, show, compare and rescore to the values they had.

Those in schema-3 and schema-4 are small ones of each sort: measured, with a dataset added later; from a server; of
scores from elsewhere; before and after a debiasing; of checkpoints. values.json has what version 0.2 read from them.
"""

import io
import json
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

import evenhand
from evenhand import BadInput, Run
from evenhand.analysis.tracking import make_track
from evenhand.runs.record import SCHEMA
from evenhand.show.terminal import scorecard

pytestmark = pytest.mark.usefixtures("without_pages")

MADE = Path(__file__).parent / "made-by-0.1.0"
RUNS = sorted(path.name for path in MADE.iterdir() if path.is_dir())


NEWER = ("all", "emotions", "emotions-noisy")
"""Runs with a dataset that has had more words since."""


@pytest.mark.parametrize("name", [name for name in RUNS if name not in NEWER])
def test_rescoring_gives_the_values_it_had(name: str, tmp_path: Path) -> None:
    path = Path(shutil.copytree(MADE / name, tmp_path / name))
    record = (path / "run.json").read_text(encoding="utf-8")
    (path / "run.json").write_text(record.replace("/tmp/evenhand/hobbies.toml", str(MADE / "hobbies.toml")), "utf-8")
    before = opened(MADE / name)
    (path / "results.json").write_text("[]")  # so that nothing but the kept answers can give them
    (path / "scores.parquet").unlink()
    again = evenhand.rescore(path)
    exact = ["value", "n", "unscored"]  # intervals of crossed clusters have become narrower since
    pd.testing.assert_frame_equal(again.values[exact], before.values[exact], rtol=1e-9)
    assert again.record.fingerprint == before.record.fingerprint


@pytest.mark.parametrize("name", NEWER)
def test_a_run_with_an_older_dataset_is_not_rescored(name: str, tmp_path: Path) -> None:
    path = Path(shutil.copytree(MADE / name, tmp_path / name))
    with pytest.raises(BadInput, match="version 1 of dataset 'emotions-en'"):
        evenhand.rescore(path)


@cache
def opened(path: Path) -> Run:
    """The run; what it computes from its scores, it computes once."""
    return Run.load(path)


def shown(run: Run) -> str:
    """What `evenhand show --full` prints."""
    console = Console(width=400, record=True, file=io.StringIO())
    console.print(scorecard(run))
    return console.export_text()


@pytest.mark.parametrize("name", RUNS)
def test_its_values_are_tested_from_its_scores(name: str) -> None:
    run = opened(MADE / name)
    on_disk = json.loads((MADE / name / "results.json").read_text(encoding="utf-8"))
    assert not any("p" in row for row in on_disk)
    own = [row for row in run.results if not row["contrast"] and not row["estimand"]]
    assert [row["value"] for row in own] == [row["value"] for row in on_disk]
    assert len(run.differences) == sum(len(run.contrasts_of(*task.name)) for task in run.record.tasks)
    if not run.record.partial:  # small samples of that version may have no partners
        assert all(run.contrasts_of(*task.name) for task in run.record.tasks if task.measure == "association")
    assert all(row["clusters"] > 0 for row in run.results if row["low"] is not None)
    if any(row["measure"] == "association" for row in on_disk):
        assert any(row["p_holm"] is not None for row in run.results)


@pytest.mark.parametrize("name", [name for name in RUNS if name != "emotions-noisy"])  # which has the tasks of emotions
def test_it_is_shown_with_every_dataset_and_measure(name: str) -> None:
    run = opened(MADE / name)
    text = shown(run)
    for task in run.record.tasks:
        assert task.dataset in text
        assert task.measure in text


def test_comparing_gives_the_changes_it_gave() -> None:
    kept = pd.DataFrame(json.loads((MADE / "compared.json").read_text(encoding="utf-8")))
    found = evenhand.compare(MADE / "emotions", MADE / "emotions-noisy").frame
    rows = found[found["estimand"] == ""].reset_index(drop=True)
    same = [name for name in kept if name not in ("low", "high")]  # intervals cover other templates and words since
    pd.testing.assert_frame_equal(rows[same], kept[same], rtol=1e-9)


@pytest.mark.parametrize(("name", "headline"), [("all", ("becpro-en", "association")), ("nli", ("nli-en", "labels"))])
def test_runs_of_0_2_have_stereotype_and_default_from_their_scores(
    name: str, headline: tuple[str, str], tmp_path: Path
) -> None:
    path = Path(shutil.copytree(MADE.parent / "made-by-0.2" / name, tmp_path / name))
    on_disk = json.loads((path / "results.json").read_text(encoding="utf-8"))
    assert not any("estimand" in row for row in on_disk)
    run = Run.load(path)
    own = [row for row in run.results if not row["contrast"] and not row["estimand"]]
    numbers = ("value", "low", "high", "n", "unscored")
    assert [[row[n] for n in numbers] for row in own] == [[r[n] for n in numbers] for r in on_disk if not r["contrast"]]
    again = evenhand.rescore(path)  # as it is measured today
    exact = ["dataset", "measure", "estimand", "contrast", "value", "low", "high", "p_holm", "lean"]
    order = ["dataset", "measure", "estimand", "contrast", "value"]
    frames = [of.values[(of.values["estimand"] + of.values["contrast"]) != ""] for of in (run, again)]
    before, after = (frame[exact].sort_values(order, ignore_index=True) for frame in frames)
    pd.testing.assert_frame_equal(before, after, rtol=1e-9)
    told = [row for row in run.results if row["lean"] in ("above", "below", "not shown")]
    judged = {(row["dataset"], row["estimand"]) for row in told}
    assert {(headline[0], "stereotype"), (headline[0], "default")} <= judged
    assert all(row["lean"] == "untested" for row in own if row["measure"] in (headline[1], "stereotype-share"))


OLDER = {schema: MADE.parent / f"schema-{schema}" for schema in (3, 4)}
EACH = [
    (schema, str(path.parent.relative_to(OLDER[schema])))
    for schema in OLDER
    for path in sorted(OLDER[schema].rglob("run.json"))
]
NAMES = ("dataset", "measure", "estimand", "contrast", "groups")


@cache
def known(schema: int) -> Any:
    return json.loads((OLDER[schema] / "values.json").read_text(encoding="utf-8"))


def by_name(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    found = {repr([row[name] for name in NAMES]): row for row in rows}
    assert len(found) == len(rows)
    return found


def assert_same(rows: Any, expected: Any) -> None:
    """Of the same shape, with the same texts, and numbers that are equal but for rounding."""
    if isinstance(expected, dict):
        assert rows.keys() == expected.keys()
        for name in expected:
            assert_same(rows[name], expected[name])
    elif isinstance(expected, list):
        assert len(rows) == len(expected)
        for row, other in zip(rows, expected, strict=True):
            assert_same(row, other)
    elif isinstance(expected, float):
        assert rows == pytest.approx(expected, rel=1e-9, nan_ok=True)
    else:
        assert rows == expected


@pytest.mark.parametrize(("schema", "name"), EACH)
def test_a_run_of_every_sort_opens_and_is_shown_with_its_values(schema: int, name: str) -> None:
    run = opened(OLDER[schema] / name)
    assert_same(by_name(run.results), by_name(known(schema)["results"][name]))
    if schema < SCHEMA:
        text = shown(run)
        assert all(task.measure in text for task in run.record.tasks)


@pytest.mark.parametrize(
    ("schema", "name"), [each for each in EACH if (OLDER[each[0]] / each[1] / "answers.sqlite").exists()]
)
def test_a_run_of_every_sort_rescores_to_its_values(schema: int, name: str, tmp_path: Path) -> None:
    path = Path(shutil.copytree(OLDER[schema] / name, tmp_path / "run"))
    (path / "results.json").write_text("[]")  # so that nothing but the kept answers can give them
    (path / "scores.parquet").unlink()
    again = evenhand.rescore(path)
    assert again.record.fingerprint == opened(OLDER[schema] / name).record.fingerprint
    assert_same(by_name(again.results), by_name(known(schema)["rescored"][name]))


@pytest.mark.parametrize("schema", OLDER)
def test_runs_of_every_sort_compare_as_they_did(schema: int) -> None:
    for names, expected in known(schema)["compared"].items():
        frame = evenhand.compare(*(opened(OLDER[schema] / name) for name in names.split())).frame
        assert_same(json.loads(frame.to_json(orient="records", double_precision=15)), expected)
    checkpoints = [OLDER[schema] / "tracked" / f"my-training--checkpoint-{step}" for step in (100, 300, 400)]
    found = make_track([opened(path) for path in checkpoints]).as_json()
    for one in found["checkpoints"]:
        del one["path"]
    assert_same(found, known(schema)["tracked"])
