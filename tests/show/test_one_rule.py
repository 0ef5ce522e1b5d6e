"""Terminal, page, comparison and exports say the same of every value, in runs where some lean and some do not."""

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import evenhand
from evenhand import Run
from evenhand.core.model import Finding
from evenhand.show.page.changes import Changed
from evenhand.show.page.section import Measured
from evenhand.show.terminal import scorecard
from evenhand.stats.verdict import MARKS
from helpers.simulated import WORLDS, false_claims, simulate
from helpers.written_runs import with_fields

LEANING = ("above", "below")
SHIFTS = {"professions": 0.45, "emotions": 0.3, "pairs": 1.0, "pronouns": 0.12, "inference": 0.5}


pytestmark = pytest.mark.usefixtures("few_draws")


@pytest.fixture(scope="module", params=WORLDS)
def runs(request: pytest.FixtureRequest, few_draws: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    path, shift = tmp_path_factory.mktemp(request.param), SHIFTS[request.param]
    one = simulate(request.param, path / "one", 3001, shift=shift, share=0.7)
    return one, simulate(request.param, path / "other", 3002, shift=-0.2 * shift, share=0.7)


def printed(run: Run) -> list[str]:
    console = Console(width=400, record=True, file=io.StringIO())
    console.print(scorecard(run))
    return console.export_text().splitlines()


def _key(row: Mapping[str, Any], groups: Mapping[str, str]) -> tuple[object, ...]:
    """What tells a value apart from the others."""
    return (*(row[name] for name in ("dataset", "measure", "estimand", "contrast")), frozenset(groups.items()))


def test_every_export_has_the_leans_of_the_run(runs: tuple[Run, Run]) -> None:
    run = runs[0]
    rows = list(csv.DictReader(io.StringIO(evenhand.export(run, "csv"))))
    told = {_key(row, row["groups"]): row["lean"] for row in run.results}
    groups = [{name[6:]: of for name, of in row.items() if name.startswith("group_") and of} for row in rows]
    assert {_key(*row): row[0]["lean"] for row in zip(rows, groups, strict=True)} == told
    assert len(rows) == len(told) == len(run.results)
    card, paper = evenhand.export(run, "model-card"), evenhand.export(run, "latex")
    shown = [row for row in run.results if len(row["groups"]) <= len(run.task(row["dataset"], row["measure"]).by)]
    leaning = [row for row in shown if row["lean"] in LEANING]
    assert sum(card.count(f"| {word} |") for word in LEANING) == len(leaning)
    assert paper.count("^{*}$") == len(leaning)


def test_the_terminal_marks_the_values_that_lean(runs: tuple[Run, Run]) -> None:
    run = runs[0]
    lines = [line for line in printed(run) if not line.startswith("A mark")]
    dots = sum(line.count(mark) for line in lines for mark in MARKS.values())
    hidden = {"fraction-entailment", "fraction-contradiction"}  # the table of labels has their values alone
    shown = [row for row in run.results if judged(row) or row["measure"] not in hidden]
    assert dots == sum(row["lean"] in LEANING for row in shown)


def judged(row: Mapping[str, Any]) -> bool:
    """Whether it is of stereotype, default, or women minus men."""
    return bool(row["estimand"] or row["contrast"])


def test_the_page_calls_leaning_what_the_run_does(runs: tuple[Run, Run]) -> None:
    run = runs[0]
    compared = 0
    for task in run.record.tasks:
        section = Measured([run], [""], task, {})
        mine = [row for row in run.results if (row["dataset"], row["measure"]) == task.name]
        rows = [row for row in mine if judged(row)]
        lines = [row for row in rows if row["contrast"] or not row["groups"]] or [mine[0]]
        told = [line.verdicts[0].tone == "leans" for line in section.lines]
        if rows or section.values.kind == "lean":
            assert told == [row["lean"] in LEANING for row in lines]
            compared += len(lines)
        else:
            assert told == [False]
        table = [row.numbers[0].verdict.word for row in section.tables[0].rows] if rows else []
        assert table == [row["lean"] for row in rows]
    assert compared


def test_the_page_and_the_comparison_agree_on_every_change(runs: tuple[Run, Run]) -> None:
    moves = Changed(runs, ["one", "other"], None).moves
    rows = evenhand.compare(*runs).frame.to_dict("records")
    assert len(rows) == len(moves)
    for row in rows:
        way = moves[row["dataset"], row["measure"], row["group"]].way
        assert (way == "gained") == row["moved"].startswith("towards")
        assert (way == "lost") == row["moved"].startswith("away")


def test_some_values_lean_and_some_do_not(runs: tuple[Run, Run]) -> None:
    """Or the tests above would compare nothing."""
    told = {row["lean"] for row in runs[0].results if judged(row)}
    assert told & set(LEANING)
    assert "not shown" in told


def test_an_unfit_model_has_numbers_and_no_verdict(runs: tuple[Run, Run]) -> None:
    finding = Finding("head", "unfit", "Its head was never trained.", "")
    unfit = [Run(run.path, with_fields(run.record, doctor=(finding,))) for run in runs]
    assert not {row["lean"] for row in unfit[0].results} & {*LEANING, "not shown", "too few"}
    text = "\n".join(printed(unfit[0]))
    assert text.startswith(f"{unfit[0].record.model} could not be measured. Its head was never trained.")
    assert not set(MARKS.values()) & set(text)
    assert "supported" not in text
    assert set(evenhand.compare(*unfit).frame["moved"]) == {""}
    assert not Changed(unfit, ["one", "other"], None).gained
    for task in unfit[0].record.tasks:
        tones = {v.tone for line in Measured(unfit[:1], [""], task, {}).lines for v in line.verdicts}
        assert tones <= {"none", "level"}


@pytest.mark.parametrize("name", WORLDS)
def test_where_there_is_nothing_claims_are_rare(name: str, tmp_path: Path) -> None:
    """The small version of tools/simulate_verdicts.py: at most one family in twenty, within chance."""
    families = [ruled for rows in false_claims(name, tmp_path, 1).values() for ruled, _ in rows]
    most = 0.05 * len(families) + 3 * math.sqrt(0.05 * 0.95 * len(families))
    assert sum(families) <= most
