"""A budget on the command line: what is asked, what is said, and what is refused."""

from pathlib import Path

import pytest

from evenhand import Run
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined", "log_as_before")
WORDS = ("audit", "mini-en", "--dataset", "tgb", "--measure", "likelihood-lean")


def test_of_a_model_in_this_process_questions_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(app, [*WORDS, "--budget", "41", "--out", str(tmp_path)]) == 0
    run = Run.load(tmp_path / "mini-en")
    assert len(run.scores) == 20
    assert run.record.audits[0].work.questions == 40
    printed = capsys.readouterr()
    assert "a budget of 41 allows of each dataset: results are partial" in printed.err
    assert "Partial: a sample of what a budget of 41" in " ".join(printed.out.split())
    assert run_command(app, ["show", str(run.path), "--command"]) == 0
    assert "--budget 41" in capsys.readouterr().out
    assert run_command(app, [*WORDS, "--budget", "30", "--out", str(tmp_path)]) == 2
    assert "likelihood-lean on tgb for 20 items. Results for 15" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--budget", "0"), "Got 0"),
        (("--budget", "-5"), "Got -5"),
        (("--budget", "many"), "'--budget': Input should be a valid integer"),
        (("--budget", "3"), "at least 4"),
        (("--budget", "50", "--limit", "9"), "not both"),
    ],
)
def test_a_wrong_budget_is_a_sentence(
    more: tuple[str, ...], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(app, [*WORDS, *more, "--out", str(tmp_path / "runs")]) == 2
    assert says in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert not (tmp_path / "runs" / "mini-en").exists()
