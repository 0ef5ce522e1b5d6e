"""GEST: the quotations of either version in the paper's templates, and what is wrong with a file."""

from collections import Counter
from pathlib import Path

import pytest

from evenhand import BadInput, Blank, datasets
from helpers.typed import all_of

HEAD = "sentence,stereotype\n"


def write(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (folder / "gest").mkdir()
    (folder / "gest" / "gest_1.1.csv").write_text(text)
    monkeypatch.setenv("EVENHAND_DATA", str(folder))


def test_the_word_stands_where_the_paper_puts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, monkeypatch, HEAD + '"I fell, {and} ___ rose.",1\nI can.,16\n"I fell, {and} ___ rose.",8\n')
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
def test_a_broken_file_is_named(text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, monkeypatch, text)
    with pytest.raises(BadInput, match=says):
        datasets.load("gest")


@pytest.mark.parametrize(
    ("name", "option", "value"), [("gest", "version", "2"), ("gest", "template", "0"), ("gest-causal", "template", "1")]
)
def test_options_are_checked(name: str, option: str, value: str) -> None:
    with pytest.raises(BadInput, match=f"{option}.*'{value}'"):
        datasets.load(name, **{option: value})


@pytest.mark.parametrize("name", ["gest", "winobias", "winogender"])
def test_a_missing_release_names_both_ways_to_get_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setattr("evenhand.datasets.files.releases.cache", lambda: tmp_path)
    with pytest.raises(BadInput, match=f"fetch {name}. .*EVENHAND_DATA/{name}/"):
        datasets.load(name)
