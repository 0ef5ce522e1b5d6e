"""What `--help` prints: grouped, summaries that fit, examples that work."""

import re

import pytest

from evenhand.cli.app import CHANGE, COMMANDS, DECIDE, MEASURE, STUDY, UNDERSTAND, app
from evenhand.cli.terminal import run as run_command
from evenhand.papers import PAPERS
from evenhand.suites import SUITES
from helpers.commands import EVERY, GROUPS, ROOT


def shown(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run_command(app, arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("group", [[], *([group] for group in GROUPS)], ids=str)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_every_summary_fits_its_line(group: list[str], option: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown([*group, option], capsys)
    assert "..." not in text.partition("Options:")[2]
    assert max(map(len, text.splitlines())) <= 80


def test_every_suite_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    help_of_suites = shown(["audit", "--help"], capsys).partition("--suite")[2].partition("--lang")[0]
    assert set(SUITES) <= set(re.findall(r"\w+", help_of_suites))


def test_commands_are_listed_by_what_they_are_for(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(["--help"], capsys)
    places = [text.index(f"\n{group}:\n") for group in (MEASURE, UNDERSTAND, DECIDE, CHANGE, STUDY)]
    assert places == sorted(places)
    for name in ROOT.commands:
        assert len(re.findall(rf"^  {name} ", text, re.M)) == 1


@pytest.mark.parametrize("name", sorted(EVERY))
def test_help_ends_with_an_example_that_the_command_takes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    last = shown([*name.split(), "--help"], capsys).rstrip().splitlines()[-1].strip()
    assert last.startswith(f"Example: evenhand {name}")
    arguments = last.removeprefix(f"Example: evenhand {name}").split()
    EVERY[name].make_context(name, arguments, resilient_parsing=False)  # an option that is not there raises


@pytest.mark.parametrize("name", sorted(EVERY))
def test_every_argument_and_option_is_explained(name: str) -> None:
    assert [one.name for one in EVERY[name].params if not one.help and not one.hidden] == []


def test_every_command_has_its_group_and_example() -> None:
    assert {example.split()[1] for _, _, example in COMMANDS} | set(GROUPS) == set(ROOT.commands)


def test_reproduce_without_a_paper_lists_papers_and_their_parts(capsys: pytest.CaptureFixture[str]) -> None:
    listed = [line.partition(":")[0] for line in shown(["reproduce"], capsys).splitlines()]
    assert [name for name in listed if " " not in name] == list(PAPERS)
    assert "barza2023 --part learning-curve" in listed
