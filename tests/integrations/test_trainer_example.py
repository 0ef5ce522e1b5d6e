"""The example of the docs: a bias that the training teaches is seen in the logged values."""

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools import printed

ROOT = printed.ROOT
GROUPS = ("balanced", "female", "male")


def values(text: str) -> list[list[float]]:
    """The values of each measurement, by group of professions."""
    rows = [ast.literal_eval(line) for line in text.splitlines() if line.startswith("{'bias/")]
    return [[float(row[f"bias/becpro-en/association/female-male/{group}"]) for group in GROUPS] for row in rows]


def test_a_planted_bias_shows_and_the_docs_print_what_the_example_does(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "integrations" / "trainer.md").read_text(encoding="utf-8")
    block = printed.BLOCK.search(page)
    assert block is not None
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    now = printed.printed(block["command"], tmp_path)
    assert len(now.splitlines()) == len(block["text"].splitlines())
    before, halfway, after = values(now)
    assert after[1] - after[2] > before[1] - before[2] + 0.5  # women's jobs and men's jobs move apart
    for row, shown in zip((before, halfway, after), values(block["text"]), strict=True):
        assert row == pytest.approx(shown, abs=0.3)  # a training differs between processors
    runs = tmp_path / "runs" / "biased"
    assert sorted(path.name for path in runs.iterdir()) == ["step-000000", "step-000050", "step-000100"]
