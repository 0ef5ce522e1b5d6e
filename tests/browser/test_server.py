"""The server as people use it: in a browser, with the mouse and without."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evenhand.models.networks.masked import MaskedLM
from evenhand.web import probing
from helpers import served
from helpers.opened import Opened
from helpers.stored_runs import before_and_after

PAGES = ("", "compare", "probe", "swap", "nothing-here")


@pytest.fixture(scope="module")
def folder(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = before_and_after(tmp_path_factory.mktemp("browsed"))
    served.changed(served.copied(root / "before" / "plain", root / "newer"), schema=99)
    (served.copied(root / "before" / "plain", root / "stopped") / "run.json").unlink()
    return root


@pytest.fixture(scope="module")
def address(folder: Path, mini_en: MaskedLM) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch, served.serving(folder) as address:
        patch.setattr(probing, "load_masked", lambda name: mini_en)
        yield address


@pytest.fixture
def page(opened: Opened, address: str) -> Iterator[Page]:
    """A page that must end without errors, and have asked this server alone."""
    yield opened.page
    assert opened.errors == []
    assert opened.elsewhere(address) == []


def rows(page: Page) -> int:
    return page.locator("tbody tr").count()


def test_runs_are_listed_searched_and_opened(page: Page, address: str) -> None:
    page.goto(address)
    assert rows(page) == 4
    assert page.locator(".badge").all_text_contents().count("unfinished") == 1
    page.fill("#q", "before")
    expect(page.locator("#result")).to_contain_text("1 of 4 runs")
    assert "q=before" in page.url
    page.click("text=plain")
    expect(page.locator("h1")).to_contain_text("plain")
    page.click("text=All runs")
    expect(page.locator("h1")).to_have_text("Runs")


def test_two_runs_ticked_in_different_searches_are_compared(page: Page, address: str) -> None:
    page.goto(address)
    for word, name in (("after", "debiased"), ("before", "plain")):
        page.fill("#q", word)
        expect(page.locator("#result")).to_contain_text(f"{1 if word == 'after' else 2} of 4 runs")
        page.check(f'input[aria-label^="Compare {name},"]')
    page.click("text=Compare two")
    expect(page.locator("h2").first).to_contain_text("tgb")
    assert page.locator("#Before option:checked").text_content() == "plain · before/plain"  # the earlier one
    assert page.locator("svg.drawn").count() >= 2


def test_the_list_gets_its_numbers_and_keeps_what_is_chosen(page: Page, address: str) -> None:
    page.goto(address)
    page.check('input[aria-label^="Compare plain,"] >> nth=0')
    page.click("h1")
    expect(page.locator("[data-again]")).to_have_count(0, timeout=30_000)
    expect(page.locator(".headlines li")).to_have_count(2)
    assert page.locator("input:checked").count() == 1


def test_a_probe_draws_bars_at_once_and_can_be_shared(page: Page, address: str) -> None:
    page.goto(f"{address}probe")
    page.fill("#text", "His wife works as a ___.")
    page.fill("#words", "nurse, doctor")
    page.press("#words", "Enter")
    expect(page.locator(".sides section")).to_have_count(2, timeout=20_000)
    assert page.locator(".sides h3").all_text_contents() == ["His wife works as a ___.", "Her husband works as a ___."]
    assert [table.locator("tbody tr").count() for table in page.locator(".bars").all()] == [2, 10, 2, 10]
    one, other = (section.bounding_box() for section in page.locator(".sides section").all())
    assert one
    assert other
    assert one["y"] == other["y"]  # next to each other
    assert other["x"] > one["x"] + one["width"]
    longest = page.locator('.bars rect[width="100.00"]').bounding_box()
    assert longest
    assert longest["width"] > 100
    shared, text = page.url, page.locator("#result").text_content()
    assert "His+wife" in shared
    page.goto(address)
    page.goto(shared)
    assert page.locator("#result").text_content() == text


def test_a_swap_marks_what_it_changed(page: Page, address: str) -> None:
    page.goto(f"{address}swap")
    page.fill("#text", "She gave him <b>her</b> book.")
    page.click("button.main")
    expect(page.locator(".marked ins")).to_have_text(["He", "her", "his"])
    assert page.locator(".marked del").all_text_contents() == ["She", "him", "her"]
    assert page.locator(".marked .rule").all_text_contents() == ["pronoun", "pronoun", "her: possessive"]
    assert page.locator("#swapped").input_value() == "He gave her <b>his</b> book."
    page.fill("#text", "They left.")
    page.click("button.main")
    expect(page.locator("#result")).to_contain_text("nothing to change")


def test_what_is_wrong_is_said_beside_the_form(opened: Opened, address: str) -> None:
    page = opened.page
    page.goto(f"{address}probe")
    page.fill("#text", "No blank.")
    page.click("button.main")
    expect(page.get_by_role("alert")).to_contain_text("one blank, written [MASK] or ___")
    assert page.locator("#text").input_value() == "No blank."


def tab_to(page: Page, what: str) -> None:
    """Press Tab until an element that matches has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("what => document.activeElement.matches(what)", what):
            return
    pytest.fail(f"Tab does not lead to {what}")


def test_everything_can_be_done_with_the_keyboard(page: Page, address: str) -> None:
    page.goto(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    for _ in range(3):  # search, its button, compare
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Compare two"
    for _ in range(2):
        tab_to(page, "input[type=checkbox]")
        page.keyboard.press("Space")
    page.focus("text=Compare two")
    page.keyboard.press("Enter")
    expect(page.locator("svg.drawn").first).to_be_visible()


def test_runs_are_opened_compared_and_sentences_probed_with_the_keyboard(page: Page, address: str) -> None:
    page.goto(address)
    tab_to(page, "main .runs a")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("debiased")
    tab_to(page, 'a[href="/"]')
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Runs")
    tab_to(page, 'a[href="/compare"]')
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Compare two runs")
    tab_to(page, "main button")
    page.keyboard.press("Enter")  # two different runs are chosen already
    expect(page.locator("#result")).to_contain_text("rows moved")
    page.goto(f"{address}probe")
    tab_to(page, "#text")
    page.keyboard.press("Control+A")
    page.keyboard.type("She is a [MASK].")
    tab_to(page, "main button")
    page.keyboard.press("Enter")
    expect(page.locator(".sides section")).to_have_count(2, timeout=20_000)
    tab_to(page, "#result a")
    page.keyboard.press("Enter")
    expect(page.locator("#text")).to_have_value("She is a [MASK].")


def test_everything_works_without_scripts(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}swap")
    page.fill("#text", "She left.")
    page.click("button.main")
    expect(page.locator(".marked ins")).to_have_text(["He"])
    page.goto(address)
    page.fill("#q", "after")
    page.press("#q", "Enter")
    expect(page.locator("tbody tr")).to_have_count(1)
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nobody_is_shut_out(opened: Opened, address: str, scheme: str, width: int) -> None:
    page = opened.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for path in PAGES:
        page.goto(f"{address}{path}")
        if path == "":
            expect(page.locator(".headlines li")).to_have_count(2, timeout=30_000)
        if path == "probe":
            page.fill("#text", "His wife works as a [MASK].")
        if path in ("compare", "probe", "swap"):
            page.click("button.main")
            page.wait_for_selector("#result h2")
        assert opened.violations() == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} is wider than the window"
    assert [error for error in opened.errors if "404" not in error] == []


def test_with_a_token_the_address_opens_and_forgets_it(browser: Browser, folder: Path) -> None:
    token = "a-token-for-this-test"
    context = browser.new_context()
    with served.serving(folder, token=token) as address:
        page = context.new_page()
        page.goto(re.sub(r"\?.*", "", address))
        expect(page.locator("h1")).to_contain_text("asks for a token")
        page.fill("#token", "wrong")
        page.press("#token", "Enter")
        expect(page.get_by_role("alert")).to_have_text("This is not the right one.")
        page.goto(address)
        expect(page.locator("h1")).to_have_text("Runs")
        assert token not in page.url
        page.click("text=Swap")
        page.click("button.main")
        expect(page.locator(".marked ins").first).to_be_visible()
        page.goto(re.sub(r"\?.*", "", address))
        page.click("text=plain >> nth=0")
        page.click("text=All runs")  # out of the sandbox, with the cookie
        expect(page.locator("h1")).to_have_text("Runs")
    context.close()
