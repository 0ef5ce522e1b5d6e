"""What is known of each measure: the bundled numbers are those of the docs, and are put into true sentences."""

import math
import re
from pathlib import Path

import pytest

from evenhand.analysis.validity import Followed, followed
from evenhand.measures import MEASURES
from evenhand.models.loading.names import BUNDLED

DOCS = Path(__file__).parents[2] / "docs" / "metaeval.md"
NUMBER = r"[+-]\d\.\d+"


def documented() -> dict[str, list[str]]:
    """The rows of the tables in docs/metaeval.md that have an interval, by measure: their cells."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in DOCS.read_text("utf-8").splitlines()]
    with_interval = [row for row in rows if len(row) > 4 and "[" in row[1]]
    return {(re.match(r"[\w-]+(, size)?", row[0]) or "")[0]: row for row in with_interval}


TABLE = documented()


def known(measure: str) -> Followed:
    found = followed(measure)
    assert found is not None
    return found


def test_the_docs_tell_of_measures_that_there_are() -> None:
    assert {name.split(",")[0] for name in TABLE} < set(MEASURES)
    assert len(TABLE) == 11


@pytest.mark.parametrize("measure", TABLE)
def test_the_bundled_numbers_are_those_of_the_docs(measure: str) -> None:
    found = known(measure)
    numbers = [float(number) for number in re.findall(NUMBER, TABLE[measure][1])]
    assert [found.pearson, found.low, found.high] == numbers
    smallest = TABLE[measure][4]  # rounded to two digits; a dash where there is none
    assert math.isnan(found.smallest) if smallest == "–" else found.smallest == pytest.approx(float(smallest), rel=0.05)


@pytest.mark.parametrize("measure", TABLE)
def test_a_correlation_lies_in_its_interval_and_is_of_bundled_models(measure: str) -> None:
    found = known(measure)
    assert found.measure == measure
    assert -1 <= found.low <= found.pearson <= found.high <= 1
    assert (BUNDLED / found.model).is_dir()
    assert found.models == (11 if found.model == "mini-en-nli" else 33)
    assert found.reading


def test_what_follows_bias_is_told_from_what_does_not() -> None:
    """The paper's finding: fraction neutral cannot tell a biased answer from a wrong one."""
    assert known("nli-coal").low > 0.95 > known("fraction-neutral").high
    told = "on nli-en, it follows bias by r = 1.00 [1.00, 1.00] (11 models of mini-en-nli)"
    assert str(known("nli-coal")) == told


@pytest.mark.parametrize("measure", ["no-such-measure", "singular-they", ""])
def test_of_a_measure_that_was_not_tried_nothing_is_known(measure: str) -> None:
    assert followed(measure) is None


@pytest.mark.parametrize(
    ("pearson", "low", "high", "says"),
    [
        (0.735, 0.6421, 0.8, "on pairs, it follows bias by r = 0.73 [0.64, 0.80] (5 models of mini)"),
        (-0.5, -0.75, 0.25, "on pairs, it follows bias by r = -0.50 [-0.75, 0.25] (5 models of mini)"),
        (0.5, math.nan, math.nan, "on pairs, it follows bias by r = 0.50 (5 models of mini)"),
        (math.nan, math.nan, math.nan, "on pairs, it does not follow bias: no change over 5 models of mini"),
    ],
)
def test_it_is_said_in_a_sentence_without_numbers_that_there_are_not(
    pearson: float, low: float, high: float, says: str
) -> None:
    assert str(Followed("m", "on pairs", "mini", 5, pearson, low, high, 0.2)) == says
