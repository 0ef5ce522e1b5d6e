"""Models side by side: a mark only where it is no chance."""

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenhand
from evenhand import Answer, BadInput, Fill, Likelihood, Run, Table
from evenhand.analysis.comparison import comparable_tasks, side_by_side
from evenhand.cli import terminal
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.show.tables import models as table_of_models
from helpers import tiny
from helpers.made_scores import PAPER, associations, scores
from helpers.typed import number, only
from helpers.written_runs import task

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")

HEAD = "stereotype,counterpart,category\n"


def pairs(tmp_path: Path) -> Path:
    file = tmp_path / "pairs.csv"
    rows = [f"He has {i} hats.,She has {i} hats.,{'a' if i < 40 else 'b'}\n" for i in range(80)]
    file.write_text(HEAD + "".join(rows))
    return file


def audited(name: str, size: float, noise: float, tmp_path: Path, seed: int = 0, **asked: Any) -> Run:
    """A model whose differences are about `size`."""
    rng = random.Random(seed)
    table: dict[Likelihood, tuple[float]] = {}

    def rule(q: Likelihood) -> tuple[float]:
        return table.setdefault(q, ((size + noise * rng.gauss(0, 1) if q.text.startswith("He") else 0.0) - 100,))

    model = Table(only(Likelihood, rule), name=name)
    how = {"pairs": pairs(tmp_path), "measure": "likelihood-difference", **asked}
    return evenhand.audit(model, out=tmp_path / "runs", **how)


def test_best_and_worst_are_marked_where_they_are_certain(tmp_path: Path) -> None:
    sizes = {"low": 1.0, "mid": 2.0, "high": 3.0}
    runs = [audited(name, size, 0.3, tmp_path, seed) for seed, (name, size) in enumerate(sizes.items())]
    rows = side_by_side(runs, "pairs", "likelihood-difference")
    everything = rows[rows["category"] == "all"].set_index("model")
    assert everything["mark"].to_dict() == {"low": "best", "mid": "", "high": "worst"}
    assert number(everything, "mid", "low") < number(everything, "mid", "value") < number(everything, "mid", "high")
    assert len(rows) == 9


def test_nobody_is_marked_where_it_could_be_chance(tmp_path: Path) -> None:
    runs = [audited(f"m{i}", 1.0, 1.0, tmp_path, i) for i in range(3)]
    rows = side_by_side(runs, "pairs", "likelihood-difference")
    assert (rows["mark"] == "").mean() >= 0.8


def test_pairing_sees_what_intervals_apart_do_not(tmp_path: Path) -> None:
    """Two models that differ by little on every pair, in pairs that differ by much."""
    spread = {f"He has {i} hats.": i / 4 for i in range(80)}

    def giving(more: float) -> Table:
        rule = only(Likelihood, lambda q: (spread.get(q.text, 0.0) + more * (q.text in spread) - 100,))
        return Table(rule, name=f"m{more}")

    how: dict[str, Any] = {"pairs": pairs(tmp_path), "measure": "likelihood-difference", "out": tmp_path / "runs"}
    runs = [evenhand.audit(giving(more), **how) for more in (0.5, 1.0)]
    rows = side_by_side(runs, "pairs", "likelihood-difference").query("category == 'all'").set_index("model")
    assert number(rows, "m0.5", "high") > number(rows, "m1.0", "low")  # apart, one could not tell
    assert rows["mark"].to_dict() == {"m0.5": "best", "m1.0": "worst"}


def test_for_gendered_words_farther_on_the_right_side_is_better(tmp_path: Path) -> None:
    def giving(right: float) -> Table:
        rule = only(Fill, lambda q: (math.log(right if q.answer.lower() in ("she", "her") else 0.1),))
        return Table(rule, name=f"m{right}")

    runs = [evenhand.audit(giving(p), dataset="tbd-gendered", measure="pronoun", out=tmp_path) for p in (0.2, 0.8)]
    rows = side_by_side(runs, "tbd-gendered", "pronoun").set_index(["category", "calls_for", "model"])["mark"]
    assert rows["gender-related occupation", "she", "m0.8"] == "best"
    assert rows["gender-related occupation", "he", "m0.2"] == "best"


def test_runs_that_were_not_measured_alike_are_refused(tmp_path: Path) -> None:
    one = audited("one", 1.0, 0.1, tmp_path)
    other = evenhand.audit(Table(lambda q: (-1.0,), name="other"), suite="becpro", limit=20, out=tmp_path / "runs")
    with pytest.raises(BadInput, match="no likelihood-difference on pairs"):
        side_by_side([one, other], "pairs", "likelihood-difference")
    third = audited("third", 1.0, 0.1, tmp_path, options={"total": "mean"})
    with pytest.raises(BadInput, match=r"pairs \(total=mean\)"):
        side_by_side([one, third], "pairs", "likelihood-difference")


def test_several_models_on_the_command_line_are_set_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = tiny.save("roberta", tmp_path / "tiny")
    command = ["audit", "mini-en", str(small), "--pairs", str(pairs(tmp_path)), "--limit", "12", "--out", str(tmp_path)]
    assert run_command(app, command) == 0
    printed = capsys.readouterr().out
    assert "models side by side" in printed
    chart = tmp_path / "models-pairs-stereotype-share.svg"
    assert str(chart) in printed
    assert "mini-en" in chart.read_text()
    assert comparable_tasks(Run.load(tmp_path / "tiny")) == [("pairs", "stereotype-share")]


def test_a_model_without_a_value_gets_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    numbers = {"value": [1.0, np.nan], "low": [0.5, np.nan], "high": [1.5, np.nan]}
    rows = pd.DataFrame({"category": "all", "model": ["a", "b"], **numbers, "mark": ["best", ""], "total": True})
    terminal.show(table_of_models(rows, "tgb", "likelihood-difference"))
    printed = capsys.readouterr().out
    assert "1.00 [0.50, 1.50] best" in printed
    assert "–" in printed


def test_chance_is_seldom_marked_where_clusters_cross() -> None:
    """Models that differ by nothing but the profession and the template."""
    from evenhand.analysis.comparison import _marks

    asked = task("tbd", "pronoun", cluster="template", crossed="profession")
    marked = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = [(f"{t}/{p}", str(t), str(p)) for t in range(15) for p in range(8)]
        base = pd.DataFrame(rows, columns=["id", "template", "profession"])
        parts = []
        for _ in range(2):
            noise = np.add.outer(rng.normal(0, 0.1, 15), rng.normal(0, 0.1, 8)).ravel() + rng.normal(0, 0.05, 120)
            parts.append(base.assign(score=0.4 + noise))
        marked += any(_marks(parts, replace(asked, seed=seed, by=()), 1)["all"])
    assert marked <= 6


def test_items_that_one_model_could_not_score_count_for_none(tmp_path: Path) -> None:
    def model(name: str, lost: bool) -> Table:
        def rule(q: Likelihood) -> Answer:
            number = int(q.text.split()[2])
            if lost and number < 30:
                return Answer.none("unknown word")
            return Answer((float(number if q.text.startswith("He") else 0) - 100,))

        return Table(only(Likelihood, rule), name=name)

    how: dict[str, Any] = {"pairs": pairs(tmp_path), "measure": "likelihood-difference", "out": tmp_path / "r"}
    runs = [evenhand.audit(model(name, lost), **how) for name, lost in (("a", False), ("b", True))]
    rows = side_by_side(runs, "pairs", "likelihood-difference").query("total").set_index("model")
    assert number(rows, "a", "value") == number(rows, "b", "value")
    assert set(rows["n"]) == {50}
    assert (rows["mark"] == "").all()


@pytest.mark.parametrize("head", ["stereotype,counterpart\n", HEAD])
def test_odd_categories_are_no_trouble(tmp_path: Path, head: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "odd.csv"
    labels = ["all", "[/b]", "health/care and a very long name of a category that is longer than any table"]
    ends = [f",{label}" if head == HEAD else "" for label in labels]
    file.write_text(head + "".join(f"He has {i} hats.,She has {i} hats.{ends[i % 3]}\n" for i in range(12)))
    runs = [audited(name, 1.0, 0.3, tmp_path, pairs=file) for name in ("one", "twin")]
    terminal.show(table_of_models(side_by_side(runs, "odd", "likelihood-difference"), "odd", "likelihood-difference"))
    printed = capsys.readouterr().out
    assert "…" not in printed
    assert ("[/b]" in printed) == (head == HEAD)


def test_where_women_and_men_are_partners_models_are_ranked_by_their_difference() -> None:
    rng = np.random.default_rng(1)
    biased, fair = scores(PAPER), scores(dict.fromkeys(PAPER, 0.1), noise=0.06)
    other = biased.assign(score=biased["score"] + rng.normal(0, 0.01, len(biased)))
    runs = [associations(frame, path) for frame, path in ((biased, "a"), (fair, "b"), (other, "c"))]
    assert comparable_tasks(runs[0]) == [("becpro-en", "association")]
    rows = side_by_side(runs, "becpro-en", "association").set_index(["prof_gender", "model"])
    assert set(rows.index.get_level_values(0)) == {"balanced", "female", "male"}
    assert rows.loc[("male", "a"), "value"] == pytest.approx(-0.99, abs=0.05)
    assert rows.loc[("male", "b"), "mark"] == "best"
    assert not rows.loc[("male", "a"), "mark"]  # a and c do not differ
    assert not rows["total"].any()
