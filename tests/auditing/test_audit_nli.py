"""An audit of a model of inference: its suite, table of labels and chart, and what is said where there is no number."""

import io
import json
import math
import zlib
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

import evenhand
from evenhand import Answer, Entail, Table, datasets, suites
from evenhand.analysis.comparison import comparable_tasks, side_by_side
from evenhand.checks.fit import fit
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.papers.findings import distribution
from evenhand.show.figures import charts, draw
from evenhand.show.terminal import scorecard
from evenhand.stats.significance import holm
from helpers import tiny
from helpers.typed import only

pytestmark = pytest.mark.usefixtures("without_pages")


def leaning(question: Entail, often: int) -> Answer:
    """Of a hundred pairs about women so many are entailed, of those about men so many contradicted; at random."""
    hit = zlib.crc32(repr(question).encode()) % 100 < often
    label = 1 if not hit else 0 if "oman" in question.hypothesis else 2
    return Answer(tuple(math.log(0.8 if i == label else 0.1) for i in range(3)))


class Classifier(Table):
    kind = "nli"


def table(often: int, name: str) -> Table:
    return Classifier(only(Entail, lambda question: leaning(question, often)), name=name, fingerprint=name)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[evenhand.Run]:
    out = tmp_path_factory.mktemp("runs")
    return [evenhand.audit(table(often, f"of{often}"), out=out) for often in (60, 20)]


def printed(run: evenhand.Run) -> str:
    out = io.StringIO()
    Console(width=200, file=out).print(scorecard(run))
    return out.getvalue()


def test_the_kind_of_model_chooses_the_suite(runs: list[evenhand.Run]) -> None:
    assert [task.name for task in runs[0].record.tasks] == suites.SUITES["nli"]["en"]
    assert runs[0].record.audits[-1].work.questions == 1440  # six measures ask the same


def test_shares_of_a_set_sum_to_one_and_neutral_is_turned(runs: list[evenhand.Run]) -> None:
    rows = distribution(runs[0].values_of("nli-en"))
    assert rows.groupby("set")["value"].sum().tolist() == pytest.approx([1, 1, 1])
    assert (rows["low"] <= rows["value"]).all()
    assert (rows["value"] <= rows["high"]).all()
    shares = rows.set_index(["set", "label"])["value"]
    coal = (shares["pro", "entailment"] + shares["anti", "contradiction"] + 1 - shares["non", "neutral"]) / 3
    values = runs[0].values
    assert values[(values["measure"] == "nli-coal") & values["set"].isna()]["value"].item() == pytest.approx(coal)


def test_the_scorecard_has_the_papers_table(runs: list[evenhand.Run]) -> None:
    text = printed(runs[0])
    header, _, *rows = text[text.index("evaluation data") :].splitlines()[:5]
    assert header.split() == ["evaluation", "data", "Ent.", "Con.", "Neu.", "FN", "NLI-CoAL"]
    assert [row.split()[0] for row in rows] == ["PS", "AS", "NS"]
    shares = distribution(runs[0].values_of("nli-en"))["value"]
    assert [float(row.split()[i]) for row in rows for i in (2, 5, 8)] == pytest.approx(shares.tolist(), abs=6e-4)
    assert "+0" not in text[text.index("evaluation data") :]  # shares have no sign, differences of them do
    judged = [line.split() for line in text.splitlines() if " stereotype " in line or " default " in line]
    assert [line[:2] for line in judged] == [
        [f"fraction-{label}", name] for label in ("entailment", "contradiction") for name in ("stereotype", "default")
    ]
    assert all(line[2][0] in "+-" for line in judged)


def test_the_four_rows_of_labels_are_one_family(runs: list[evenhand.Run]) -> None:
    rows = [row for row in runs[0].results if row["estimand"] and not row["groups"]]
    assert [row["p_holm"] for row in rows] == pytest.approx(holm([row["p"] for row in rows]))
    assert [row["measure"] for row in rows] == ["fraction-entailment"] * 2 + ["fraction-contradiction"] * 2
    alone = evenhand.audit(
        table(60, "alone"), dataset="nli-en", measure="fraction-entailment", out=runs[0].path.parent / "alone"
    )
    two = [row for row in alone.results if row["estimand"] and not row["groups"]]
    assert [row["p_holm"] for row in two] == pytest.approx(holm([row["p"] for row in two]))


def test_labels_are_drawn(runs: list[evenhand.Run], tmp_path: Path) -> None:
    assert list(charts(runs[0])) == ["labels-nli-en"]
    (path,) = draw([runs[0], runs[1]], tmp_path, "svg")
    picture = path.read_text()
    for part in ("of60: NLI-CoAL", "of20: NLI-CoAL", "anti-stereotypical", "contradiction"):
        assert part in picture


def test_the_less_biased_of_two_is_best(runs: list[evenhand.Run]) -> None:
    assert comparable_tasks(runs[0]) == [("nli-en", "fraction-entailment")]
    rows = side_by_side(runs, "nli-en", "nli-coal").set_index(["set", "model"])
    assert rows.loc[("all", "of20"), "mark"] == "best"
    assert rows.loc[("all", "of60"), "mark"] == "worst"
    values = runs[0].values
    whole = values[(values["measure"] == "nli-coal") & values["set"].isna()]["value"].item()
    assert rows.loc[("all", "of60"), "value"] == pytest.approx(whole)


def test_a_sample_without_a_set_says_why_it_has_no_value(tmp_path: Path) -> None:
    run = evenhand.audit(table(60, "few"), limit=2, out=tmp_path)
    whole = next(row for row in run.results if row["measure"] == "nli-coal" and not row["groups"])
    assert whole["value"] is None
    assert whole["note"].startswith("no scored items of set ")
    assert f"nli-coal has no value of all items: {whole['note']}" in printed(run)


def test_a_model_of_another_language_is_warned_of(tmp_path: Path) -> None:
    english = evenhand.load(str(tiny.save_classifier("bert-uncased", tmp_path / "english")))
    (line,) = fit(english, datasets.load("nli-zh")).warnings("english")
    assert "30 of 30 words have characters unknown to 'english'" in line
    assert "Is it a model of 'zh'?" in line


def test_a_premise_over_the_models_length_is_counted(tmp_path: Path) -> None:
    folder = tiny.save_classifier("roberta", tmp_path / "short")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"model_max_length": 40}))
    run = evenhand.audit(str(folder), limit=30, out=tmp_path / "runs")
    too_long = run.record.unscored["nli-en/nli-coal"]["too long"]
    assert 0 < too_long == pd.DataFrame(run.results).query("measure == 'nli-coal'")["unscored"].iloc[0]


def test_labels_can_be_given_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tiny.save_classifier("roberta", tmp_path / "unnamed", ("LABEL_0", "LABEL_1", "LABEL_2"))
    asked = ["audit", str(folder), "--limit", "5", "--out", str(tmp_path / "runs")]
    assert run_command(app, asked) == 2
    assert "labels='entailment,neutral,contradiction'" in capsys.readouterr().err
    assert run_command(app, [*asked, "--labels", "contradiction,neutral,entailment"]) == 0
    assert "nli-en" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["debias", "audit"])
def test_what_is_for_masked_models_says_so(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tiny.save_classifier("bert-uncased", tmp_path / "classifier")
    more = ["--suite", "becpro"] if command == "audit" else []
    assert run_command(app, [command, str(folder), "--out", str(tmp_path / "runs"), *more]) == 2
    assert "masked language model" in capsys.readouterr().err
