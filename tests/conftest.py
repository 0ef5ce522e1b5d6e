import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports the Hub's client: tests never look for a network

import pytest
from hypothesis import settings

from evenhand.models.networks.masked import MaskedLM

settings.register_profile("evenhand", deadline=None)  # how long an example takes is no result
settings.load_profile("evenhand")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What a test asks for decides its markers: none can forget them."""
    for item in items:
        asked = set(getattr(item, "fixturenames", ()))
        if asked & {"data", "models"}:
            item.add_marker("data")
        for marker in {"browser", "hosts"} & asked:
            item.add_marker(marker)


@pytest.fixture(scope="session")
def data() -> Path:
    """The released corpora; tests that ask for them skip where they are not."""
    return _folder("EVENHAND_DATA", "the released corpora")


@pytest.fixture(scope="session")
def models() -> Path:
    """Test models that are not bundled; tests that ask for them skip where they are not."""
    return _folder("EVENHAND_MODELS", "the test models")


@pytest.fixture(scope="session")
def hosts() -> None:
    """The programs that evenhand works with; tests that ask for them skip unless `make hosts` runs them."""
    if not os.environ.get("EVENHAND_HOSTS"):
        pytest.skip("make hosts installs llama.cpp's server with a model, lm-eval and inspect, and runs this")


def _folder(variable: str, what: str) -> Path:
    folder = os.environ.get(variable)
    if not folder or not Path(folder).is_dir():
        pytest.skip(f"{variable} does not point to {what}")
    return Path(folder)


@pytest.fixture(scope="session")
def mini_en() -> MaskedLM:
    from evenhand.models import load_masked

    return load_masked()


@pytest.fixture(scope="module")
def without_pages() -> Iterator[Any]:
    """Audits write no page: drawing one takes seconds. For test files that measure much and look at no page."""
    from evenhand.show.page import runs as page

    with pytest.MonkeyPatch.context() as patch:
        write = page.write
        patch.setattr(page, "write", lambda runs, path: None)
        yield write


@pytest.fixture
def pages(without_pages: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test among those: audits write their pages."""
    monkeypatch.setattr("evenhand.show.page.runs.write", without_pages)


@pytest.fixture
def log_as_before() -> Iterator[None]:
    """What a command said of logging (--verbose, --log-file) ends with the test."""
    log = logging.getLogger("evenhand")
    yield
    for handler in log.handlers[:]:
        if isinstance(handler, logging.FileHandler):
            log.removeHandler(handler)
            handler.close()
    for handler in log.handlers:
        handler.setLevel(logging.NOTSET)
    log.setLevel(logging.INFO)
