import doctest

import pytest

from evenhand import BadInput
from evenhand.datasets import templates
from evenhand.datasets.templates import render


def test_the_example_in_the_docstring_is_true() -> None:
    assert doctest.testmod(templates) == (0, 2)


def test_spans_point_at_the_fillings() -> None:
    text, spans = render("So {person}, the {job}, left.", person="this man", job="manager")
    assert {name: span.of(text) for name, span in spans.items()} == {"person": "this man", "job": "manager"}


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("She is a nurse.", r"\{person\}.*Got none"),
        ("{person} and {person} left.", r"\{person\}.*Got 2"),
        ("{person} is a {job}.", r"\{job\}.*Known: \{person\}"),
    ],
)
def test_a_template_without_a_blank_or_with_two_is_refused(template: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        render(template, person="she")
