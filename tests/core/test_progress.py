"""Progress bars: one for a piece of work, shown on terminals and in notebooks, unless one says no."""

import io
import logging
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from types import SimpleNamespace

import pytest

from evenhand.core import progress


@pytest.fixture(autouse=True)
def not_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings are shown, whatever a command of an earlier test has set."""
    monkeypatch.setattr(progress.log, "isEnabledFor", lambda level: level >= logging.WARNING)


class Terminal(io.StringIO):
    terminal = True

    def isatty(self) -> bool:
        return self.terminal


class File(Terminal):
    terminal = False


def told(work: Callable[[], None], on: type[Terminal] = Terminal) -> str:
    """What the work writes to stderr."""
    with redirect_stderr(on()) as screen:
        work()
    return screen.getvalue()


def whole() -> None:
    with progress.one_bar("Measuring mini"):
        for tokens in (30, 70):
            with progress.part("Part", "tokens", tokens) as shown:
                shown.update(tokens)
                shown.refresh()


def alone() -> None:
    with progress.part("Answering", "tokens", 5):
        pass


def test_all_parts_of_the_work_share_one_labelled_bar() -> None:
    shown = told(whole)
    assert "Measuring mini" in shown
    assert "100/100" in shown
    assert "Part" not in shown


def test_a_part_alone_has_a_bar_of_its_own() -> None:
    assert "Answering" in told(alone)


def test_no_bar_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(whole, File) == ""
    with progress.showing(False):
        assert told(whole) == ""
    with progress.showing(True):
        assert "Measuring mini" in told(whole, File)
    monkeypatch.setattr(progress.log, "isEnabledFor", lambda level: level > logging.WARNING)  # as with --quiet
    assert told(whole) == ""


def test_a_log_gets_a_line_a_minute(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Minutes of silence look like a job that hangs."""
    caplog.set_level(logging.INFO, progress.log.name)
    monkeypatch.setattr(progress.log, "isEnabledFor", lambda level: True)
    seconds = [0.0]
    monkeypatch.setattr("tqdm.std.time", lambda: seconds[0])

    def slow() -> None:
        with progress.one_bar("Measuring mini"), progress.part("Part", "tokens", 4_000) as shown:
            for _ in range(6):
                seconds[0] += 25
                shown.update(500)

    told(slow, File)
    assert caplog.messages == [
        "Measuring mini: 1,500 of 4,000 tokens, about 3 min left.",
        "Measuring mini: 3,000 of 4,000 tokens, about 1 min left.",
    ]


def test_the_lines_of_a_log_count_what_has_no_known_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, progress.log.name)
    monkeypatch.setattr(progress.log, "isEnabledFor", lambda level: True)
    seconds = [0.0]
    monkeypatch.setattr("tqdm.std.time", lambda: seconds[0])

    def slow() -> None:
        for second in progress.bar("Checking", "pairs", iterable=iter([0, 50, 100])):
            seconds[0] = second

    told(slow, File)
    assert caplog.messages == ["Checking: 3 pairs."]


def test_in_a_notebook_work_has_its_bar_and_small_questions_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert "Measuring mini" in told(whole, File)
    assert told(alone, File) == ""
