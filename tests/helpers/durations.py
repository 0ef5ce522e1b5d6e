"""How long each test file takes, in seconds of processor time: a file of these orders the files of the next run."""

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parent.parent / "durations.json"
LONGEST = 25
"""The most seconds of a file, so that two processes end at about the same time."""


def stored() -> dict[str, float]:
    """The seconds by file, as they were last stored."""
    known: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


class Clock:
    """Measures each file, in every process, and stores the sums when the first process ends."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Add the processor time of the test, its fixtures and its children."""
        before = sum(os.times()[:4])
        result = yield
        self.seconds[item.path.relative_to(FILE.parent).as_posix()] += sum(os.times()[:4]) - before
        return result

    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a process of xdist measured."""
        for file, seconds in node.workeroutput.get("seconds", {}).items():
            self.seconds[file] += seconds

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Store the sums, or give them to the first process."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["seconds"] = dict(self.seconds)
        else:
            rounded = {file: round(seconds, 1) for file, seconds in sorted(self.seconds.items())}
            FILE.write_text(json.dumps(rounded, indent=0) + "\n", encoding="utf-8")
