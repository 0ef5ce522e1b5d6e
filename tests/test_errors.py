"""Messages: short, whatever they quote."""

import pickle
from typing import Any

import pytest

from evenhand import BadInput, EvenhandError, ModelError, RunError
from evenhand.errors import LONGEST, QUOTED, UnfitModel, UnknownName


@pytest.mark.parametrize("kind", [EvenhandError, BadInput, ModelError, RunError, UnfitModel])
def test_what_a_message_quotes_is_cut_and_our_own_words_stay(kind: type[EvenhandError]) -> None:
    for quoted in (repr("long " * 3_000), repr("it's " * 3_000), f"'{'x' * 3_000}'"):
        message = str(kind(f"'a.csv', line 3: not a pair. Got {quoted} and {quoted}. Leave it out."))
        assert message.startswith("'a.csv', line 3: not a pair. Got ")
        assert message.endswith(". Leave it out.")
        assert len(message) < 2 * QUOTED + 80 < LONGEST


def test_a_message_of_another_library_is_cut_as_well() -> None:
    message = str(ModelError(f"It cannot be loaded: {bytes(11_000)!r} is odd. Download it again."))
    assert len(message) == LONGEST
    assert message.startswith("It cannot be loaded: b")
    assert message.endswith("Download it again.")


def test_a_short_message_stays_as_it_is() -> None:
    ours = "'it' is damaged: " + "evenhand's own words are not quoted " * 10 + "'even here'."
    assert str(RunError(ours)) == ours
    assert not str(RunError())


def test_an_unknown_name_of_any_length_is_answered_at_once() -> None:
    message = str(UnknownName("measure", "pronoun" * 100_000, ["association", "pronoun"]))
    assert message.endswith("Available: association, pronoun.")
    assert len(message) < LONGEST


def test_names_with_commas_are_told_apart() -> None:
    message = str(UnknownName("group", "hostile, man", ["benevolent", "hostile", "hostile, men"]))
    assert message.endswith("Did you mean 'hostile, men'? Available: benevolent; hostile; hostile, men.")


@pytest.mark.parametrize("name", [None, 3, ["pronoun"]])
def test_an_unknown_name_need_not_be_a_text(name: Any) -> None:
    assert "Available: association, pronoun." in str(UnknownName("measure", name, ["association", "pronoun"]))


def test_an_error_comes_out_of_another_process_as_it_was() -> None:
    error = BadInput("x" * 1_000)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
