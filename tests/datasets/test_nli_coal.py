"""The released NLI-CoAL sets, row by row: as many as released, in their sets, and clean where that is asked for."""

from collections import Counter
from pathlib import Path

import pytest

from evenhand import NliPair, datasets
from evenhand.datasets.faults import clean
from helpers.typed import all_of

ROWS = {"en": (1000, 1000, 3420), "ja": (1000, 1000, 3420), "zh": (1000, 1000, 3320)}
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
def test_clean_rows_are_those_without_a_leak(language: str, data: Path) -> None:
    everything, kept = (datasets.load(f"nli-coal-{language}", rows=rows) for rows in ("all", "clean"))
    assert kept.items == clean(all_of(NliPair, everything.items), language)
    assert len(kept.items) == len(kept.table()) == CLEAN[language][0]
    assert sets(language, rows="clean", words="down-sampled").total() == CLEAN[language][1]


def test_wrong_words_of_the_japanese_release_are_put_right(data: Path) -> None:
    japanese = datasets.load("nli-coal-ja")
    released = japanese.table()["occ_word"].to_dict()
    wrong = [item for item in japanese.items if item.groups["word"] != released[int(item.id)]]
    assert len(wrong) == 16
    assert {item.groups["set"] for item in wrong} == {"non"}
    assert {released[int(item.id)] for item in wrong} == {"野球選手"}
