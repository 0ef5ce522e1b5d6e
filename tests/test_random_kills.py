"""Commands that are killed at any moment go on to the same results: each, once; in `make fuzz` twenty times."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "kill_at_random.py"
TIMES = "20" if "EVENHAND_FUZZ" in os.environ else "1"
COMMANDS = ("audit", "debias", "swap", "corpus", "track", "reproduce", "import")
"""Of all of them, test_kills.py tests states in which a kill can leave a folder."""


@pytest.mark.proof
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the tool copies its process")
def test_kills_of_commands_change_nothing() -> None:
    """In a process of its own: one that has threads, as this may by now, cannot be copied."""
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, TOOL, "--times", TIMES, "--only", *COMMANDS],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.splitlines() == [f"{name}: {TIMES} of {TIMES} the same" for name in COMMANDS]
