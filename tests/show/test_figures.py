"""Figures: files that open, with what they should show in them."""

import errno
import json
import math
import os
import re
import zlib
from pathlib import Path
from types import SimpleNamespace

import altair as alt
import pandas as pd
import pytest

import evenhand
from evenhand import BadInput, Fill, Likelihood, Run, RunError, Table
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.questions import Question
from evenhand.papers.charts import profession_bars, pronoun_scatter, workforce_on_page, workforce_scatter
from evenhand.papers.equalising import GENDERED
from evenhand.papers.findings import workforce_shares
from evenhand.show.figures import charts, write_charts
from evenhand.show.plots import histogram, page_svg, save, value_dots
from evenhand.stats import Line
from helpers.fuzzing import contents
from helpers.typed import only

pytestmark = pytest.mark.usefixtures("without_pages", "few_draws")


def means(shift: float = 0.0) -> pd.DataFrame:
    female, male = [0.0, -1.0, 0.2 + shift], [0.1, 0.5, 0.2]
    frame = pd.DataFrame({"prof_gender": "male", "profession": ["a", "b", "c"], "female": female, "male": male})
    return frame.assign(difference=frame["female"] - frame["male"])


def bars(**shifts: float) -> pd.DataFrame:
    """The same by words, with intervals, of the runs named."""
    frames = [means(shift).melt("profession", ["female", "male"], "words", "association") for shift in shifts.values()]
    rows = pd.concat(frame.assign(run=run) for run, frame in zip(shifts, frames, strict=True))
    return rows.assign(low=rows["association"] - 0.1, high=rows["association"] + 0.1)


def test_professions_are_ordered_by_difference_between_runs_or_genders() -> None:
    alone = profession_bars(bars(one=0.0)).to_dict()
    assert alone["layer"][0]["encoding"]["y"]["sort"] == ["b", "a", "c"]
    several = profession_bars(bars(one=0.0, other=-3.0, third=-1.0)).to_dict()
    assert several["spec"]["layer"][0]["encoding"]["y"]["sort"][0] == "c"
    assert several["facet"]["column"]["sort"] == ["one", "other", "third"]
    assert several["resolve"]["scale"] == {"x": "shared", "y": "shared"}  # one scale in all panels


def test_bars_have_intervals() -> None:
    lines = profession_bars(bars(one=0.0)).to_dict()["layer"][1]
    assert [lines["encoding"][end]["field"] for end in ("x", "x2")] == ["low", "high"]


def test_the_scatter_leaves_out_what_has_no_share() -> None:
    chart = workforce_scatter(means(), {"a": 10.0, "b": 90.0}).to_dict()
    assert max(len(rows) for rows in chart["datasets"].values()) == 2


def test_the_page_draws_the_workforce_of_three_professions_that_have_both_genders() -> None:
    scores = pd.DataFrame(
        {"profession": p, "prof_gender": "male", "gender": gender, "score": score}
        for p, score in zip(list(workforce_shares())[:3], (0.1, 0.5, 0.2), strict=True)
        for gender in ("female", "male")
    )
    of = {"runs": [None], "dataset": "becpro-en", "measure": "association"}
    assert len(list(workforce_on_page(SimpleNamespace(**of, scores=[scores])))) == 1
    assert not list(workforce_on_page(SimpleNamespace(**of, scores=[scores[1:]])))


def test_plots_side_by_side_are_as_wide_on_the_page_as_they_are() -> None:
    plot = alt.Chart(pd.DataFrame({"x": [1, 2], "kind": ["a", "b"]})).mark_point().encode(x="x:Q")
    for chart in (plot, plot + plot, plot | plot, plot & plot, plot.encode(column="kind:N"), plot.facet("kind:N")):
        width = float(re.findall(r'viewBox="0 0 ([\d.]+) ', page_svg(chart, ""))[0])
        assert width == 440 if isinstance(chart, alt.LayerChart) else width >= 440


@pytest.mark.parametrize("label", ["a\x01b", "constructor", "toString", "__proto__", "<b>&", "x" * 90])
def test_any_label_can_be_drawn(label: str) -> None:
    rows = pd.DataFrame({"group": [label, "other"], "series": label, "value": [1.0, 2.0], "low": 0.0, "high": 3.0})
    for frame in (rows.assign(leans=True), pd.concat([rows, rows.assign(series="y")]).assign(leans=False)):
        svg = page_svg(value_dots(frame, "nats"), label)
        assert ">other<" in svg
        assert "<b>" not in svg
        assert len(max(re.findall(r">([^<>]*)</text>", svg), key=len)) < 90  # not wider than the chart


def test_of_two_words_at_one_height_the_left_one_is_named_at_its_left() -> None:
    words = {"actress": (-0.6, -0.5), "hostess": (-0.4, -0.1), "heiress": (-0.3, -0.12)}
    rows = pd.DataFrame({"profession": p, "better": "farther", "before": x, "after": y} for p, (x, y) in words.items())
    line = Line(1.0, 0.9, 1.1, 0.0, 1.0, 0.9, 1.0, n=3)
    chart = pronoun_scatter(rows, {GENDERED: line}).to_dict()
    points = next(rows for rows in chart["datasets"].values() if "left" in rows[0])
    assert {row["profession"]: row["left"] for row in points} == {"actress": False, "hostess": True, "heiress": False}


@pytest.fixture(scope="module")
def becpro(tmp_path_factory: pytest.TempPathFactory) -> Run:
    table = Table(only(Fill, lambda q: (-float(len(q.text) % 7) - len(q.hidden),)))
    return evenhand.audit(table, suite="becpro", out=tmp_path_factory.mktemp("becpro"))


def test_runs_are_drawn_side_by_side(becpro: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["figures", str(becpro.path), str(becpro.path), "--out", str(tmp_path / "f"), "--format", "svg"]
    assert run_command(app, command) == 0
    drawn = sorted((tmp_path / "f").iterdir())
    assert [p.name for p in drawn] == [
        *(f"professions-{group}.svg" for group in ("balanced", "female", "male")),
        *(f"workforce-{number}.svg" for number in (1, 2)),
    ]
    assert capsys.readouterr().out.split() == [str(tmp_path / "f" / p.name) for p in drawn]
    male = (tmp_path / "f" / "professions-male.svg").read_text(encoding="utf-8")
    assert "mining machine operator" in male
    assert "before:" not in male  # nobody debiased anything
    balanced = (tmp_path / "f" / "professions-balanced.svg").read_text(encoding="utf-8")
    assert re.search(r"professions held by women and men(?! alike)", balanced)


@pytest.mark.parametrize(("suffix", "begins"), [("pdf", b"%PDF"), ("png", b"\x89PNG"), ("html", b"<!DOCTYPE html>")])
def test_a_figure_can_have_other_formats(becpro: Run, tmp_path: Path, suffix: str, begins: bytes) -> None:
    chart = charts(becpro)["professions-male"]
    (path,) = write_charts({"chart": chart}, tmp_path, suffix)
    assert path == tmp_path / f"chart.{suffix}"
    content = path.read_bytes()
    assert content.startswith(begins)
    assert not re.search(rb"<script[^>]+src=", content)  # nothing is fetched


def test_what_cannot_be_drawn_is_refused(stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(app, ["figures", str(stored / "emotions"), "--out", str(tmp_path / "f")]) == 2
    assert "has nothing to draw" in capsys.readouterr().err
    with pytest.raises(BadInput, match=".gif"):
        save(profession_bars(bars(one=0.0)), tmp_path / "x.gif")
    with pytest.raises(RunError, match="cannot be written"):
        save(profession_bars(bars(one=0.0)), Path("/proc/x.svg"))


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_a_figure_that_cannot_be_written_whole_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """On a full disk, or if it is killed while it writes."""
    figure = tmp_path / f"a{suffix}"
    save(profession_bars(bars(one=0.0)), figure)
    before = contents(tmp_path)

    def is_full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", is_full)
    with pytest.raises(RunError, match="No space left"):
        save(profession_bars(bars(one=0.5)), figure)
    assert contents(tmp_path) == before
    monkeypatch.undo()
    save(profession_bars(bars(one=0.5)), figure)
    assert contents(tmp_path) != before


@pytest.fixture(scope="module")
def gbef(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """Two models: the second is nearer to neither."""
    out = tmp_path_factory.mktemp("gbef")

    def model(name: str, pull: float) -> Table:
        def rule(q: Question) -> tuple[float, ...]:
            if isinstance(q, Fill):
                male = q.answer.lower() in ("he", "his")
                return (-1.0 - pull * (len(q.text) % 5) * (1 if male else 2),)
            assert isinstance(q, Likelihood)
            return (-float(zlib.crc32(q.text.encode()) % 7) * pull,)

        return Table(rule, name=name)

    first, second = (evenhand.audit(model(n, p), suite="gbef", out=out) for n, p in (("before", 1.0), ("after", 0.2)))
    return first, second


def test_a_run_of_the_framework_gives_its_figures(gbef: tuple[Run, Run]) -> None:
    found = charts(gbef[0])
    assert {"pronoun-medical", "pronoun-office", "pronoun-pregnancy", "sample-size"} <= set(found)
    assert "pronoun-change" not in found
    both = charts(*gbef, seen={"doctor"})
    assert "pronoun-change" in both
    bars = json.dumps(both["pronoun-medical"].to_dict())
    assert "doctor \\u25a0" in bars
    assert "dentist \\u25a0" not in bars
    assert "in the training corpus" in bars
    scatter = both["pronoun-change"].to_dict()
    assert "Merely equalised?" in json.dumps(scatter["title"])
    points = next(rows for rows in scatter["datasets"].values() if "profession" in rows[0])
    assert len(points) == 94


def test_professions_of_a_text_file_are_marked(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("The doctor saw a biologist.\n")
    run = evenhand.audit(Table(lambda q: (-float(len(q.answer)),)), dataset="tbd", measure="pronoun", out=tmp_path)
    command = ["figures", str(run.path), "--seen", str(corpus), "--out", str(tmp_path / "out")]
    assert run_command(app, command) == 0
    assert "biologist \u25a0" in (tmp_path / "out" / "pronoun-science.svg").read_text()
    for path in (tmp_path / "out").iterdir():
        path.unlink() if path.stem == "pronoun-arts" else path.write_text("mine")
    before = {path: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert run_command(app, command) == 2
    assert {path: path.read_text() for path in (tmp_path / "out").iterdir()} == before  # nothing new either
    assert run_command(app, [*command, "--force"]) == 0
    assert "mine" not in {path.read_text() for path in (tmp_path / "out").iterdir()}


def test_a_scorecard_of_many_measures_has_a_column_for_each(
    gbef: tuple[Run, Run], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(app, ["show", str(gbef[0].path), "--full"]) == 0
    printed = capsys.readouterr().out
    head = next(line for line in printed.splitlines() if "likelihood-lean" in line and "category" in line)
    assert head.index("likelihood-difference") < head.index("likelihood-lean") < head.index("crows-pairs")
    assert "better: closer to 0" in printed
    assert re.search(r"^   surgeon +[+-]0\.\d{3} \[", printed, re.M)
    assert re.search(r"^ gender-related occupation +she +", printed, re.M)
    assert max(len(line.rstrip()) for line in printed.splitlines() if "│" not in line and line.startswith(" ")) <= 130


UP = math.nextafter(0.3, 1)


@pytest.mark.parametrize(
    "scores",
    [
        [0.3, UP] * 9,
        [0.3],
        [1e60, math.nextafter(1e60, math.inf)],
        [-1e60] * 4,
        [1e16, 1e16 + 2],
        [5e-324, 0.0, -5e-324],
        [0.0, -0.0],
        [1e-301, 2e-301],
        [1e60, 5e-324, -1e60],
    ],
)
@pytest.mark.parametrize("neutral", [0.0, UP, math.nan])
def test_scores_that_no_bins_divide_are_drawn(scores: list[float], neutral: float) -> None:
    assert "<path" in page_svg(histogram(pd.Series(scores), "score", neutral=neutral), "Scores.")
