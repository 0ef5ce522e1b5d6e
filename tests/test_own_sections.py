"""A dataset of somebody else's adds a chart to the page, lines to the terminal and a figure, from outside."""

from pathlib import Path
from textwrap import dedent

import altair as alt
import pandas as pd
import pytest

import evenhand
from evenhand import Answer, BadInput, Dataset, Drawing, Pair, Run, Sections, Table
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command

PAIRS = [Pair(what, f"She likes {what}.", f"He likes {what}.", groups={"hobby": what}) for what in "abcdefgh"]
MODEL = Table(lambda question: Answer((-float(len(str(question))),)))


def a_chart() -> alt.Chart:
    frame = pd.DataFrame({"hobby": ["<chess>"], "n": [1]})
    bars: alt.Chart = alt.Chart(frame).mark_bar(color="#0072B2").encode(x="hobby", y="n")
    return bars


class Hobbies(Sections):
    """Hobbies by the letter they begin with."""

    def page(self, measured):  # type: ignore[no-untyped-def]
        if measured.task.measure == "likelihood-lean":
            yield Drawing(a_chart(), f"{len(measured.scores[0])} hobbies < 9")

    def terminal(self, run, dataset, *, frequency=None):  # type: ignore[no-untyped-def]
        yield f"Hobbies of {run.record.model}: {len(run.scores_of(dataset, 'likelihood-lean'))}"

    def figures(self, runs, *, marked=None):  # type: ignore[no-untyped-def]
        return {"hobbies": a_chart()}


def hobbies(sections: Sections | None = None) -> Dataset:
    return Dataset(name="hobbies", items=PAIRS, cluster="hobby", sections=sections)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return evenhand.audit(MODEL, dataset=hobbies(Hobbies()), out=tmp_path / "runs")


def test_the_page_has_the_chart_with_its_caption_as_text(run: Run) -> None:
    html = (run.path / "report.html").read_text(encoding="utf-8")
    (figure,) = [part for part in html.split("<figure>") if "8 hobbies &lt; 9</figcaption>" in part]
    assert 'role="img" aria-label="8 hobbies &lt; 9"' in figure
    assert "&lt;chess&gt;" in figure
    assert 'fill="var(--blue)"' in figure  # light or dark, as the page is
    assert " width=" not in figure.partition(">")[0]  # as wide as its place


def test_without_figures_of_its_own_those_of_the_page_are_drawn(tmp_path: Path) -> None:
    sections = type("OnPage", (Sections,), {"page": lambda _, measured: [Drawing(a_chart(), "Hobbies, drawn.")]})()
    data = Dataset(name="on page", items=PAIRS, sections=sections)
    run = evenhand.audit(MODEL, dataset=data, measure="likelihood-lean", out=tmp_path / "runs")
    (path,) = run.figures().save(tmp_path / "figures")
    assert path.name == "on-page-likelihood-lean-1.svg"
    assert "Hobbies, drawn." in path.read_text(encoding="utf-8")


def test_the_terminal_and_figures_have_what_it_adds(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(app, ["show", str(run.path), "--full"]) == 0
    assert "Hobbies of table: 8" in capsys.readouterr().out
    assert run_command(app, ["figures", str(run.path), "--out", str(tmp_path / "figures")]) == 0
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["hobbies.svg"]


def test_a_plugin_gives_them_to_a_run_that_is_there(tmp_path: Path) -> None:
    run = evenhand.audit(MODEL, dataset=Dataset(name="leisure", items=PAIRS), out=tmp_path / "runs")
    plugin = tmp_path / "plugin.py"
    plugin.write_text(
        dedent("""
            import altair as alt
            from evenhand import Drawing, Sections

            class Leisure(Sections):
                def page(self, measured):
                    yield Drawing(alt.Chart(measured.scores[0]).mark_tick().encode(x="score"), "At leisure")

            SECTIONS = {"leisure": Leisure()}
            """)
    )
    assert "At leisure" not in (run.path / "report.html").read_text(encoding="utf-8")
    assert run_command(app, ["report", str(run.path), "--plugin", str(plugin), "--force"]) == 0
    assert "At leisure" in (run.path / "report.html").read_text(encoding="utf-8")


def test_sections_that_fail_are_named(tmp_path: Path) -> None:
    class Failing(Sections):
        def page(self, measured):  # type: ignore[no-untyped-def]
            raise KeyError("no such hobby")

    dataset = Dataset(name="failing", items=PAIRS, sections=Failing())
    run = evenhand.audit(MODEL, dataset=dataset, out=tmp_path / "runs")  # loses nothing
    with pytest.raises(evenhand.EvenhandError, match="sections of 'failing'"):
        run.report()


def test_what_are_no_sections_is_refused() -> None:
    with pytest.raises(BadInput, match="sections"):
        hobbies(sections="a chart")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("method", "given", "command"),
    [
        ("page", [Drawing(None, "a caption")], "report"),
        ("page", ["<svg></svg>"], "report"),
        ("terminal", [5], "show"),
        ("figures", {"a": "not a chart"}, "figures"),
    ],
)
def test_what_cannot_be_shown_is_a_sentence(
    method: str, given: object, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sections = type("Wrong", (Sections,), {method: lambda *_, **__: given})()
    data = Dataset(name="wrong", items=PAIRS, sections=sections)
    run = evenhand.audit(MODEL, dataset=data, out=tmp_path / "runs")
    more = {"report": ["--force"], "show": ["--full"], "figures": ["--out", str(tmp_path / "figures")]}[command]
    assert run_command(app, [command, str(run.path), *more]) == 2
    assert f"`{method}` must give" in capsys.readouterr().err


def test_a_text_is_one_line_and_no_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sections = type("Plain", (Sections,), {"terminal": lambda *_, **__: "hello [/nope] world"})()
    data = Dataset(name="plain", items=PAIRS, sections=sections)
    run = evenhand.audit(MODEL, dataset=data, out=tmp_path / "runs")
    assert run_command(app, ["show", str(run.path), "--full"]) == 0
    assert "hello [/nope] world" in capsys.readouterr().out
