"""The page in a real browser, opened from disk."""

import re
from pathlib import Path

import pytest

from evenhand import Run
from evenhand.show.page.runs import page
from helpers.opened import Opened


@pytest.fixture(scope="module")
def file(chromium: str, stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small real run; beside it one of before and after."""
    out = tmp_path_factory.mktemp("page")
    pairs, emotions = (Run.load(stored / name) for name in ("mini-en-pairs", "mini-en-emotions"))
    (out / "page.html").write_text(page([pairs]), encoding="utf-8")
    (out / "emotions.html").write_text(page([emotions]), encoding="utf-8")
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


def test_an_audit_of_all_suites_prints_on_two_sheets(opened: Opened, stored: Path) -> None:
    opened.page.goto(Run.load(stored / "before").report().as_uri())
    assert opened.page.get_by_role("button", name="Print the summary").is_visible()
    printed = opened.page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == 2


def test_a_phone_shows_the_answer_and_folds_the_rest(opened: Opened, file: Path) -> None:
    opened.page.set_viewport_size({"width": 390, "height": 844})
    opened.page.goto(file.as_uri())
    title, button = (opened.page.locator(name).bounding_box() for name in ("h1", ".print-it"))
    assert title
    assert button
    assert button["y"] > title["y"] + title["height"]
    assert opened.page.locator("#short .lead").is_visible()
    card = opened.page.locator("#scorecard .card").first
    assert not card.is_visible()
    opened.page.locator("#short .short a").first.click()  # into a part that is folded
    assert opened.page.locator("#measures article").first.is_visible()
    opened.page.locator("#scorecard summary").first.click()
    assert card.is_visible()
    opened.page.set_viewport_size({"width": 1300, "height": 900})
    assert opened.page.locator("#provenance dl").first.is_visible()


def test_it_prints_as_a_few_pages_without_a_sentence_that_offends(opened: Opened, file: Path) -> None:
    opened.page.goto(file.as_uri())
    assert opened.page.locator("details.warned").count() == 1
    printed = opened.page.pdf(prefer_css_page_size=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) <= 4
    opened.page.emulate_media(media="print")
    assert opened.page.locator("#short").is_visible()
    assert opened.page.locator("#scorecard").is_visible()
    for hidden in ("#measures", "nav.contents", "details.warned"):
        assert not opened.page.locator(hidden).is_visible()


def test_all_items_are_searched_filtered_and_sorted(opened: Opened, file: Path) -> None:
    opened.page.goto((file.parent / "emotions.html").as_uri())
    place = opened.page.locator(".explore")
    place.scroll_into_view_if_needed()
    search = place.locator("input")
    search.wait_for()
    rows = place.locator("tbody tr")

    def scores() -> list[float]:
        return [float(text) for text in rows.locator("td.n:nth-child(4)").all_inner_texts()]

    assert rows.count() == 8  # pairs of sixteen sentences
    assert scores() == sorted(scores(), reverse=True)
    place.locator("thead button").filter(has_text=re.compile("^score$")).press("Enter")
    assert scores() == sorted(scores())
    word = rows.first.locator("td").first.inner_text().split()[-1]
    search.fill(word.upper())
    assert 0 < rows.count() == sum(word.lower() in text.lower() for text in rows.all_inner_texts())
    search.fill("")
    label = rows.first.locator("td:nth-child(3)").inner_text()
    place.locator("select").select_option(label=label)
    assert set(rows.locator("td:nth-child(3)").all_inner_texts()) == {label}
    assert f"{rows.count()} of {rows.count()} shown, 8 in all" in place.inner_text()
    assert opened.errors == []


def test_contents_stay_in_view_and_fold_on_a_phone(opened: Opened, file: Path) -> None:
    opened.page.goto(file.as_uri())
    link = opened.page.locator("nav.contents a").filter(has_text="Where the numbers come from")
    link.click()
    opened.page.locator("nav.contents a[aria-current]").filter(has_text="Where the numbers").wait_for()
    assert link.is_visible()
    opened.page.set_viewport_size({"width": 390, "height": 844})
    assert not link.is_visible()
    opened.page.locator("nav.contents summary").press("Enter")
    link.click()
    assert not link.is_visible()  # folded again, since it was followed
