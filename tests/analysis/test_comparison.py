"""Runs compared with a baseline."""

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evenhand
from evenhand import Answer, BadInput, Run, Table
from evenhand.analysis.comparison import Comparison
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.show import comparison as shown
from helpers.audited_runs import audited, noise
from helpers.written_runs import named, with_fields

pytestmark = pytest.mark.usefixtures("without_pages", "few_draws")


@pytest.fixture(scope="module")
def runs(stored: Path) -> list[Run]:
    return [Run.load(stored / name) for name in ("base", "better", "twin")]


@pytest.fixture(scope="module")
def compared(runs: list[Run], few_draws: None) -> Comparison:
    return evenhand.compare(*runs)


def row(compared: Comparison, run: str, measure: str, group: str = "all") -> dict[Any, Any]:
    wanted = (run, measure, group)
    rows = compared.frame.to_dict("records")
    return next(row for row in rows if (row["run"], row["measure"], row["group"]) == wanted)


def test_a_change_is_the_difference_of_the_values(compared: Comparison, runs: list[Run]) -> None:
    found = row(compared, "better", "likelihood-lean")
    values = [run.values.query("measure == 'likelihood-lean' and category.isna()")["value"].item() for run in runs[:2]]
    assert [found["before"], found["after"]] == pytest.approx(values)
    assert found["change"] == pytest.approx(values[1] - values[0])
    assert found["high"] < 0
    assert found["moved"] == "towards neutral"
    assert (found["n"], found["left_out"]) == (60, 0)
    assert 0 < found["detectable"] < 1.5


def test_no_change_is_printed_as_detectable_that_cannot_be(compared: Comparison) -> None:
    shares = [replace(row, detectable=0.9) for row in compared.rows if row.name == "crows-pairs"]
    assert shares
    for detectable, cells in ((0.9, "0.900"), (1.1, "–")):
        rows = [replace(row, detectable=detectable) for row in shares]
        assert {cell[0] for cell in shown._cells(rows, ["detectable"])} == {cells}


def test_a_causal_model_among_others_is_named(runs: list[Run]) -> None:
    causal = Run(runs[1].path, with_fields(runs[1].record, caveats=("A causal model.",)))
    mixed = evenhand.compare(runs[0], causal)
    assert mixed.of_another_kind == ["better"]
    assert "Careful: values of causal and masked models are not comparable. Causal: better." in shown.markdown(mixed)
    assert json.loads(mixed.to_json())["of_another_kind"] == ["better"]
    assert evenhand.compare(causal, causal).of_another_kind == []


def test_holm_is_over_everything_compared(compared: Comparison, runs: list[Run]) -> None:
    alone = row(evenhand.compare(*runs[:2]), "better", "likelihood-lean")
    among = row(compared, "better", "likelihood-lean")
    assert among["p"] == alone["p"]
    assert among["p_holm"] > alone["p_holm"] > alone["p"]


def test_items_that_one_could_not_score_count_for_neither(tmp_path: Path, runs: list[Run]) -> None:
    blind = audited(tmp_path, "blind", 2.0, measure="likelihood-lean", lost=lambda i: i < 20)
    found = row(evenhand.compare(runs[0], blind), "blind", "likelihood-lean")
    assert (found["n"], found["left_out"]) == (40, 20)
    assert found["change"] == 0
    nothing = audited(tmp_path, "nothing", 3.0, measure="likelihood-lean", lost=lambda i: i % 2 == 0)
    found = row(evenhand.compare(runs[0], nothing), "nothing", "likelihood-lean", "jobs")
    assert (found["n"], found["left_out"]) == (0, 30)
    assert math.isnan(found["change"])


def test_runs_of_different_samples_are_compared_by_the_items_that_both_have(tmp_path: Path, runs: list[Run]) -> None:
    part, other = (audited(tmp_path, f"{n}", 1.0, measure="likelihood-lean", limit=20, seed=n) for n in (0, 1))
    with pytest.raises(BadInput, match=r"samples of 20 items \(limit 20, seed 0\) and 20 items \(limit 20, seed 1\)"):
        evenhand.compare(part, other)  # which have too few in common
    found = evenhand.compare(runs[0], part)
    assert found.shared == {"pairs": 20}
    assert set(found.frame[found.frame["group"] == "all"]["n"]) == {20}
    assert "compared by the 20 items that both have" in shown.markdown(found)
    assert evenhand.compare(runs[0], runs[0]).shared == {}
    assert "a sample of at most 20 items" in shown.markdown(evenhand.compare(part, part))


def test_without_values_that_get_no_verdict_the_others_are_the_same(tmp_path: Path) -> None:
    def rule(more: float) -> Any:
        return lambda asked: Answer((noise(f"{more} {asked.text}") - 20 - more * ("she" in asked.text.lower()),))

    models = [Table(rule(more), name=f"{more}") for more in (0.0, 1.0)]
    one, other = (evenhand.audit(model, dataset="tgb", limit=40, out=tmp_path) for model in models)
    whole, part = evenhand.compare(one, other).frame, evenhand.compare(one, other, judged=True).frame
    assert 0 < len(part) < len(whole)
    whole = whole[whole["needed"] > 0].reset_index(drop=True)
    distance = [name for name in whole if str(name).startswith("worse")]
    pd.testing.assert_frame_equal(whole.drop(columns=distance), part.drop(columns=distance))  # `moved` too
    tested = whole["p"] < 0.05  # where no change is shown, how much worse it got is not computed
    assert 0 < tested.sum() < len(whole)
    same = [name for name in distance if name != "worse_p_holm"]
    pd.testing.assert_frame_equal(whole.loc[tested, same], part.loc[tested, same])
    assert part.loc[~tested, "worse"].isna().all()


def test_other_options_are_another_dataset(tmp_path: Path, runs: list[Run]) -> None:
    measures = ["likelihood-lean", "crows-pairs"]
    other = audited(tmp_path, "other", 1.0, measure=measures, options={"total": "mean"})
    found = evenhand.compare(runs[0], other)
    assert set(found.frame["measure"]) == {"crows-pairs"}  # which has no such option
    assert {row["dataset"] for row in found.left_out} == {"pairs", "pairs (total=mean)"}


def test_what_only_one_has_is_named_and_nothing_in_common_is_an_error(tmp_path: Path, runs: list[Run]) -> None:
    less = audited(tmp_path, "less", 1.0, measure="likelihood-lean")
    found = evenhand.compare(runs[0], less)
    assert set(found.frame["measure"]) == {"likelihood-lean"}
    left_out = {missing["measure"] for missing in found.left_out}
    assert left_out == {"likelihood-difference", "stereotype-share", "crows-pairs"}
    assert "Not compared: stereotype-share on pairs, only in base." in shown.markdown(found)
    one = audited(tmp_path, "one", 1.0, measure="stereotype-share")
    with pytest.raises(BadInput, match="in common"):
        evenhand.compare(less, one)
    with pytest.raises(BadInput, match="two runs"):
        evenhand.compare(one)


def test_the_command_prints_a_table_and_writes_the_rest(
    tmp_path: Path, runs: list[Run], capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(run.path) for run in runs]
    two = folders[:2]
    assert run_command(app, ["compare", *two, "--chart", str(tmp_path / "c.svg")]) == 0
    printed = capsys.readouterr().out
    assert "better against base" in printed
    assert re.search(r"all +\+2\.\d+ +\+0\.\d+ +-1\.\d+ +\[.*towards neutral", printed)
    assert "likelihood-lean" in (tmp_path / "c.svg").read_text()
    assert run_command(app, ["compare", *folders, "--json", "--chart", str(tmp_path / "three.svg")]) == 0
    assert "twin" in (tmp_path / "three.svg").read_text()
    data = json.loads(capsys.readouterr().out)
    assert data["baseline"]["run"] == "base"
    assert {row["run"] for row in data["rows"]} == {"better", "twin"}
    assert run_command(app, ["compare", *two, "--out", str(tmp_path / "c.md")]) == 0
    assert "| pairs | likelihood-lean | all |" in (tmp_path / "c.md").read_text()
    assert capsys.readouterr().out == ""
    for option, name in (("--chart", "c.svg"), ("--out", "c.md")):
        (tmp_path / name).write_text("mine")
        assert run_command(app, ["compare", *two, option, str(tmp_path / name)]) == 2
        assert (tmp_path / name).read_text() == "mine"
        assert "exists already" in capsys.readouterr().err
        assert run_command(app, ["compare", *two, option, str(tmp_path / name), "--force"]) == 0
        assert (tmp_path / name).read_text() != "mine"
    for wrong in (["--chart", "c.gif"], ["--json", "--as", "markdown"], ["--out", "c.txt"], ["--as", "word"]):
        assert run_command(app, ["compare", *two, *wrong]) == 2
    assert run_command(app, ["compare", folders[0]]) == 2
    assert run_command(app, ["compare", folders[0], str(tmp_path)]) == 2


def test_a_comparison_is_csv_latex_or_markdown(
    tmp_path: Path, runs: list[Run], capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(run.path) for run in runs[:2]]
    printed = {}
    for form in ("csv", "latex", "markdown"):
        assert run_command(app, ["compare", *folders, "--as", form]) == 0
        printed[form] = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(printed["csv"])))
    found = evenhand.compare(*runs[:2])
    assert [float(row["change"]) for row in rows] == found.frame["change"].tolist()  # to the last digit
    assert {row["baseline"] for row in rows} == {"base"}
    tables = re.findall(r"\\midrule\n(.*?)\\bottomrule", printed["latex"], re.S)
    assert sum(len(table.splitlines()) for table in tables) == len(rows)
    assert r"& nearer \\" in printed["latex"]
    assert "| pairs | likelihood-lean | all |" in printed["markdown"]
    assert run_command(app, ["compare", *folders, "--out", str(tmp_path / "c.tex")]) == 0
    assert (tmp_path / "c.tex").read_text() == printed["latex"]
    assert run_command(app, ["compare", *folders, "--markdown"]) == 0
    old = capsys.readouterr()
    assert old.out == printed["markdown"]
    assert "--as markdown" in old.err


def test_labels_cannot_break_a_markdown_table(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"
    rows = "".join(f"He has {i} hats.,She has {i} hats.,a|b <script>\n" for i in range(10))
    file.write_text("stereotype,counterpart,category\n" + rows)
    runs = (audited(tmp_path, name, 1.0, file, measure="likelihood-lean") for name in ("one", "two"))
    found = evenhand.compare(*runs)
    lines = shown.markdown(found).splitlines()
    bars = {len(re.findall(r"(?<!\\)\|", line)) for line in lines if line.startswith("|")}
    assert len(bars) == 1
    assert r"a\|b \<script\>" in shown.markdown(found)


def test_names_of_runs_cannot_be_markdown(runs: list[Run]) -> None:
    text = shown.markdown(evenhand.compare(runs[0], named(runs[1], "a|b `c` [d](e) <img src=x>")))
    assert r"a\|b \`c\` \[d\](e) \<img src=x\> against base" in text
    assert not re.search(r"(?<!\\)[`<\[]", text.replace("[+", "").replace("[-", ""))
