"""The page in a real browser, opened from disk."""

from pathlib import Path

import pytest

import evenhand
from evenhand.models.networks.masked import MaskedLM
from evenhand.report.page import page
from helpers.opened import Opened


@pytest.fixture(scope="session")
def file(mini_en: MaskedLM, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small real run; beside it one of before and after."""
    out = tmp_path_factory.mktemp("page")
    pairs, emotions = (evenhand.audit(mini_en, dataset=d, limit=16, out=out / d) for d in ("tgb", "emotions-en"))
    (out / "page.html").write_text(page([pairs]), encoding="utf-8")
    (out / "two.html").write_text(page([emotions, emotions]), encoding="utf-8")
    return out / "page.html"


def test_it_opens_from_disk_and_asks_nobody(opened: Opened, file: Path) -> None:
    opened.page.goto(file.as_uri())
    assert opened.page.locator("h1").inner_text() == "mini-en"
    assert opened.errors == []
    assert opened.elsewhere(file.as_uri()) == []


def test_charts_and_scales_draw(opened: Opened, file: Path) -> None:
    opened.page.goto(file.as_uri())
    charts = opened.page.locator("figure svg")
    assert charts.count() == 4
    for number in range(charts.count()):
        box = charts.nth(number).bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) > 50
        assert charts.nth(number).get_attribute("aria-label")
    dot = opened.page.locator(".strip circle").first
    assert dot.evaluate("dot => getComputedStyle(dot).fill") not in ("none", "rgb(0, 0, 0)")


def test_tables_sort_by_mouse_and_by_keyboard(opened: Opened, file: Path) -> None:
    opened.page.goto(file.as_uri())
    table = opened.page.locator("#measures table.sortable").filter(has=opened.page.get_by_text("category")).first
    head = table.locator("thead th").filter(has_text="value")

    def values() -> list[float]:
        cells = table.locator("tbody tr td.n:nth-child(2)")
        return [float(text) for text in cells.evaluate_all("cells => cells.map(cell => cell.dataset.value)")]

    before = values()
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert values() == sorted(before)
    head.locator("button").focus()
    opened.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert values() == sorted(before, reverse=True)
    table.locator("thead button").last.focus()
    opened.page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") is None


@pytest.mark.parametrize(("name", "scheme"), [("page.html", "light"), ("page.html", "dark"), ("two.html", "dark")])
def test_nobody_is_shut_out(opened: Opened, file: Path, name: str, scheme: str) -> None:
    opened.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    opened.page.goto((file.parent / name).as_uri())
    opened.page.evaluate("document.querySelectorAll('details').forEach(folded => folded.open = true)")
    assert opened.violations() == []


@pytest.mark.parametrize("name", ["page.html", "two.html"])
def test_a_phone_scrolls_down_only(opened: Opened, file: Path, name: str) -> None:
    opened.page.set_viewport_size({"width": 390, "height": 844})
    opened.page.goto((file.parent / name).as_uri())
    opened.page.evaluate("document.querySelectorAll('details').forEach(folded => folded.open = true)")
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 390


def test_offensive_sentences_stay_folded_in_print(opened: Opened, file: Path) -> None:
    opened.page.goto(file.as_uri())
    assert opened.page.locator("details.warned").count() == 4
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.page.locator("details:not(.warned):not([open])").count() == 0
    assert opened.page.locator("details.warned[open]").count() == 0
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.page.locator("details[data-closed]").count() == 0
