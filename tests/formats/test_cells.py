"""Whatever a name holds, it is shown, and does nothing."""

import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from evenhand.formats.cells import LATEX, latex, markdown, one_line, slug

TEXT = st.text(st.sampled_from("ab \\{}$&%#_^~<>|\"'`[]*-@!()=+1.:;/\n\t\r\0é女"), max_size=30) | st.text(max_size=30)
TOKEN = re.compile(r"\\text\w+\{\}|\\.|\{\[\}|\{\]\}|\{\*\}|\{\}|--|.", re.S)


def read(source: str) -> str:
    """What LaTeX would print of such a text; an error where it holds anything but letters and what escaping makes."""
    back = {made: letter for letter, made in LATEX.items()} | {"{}": ""}
    tokens = TOKEN.findall(source)
    for token in tokens:
        assert token in back or token not in LATEX, token
    return "".join(back.get(token, token) for token in tokens)


@given(TEXT)
def test_latex_prints_every_letter_and_obeys_none(text: str) -> None:
    source = latex(text)
    assert read(source) == one_line(text)
    assert source.count("{") == source.count("}")  # as BibTeX counts


@given(TEXT, TEXT)
def test_markdown_shows_text_in_a_table_as_it_is(one: str, two: str) -> None:
    table = f"| a | b |\n| --- | --- |\n| x{markdown(one)}x | x{markdown(two)}x |\n"
    tokens = MarkdownIt("commonmark").enable("table").parse(table)
    cells = [token for token in tokens if token.type == "inline"][2:]
    shown = ["".join(child.content for child in cell.children or []) for cell in cells]
    assert shown == [f"x{one_line(one)}x", f"x{one_line(two)}x"]
    assert {child.type for cell in cells for child in cell.children or []} <= {"text", "text_special"}


@given(TEXT)
def test_slugs_are_fit_for_labels_files_and_ids(text: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9._-]+", slug(text))
