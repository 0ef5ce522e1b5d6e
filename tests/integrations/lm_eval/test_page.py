"""docs/integrations/lm-eval.md shows what its command prints."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from tools import printed  # noqa: E402


@pytest.mark.usefixtures("hosts")
def test_the_page_shows_what_the_harness_prints(tmp_path: Path) -> None:
    """Numbers may differ in their last digits, between processors."""
    page = (ROOT / "docs" / "integrations" / "lm-eval.md").read_text(encoding="utf-8")
    block = printed.BLOCK.search(page)
    assert block is not None
    shown, now = block["text"], printed.part(printed.printed(block["command"], tmp_path), block["text"])
    number = r"-?\d+\.\d{4}"
    assert re.sub(number, "0", shown).split() == re.sub(number, "0", now).split()
    assert [float(n) for n in re.findall(number, shown)] == pytest.approx(
        [float(n) for n in re.findall(number, now)], abs=2e-3
    )
