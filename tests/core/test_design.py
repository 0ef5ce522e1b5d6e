"""Differences between partners."""

import math

import pandas as pd
import pytest

from evenhand import BadInput, Partners, Score, Table, measure
from evenhand.core.dataset import FEMALE_MALE, Design
from evenhand.core.estimands import estimates
from evenhand.core.items import Pair
from evenhand.measures.association import Association
from evenhand.measures.likelihood import LikelihoodLean


def frame(scores: dict[tuple[str, str, str], float]) -> pd.DataFrame:
    """Scores by job, person and gender."""
    rows = [
        {"id": f"{job}{person}{gender}", "score": score, "kind": job[0], "job": job, "slot": person, "gender": gender}
        for (job, person, gender), score in scores.items()
    ]
    return pd.DataFrame(rows)


def test_each_item_minus_its_partner() -> None:
    scores = frame(
        {
            ("a1", "1", "female"): 1.0,
            ("a1", "1", "male"): 0.25,
            ("a2", "1", "male"): 0.5,
            ("a2", "1", "female"): math.nan,
            ("b1", "1", "female"): 3.0,
            ("b1", "1", "male"): 1.0,
            ("b1", "2", "female"): 9.0,
        }
    )
    paired = FEMALE_MALE.pairs(scores)
    assert paired["difference"].tolist() == pytest.approx([0.75, math.nan, 2.0], nan_ok=True)
    found = estimates(scores, Design(("kind", "gender"), "", "job", "", FEMALE_MALE), Association())
    assert [(v.groups, v.contrast, v.value, v.n, v.unscored) for v in found] == [
        ({"kind": "a"}, "female - male", 0.75, 1, 1),
        ({"kind": "b"}, "female - male", 2.0, 1, 0),
    ]


def test_without_another_group_there_is_one_contrast() -> None:
    scores = frame(
        {(f"a{n}", "1", gender): n * (gender == "female") for n in range(8) for gender in ("female", "male")}
    )
    (found,) = estimates(scores, Design(("gender",), "", "job", "", FEMALE_MALE), Association())
    assert (found.groups, found.value, found.n, found.clusters) == ({}, 3.5, 8, 8)
    assert found.low > 0
    assert found.p_holm < 0.05


def test_it_must_be_clear_who_is_whose_partner() -> None:
    scores = frame({("a1", "1", "female"): 1.0, ("a1", "1", "male"): 0.25})
    twice = pd.concat([scores, scores.assign(id=["x", "y"])])
    with pytest.raises(BadInput, match="'a11female' and 'x'"):
        FEMALE_MALE.pairs(twice)
    with pytest.raises(BadInput, match="colour"):
        Partners("colour", "red", "green").pairs(scores)


def test_a_result_has_the_contrasts_of_its_partners() -> None:
    items = [
        Pair(f"{n}{tone}", f"{n} {tone} a", f"{n} {tone} b", {"tone": tone, "n": str(n)})
        for n in range(9)
        for tone in ("loud", "soft")
    ]
    model = Table(lambda question: (-1.0 - ("soft" in str(question)) * ("b'" in str(question)),))
    result = measure(model, items, LikelihoodLean(), by=("tone",), partners=Partners("tone", "loud", "soft"))
    (found,) = result.contrasts
    assert (found.value, found.n, found.contrast) == (-1.0, 9, "loud - soft")
    assert isinstance(result.scores[0], Score)
    assert not measure(model, items, LikelihoodLean(), by=("tone",)).contrasts
