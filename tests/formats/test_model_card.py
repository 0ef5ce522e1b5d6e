"""The section of a model card: put in, replaced, and nothing else touched."""

from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import evenhand
from evenhand import BadInput, Run
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.model import Finding
from evenhand.formats.model_card import BEGIN, END, insert_section
from helpers.written_runs import HOSTILE, Made, make

LINES = st.lists(
    st.sampled_from(
        ["# Card", "text", "", "## Bias, Risks, and Limitations", "```", "~~~", "[More Information Needed]"]
    )
    | st.text(st.characters(exclude_characters="<"), max_size=12),
    max_size=8,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make(tmp_path_factory.mktemp("card") / "run")


@settings(max_examples=60)
@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
@example(["## Bias, Risks, and Limitations"], "\n", False)
@example(["\r"], "\n", False)
@example(["```", "## Bias, Risks, and Limitations", BEGIN, "```"], "\n", True)
def test_the_rest_of_the_card_stays_and_twice_is_once(run: Run, lines: list[str], end: str, closed: bool) -> None:
    card = end.join(lines) + (end if closed else "")
    try:
        once = insert_section(card, [run])
    except BadInput as error:
        assume("never closed" not in str(error))
        raise
    before, _, rest = once.rpartition(BEGIN)
    after = rest.partition(END)[2]
    assert (before + after).replace("\r", "").replace("\n", "") == card.replace("\r", "").replace("\n", "")
    assert insert_section(once, [run]) == once


def test_a_section_goes_below_the_heading_or_to_the_end_or_where_it_was(made: Made) -> None:
    run = made()
    below = insert_section("# Card\n\n## Bias, Risks, and Limitations\n\nBy hand.\n\n## Uses\n", [run])
    assert below.count("Bias, Risks, and Limitations") == 1
    assert below.index(BEGIN) < below.index("By hand.") < below.index("## Uses")
    last = insert_section("# Card", [run])
    assert last.startswith(f"# Card\n\n{BEGIN}\n\n## Bias, Risks, and Limitations\n")
    replaced = insert_section(f"a\n{BEGIN}\nold\n{END}\nb", [run])
    assert "old" not in replaced
    assert replaced.startswith(f"a\n{BEGIN}\n")
    assert replaced.endswith(f"{END}\nb")


@pytest.mark.parametrize("card", [BEGIN, END, f"{END}\n{BEGIN}\n", f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n"])
def test_markers_that_make_no_pair_are_refused(made: Made, card: str) -> None:
    with pytest.raises(BadInput, match="once"):
        insert_section(card, [made()])


def test_a_code_block_that_swallows_the_rest_is_refused(made: Made) -> None:
    with pytest.raises(BadInput, match="line 2 .*closed"):
        insert_section("# Card\n````\n```\n````python\n", [made()])


def test_the_command_writes_into_a_card_byte_for_byte(made: Made, tmp_path: Path) -> None:
    card = tmp_path / "README.md"
    card.write_bytes(b"---\r\nlicense: mit\r\n---\r\n# Caf\xe9\r\n")  # no UTF-8
    command = ["export", str(made().path), "--as", "model-card", "--into", str(card)]
    assert run_command(app, command) == 0
    after = card.read_bytes()
    assert after.startswith(b"---\r\nlicense: mit\r\n---\r\n# Caf\xe9\r\n\r\n" + BEGIN.encode())
    assert b"\n" not in after.replace(b"\r\n", b"")
    assert run_command(app, command) == 0
    assert card.read_bytes() == after


def test_into_is_for_a_card_that_is_there(made: Made, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        evenhand.export(made(), "model-card", into=tmp_path / "none.md")
    with pytest.raises(BadInput, match="model-card"):
        evenhand.export(made(), "csv", into=tmp_path / "none.md")


def test_tables_read_as_tables_whatever_the_names(made: Made) -> None:
    text = evenhand.export(made(model=HOSTILE, dataset=HOSTILE, label=HOSTILE), "model-card")
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    assert html.count("<tr>") == 5
    assert "<x>" not in html
    assert "<td>a_b%$&amp;#&lt;x&gt;|&quot;{}\\^~`*[@]</td>" in html
    assert html.count("[0.125, 0.500]") == 1


def test_warnings_of_the_run_and_of_the_doctor_are_in_it(made: Made) -> None:
    doctor = (
        Finding("head", "fine", "All is well."),
        Finding("pieces", "careful", "Female words split more.", "Compare."),
        Finding("numbers", "unfit", "No answer is a number."),
    )
    text = evenhand.export(made(warnings=("Few words.",), doctor=doctor), "model-card")
    assert "Careful: Few words." in text
    assert "Careful, pieces: Female words split more." in text
    assert "**The model could not be measured. No answer is a number." in text
    assert "All is well" not in text
