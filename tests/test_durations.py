"""The stored times of test files, which order them."""

from pathlib import Path

from helpers.durations import LONGEST, stored

TESTS = Path(__file__).parent


def test_no_file_takes_so_long_that_another_process_waits_for_it() -> None:
    """Make tests smaller, or split the file; then `make durations`."""
    assert {file: seconds for file, seconds in stored().items() if seconds > LONGEST} == {}


def test_the_times_are_of_the_files_that_there_are() -> None:
    """If this fails, run `make durations`."""
    files = {path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    assert stored().keys() <= files
    assert len(stored()) > 0.9 * len(files)
