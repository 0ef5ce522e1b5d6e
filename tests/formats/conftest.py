from pathlib import Path
from typing import Any

import pytest

from evenhand import Run
from helpers.written_runs import Made, make


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Makes run folders."""

    def one(**more: Any) -> Run:
        return make(tmp_path / f"run{len(list(tmp_path.iterdir()))}", **more)

    return one
