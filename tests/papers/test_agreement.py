"""German forms crossed: four effects that add up to the four cells they were taken from."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand import BadInput
from evenhand.papers.findings import EFFECTS, decompose, pairs, signed_ranks, summarise_effects
from helpers.made_scores import PAPER, crossed, scores

CELLS = (("female", "feminine"), ("female", "masculine"), ("male", "feminine"), ("male", "masculine"))


def cells(*means: float, profession: str = "Arzt", prof_gender: str = "male") -> pd.DataFrame:
    """One profession: a(F,f), a(F,m), a(M,f), a(M,m)."""
    frame = pd.DataFrame(CELLS, columns=["gender", "form"])
    return frame.assign(score=means, profession=profession, prof_gender=prof_gender)


def only(frame: pd.DataFrame) -> Any:
    (row,) = frame.to_dict("records")
    return row


def test_one_profession_as_on_paper() -> None:
    found = only(decompose(cells(6, 1, 2, 4)))
    assert {effect: found[effect] for effect in EFFECTS} == {
        "social": (6 + 1 - 2 - 4) / 2,
        "agreement": (6 - 1 - 2 + 4) / 2,
        "form": (6 - 1 + 2 - 4) / 2,
        "level": (6 + 1 + 2 + 4) / 4,
    }
    assert (found["profession"], found["prof_gender"]) == ("Arzt", "male")


@pytest.mark.parametrize("effect", ["social", "agrees", "form", "level"])
def test_an_effect_that_was_put_in_comes_out_and_no_other(effect: str) -> None:
    found = decompose(crossed(**{effect: 0.3})).set_index(["prof_gender", "profession"])
    assert len(found) == 24
    wanted = dict.fromkeys(EFFECTS, 0.0) | {"agreement" if effect == "agrees" else effect: 0.3}
    for name, value in wanted.items():
        assert found[name].tolist() == pytest.approx([value] * 24)


nats = st.floats(-20, 20)


@given(nats, nats, nats, nats)
def test_the_four_effects_add_up_to_the_four_cells(ff: float, fm: float, mf: float, mm: float) -> None:
    found = only(decompose(cells(ff, fm, mf, mm)))
    social, agreement, form, level = (found[effect] for effect in EFFECTS)
    assert level + (social + agreement + form) / 2 == pytest.approx(ff, abs=1e-9)
    assert level + (social - agreement - form) / 2 == pytest.approx(fm, abs=1e-9)
    assert level + (form - social - agreement) / 2 == pytest.approx(mf, abs=1e-9)
    assert level + (agreement - social - form) / 2 == pytest.approx(mm, abs=1e-9)


def test_what_the_release_shows_is_social_and_form_mixed() -> None:
    """It has a(F,f) and a(M,m) alone: their difference is social + form, their mean level + agreement / 2."""
    frame = crossed(social=0.2, agrees=2.0, form=0.5, level=0.1)
    released = frame[(frame["gender"] == "female") == (frame["form"] == "feminine")]
    assert signed_ranks(pairs(released))["difference"].tolist() == pytest.approx([0.2 + 0.5] * 3)
    assert released["score"].mean() == pytest.approx(0.1 + 2.0 / 2)


def test_a_cell_is_the_mean_of_its_scored_items_however_many_there_are() -> None:
    more = cells(10, 1, 2, 4)  # a(F,f) is now (6 + 6 + 6 + 10) / 4
    unscored = cells(math.nan, math.nan, math.nan, math.nan)
    frame = pd.concat([*([cells(6, 1, 2, 4)] * 3), more, unscored], ignore_index=True)
    assert only(decompose(frame))["level"] == (7 + 1 + 2 + 4) / 4


def test_the_order_of_rows_changes_nothing() -> None:
    frame = crossed(social=0.3, agrees=2.0, form=0.5)
    frame["score"] += np.random.default_rng(1).normal(size=len(frame))
    shuffled = frame.sample(frac=1, random_state=2)
    pd.testing.assert_frame_equal(decompose(shuffled), decompose(frame))
    pd.testing.assert_frame_equal(summarise_effects(decompose(shuffled)), summarise_effects(decompose(frame)))


def test_a_profession_without_one_of_the_four_has_no_effect_and_spoils_no_other() -> None:
    whole, part = cells(6, 1, 2, 4), cells(9, 9, 9, math.nan, profession="Maurer")
    found: Any = decompose(pd.concat([whole, part], ignore_index=True)).set_index("profession")
    assert found.loc["Maurer", list(EFFECTS)].isna().all()
    assert found.loc["Arzt", "social"] == 0.5
    summed: Any = summarise_effects(found.reset_index()).set_index("effect")
    assert summed.loc["social", "value"] == 0.5  # of the one that has it


def test_a_small_sample_without_one_of_the_four_has_no_effect_rather_than_a_crash() -> None:
    frame = crossed(social=0.3)
    part = frame[~((frame["gender"] == "male") & (frame["form"] == "masculine"))]
    assert decompose(part)[list(EFFECTS)].isna().all(axis=None)
    assert summarise_effects(decompose(part))[["value", "low", "high", "p"]].isna().all(axis=None)


@pytest.mark.parametrize(
    "frame",
    [
        scores(PAPER),
        crossed().drop(columns="form"),
        crossed().assign(form="feminine"),
        crossed().assign(form=None),
        crossed().replace({"form": {"masculine": "neuter"}}),
    ],
    ids=["English", "no forms", "one form", "none known", "other forms"],
)
def test_without_both_forms_it_is_refused_with_what_to_do(frame: pd.DataFrame) -> None:
    with pytest.raises(BadInput, match="forms=crossed"):
        decompose(frame)


def effects(**values: list[float]) -> pd.DataFrame:
    """Social effects of the professions of each group; the other effects are 0."""
    rows = [(group, f"{group}{i}", value) for group, of in values.items() for i, value in enumerate(of)]
    frame = pd.DataFrame(rows, columns=["prof_gender", "profession", "social"])
    return frame.assign(agreement=0.0, form=0.0, level=0.0)


FEW = [0.1, 0.4, 0.2, 0.7, -0.3]
MANY = np.random.default_rng(3).normal(0.2, 1.0, 12).tolist()


def test_a_summary_is_the_mean_over_professions_with_students_interval_where_they_are_few() -> None:
    found: Any = summarise_effects(effects(male=FEW)).set_index("effect").loc["social"]
    assert found["value"] == pytest.approx(np.mean(FEW))
    wanted = stats.ttest_1samp(FEW, 0).confidence_interval(0.95)
    assert (found["low"], found["high"]) == pytest.approx((wanted.low, wanted.high))


def test_its_p_is_that_of_flipping_the_signs_of_professions() -> None:
    exact = stats.permutation_test((FEW,), np.mean, permutation_type="samples", n_resamples=10**6).pvalue
    found: Any = summarise_effects(effects(male=FEW)).set_index("effect")
    assert found.loc["social", "p"] == pytest.approx(exact, abs=0.02)
    assert 0.05 < exact < 0.95  # so that there is something to get wrong


def test_a_group_does_not_depend_on_which_others_there_are() -> None:
    alone, beside = summarise_effects(effects(male=MANY)), summarise_effects(effects(female=FEW, male=MANY))
    assert beside["prof_gender"].tolist() == ["female"] * 4 + ["male"] * 4
    assert beside["effect"].tolist() == [*EFFECTS, *EFFECTS]
    of_the_family = ["p_holm", "needed"]
    rest = beside.iloc[4:].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone.drop(columns=of_the_family), rest.drop(columns=of_the_family))
    tested = alone["p_holm"].notna()
    assert tested.any()
    assert (rest["p_holm"] >= alone["p_holm"])[tested].all()  # adjusted over all rows that there are


def test_another_seed_draws_other_samples_of_the_same_value() -> None:
    many = effects(male=MANY)
    one: Any = summarise_effects(many, seed=1).iloc[0]
    assert one.equals(summarise_effects(many, seed=1).iloc[0])
    other: Any = summarise_effects(many, seed=2).iloc[0]
    assert one["value"] == other["value"]
    assert one["low"] != other["low"]
