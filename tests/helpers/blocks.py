"""Blocks of the docs that a command printed."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools import printed

EXTEND = re.compile(r"```python\n(?P<code>.*?)```\n(?:\nIt prints:\n)?\n```\n(?P<printed>.*?)```", re.S)
"""Code with what it prints."""


def assert_shows(block: str, whole: str) -> None:
    """Numbers may differ in their last digit: between processors, and with the number of threads."""
    shown, now = block.split(), printed.part(whole, block).split()
    assert [re.sub(r"\d", "0", word) for word in shown] == [re.sub(r"\d", "0", word) for word in now]
    for word, other in zip(shown, now, strict=True):
        if word != other:
            one, two = (float(re.sub(r"[^\d.+-]", "", text)) for text in (word, other))
            assert one == pytest.approx(two, rel=1e-4, abs=2.1e-3), f"{word}, but now {other}"


def blocks(page: str) -> list[str]:
    """The printed blocks of a page of docs/."""
    found = printed.BLOCK.finditer((printed.ROOT / "docs" / page).read_text(encoding="utf-8"))
    return [block["text"] for block in found]
