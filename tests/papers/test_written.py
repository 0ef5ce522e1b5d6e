"""What stands beside the share of women among written texts: its line on the workforce, bounds, worth, what is open."""

import math
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from evenhand.papers import written
from evenhand.papers.findings import workforce_shares

WORKFORCE = workforce_shares()
JOBS = list(WORKFORCE)


def scores(rows: list[tuple[str, float, float]], topic: str = "professions", **more: list[float]) -> pd.DataFrame:
    """Scores of (subject, share, mentioned)."""
    found = pd.DataFrame(rows, columns=["subject", "score", "mentioned"])
    return found.assign(id=range(len(rows)), topic=topic, kind="female", **more)


def test_a_profession_has_the_ratio_of_sums_over_its_forms() -> None:
    table = scores([(JOBS[0], 1.0, 0.1), (JOBS[0], 0.5, 0.9), (JOBS[1], math.nan, 0.04)])
    found = written.summarise(table, {}).professions
    assert found["profession"].tolist() == [JOBS[0]]
    assert found["share"].tolist() == [pytest.approx(100 * (0.1 + 0.45) / 1.0)]
    assert found["workforce"].tolist() == [WORKFORCE[JOBS[0]]]


@pytest.mark.parametrize("slope", [1.0, 0.25, 0.0])
def test_the_line_has_the_slope_that_the_shares_have(slope: float) -> None:
    table = scores([(job, 0.3 + slope * WORKFORCE[job] / 100 * 0.7, 0.5) for job in JOBS])
    line = written.summarise(table, {}).line
    assert line is not None
    assert line.slope == pytest.approx(0.7 * slope, abs=1e-9)
    few = written.summarise(table.head(written.FEWEST - 1), {})
    assert few.line is None
    assert len(few.professions) == written.FEWEST - 1


def test_bounds_take_all_other_texts_as_about_men_and_as_about_women() -> None:
    """Of eight texts two are about women, two about men; the rest do not say, those of an item without a score, too."""
    found = written.summarise(scores([(JOBS[0], 0.5, 1.0), (JOBS[1], math.nan, 0.0)]), {"texts": 4})
    assert (found.mentioned, found.lowest, found.highest) == (0.5, 0.25, 0.75)
    (told,) = written.sentences(found)
    assert "50 of 100 texts do not say" in told
    assert "would be 0.25; if all were about women, 0.75" in told
    missing = written.summarise(scores([(JOBS[0], 0.5, 1.0), (JOBS[1], math.nan, math.nan)]), {"texts": 4})
    assert (missing.mentioned, missing.lowest, missing.highest) == (1.0, 0.5, 0.5)  # not asked: not undetected


def test_the_paths_are_worth_as_many_texts_as_have_their_variance() -> None:
    kept: dict[str, Any] = {"varies": [0.01, 0.03], "counted": [0.2, 0.12], "open": [0.0, 0.004]}
    found = written.summarise(scores([(JOBS[0], 0.5, 0.9), (JOBS[1], 0.5, 0.9)], **kept), {"paths": 8})
    assert found.paths == 16
    assert found.worth == pytest.approx(16 * 0.32 / 0.04)
    told = list(written.sentences(found))
    assert "The 16 paths are worth 128 counted texts" in told[1]
    assert "early left 0.2 of 100 texts open" in told[2]
    assert len(list(written.sentences(found._replace(worth=math.nan, left=math.nan)))) == 1


def test_what_is_counted_and_what_is_computed_have_names_of_their_own() -> None:
    counts = list(written.sentences(written.summarise(scores([(JOBS[0], 0.5, 0.8)]), {})))
    paths = list(written.sentences(written.summarise(scores([(JOBS[0], 0.5, 0.8)], open=[0.01]), {})))
    assert "the share of texts about women would be" in counts[0]
    assert "the share of women among first mentions would be" in paths[0]


def measured(table: pd.DataFrame) -> Any:
    return SimpleNamespace(runs=[0], scores=[table], task=SimpleNamespace(measure_options={}, seed=0))


def test_a_page_has_professions_and_the_sentences_however_few_there_are() -> None:
    (drawing,) = written.on_page(measured(scores([(job, 0.5, 0.5) for job in JOBS[:3]])))
    assert "If all of these were about men" in drawing.caption
    assert list(written.on_page(measured(scores([("hunts", 0.5, 0.5)], topic="activities")))) == []
