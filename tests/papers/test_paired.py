"""Female against male, on scores made by hand."""

import numpy as np
import pytest

from evenhand import BadInput
from evenhand.papers.findings import changes, pairs, signed_ranks
from helpers.made_scores import PAPER, scores
from helpers.typed import number


def test_partners_differ_in_gender_alone() -> None:
    paired = pairs(scores(PAPER))
    assert len(paired) == 3 * 8 * 3
    assert (paired["difference"] == paired["score_female"] - paired["score_male"]).all()
    assert set(paired.columns) >= {"prof_gender", "profession", "slot", "template"}


def test_partners_are_found_by_slot_whatever_the_order_and_the_missing() -> None:
    """The partner of the second female word is the second male word, also when the first is not in the sample."""
    frame = scores({("male", "female"): 0.0, ("male", "male"): 0.0}, jobs=1)
    frame["score"] = [10.0, 20.0, 30.0, 1.0, 2.0, 3.0]
    sample = frame.drop(index=[0]).sample(frac=1, random_state=1)
    assert sorted(pairs(sample)["difference"]) == [18.0, 27.0]


def test_single_pairs_are_ranked_by_group() -> None:
    found = signed_ranks(pairs(scores(PAPER))).set_index("prof_gender")
    assert found.loc["male", "difference"] == pytest.approx(-0.99, abs=0.05)
    assert found.loc["female", "difference"] == pytest.approx(1.18, abs=0.05)
    assert found.loc["male", "w"] == 0  # every difference negative
    assert number(found, "male", "r") == number(found, "male", "r_printed") < 0
    assert number(found, "female", "r") == -number(found, "female", "r_printed") > 0


def test_ranks_of_a_few_pairs_are_not_shown() -> None:
    """r of a single pair is -0.71 or +0.71, whatever the pair."""
    paired = pairs(scores({("male", "female"): 0.0, ("male", "male"): 0.0}, jobs=2))
    assert signed_ranks(paired)[["w", "r", "r_printed", "p_printed"]].notna().all(axis=None)
    few = signed_ranks(paired.head(5))
    assert few["pairs"].tolist() == [5]
    assert few[["w", "r", "r_printed", "p_printed"]].isna().all(axis=None)


def test_unscored_items_leave_their_pair_out() -> None:
    frame = scores(PAPER)
    frame.loc[0, "score"] = np.nan
    found = signed_ranks(pairs(frame)).set_index("prof_gender")
    assert found.loc["balanced", "pairs"] == 23


def test_without_any_scored_pair_there_is_no_row() -> None:
    assert signed_ranks(pairs(scores(PAPER).assign(score=np.nan))).empty


def test_changes_need_the_same_items() -> None:
    frame = scores(PAPER)
    with pytest.raises(BadInput, match="same items"):
        changes(frame, frame.iloc[5:])
