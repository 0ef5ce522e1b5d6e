"""Whether a masked model reads what stands to the right of a blank."""

import pytest

from evenhand import Answer, Fill, Table
from evenhand.checks.base import Case, NotChecked
from evenhand.checks.head_and_language import right_context
from evenhand.models.networks.masked import MaskedLM
from helpers.checked import one
from helpers.typed import only


def test_the_bundled_model_reads_both_sides(mini_en: MaskedLM) -> None:
    finding = one(right_context, mini_en)
    assert finding.verdict == "fine"
    assert "change answers by " in finding.says


def test_a_model_that_sees_the_left_alone_is_unfit() -> None:
    """A language that it has no words of is no excuse."""
    left = Table(only(Fill, lambda q: (-1.0 - len(q.text[: q.blank.start]),)))
    for language in ("en", "ja", "fr"):
        finding = one(right_context, left, language=language)
        assert finding.verdict == "unfit"
        assert "the words to the right of a blank change no answer" in finding.says
        assert '"is_decoder" in its config.json must be false' in finding.do


def test_a_model_without_answers_is_left_out() -> None:
    with pytest.raises(NotChecked, match="right context"):
        list(right_context(Case(Table(lambda q: Answer.none("unknown word")), "en")))
