"""Options from a TOML file, and how much an audit says."""

import subprocess
import sys
from pathlib import Path

import pytest

from evenhand import Run
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined", "log_as_before")
OPTIONS = """
models = "mini-en"
suite = ["becpro"]
limit = 4
seed = 1
quiet = true
[option]
masks = "words"
"""


def test_a_file_says_what_options_say_and_the_command_line_wins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, log = tmp_path / "audit.toml", tmp_path / "log.txt"
    file.write_text(OPTIONS)
    words = ["audit", "--config", str(file), "--limit", "6", "--out", str(tmp_path / "runs"), "--log-file", str(log)]
    assert run_command(app, words) == 0
    (task,) = Run.load(tmp_path / "runs" / "mini-en").record.tasks
    assert (task.dataset, task.limit, task.seed) == ("becpro-en (masks=words)", 6, 1)
    assert "partial" not in capsys.readouterr().err  # quiet
    assert "INFO evenhand.models.cache: 12 questions" in log.read_text()
    assert "DEBUG" in log.read_text()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("limt = 3", "Unknown option in audit.toml 'limt'. Did you mean 'limit'?"),
        ("limit = [3]", "'limit' has the wrong type. Got [3]."),
        ("quiet = 'yes'", "'quiet' has the wrong type. Got 'yes'."),
        ("limit = 'many'", "the value of 'limit' cannot be used. Input should be a valid integer"),
        ("suite = {a = 1}", "'suite' has the wrong type"),
        ("limit =", "cannot be read"),
        ("config = 'b.toml'", "Unknown option in audit.toml 'config'"),
    ],
)
def test_a_wrong_file_is_a_sentence(
    text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("audit.toml").write_text(text)
    assert run_command(app, ["audit", "--config", "audit.toml"]) == 2
    assert says in " ".join(capsys.readouterr().err.split())


def test_how_much_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["audit", "--suite", "becpro", "--limit", "4", "--out", str(tmp_path)]
    assert run_command(app, [*words, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert run_command(app, [*words, "--fresh", "--yes", "--verbose"]) == 0
    assert "association on becpro-en: 4 items." in capsys.readouterr().err
    assert run_command(app, [*words, "--quiet", "--verbose"]) == 2
    assert run_command(app, [*words, "--log-file", str(tmp_path / "no" / "log.txt")]) == 2
    assert "--log-file" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_a_log_that_cannot_be_written_is_a_line_and_the_audit_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["audit", "--suite", "becpro", "--limit", "4", "--out", str(tmp_path), "--log-file", "/dev/full"]
    assert run_command(app, words) == 0
    said = capsys.readouterr().err
    assert said.count("--log-file '/dev/full' ends here: No space left on device.") == 1
    assert "Traceback" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
@pytest.mark.parametrize("stderr", ["2>/dev/full", "2>&-"])
def test_an_error_that_cannot_be_printed_has_its_exit_code(stderr: str) -> None:
    """Python would end with 1, which means that a gate fails."""
    done = subprocess.run(f"{sys.executable} -m evenhand gate nothing {stderr}", shell=True)
    assert done.returncode == 2
