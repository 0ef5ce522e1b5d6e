"""The released NLI-CoAL sets, row by row, and the leaks our linter finds in them and not in ours."""

from collections import Counter
from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput, datasets
from evenhand.core.items import NliPair
from evenhand.datasets.nli_faults import leaks

ROWS = {"en": (1000, 1000, 3420), "ja": (1000, 1000, 3420), "zh": (1000, 1000, 3320)}
FAULTS = {
    "en": {"pronoun": 60, "another person": 80},
    "ja": {"another person": 20},
    "zh": {"another person": 60, "twice": 160},
}
CLEAN = {"en": (5280, 594), "ja": (5400, 600), "zh": (5100, 588)}


def sets(language: str, **options: str) -> Counter[str]:
    return Counter(item.groups["set"] for item in datasets.load(f"nli-coal-{language}", **options).items)


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_counts_are_those_of_the_release(language: str, data: Path) -> None:
    assert sets(language) == dict(zip(("pro", "anti", "non"), ROWS[language], strict=True))
    assert sets(language, words="down-sampled") == {"pro": 200, "anti": 200, "non": 200}
    items = datasets.load(f"nli-coal-{language}").items
    types = {item.groups["word"]: item.groups["type"] for item in items}
    neutral = 166 if language == "zh" else 171
    assert Counter(types.values()) == {"female": 13, "male": 87, "neutral": neutral}
    assert set(Counter(item.groups["word"] for item in items).values()) == {20}


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_the_sets_are_the_files_of_the_release(language: str, data: Path) -> None:
    folder = next((data / "nli-coal").glob(f"{language}_v*/bias-eval-set_v*/*/4-all_v*.json")).parent
    files = {"pro": "1-prostereo", "anti": "2-antistereo", "non": "3-nonstereo"}
    lines = {name: len(next(folder.glob(f"{file}*")).read_text().splitlines()) for name, file in files.items()}
    order = [name for name, n in lines.items() for _ in range(n)]
    assert [item.groups["set"] for item in datasets.load(f"nli-coal-{language}").items] == order


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_the_linter_finds_the_leaks_and_clean_rows_have_none(language: str, data: Path) -> None:
    found = evenhand.lint(f"nli-coal-{language}", model=None)
    assert {rule: n for rule, n in found.failing.items() if n} == FAULTS[language]
    assert found.clean == sets(language, rows="clean").total() == CLEAN[language][0]
    assert sets(language, rows="clean", words="down-sampled").total() == CLEAN[language][1]
    assert len(datasets.load(f"nli-coal-{language}", rows="clean").table()) == found.clean


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_ours_leak_nothing(language: str) -> None:
    found = evenhand.lint(f"nli-{language}", model=None)
    assert (found.clean, found.pairs) == (1440, 1440)


def test_wrong_words_of_the_japanese_release_are_put_right(data: Path) -> None:
    japanese = datasets.load("nli-coal-ja")
    released = japanese.table()["occ_word"].to_dict()
    wrong = [item for item in japanese.items if item.groups["word"] != released[int(item.id)]]
    assert len(wrong) == 16
    assert {item.groups["set"] for item in wrong} == {"non"}
    assert {released[int(item.id)] for item in wrong} == {"野球選手"}


@pytest.mark.parametrize(("option", "value"), [("words", "some"), ("rows", "dirty")])
def test_options_are_checked(option: str, value: str) -> None:
    with pytest.raises(BadInput, match=f"{option} must be 'all' or"):
        datasets.load("nli-coal-en", **{option: value})


@pytest.mark.parametrize(
    ("premise", "hypothesis", "language", "rules"),
    [
        ("An umpire is asleep.", "A man is asleep.", "en", set()),
        ("A nurse is with two girls.", "A man is with two girls.", "en", set()),
        ("A nurse lost her hat.", "A man lost her hat.", "en", {"pronoun"}),
        ("A nurse sees a lady.", "A man sees a lady.", "en", {"another person"}),
        ("A nurse meets a nurse.", "A man meets a man.", "en", {"twice"}),
        ("A nurse meets a nurse.", "A man meets a woman.", "en", {"twice", "other change"}),
        ("A nurse is asleep.", "A man is awake.", "en", {"other change"}),
        ("一个护士在弹吉他。", "一个男人在弹吉他。", "zh", set()),
        ("一个护士和他的狗。", "一个男人和他的狗。", "zh", {"pronoun"}),
        ("看護師が女の子と話す。", "男性が女の子と話す。", "ja", set()),
        ("看護師が女性と話す。", "男性が女性と話す。", "ja", {"another person"}),
    ],
)
def test_each_rule_catches_its_fault(premise: str, hypothesis: str, language: str, rules: set[str]) -> None:
    word = next(word for word in ("umpire", "nurse", "护士", "看護師") if word in premise)
    found = leaks([NliPair("1", premise, hypothesis, {"word": word})], language)
    assert {fault.rule for fault in found} == rules


def test_pairs_that_cannot_be_looked_through_are_refused() -> None:
    with pytest.raises(BadInput, match="Got 'de'"):
        list(leaks([NliPair("1", "a", "b", {"word": "a"})], "de"))
    with pytest.raises(BadInput, match="no group 'word'"):
        list(leaks([NliPair("1", "a", "b")], "en"))
