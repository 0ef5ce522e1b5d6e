import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports the Hub's client: tests never look for a network

import pytest

from evenhand.models.networks.masked import MaskedLM


@pytest.fixture(scope="session")
def mini_en() -> MaskedLM:
    import evenhand

    return evenhand.load()


@pytest.fixture(autouse=True, scope="session")
def without_pages() -> Iterator[Any]:
    """A page takes seconds to draw, and few tests of audits look at one."""
    from evenhand.report import page

    with pytest.MonkeyPatch.context() as patch:
        write = page.write
        patch.setattr(page, "write", lambda runs, path: None)
        yield write


@pytest.fixture
def pages(without_pages: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that ask for it, audits write their pages."""
    monkeypatch.setattr("evenhand.report.page.write", without_pages)


@pytest.fixture(scope="session")
def data() -> Path:
    """The released corpora; tests that ask for it skip where they are not."""
    folder = os.environ.get("EVENHAND_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("EVENHAND_DATA does not point to the released corpora")
    return Path(folder)
