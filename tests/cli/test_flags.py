"""What the library calls a parameter is an option for those who type."""

import pytest
import typer

from evenhand.cli.app import app, main
from evenhand.cli.terminal import as_flags


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("Measure with `batch_size=1`.", "Measure with --batch-size 1."),
        ("Choose another `out`.", "Choose another --out."),
        ("It needs `trust_remote_code=True`.", "It needs --trust-remote-code."),
        ("Run `evenhand rescore RUN`.", "Run `evenhand rescore RUN`."),
        ("There is no `nonsense=2`.", "There is no `nonsense=2`."),
    ],
)
def test_parameters_become_options(said: str, typed: str) -> None:
    assert as_flags(said, typer.main.get_command(app)) == typed


def test_where_two_commands_differ_the_one_that_runs_goes_first() -> None:
    whole = typer.main.get_command(app)
    assert as_flags("Choose another `corpus`.", whole, "figures") == "Choose another --seen."
    assert as_flags("Choose another `corpus`.", whole, "debias") == "Choose another --corpus."


def test_an_error_of_the_library_is_worded_for_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["audit", "mini-en", "--suite", "gbef", "--engine", "local", "--workers", "2"])
    assert "--engine ray" in capsys.readouterr().err
