"""One table of several models: what it has is what the runs have, in every form."""

import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import Answer, BadInput, Run, Table
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.errors import UnknownName
from helpers import audited_runs
from helpers.written_runs import named, with_fields

pytestmark = pytest.mark.usefixtures("without_pages")


@pytest.fixture
def runs(stored: Path) -> list[Run]:
    return [Run.load(stored / "level"), named(Run.load(stored / "base"), "le_an%ing")]


def test_it_has_the_values_of_the_runs_for_each_model(runs: list[Run]) -> None:
    made = evenhand.table(runs, measure="likelihood-lean")
    assert list(made.frame["model"]) == ["level", "le_an%ing"]
    for run, row in zip(runs, made.frame.to_dict("records"), strict=True):
        whole = next(value for value in run.values_of(run.datasets[0], "likelihood-lean") if not value.groups)
        assert (row["value"], row["low"], row["high"], row["n"]) == (whole.value, whole.low, whole.high, whole.n)
    assert list(made.frame["size"]) == ["", "large"]
    assert list(made.frame["mark"]) == ["", "●"]


def test_groups_are_chosen_by_their_label(runs: list[Run]) -> None:
    made = evenhand.table(runs, measure=["likelihood-lean"], group="jobs")
    assert set(made.frame["row"]) == {"jobs"}
    assert set(made.frame["n"]) == {30}


def test_csv_has_every_digit(runs: list[Run]) -> None:
    made = evenhand.table(runs)
    rows = list(csv.DictReader(io.StringIO(made.to_csv())))
    assert [float(row["value"]) for row in rows] == list(made.frame["value"])
    assert "text" not in rows[0]


@pytest.mark.parametrize("many", [False, True])
def test_latex_is_a_whole_table_with_a_short_caption_and_a_note(runs: list[Run], many: bool) -> None:
    every = [task.measure for task in runs[0].record.tasks]
    made = evenhand.table(runs, measure=every if many else "likelihood-lean", group=["jobs", "homes"] if many else ())
    text = made.to_latex()
    assert text.count(r"\begin{") == text.count(r"\end{") == 2
    (columns,) = re.findall(r"\\begin\{tabular\}\{(\w+)\}", text)
    inside = text.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
    lines = [line for line in inside.splitlines() if line.endswith(r"\\")]
    assert {len(re.split(r"(?<!\\)&", line)) for line in lines} == {len(columns)}
    assert r"le\_an\%ing" in text
    assert len(re.findall(r"\\caption\{.*\}", text)[0]) < 120
    assert "^{\\mathrm{l}}" in text
    assert "l large: how large at least" in text.partition(r"\bottomrule")[2]
    assert ("model &" in text) is not many  # many numbers go down the side


def test_markdown_has_the_marks_of_the_page_and_what_to_trust(runs: list[Run]) -> None:
    text = str(evenhand.table(runs, measure="likelihood-lean"))
    assert re.search(r"\| le\\_an%ing \| \+2\.\d{3} \\\[.*\\\] ● \|", text)
    assert "Trust, not tested" in text
    assert runs[0].record.fingerprint[:12] in text


def test_a_number_that_a_model_lacks_is_a_dash(runs: list[Run], tmp_path: Path) -> None:
    file = audited_runs.pairs(tmp_path)
    less = audited_runs.audited(tmp_path, "less", 0.5, file, measure="likelihood-lean")
    made = evenhand.table([runs[0], less], measure=["likelihood-lean", "stereotype-share"])
    assert "--" in made.to_latex().partition(r"\midrule")[2]
    assert "–" in made.to_markdown()
    assert len(made.frame) == 3


def test_what_is_as_it_should_be_is_no_lean(tmp_path: Path) -> None:
    items: Any = evenhand.datasets.load("tbd-gendered").items
    place = {item.text: item for item in items}

    def knows(question: Any) -> Answer:
        he, *_ = place[question.text].candidates
        right = (question.answer == he) == (place[question.text].groups["calls_for"] == "he")
        return Answer((-0.3 - 3.0 * (not right) - len(question.text) % 7 / 50,))

    run = evenhand.audit(Table(knows, name="knows"), dataset="tbd-gendered", out=tmp_path)
    frame = evenhand.table(run, measure="gender-agreement").frame
    assert list(frame["mark"]) == ["✓"]
    assert list(frame["size"]) == [""]


def test_a_notebook_shows_a_row_for_each_model_and_escapes_names(runs: list[Run]) -> None:
    html = evenhand.table(named(runs[0], "<b>bold</b>"))._repr_html_()
    assert html.count("<tr") == 2
    assert "&lt;b&gt;bold" in html
    assert "<b>" not in html


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"measure": "likelihood-leen"}, "'likelihood-lean'"),
        ({"dataset": "tgb"}, "dataset .*'tgb'"),
        ({"group": "job"}, "'jobs'"),
    ],
)
def test_an_unknown_name_is_an_error_with_those_there_are(runs: list[Run], asked: dict[str, Any], says: str) -> None:
    with pytest.raises(UnknownName, match=says):
        evenhand.table(runs, **asked)


def test_no_run_is_no_table() -> None:
    with pytest.raises(BadInput, match="one run"):
        evenhand.table([])


def test_the_command_prints_and_writes(runs: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [Run.load(run.path) for run in runs]
    folders = [str(run.path) for run in runs]
    assert run_command(app, ["table", *folders, "--as", "csv"]) == 0
    assert capsys.readouterr().out == evenhand.table(runs).to_csv()
    out = tmp_path / "table.tex"
    assert run_command(app, ["table", *folders, "--as", "latex", "--out", str(out)]) == 0
    assert out.read_text() == evenhand.table(runs).to_latex()
    assert run_command(app, ["table", *folders, "--as", "latex", "--out", str(out)]) == 2
    assert run_command(app, ["table", *folders, "--out", str(tmp_path / "table.csv")]) == 0
    assert (tmp_path / "table.csv").read_text() == evenhand.table(runs).to_csv()
    assert run_command(app, ["table", *folders, "--as", "latx"]) == 2
    assert "Did you mean 'latex'" in capsys.readouterr().err


def test_a_lean_is_told_in_words_and_a_unit_without_sizes_has_a_mark_of_its_own(runs: list[Run]) -> None:
    tasks = [replace(task, unit="bananas") for task in runs[1].record.tasks]
    other = Run(runs[1].path, with_fields(runs[1].record, tasks=tuple(tasks)))
    notes = evenhand.table(runs, measure="likelihood-lean").notes
    assert "pairs, all: leans to the stereotypes, large (le_an%ing)." in notes
    made = evenhand.table(other, measure="likelihood-lean")
    assert made.frame["mark"].tolist() == ["■"]
    assert r"^{\bullet}" in made.to_latex()


def test_names_cannot_break_a_table(runs: list[Run]) -> None:
    run = named(runs[0], "ev|il <img src=x> [a](b)")
    text = evenhand.table([run] * 2, measure=[task.measure for task in run.record.tasks], group=audited_runs.KINDS)
    heads = next(line for line in text.to_markdown().splitlines() if line.startswith("| dataset"))
    assert "<img" not in heads.replace(r"\<", "")
    assert len(re.split(r"(?<!\\)\|", heads)) == 3 + 2 + 2


def test_a_model_without_any_of_the_numbers_is_a_row_of_dashes_and_other_tasks_do_not_matter(
    runs: list[Run], tmp_path: Path
) -> None:
    less = audited_runs.audited(tmp_path, "less", 0.5, measure="stereotype-share", limit=20)
    made = evenhand.table([runs[0], less], measure="likelihood-lean")
    assert re.search(r"^\| less \| – \|$", made.to_markdown(), re.M)
    with pytest.raises(BadInput, match="same way"):
        evenhand.table([runs[0], less], measure="stereotype-share")


def test_published_numbers_are_those_of_the_paper_under_its_name(tmp_path: Path) -> None:
    model = Table(lambda question: Answer((audited_runs.noise(question.text) - 20,)), name="noise")
    made = evenhand.audit(model, dataset=["tgb", "emotions-en"], limit=8, out=tmp_path)
    own = evenhand.table(made, published=True)
    assert list(zip(own.frame["dataset"], own.frame["measure"], strict=True)) == [("tgb", "ASLD (Barza 2023)")]
    whole = next(row for row in made.values_of("tgb", "likelihood-difference") if not row.groups)
    assert (own.frame["value"][0], own.frame["low"][0]) == (whole.value, whole.low)
    named = evenhand.table(made, published=True, measure="stereotype-share")
    assert list(named.frame["measure"]) == ["stereotype-share"]  # no paper has a name for it
    with pytest.raises(BadInput, match="No paper reports"):
        evenhand.table(evenhand.audit(model, dataset="emotions-en", limit=8, out=tmp_path / "2"), published=True)


def test_crows_pairs_is_judged_by_its_own_measure(tmp_path: Path) -> None:
    model = Table(lambda question: Answer((audited_runs.noise(question.text) - 20,)), name="noise")
    items = [evenhand.Pair(str(i), f"He has {i} hats.", f"She has {i} hats.") for i in range(12)]
    judged = {}
    for name in ("crows-pairs", "others"):
        data = evenhand.Dataset(name=name, items=items)
        run = evenhand.audit(model, dataset=data, measure=["stereotype-share", "crows-pairs"], out=tmp_path / name)
        judged[name] = run.headline_task(name).measure
    assert judged == {"crows-pairs": "crows-pairs", "others": "stereotype-share"}
