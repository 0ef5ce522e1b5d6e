"""The paper's hypotheses: each claim is about its own cell, and the one rule decides, over all of them."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand import BadInput
from evenhand.core.dataset import FEMALE_MALE, Design, Kinds
from evenhand.core.estimands import estimates
from evenhand.measures.association import Association
from evenhand.papers.findings import Claim, evaluate_hypotheses
from helpers.made_scores import PAPER, scores

OPPOSITE = {cell: -value for cell, value in PAPER.items()}


def by_claim(claims: list[Claim]) -> dict[str, Claim]:
    found = {claim.claim: claim for claim in claims}
    assert len(found) == len(claims)
    return found


def verdicts(claims: list[Claim]) -> list[tuple[str, str]]:
    return [(claim.hypothesis, claim.verdict) for claim in claims]


def test_the_papers_pattern_supports_its_hypotheses() -> None:
    """H3 is what the paper itself could not confirm for female words."""
    told = [*product(("H1", "H2"), ["supported"] * 2), ("H3", "refuted")]
    assert verdicts(evaluate_hypotheses(scores(PAPER))) == told


def test_the_opposite_refutes_them() -> None:
    assert [claim.verdict for claim in evaluate_hypotheses(scores(OPPOSITE))] == ["refuted"] * 5


def test_where_nothing_was_put_in_nothing_is_decided_but_that_there_is_no_difference() -> None:
    found = evaluate_hypotheses(scores(dict.fromkeys(PAPER, 0.0)))
    assert [claim.verdict for claim in found] == ["undecided"] * 4 + ["supported"]


def test_no_difference_is_shown_within_the_margin_and_refuted_beyond_it() -> None:
    def balanced(difference: float, noise: float = 0.05) -> str:
        found = PAPER | {("balanced", "female"): difference, ("balanced", "male"): 0.0}
        return evaluate_hypotheses(scores(found, jobs=12, noise=noise))[-1].verdict

    assert balanced(0.0) == "supported"
    assert balanced(0.05) == "supported"  # another than 0, for sure, but within +-0.1
    assert balanced(0.3) == "refuted"
    assert balanced(0.0, noise=1.0) == "undecided"


def test_next_to_each_level_stands_the_contrast_with_the_other_gender() -> None:
    """Words for both genders become likelier alike: the level is there, the contrast is not."""
    found = evaluate_hypotheses(scores(dict.fromkeys(PAPER, 0.3), noise=0.001))
    assert found[0].verdict == "supported"
    assert [claim.contrast.value if claim.contrast else None for claim in found] == pytest.approx(
        [0.0] * 4 + [None], abs=0.01
    )
    told = by_claim(evaluate_hypotheses(scores(PAPER, noise=0.0)))
    beyond = {name: claim.contrast.value for name, claim in told.items() if claim.contrast}
    assert beyond["female words with female professions: positive"] == pytest.approx(0.50 + 0.68)
    assert beyond["male words with female professions: negative"] == pytest.approx(-0.50 - 0.68)


def test_claims_are_adjusted_for_one_another() -> None:
    claims = evaluate_hypotheses(scores(PAPER, noise=0.5))
    assert all(claim.estimate.p_holm >= claim.estimate.p for claim in claims)
    assert {claim.estimate.needed for claim in claims} == {3}


def test_two_professions_are_too_few_for_a_verdict() -> None:
    assert {claim.verdict for claim in evaluate_hypotheses(scores(PAPER, jobs=2))[:4]} == {"undecided"}


def test_each_claim_is_of_its_own_cell() -> None:
    found = by_claim(evaluate_hypotheses(scores(PAPER, noise=0.0)))
    assert {name: claim.estimate.value for name, claim in found.items()} == pytest.approx(
        {
            "female words with female professions: positive": PAPER["female", "female"],
            "male words with male professions: positive": PAPER["male", "male"],
            "female words with male professions: negative": PAPER["male", "female"],
            "male words with female professions: negative": PAPER["female", "male"],
            "female and male words do not differ with balanced professions": -0.35 - 0.05,
        }
    )


def test_after_fine_tuning_each_claim_is_of_the_change_of_its_own_cell() -> None:
    before = scores(PAPER, jobs=9, noise=0.0)
    moves = {cell: 0.1 * (number + 1) for number, cell in enumerate(PAPER)}
    cells = zip(before["prof_gender"], before["gender"], strict=True)
    moved = [moves[cell] + 1e-6 * (number % 7) for number, cell in enumerate(cells)]
    found = by_claim(evaluate_hypotheses(before, before.assign(score=before["score"] + moved)))
    assert len(found) == 11
    assert {name: claim.estimate.value for name, claim in found.items() if "after" in name} == pytest.approx(
        {
            "female words with female professions: falls after fine-tuning": moves["female", "female"],
            "male words with male professions: falls after fine-tuning": moves["male", "male"],
            "female words with male professions: rises after fine-tuning": moves["male", "female"],
            "male words with female professions: rises after fine-tuning": moves["female", "male"],
            "female words with balanced professions: no change after fine-tuning": moves["balanced", "female"],
            "male words with balanced professions: no change after fine-tuning": moves["balanced", "male"],
        },
        abs=1e-4,
    )
    told = {name.split(": ")[1].split()[0]: claim.verdict for name, claim in found.items() if "after" in name}
    assert told == {"falls": "refuted", "rises": "supported", "no": "refuted"}  # all of them rose


def test_a_model_that_was_levelled_out_moved_as_the_paper_expects() -> None:
    before = scores(PAPER, jobs=9)
    found = by_claim(evaluate_hypotheses(before, before.assign(score=before["score"] * 0.1)))
    told = [claim.verdict for name, claim in found.items() if "falls" in name or "rises" in name]
    assert told == ["supported"] * 4


def test_both_runs_must_have_the_same_items() -> None:
    frame = scores(PAPER)
    with pytest.raises(BadInput, match="144 and 143, 143"):
        evaluate_hypotheses(frame, frame.iloc[1:])


def test_the_interval_is_students_over_professions_where_they_are_few() -> None:
    """Items of one profession are no independent ones: their mean is what counts."""
    frame = scores(PAPER, jobs=5, noise=0.4)
    found = evaluate_hypotheses(frame)[0]
    cell = frame[(frame["gender"] == "female") & (frame["prof_gender"] == "female")]
    wanted = stats.ttest_1samp(cell.groupby("profession")["score"].mean(), 0).confidence_interval(0.95)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((wanted.low, wanted.high))
    assert found.estimate.value == pytest.approx(cell["score"].mean())


def test_the_balanced_difference_is_the_one_that_is_shown_elsewhere() -> None:
    """To the last digit of its interval: a reader sees both on one page."""
    frame = scores(PAPER, noise=0.5)
    shown = pd.concat([frame.assign(template=str(n), id=frame["id"] + f"/{n}") for n in range(3)])
    shown["score"] += np.random.default_rng(1).normal(0, 0.2, len(shown))
    kinds = Kinds("prof_gender", samples=("template", "slot"))
    for scored in (frame, shown):  # with one template, which is no sample, and with three
        claim = evaluate_hypotheses(scored, seed=7)[-1]
        design = Design(("prof_gender", "gender"), "", "profession", "", FEMALE_MALE, kinds)
        found = estimates(scored.drop(columns=["dataset", "measure"]), design, Association(), seed=7)
        (row,) = [value for value in found if value.groups == {"prof_gender": "balanced"}]
        wanted = (row.value, row.low, row.high)
        assert (claim.estimate.value, claim.estimate.low, claim.estimate.high) == pytest.approx(wanted, rel=1e-12)


def test_unscored_items_are_left_out() -> None:
    frame = scores(PAPER)
    frame.loc[frame["slot"] == "0", "score"] = np.nan
    assert evaluate_hypotheses(frame) == evaluate_hypotheses(frame.dropna(subset="score"))
    assert verdicts(evaluate_hypotheses(frame)) == verdicts(evaluate_hypotheses(scores(PAPER)))


def test_the_order_of_rows_changes_nothing() -> None:
    frame = scores(PAPER, noise=0.3)
    for one, other in zip(
        evaluate_hypotheses(frame.sample(frac=1, random_state=1)), evaluate_hypotheses(frame), strict=True
    ):
        assert (one.claim, one.verdict) == (other.claim, other.verdict)
        assert (one.estimate.value, one.estimate.low, one.estimate.high) == pytest.approx(
            (other.estimate.value, other.estimate.low, other.estimate.high)
        )


def test_what_was_not_measured_is_undecided() -> None:
    without = scores({cell: value for cell, value in PAPER.items() if cell[0] != "balanced"})
    claim = evaluate_hypotheses(without)[-1]
    assert claim.hypothesis == "H3"
    assert np.isnan([claim.estimate.value, claim.estimate.low, claim.estimate.high]).all()
    assert claim.verdict == "undecided"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=6, max_size=6), st.floats(0, 1))
@example([0.0] * 6, 7e-104)  # whose squared variance is no longer a number above 0
def test_a_verdict_never_goes_against_its_interval(means: list[float], noise: float) -> None:
    for claim in evaluate_hypotheses(scores(dict(zip(PAPER, means, strict=True)), noise=noise)):
        above, below = claim.estimate.low > 0, claim.estimate.high < 0
        if claim.hypothesis != "H3" and claim.verdict != "undecided":
            assert (claim.verdict == "supported") == (above if claim.hypothesis == "H1" else below)
        if claim.hypothesis == "H3" and claim.verdict == "refuted":
            assert above or below


def test_scores_that_are_all_the_same_decide_nothing() -> None:
    frame = scores(dict.fromkeys(PAPER, 0.0), noise=0.0)
    assert [claim.verdict for claim in evaluate_hypotheses(frame)] == ["undecided"] * 5
