"""No value that was typed is dropped: an option is a list, or may be given once."""

import pytest

from evenhand import BadInput
from evenhand.cli.app import main
from helpers.commands import EVERY


@pytest.mark.parametrize("name", sorted(EVERY))
def test_every_option_is_a_list_or_may_be_given_once(name: str) -> None:
    command = EVERY[name]
    options = [each for each in command.params if each.param_type_name == "option"]
    for option in options:
        typed = [option.opts[-1], *([] if option.is_flag else ["1"])]
        parser = command.make_parser(command.context_class(command))
        assert parser.parse_args(args=[*typed, *typed])[2].count(option) == 2
        if option.multiple:
            continue
        with pytest.raises(BadInput, match=f"{option.opts[-1]} .* once"):
            command.make_context(name, [*typed, *typed])


def test_a_switch_and_its_opposite_are_one_option() -> None:
    with pytest.raises(BadInput, match="--equal .* once"):
        EVERY["corpus"].make_context("corpus", ["a.txt", "--equal", "--no-equal"])


def test_lists_stay_repeatable_and_help_is_help() -> None:
    found = EVERY["debias"].make_context("debias", ["--remind", "pregnant", "--remind", "breastfeed"])
    assert found.params["remind"] == ["pregnant", "breastfeed"]
    with pytest.raises(SystemExit, match="0"):
        main(["swap", "--help", "--help"])


def test_the_command_line_says_it_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["audit", "mini-en", "--seed", "1", "--seed", "2"])
    assert capsys.readouterr().err.startswith("evenhand: --seed may be given once")
