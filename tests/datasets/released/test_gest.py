"""GEST: the quotations of either version in the paper's templates, and what is wrong with a file."""

from collections import Counter
from pathlib import Path

import pytest

from evenhand import BadInput, Blank, datasets
from helpers.typed import all_of

HEAD = "sentence,stereotype\n"


def write(shelf: Path, text: str) -> None:
    (shelf / "gest").mkdir()
    (shelf / "gest" / "gest_1.1.csv").write_text(text)


def test_the_word_stands_where_the_paper_puts_it(shelf: Path) -> None:
    write(shelf, HEAD + '"I fell, {and} ___ rose.",1\nI can.,16\n"I fell, {and} ___ rose.",8\n')
    said = {
        "1": ('[He/She] said: "I can."', '[He/She] said: "I fell, {and} ___ rose."'),
        "2": ('The [man/woman] said: "I can."', 'The [man/woman] said: "I fell, {and} ___ rose."'),
        "3": ('"I can.", [he/she] said.', '"I fell, {and} ___ rose.", [he/she] said.'),
        "4": ('"I can.", the [man/woman] said.', '"I fell, {and} ___ rose.", the [man/woman] said.'),
    }
    for name, numbers in (("gest", "1234"), ("gest-causal", "34")):
        items = {item.id: item for item in all_of(Blank, datasets.load(name).items)}
        for number in numbers:
            for row, whole in zip((2, 1), said[number], strict=True):
                item = items[f"{number}/{row}"]
                shown = f"{item.text[: item.blank.start]}[{'/'.join(item.candidates)}]{item.text[item.blank.stop :]}"
                assert shown == (whole if name == "gest" else whole.removesuffix(" said."))
        groups = items["3/1"].groups, items["3/2"].groups, items["3/3"].groups
        assert [g["stereotype"] for g in groups] == ["01 emotional", "16 strong", "08 tough"]
        assert [g["about"] for g in groups] == ["women", "men", "men"]
        assert [g["quotation"] for g in groups] == ["1", "2", "1"]  # the same text is one cluster


def test_counts_are_those_of_the_release(data: Path) -> None:
    items = all_of(Blank, datasets.load("gest").items)
    assert len(items) == 4 * 3565
    assert Counter(item.groups["about"] for item in items) == {"women": 4 * 1572, "men": 4 * 1993}
    assert len(datasets.load("gest-causal").items) == 2 * 3565
    older = all_of(Blank, datasets.load("gest", version="1.0", template="2").items)
    assert sum(one.text != other.text for one, other in zip(items[3565:], older, strict=False)) == 244


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD, "no items"),
        (HEAD + "I left.,17\n", "line 2: .*16. Got '17'"),
        (HEAD + "I left.,\n", "line 2: .*16. Got ''"),
        (HEAD + "I left.,3\n ,3\n", "line 3: .*empty"),
        ("sentence\nI left.\n", "'stereotype'"),
    ],
)
def test_a_broken_file_is_named(text: str, says: str, shelf: Path) -> None:
    write(shelf, text)
    with pytest.raises(BadInput, match=says):
        datasets.load("gest")
