"""What newcomers read first is true: the chart of measures, tutorials, the gallery, and the page for other tools."""

import re
import sys
from pathlib import Path

import pytest

from evenhand.datasets.files.releases import RELEASES
from evenhand.measures import MEASURES
from evenhand.suites import SUITES
from helpers import scripts
from helpers.blocks import EXTEND, assert_shows, blocks

sys.path.insert(0, str(Path(__file__).parent.parent))

from tools import gallery, printed

ROOT = Path(__file__).parent.parent


def test_the_gallery_is_made_by_the_commands_that_stand_there() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for command, files in gallery.COMMANDS.items():
        assert f"    {command}\n" in page
        for kept in files.values():
            assert f"(gallery/{kept})" in page
            assert (ROOT / "docs" / "gallery" / kept).stat().st_size < 400_000
    (summary,) = gallery.SUMMARY.findall(page)
    (judged,) = blocks("tutorials/gate.md")
    assert judged == blocks("gate.md")[0]
    said = re.findall(r"[+-]?\d\.\d{3}", summary)
    assert said == re.findall(r"[+-]?\d\.\d{3}", judged)
    assert len(said) == 9


def test_the_summary_of_a_gate_takes_its_place_in_the_gallery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, summary = tmp_path / "gallery.md", tmp_path / "summary.md"
    marks = "<!-- written by tools/gallery.py -->\n\n{}\n\n<!-- to here -->\n"
    page.write_text(f"Before.\n{marks.format('old')}After.")
    summary.write_text("### Gender bias: fail\n\n| a |\n")
    monkeypatch.setattr(gallery, "PAGE", page)
    gallery.written(summary)
    assert page.read_text() == f"Before.\n{marks.format('**Gender bias: fail**' + chr(10) * 2 + '| a |')}After."


def test_a_newsroom_is_shown_what_is_printed(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    page = (ROOT / "docs" / "tutorials" / "newsroom.md").read_text(encoding="utf-8")
    found = list(printed.BLOCK.finditer(page))
    assert len(found) == 2
    assert_shows(found[0]["text"], scripts.command(found[0]["command"], tmp_path))
    assert_shows(found[1]["text"], printed.printed(found[1]["command"], tmp_path))  # a pipe


def test_counts_of_lists_are_those_of_the_lists() -> None:
    pages = [page for page in printed.PAGES if printed.COUNT.search(page.read_text(encoding="utf-8"))]
    assert len(pages) == 2
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert printed.counted(text) == text, "Run: python tools/printed.py"


def test_every_measure_that_the_chart_recommends_is_run_by_its_command() -> None:
    text = (ROOT / "docs" / "which-measure.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .+? \| .+? \| (.+?) \| (.+?) \|$", text, re.M)
    assert len(rows) > 10
    for how, command in rows:
        run_by = {measure for name in re.findall(r"--suite (\w+)", command) for measure in measured_by(name)}
        for name in re.findall(r"\[([a-z-]+)[\],]", how):
            assert name in MEASURES
            assert not run_by or name in run_by
        for name in re.findall(r"fetch (\S+)`", command):
            assert name in RELEASES


def measured_by(suite: str) -> set[str]:
    return {measure for pairs in SUITES[suite].values() for _, measure in pairs}


def test_what_a_scorer_gives_is_what_the_page_for_others_prints(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
    found = EXTEND.search(page)
    assert found is not None
    now = [float(number) for number in scripts.code(found["code"], tmp_path).split()]
    assert now == pytest.approx([float(number) for number in found["printed"].split()], abs=0.011)
