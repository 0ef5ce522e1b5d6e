"""A file is as it was or new and whole, whatever happens while it is written."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

import evenhand
from evenhand import RunError
from evenhand.core.files import LARGEST, UNFINISHED, from_toml, parse_text, prepare, read_parsed, write_whole


def content(folder: Path) -> dict[str, str]:
    """Every file of a folder, hidden ones too, and what it holds."""
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "results.json"
    path.write_text("old")
    return path


def test_a_file_is_made_or_replaced_and_nothing_else_is_left(old: Path) -> None:
    write_whole(old, lambda file: file.write(b"new"))
    write_whole(old.with_name("run.json"), lambda file: file.write(b"whole"))
    assert content(old.parent) == {"results.json": "new", "run.json": "whole"}


def test_the_old_file_is_there_until_the_new_one_is_complete(old: Path) -> None:
    def fill(file: IO[bytes]) -> None:
        file.write(b"new, ")
        file.flush()
        assert old.read_text() == "old"
        file.write(b"and whole")

    write_whole(old, fill)
    assert old.read_text() == "new, and whole"


@pytest.mark.parametrize("says", ["No space left on device", "Input/output error"])
def test_a_failing_write_leaves_the_old_file_and_no_litter(old: Path, says: str) -> None:
    def fails_half_way(file: IO[bytes]) -> None:
        file.write(b"new, but")
        raise OSError(28, says)

    with pytest.raises(RunError, match=says):
        write_whole(old, fails_half_way)
    assert content(old.parent) == {"results.json": "old"}


@pytest.mark.parametrize("error", [ValueError("no JSON"), KeyboardInterrupt()])
def test_another_error_on_the_way_comes_through_as_it_is(old: Path, error: BaseException) -> None:
    def fails_half_way(file: IO[bytes]) -> None:
        file.write(b"new, but")
        raise error

    with pytest.raises(type(error)) as raised:
        write_whole(old, fails_half_way)
    assert raised.value is error
    assert content(old.parent) == {"results.json": "old"}


def test_a_folder_that_is_not_there_is_an_error_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="another folder"):
        write_whole(tmp_path / "nowhere" / "run.json", lambda file: file.write(b"new"))


def test_the_content_is_on_the_disk_before_the_file_has_its_name(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a machine that loses its power could leave an empty file in the old one's place."""
    done: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(number: int) -> None:
        assert os.fstat(number).st_size == len(b"new")  # nothing is left in a buffer
        done.append("synced")
        sync(number)

    def replaced(path: Path, target: Path) -> Path:
        done.append("replaced")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    write_whole(old, lambda file: file.write(b"new"))
    assert done == ["synced", "replaced"]


@contextmanager
def masking(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_others_may_read_it_as_far_as_the_umask_lets_them(tmp_path: Path, mask: int, mode: int) -> None:
    """Temporary files are for their owner alone, results are not."""
    with masking(mask):
        write_whole(tmp_path / "run.json", lambda file: file.write(b"new"))
        assert os.umask(mask) == mask  # and the mask is as it was
    assert stat.S_IMODE((tmp_path / "run.json").stat().st_mode) == mode


KILLED = """
import os, signal, sys
from pathlib import Path
from evenhand.core.files import write_whole

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def fill(file):
    file.write(b"new, but")
    file.flush()
    if sys.argv[2] == "in the middle":
        die()

if sys.argv[2] == "at the end":
    Path.replace = die
write_whole(Path(sys.argv[1]), fill)
"""


@pytest.mark.parametrize("when", ["in the middle", "at the end"])
def test_a_kill_leaves_the_old_file(old: Path, when: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(old), when], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert old.read_text() == "old"
    assert len(content(old.parent)) == 2  # there was no time to remove what was half written


def test_what_a_killed_write_left_goes_with_the_next_write_in_the_folder(old: Path) -> None:
    """Also if that is of another file; what a running process writes, and what others named alike, stays."""
    subprocess.run([sys.executable, "-c", KILLED, str(old), "in the middle"], capture_output=True)
    (old.parent / ".results.json.original").write_text("mine")

    def fill(file: IO[bytes]) -> None:
        write_whole(old.with_name("other.json"), lambda other: other.write(b"in between"))
        assert len(list(old.parent.glob(f".run.json.*{UNFINISHED}"))) == 1
        file.write(b"whole")

    assert [path.suffix for path in old.parent.glob(".*.json.????????.*")] == [UNFINISHED]
    write_whole(old.with_name("run.json"), fill)
    expected = {"results.json": "old", ".results.json.original": "mine", "other.json": "in between"}
    assert content(old.parent) == {**expected, "run.json": "whole"}


def test_a_pipe_a_device_and_a_huge_file_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(LARGEST + 1)
    for name, says in (("pipe", "regular"), ("zero", "regular"), ("huge", "bytes")):
        with pytest.raises(OSError, match=says):
            read_parsed(tmp_path / name, str)


@pytest.mark.parametrize(
    ("text", "parse"), [("[" * 3_000 + "]" * 3_000, json.loads), ("a = " + "[" * 3_000 + "]" * 3_000, tomllib.loads)]
)
def test_what_is_nested_too_deeply_is_an_error_of_the_file(text: str, parse: Any) -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    try:
        with pytest.raises(ValueError, match="nested"):
            parse_text(text, parse)
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize("number", ["0x" + "f" * 5_000, "9" * 400, "-0b1_" + "1" * 400])
def test_a_number_that_could_not_be_printed_is_an_error_of_the_file(number: str) -> None:
    """Python refuses to print whole numbers of more than 4,300 digits; TOML has them in base 16, too."""
    with pytest.raises(ValueError, match="300 digits"):
        from_toml(f"within = {number}")
    assert from_toml('name = "' + "f" * 400 + '"') == {"name": "f" * 400}


def test_nothing_resolves_links_in_its_own_way() -> None:
    """`Path.resolve` raises a RuntimeError for links in a circle before Python 3.13."""
    files = Path(evenhand.__file__).parent.rglob("*.py")
    assert not [path for path in files if re.search(r"\.resolve\(", path.read_text(encoding="utf-8"))]


FULL = """
import resource, sys
from pathlib import Path
import evenhand
from evenhand import RunError
from evenhand.core.files import write_whole
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # no file may grow beyond this
try:
    write_whole(Path(sys.argv[1]), lambda file: file.write(b"x" * 200_000))
except RunError as error:
    print(error)
"""


def test_a_full_disk_leaves_the_old_file_and_no_litter(old: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL, str(old)], capture_output=True, text=True, check=True)
    assert "File too large" in done.stdout
    assert content(old.parent) == {"results.json": "old"}


def test_a_folder_is_made_with_all_above_it_and_one_that_is_there_stays_as_it_is(old: Path) -> None:
    prepare(old.parent / "runs" / "today")
    assert list((old.parent / "runs" / "today").iterdir()) == []
    prepare(old.parent)
    assert old.read_text() == "old"


@pytest.mark.parametrize("below", ["", "below", "far/below"])
def test_an_output_folder_that_is_a_file_is_refused_by_that_files_name(old: Path, below: str) -> None:
    with pytest.raises(RunError, match=str(old)):
        prepare(old / below)


@pytest.mark.parametrize("folder", ["/proc/evenhand", "/proc"])  # not even root can
def test_an_output_folder_that_cannot_be_made_or_written_is_refused_before_any_work(folder: str) -> None:
    with pytest.raises(RunError, match=f"'{folder}'"):
        prepare(Path(folder))
