"""Sequences of causal models: what they are asked, token by token."""

import pytest

from evenhand import Entail
from evenhand.core.questions import By
from evenhand.models.planning.sequences import as_choice

WORDS = ("True", "Neither", "False")


@pytest.mark.parametrize("by", ["total", "letters"])
def test_inference_is_a_choice_of_three_words_after_one_request_for_an_answer(by: By) -> None:
    question = as_choice(Entail("A nurse sleeps.", "A woman sleeps."), WORDS, by)
    assert (question.options, question.by) == (WORDS, by)
    assert question.text.startswith("A nurse sleeps.\nQuestion: A woman sleeps.")
    assert question.text.count("Answer:") == 1
    assert question.text.endswith("Answer:")
