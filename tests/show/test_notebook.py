"""What a notebook shows of our objects: words, numbers and drawings, everything from outside as text."""

from pathlib import Path

import pytest

import evenhand
from evenhand import Gate, Rule, Run
from evenhand.core.model import Finding, Findings
from evenhand.errors import BadInput
from evenhand.show.notebook import html
from helpers.document import Element, parsed

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def two(stored: Path) -> tuple[Run, Run]:
    """Runs of two made-up models, the second of which leans less."""
    return Run.load(stored / "base"), Run.load(stored / "better")


def shown(what: object) -> Element:
    """The HTML that a notebook would show, as a tree."""
    page = parsed(what._repr_html_())  # type: ignore[attr-defined]
    assert not page.all("script")
    return page


def test_a_run_shows_what_leans_on_a_scale_with_a_link_to_its_page(
    two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/nowhere/home"))
    monkeypatch.chdir(Path(two[0].path.anchor))
    assert not shown(two[0]).all("a")  # a path through the root is not told, and its name leads nowhere
    monkeypatch.chdir(two[0].path.parent)
    assert not shown(two[0]).all("a")  # there is none
    two[0].report()
    page = shown(two[0])
    assert "base: yes, on this data: it prefers the stereotypes (large: pairs)." in page.text
    (row,) = page.one("tbody").all("tr")
    assert "● prefers the stereotypes, large" in row.text
    assert row.one("svg").all("circle")
    assert page.one("a").attributes["href"].endswith("base/report.html")


def test_a_comparison_shows_what_moved_and_all_rows(two: tuple[Run, Run]) -> None:
    compared = evenhand.compare(*two)
    page = shown(compared)
    moved = compared.frame[compared.frame["moved"] != ""]
    assert 0 < len(moved) < len(compared.frame)
    assert f"better against base: {len(moved)} of {len(compared.frame)} rows moved" in page.text
    first, every = page.all("tbody")
    assert [len(body.all("tr")) for body in (first, every)] == [len(moved), len(compared.frame)]
    assert "towards neutral" in first.text
    assert page.one("figure").one("img").attributes["src"].startswith("data:image/svg+xml;base64,")


def test_a_verdict_shows_each_rule(two: tuple[Run, Run]) -> None:
    rules = [Rule(measure="stereotype-share", within=0.1), Rule(measure="likelihood-lean", low=-9, high=9)]
    page = shown(Gate(rules).judge(two[0]))
    assert [row.all("td")[0].text for row in page.one("tbody").all("tr")] == ["fail", "pass"]
    assert ": fail" in page.text


def test_findings_are_a_list_that_shows_itself_as_a_table() -> None:
    found = Findings([Finding("casing", "careful", f"says {SCRIPT}", "do this")])
    assert found == [Finding("casing", "careful", f"says {SCRIPT}", "do this")]
    assert [part.text for part in shown(found).one("tbody").all("td")] == ["careful", f"says {SCRIPT}", "do this"]


def test_a_run_gives_its_page_its_charts_and_its_table(two: tuple[Run, Run], tmp_path: Path) -> None:
    run = two[1]
    assert run.report() == run.path / "report.html"
    page = run.report(tmp_path / "new" / "page.html")
    assert page.read_text() == (run.path / "report.html").read_text()
    with pytest.raises(BadInput, match="exists"):
        run.report(page)
    with pytest.raises(BadInput, match=".html"):
        run.report(tmp_path / "page.pdf")
    charts = run.figures()
    assert len(shown(charts).all("img")) == len(charts) > 0
    assert [path.name for path in charts.save(tmp_path / "drawn")] == [f"{name}.svg" for name in charts]
    assert all(path.read_text().startswith("<svg") for path in (tmp_path / "drawn").iterdir())
    assert run.to_latex() == evenhand.export(run, "latex")


def test_what_is_not_ours_is_refused() -> None:
    with pytest.raises(BadInput, match="3"):
        html(3)
