"""A real Chromium that reaches nothing but what a test serves; tests that ask for it skip where there is none."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from helpers.opened import Opened

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
QUIET = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-gpu"]


@pytest.fixture(scope="session")
def chromium() -> str:
    """Its path. What makes pages for it asks for it first, so that none is made where it is missing."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: make browser installs Debian's package")
    return CHROMIUM


@pytest.fixture(scope="module")
def playwright(chromium: str) -> Iterator[Playwright]:
    """Closed after each file: its event loop runs in this thread, where other tests could not run one of their own."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def browser(chromium: str, playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
    yield browser
    browser.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield Opened(context.new_page())
    context.close()
