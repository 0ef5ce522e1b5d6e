"""Whose code failed decides what the error is: ours stays as it is, that of others is named."""

import pytest

from evenhand import Association, BadInput, ModelError
from evenhand.core.foreign import foreign, is_ours, number


class Mine(Association):
    """A user's class, although of one of ours."""


def test_what_is_ours_is_told_by_where_it_was_made() -> None:
    assert is_ours(Association())
    assert is_ours(foreign)
    assert not is_ours(Mine())
    assert not is_ours(lambda: None)
    assert not is_ours(None)


def test_an_error_of_our_own_code_comes_through_as_it_is() -> None:
    with pytest.raises(KeyError, match=r"^'word'$"), foreign("The measure failed", Association()):
        raise KeyError("word")


@pytest.mark.parametrize("raised", [KeyError("word"), SystemExit(0)])
def test_an_error_of_other_peoples_code_is_named_with_its_line(raised: BaseException) -> None:
    named = r"^It failed: \w+: .*test_foreign.py, line \d+\)\. That is not evenhand's own code"
    with pytest.raises(BadInput, match=named), foreign("It failed", Mine()):
        raise raised


def test_a_refusal_keeps_its_class_and_is_named_once() -> None:
    named = pytest.raises(ModelError, match="^It failed: no answer$")
    with named, foreign("It failed", Mine()), foreign("It failed", Mine()):
        raise ModelError("no answer")


def test_what_must_be_a_number_is_one() -> None:
    assert number(True) == 1.0
    with pytest.raises(TypeError, match="must return a number. Got 'many'"):
        number("many")
