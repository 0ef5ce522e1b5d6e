"""Two runs compared item by item: differences, intervals and tests as by hand and as SciPy has them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from evenhand import BadInput, Run
from evenhand.analysis.change import COLUMNS, Change, adjust_families, changes_frame, differences
from evenhand.analysis.two_runs import Means, _difference_of_sizes
from helpers.audited_runs import noise
from helpers.made_scores import PAPER, associations, change_table, run, scores
from helpers.simulated import fewer_draws
from helpers.written_runs import task, with_fields

NAN = math.nan


def two(
    before: Sequence[float], after: Sequence[float], measure: str = "pronoun", *, same: bool = False, **groups: Any
) -> tuple[Run, Run]:
    """Runs with these scores of the same items; `groups` has the label of each, the first one in the table.

    Each item is a cluster of its own, unless there is a group `profession`.
    """
    frame = pd.DataFrame({"dataset": "d", "measure": measure, "id": [f"i{n}" for n in range(len(before))], **groups})
    by = tuple(name for name in groups if name not in ("profession", "template"))[:1]
    cluster, crossed = (name if name in groups else "" for name in ("profession", "template"))
    asked = task("d", measure, by=by, within="", cluster=cluster, crossed=crossed)
    one, other = (
        run(frame.assign(score=list(values)), [asked], path, fingerprint="same" if same else path)
        for path, values in (("runs/before", before), ("runs/after", after))
    )
    return one, other


def rows(before: Run, after: Run) -> dict[str, Any]:
    """The rows of `changed` by group; of runs with one measure."""
    return {str(row["group"]): row for row in change_table(before, after).to_dict("records")}


SIX = ([0.1, 0.5, 0.3, 0.2, 0.4, 0.6], [0.0, 0.1, 0.25, 0.3, 0.2, 0.1])


def test_the_values_and_their_difference_are_of_all_items_then_of_each_group() -> None:
    found = rows(*two([0.1, 0.3, 0.6, 0.8], [0.2, 0.0, 0.2, 0.0], category=["jobs", "jobs", "homes", "homes"]))
    assert list(found) == ["all", "homes", "jobs"]
    told = {name: (row["before"], row["after"], row["change"], row["n"]) for name, row in found.items()}
    assert told["all"] == pytest.approx((0.45, 0.1, -0.35, 4))
    assert told["homes"] == pytest.approx((0.7, 0.1, -0.6, 2))
    assert told["jobs"] == pytest.approx((0.2, 0.1, -0.1, 2))
    assert {(row["dataset"], row["measure"], row["neutral"]) for row in found.values()} == {("d", "pronoun", 0.0)}


def test_of_few_items_the_interval_is_that_of_students_paired_test() -> None:
    found = rows(*two(*SIX))["all"]
    wanted = stats.ttest_rel(SIX[1], SIX[0]).confidence_interval(0.95)
    assert (found["low"], found["high"]) == pytest.approx((wanted.low, wanted.high))


def test_p_is_that_of_flipping_the_sign_of_each_difference() -> None:
    difference = np.subtract(SIX[1], SIX[0])
    exact = stats.permutation_test((difference,), np.mean, permutation_type="samples", n_resamples=10**6).pvalue
    assert rows(*two(*SIX))["all"]["p"] == pytest.approx(exact, abs=0.02)
    assert 0.05 < exact < 0.95  # so that there is something to get wrong


def test_items_of_one_profession_count_as_one() -> None:
    """Five items more of each profession are no more evidence, where they say the same."""
    jobs = [f"job{n}" for n in range(6)]
    once = rows(*two(*SIX, profession=jobs))["all"]
    often = rows(*two(SIX[0] * 5, SIX[1] * 5, profession=jobs * 5))["all"]
    assert (often["n"], once["n"]) == (30, 6)
    for name in ("change", "low", "high", "p", "detectable"):
        assert often[name] == pytest.approx(once[name])


def test_the_detectable_change_would_be_seen_four_times_in_five() -> None:
    rng = np.random.default_rng(1)
    before, after = rng.normal(size=(2, 30))
    found = rows(*two(before.tolist(), after.tolist()))["all"]
    size = found["detectable"] / np.std(after - before, ddof=1)
    assert TTestPower().power(size, nobs=30, alpha=0.05) == pytest.approx(0.8, abs=0.03)


def test_p_is_adjusted_over_all_rows_by_holm() -> None:
    rng = np.random.default_rng(2)
    before, after = rng.normal(0, 1, 40), rng.normal(0.4, 1, 40)
    frame = change_table(*two(before.tolist(), after.tolist(), category=[f"c{n % 4}" for n in range(40)]))
    assert len(frame) == 5
    assert frame["p_holm"].tolist() == pytest.approx(multipletests(frame["p"], method="holm")[1].tolist())
    assert (frame["p_holm"] > frame["p"]).any()


def test_the_order_of_items_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(2, 24)).tolist()
    before, after = two(*values, category=["a", "b"] * 12, profession=[f"job{n // 2}" for n in range(24)])
    wanted = change_table(before, after)
    before.__dict__["scores"] = before.scores.sample(frac=1, random_state=1)
    after.__dict__["scores"] = after.scores.sample(frac=1, random_state=2)
    pd.testing.assert_frame_equal(change_table(before, after), wanted)


def test_items_that_either_run_could_not_score_are_left_out_and_counted() -> None:
    before, after = [NAN, 0.5, 0.3, 0.2, 9.0, 0.6], [9.0, 0.1, 0.2, 0.3, NAN, 0.1]
    found = rows(*two(before, after))["all"]
    assert (found["n"], found["left_out"]) == (4, 2)
    wanted = rows(*two([0.5, 0.3, 0.2, 0.6], [0.1, 0.2, 0.3, 0.1]))["all"]
    assert found | {"left_out": 0} == pytest.approx(wanted, nan_ok=True)


def test_a_group_without_any_item_that_both_scored_has_no_row() -> None:
    runs = two([NAN, 0.5, 0.3, 0.2], [0.1, NAN, 0.2, 0.3], category=["a", "a", "b", "b"])
    assert list(rows(*runs)) == ["all", "b"]
    of_a = next(row for row in differences(*runs, "d", "pronoun") if row.group == "a")
    assert (of_a.n, of_a.left_out) == (0, 2)
    assert all(math.isnan(getattr(of_a, name)) for name in ("before", "after", "change", "low", "high", "p", "worse"))


def test_associations_are_compared_as_female_minus_male_by_profession_group() -> None:
    before = scores(PAPER, noise=0.0)
    female = before["gender"] == "female"
    moved = np.random.default_rng(1).normal(0, 0.01, len(before))  # t has no verdict on what never varies
    after = before.assign(score=before["score"] + np.where(female, 0.5, 0.2) + moved)  # 0.3 more for women
    found = change_table(associations(before, "one"), associations(after, "other"))
    assert found["measure"].tolist() == ["association, female - male"] * 3
    told = found.set_index("group")
    assert told["before"].to_dict() == pytest.approx({"balanced": -0.4, "female": 1.18, "male": -0.99})
    assert told["change"].tolist() == pytest.approx([0.3] * 3, abs=0.02)
    assert told["n"].tolist() == [24] * 3  # pairs
    assert told["worse"].to_dict() == pytest.approx({"balanced": -0.3, "female": 0.3, "male": -0.3}, abs=0.02)
    assert told["moved"].tolist() == ["towards neutral", "away from neutral", "towards neutral"]


def test_partners_are_found_by_their_ids_and_count_by_profession() -> None:
    before, after = scores(PAPER, jobs=5, noise=0.4), scores(PAPER, jobs=5, noise=0.4)
    rng = np.random.default_rng(4)
    after["score"] += rng.normal(0, 0.3, len(after))
    after.loc[after["gender"] == "female", "score"] += after["profession"].str[-1].astype(float)  # by profession
    found = change_table(associations(before, "one"), associations(after.sample(frac=1, random_state=1), "other"))
    moved = after.assign(score=after["score"] - before["score"]).pivot_table("score", "profession", "gender")
    of_male = moved[moved.index.str.startswith("male")]
    wanted = stats.ttest_1samp(of_male["female"] - of_male["male"], 0).confidence_interval(0.95)
    row: Any = found.set_index("group").loc["male"]
    assert (row["low"], row["high"]) == pytest.approx((wanted.low, wanted.high))


def test_a_pair_of_which_one_item_has_no_score_is_left_out() -> None:
    before = scores(PAPER)
    after = before.assign(score=before["score"].where(before["id"] != "0"))
    found: Any = change_table(associations(before, "one"), associations(after, "other")).set_index("group")
    assert found[["n", "left_out"]].to_dict("index")["balanced"] == {"n": 23, "left_out": 1}
    assert found[["n", "left_out"]].to_dict("index")["male"] == {"n": 24, "left_out": 0}


def test_sizes_are_compared_where_the_measure_is_one_of_size() -> None:
    found = rows(*two([-2.0, 2.0, -3.0], [1.0, -1.0, 1.0], "likelihood-difference"))["all"]
    assert (found["before"], found["after"]) == pytest.approx((7 / 3, 1.0))


@pytest.mark.parametrize("measure", ["nli-coal", "nli-coal-weighted"])
def test_sets_count_equally_whatever_their_size(measure: str) -> None:
    sets = ["pro", "anti", "anti", "non", "non", "non"]
    found = rows(*two([0.9, 0.2, 0.4, 0.0, 0.3, 0.6], [0.3] * 6, measure, set=sets))
    assert found["all"]["before"] == pytest.approx((0.9 + 0.3 + 0.3) / 3)
    assert found["all"]["change"] == pytest.approx(0.3 - 0.5)
    assert found["anti"]["before"] == pytest.approx(0.3)


def test_without_one_of_the_sets_there_is_no_value_of_all() -> None:
    found = rows(*two([0.9, 0.2, 0.4, 0.0], [0.3] * 4, "nli-coal-weighted", set=["pro", "pro", "anti", "anti"]))
    assert math.isnan(found["all"]["change"])
    assert math.isnan(found["all"]["p_holm"])
    assert found["pro"]["change"] == pytest.approx(0.3 - 0.55)


NEUTRAL = [
    ("pronoun", [0.2] * 9, [-0.5] * 9, 0.3, "away from neutral"),
    ("pronoun", [-0.5] * 9, [0.2] * 9, -0.3, "towards neutral"),
    ("stereotype-share", [1.0] * 36 + [0.0] * 4, [1.0] * 24 + [0.0] * 16, 0.1 - 0.4, "towards neutral"),
    ("net-neutral", [0.2] * 9, [0.7] * 9, -0.5, "towards neutral"),
    ("gender-agreement", [0.2] * 9, [0.7] * 9, -0.5, "towards what is right"),
    ("gender-agreement", [0.7] * 9, [0.2] * 9, 0.5, "away from what is right"),
]


@pytest.mark.parametrize(("measure", "before", "after", "worse", "moved"), NEUTRAL)
def test_what_is_worse_depends_on_the_measure(
    measure: str, before: list[float], after: list[float], worse: float, moved: str
) -> None:
    """Farther from its neutral value, 0.5 of shares and 1 of net-neutral; lower, where higher is right."""
    found = rows(*two(before, after, measure))["all"]
    assert found["worse"] == pytest.approx(worse)
    assert found["worse_low"] <= worse + 1e-9
    assert found["worse_high"] >= worse - 1e-9
    assert found["moved"] == moved


def test_a_level_without_a_neutral_value_changes_but_gets_neither_better_nor_worse() -> None:
    found = rows(*two([0.1] * 9, [0.6] * 9, "singular-they"))["all"]
    assert found["change"] == pytest.approx(0.5)
    assert math.isnan(found["worse"])
    assert found["moved"] == ""


def test_a_word_that_calls_for_one_gender_is_better_the_farther_it_is_on_that_side() -> None:
    """P(he) - P(she) should be low for actress and high for actor; of both together one cannot say."""
    found = rows(*two([-0.2] * 9 + [0.2] * 9, [-0.7] * 18, calls_for=["she"] * 9 + ["he"] * 9))
    assert (found["she"]["worse"], found["she"]["moved"]) == (pytest.approx(-0.5), "towards what is right")
    assert (found["he"]["worse"], found["he"]["moved"]) == (pytest.approx(0.9), "away from what is right")
    assert found["all"]["change"] == pytest.approx(-0.7)
    assert math.isnan(found["all"]["worse"])
    assert found["all"]["moved"] == ""


def test_of_one_model_no_difference_means_none_and_of_two_that_few_items_cannot_tell() -> None:
    values = [0.1, 0.2, 0.3]
    same, others = rows(*two(values, values, same=True))["all"], rows(*two(values, values))["all"]
    assert [same[name] for name in ("change", "low", "high", "p")] == [0, 0, 0, 1]
    assert others["change"] == 0
    assert math.isnan(others["low"])


def test_a_model_that_was_measured_twice_with_other_scores_is_compared_as_two() -> None:
    one, other = rows(*two(*SIX, same=True))["all"], rows(*two(*SIX))["all"]
    assert one == other


def test_a_measure_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInput, match="'pronouns'"):
        change_table(*two(*SIX, "pronouns"))


def test_runs_of_other_items_are_refused() -> None:
    (one, _), (other, _) = two(*SIX), two(SIX[0][:5], SIX[1][:5])
    ids = [f"x{n}" if n else old for n, old in enumerate(other.scores["id"])]
    other.__dict__["scores"] = other.scores.assign(id=ids)
    with pytest.raises(BadInput, match="6 items and 5 items, 1 in common"):
        change_table(one, other)


def test_only_what_both_have_is_compared() -> None:
    (one, other), (more, _) = two(*SIX), two(*SIX, "singular-they")
    both = Run(one.path, with_fields(one.record, tasks=(*more.record.tasks, *one.record.tasks)))
    both.__dict__ |= {"scores": pd.concat([more.scores, one.scores], ignore_index=True), "unmeasured": {}}
    pd.testing.assert_frame_equal(change_table(both, other), change_table(one, other))


def test_adjusted_keeps_what_it_is_given_and_leaves_out_what_has_no_p() -> None:
    same: dict[str, Any] = {"n": 9, "left_out": 0, "clusters": 9, "neutral": 0.0, "goal": "neutral", "crossed": True}
    same |= {"task": task("d", "m"), "family": "f"}
    ps = {"a": 0.01, "b": NAN, "c": 0.04}
    rows = adjust_families([Change(groups={"job": name}, end=name, p=p, **same) for name, p in ps.items()])
    found = changes_frame(rows, run="end")
    assert list(found) == ["run", *COLUMNS]
    assert found["run"].tolist() == found["group"].tolist()
    assert found["p_holm"].tolist() == pytest.approx([0.02, NAN, 0.04], nan_ok=True)


def test_nothing_adjusted_is_an_empty_table_with_its_columns() -> None:
    assert list(changes_frame(adjust_families([]))) == list(COLUMNS)
    assert changes_frame(adjust_families([])).empty


def twice(before: list[float], after: list[float], **more: Any) -> dict[str, Any]:
    clusters = [str(i) for i in range(len(before))]
    about: dict[str, Any] = {"crossed": (), "sets": None, "every": (), "shares": False, "neutral": 0.0, "better": 0.0}
    found = Means(np.array(before), np.array(after), clusters, **about | more)
    made = vars(found.difference(np.random.default_rng(0), same=False))
    (row,) = adjust_families([Change(**made, task=task("d", "m"), groups={}, family="f")])
    return {**vars(row), "moved": row.moved}


def test_from_one_side_of_neutral_to_the_other() -> None:
    noisy = [(noise(f"{i // 2}") + 0.1) * (-1) ** i for i in range(40)]  # of mean 0
    here, there, far = ([x + end for x in noisy] for end in (0.2, -0.21, -2.0))
    crossed = twice(here, there)
    assert crossed["high"] < 0  # it did change
    assert crossed["moved"] == ""  # and is as far from neutral as before
    assert twice(here, far)["moved"] == "away from neutral"
    assert twice(far, here)["moved"] == "towards neutral"
    assert twice(here, far, neutral=math.nan)["moved"] == ""
    assert twice(here, far, better=1.0)["moved"] == "away from what is right"
    assert twice(here, far, better=-1.0)["moved"] == "towards what is right"


@pytest.mark.parametrize(("before", "after", "change"), [(1.0, 1.0, 0), (0.0, 1.0, 1), (1.0, 0.0, -1)])
def test_shares_that_agree_throughout_have_an_interval_of_some_width(before: float, after: float, change: int) -> None:
    found = twice([before] * 20, [after] * 20, shares=True, neutral=0.5)
    low, high = stats.binomtest(20, 20).proportion_ci(method="wilson")
    ends = {0: (-(1 - low), 1 - low), 1: (low, high), -1: (-high, -low)}[change]
    assert found["change"] == change
    assert (found["low"], found["high"]) == pytest.approx(ends)


def test_a_share_that_did_not_change_has_an_interval_and_a_mean_does_not() -> None:
    """No pair of twenty changed its mind: another twenty might."""
    shares, lean = (rows(*two([1.0] * 20, [1.0] * 20, name))["all"] for name in ("stereotype-share", "likelihood-lean"))
    assert shares["low"] < -0.1 < 0.1 < shares["high"]
    assert (lean["low"], lean["high"]) == (0, 0)


values = st.lists(st.floats(-5, 5), min_size=8, max_size=20)


@given(before=values, shift=st.floats(-3, 3))
def test_a_distance_changes_by_no_more_than_the_value(before: list[float], shift: float) -> None:
    with fewer_draws():
        found = twice(before, [x + shift + noise(str(i)) for i, x in enumerate(before)])
    reach = max(abs(found["low"]), abs(found["high"])) + 1e-9
    assert -reach <= found["worse_low"] <= found["worse_high"] <= reach
    assert abs(found["worse"]) <= abs(found["change"]) + 1e-9


@given(st.floats(-9, 9), st.floats(-9, 9))
def test_a_distance_from_sum_and_difference(a: float, b: float) -> None:
    assert _difference_of_sizes(a + b, a - b) == pytest.approx(abs(a) - abs(b), abs=1e-9)


def test_near_neutral_nearer_and_farther_are_seldom_claimed_wrongly() -> None:
    """The side of neutral is as uncertain as the value: from +0.1 to -0.1 is no nearer and no farther."""
    claimed = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        jobs = rng.normal(0, 0.3, 20)
        with fewer_draws():
            found = twice((jobs + 0.1).tolist(), (jobs - 0.1 + rng.normal(0, 0.15, 20)).tolist())
        claimed += found["moved"] != ""
    assert claimed <= 10


@pytest.mark.parametrize(("shift", "shown"), [(0.4, True), (0.05, False), (-0.4, True)])
def test_where_clusters_cross_p_goes_with_the_interval(shift: float, shown: bool) -> None:
    found = twice([0.0] * 64, [noise(str(i)) + shift for i in range(64)], crossed=[[str(i % 8) for i in range(64)]])
    assert (found["low"] > 0 or found["high"] < 0) == shown
    assert (found["p"] < 0.05) == shown


def test_what_varies_by_template_alone_counts_once_for_each_template() -> None:
    by_template = [2.5, -1.0, 1.5, -0.5, 1.0, -1.0, 2.0, -0.5]
    values = [by_template[i % 8] for i in range(64)]
    found = twice([0.0] * 64, values, crossed=[[str(i % 8) for i in range(64)]])
    assert found["low"] < 0 < found["high"]
    assert found["p"] > 0.05
    assert twice([0.0] * 64, values)["p"] < 0.01  # were the 64 items independent


def test_pairs_of_a_dataset_without_groups_are_one_group() -> None:
    asked = task("becpro-en", "association", by=(), cluster="", within="")
    before, after = (run(scores(PAPER).assign(score=score), [asked], path) for path, score in (("a", 0.0), ("b", 1.0)))
    (row,) = differences(before, after, "becpro-en", "association")
    assert (row.group, row.n, row.change) == ("all", 72, 0.0)
