import os
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports the Hub's client: tests never look for a network

import pytest

from evenhand.models.masked import MaskedLM


@pytest.fixture(scope="session")
def mini_en() -> MaskedLM:
    import evenhand

    return evenhand.load()


@pytest.fixture(scope="session")
def data() -> Path:
    """The released corpora; tests that ask for it skip where they are not."""
    folder = os.environ.get("EVENHAND_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("EVENHAND_DATA does not point to the released corpora")
    return Path(folder)
