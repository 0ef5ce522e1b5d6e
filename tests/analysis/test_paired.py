"""Female against male, on scores made by hand."""

import numpy as np
import pandas as pd
import pytest

from evenhand import BadInput
from evenhand.analysis import agreement, hypotheses, workforce
from evenhand.analysis.findings import findings
from evenhand.analysis.paired import changes, compared, pairs
from evenhand.runs.folder import Run


def scores(effect: dict[tuple[str, str], float], *, jobs: int = 8, noise: float = 0.05) -> pd.DataFrame:
    """A small BEC-Pro: 3 groups x 8 professions x 2 genders x 3 slots, with a mean for each (prof_gender, gender)."""
    rng = np.random.default_rng(0)
    rows = []
    for (prof_gender, gender), mean in effect.items():
        for job in range(jobs):
            for slot in range(3):
                rows.append(
                    {
                        "dataset": "becpro-en",
                        "measure": "association",
                        "id": str(len(rows)),
                        "score": mean + noise * rng.normal(),
                        "prof_gender": prof_gender,
                        "gender": gender,
                        "profession": f"{prof_gender}{job}",
                        "person": f"{gender}{slot}",
                        "slot": str(slot),
                        "template": "1",
                    }
                )
    return pd.DataFrame(rows)


PAPER = {
    ("balanced", "female"): -0.35,
    ("balanced", "male"): 0.05,
    ("female", "female"): 0.50,
    ("female", "male"): -0.68,
    ("male", "female"): -0.83,
    ("male", "male"): 0.16,
}


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


def test_differences_are_tested_by_group() -> None:
    found = compared(pairs(scores(PAPER))).set_index("prof_gender")
    assert found.loc["male", "difference"] == pytest.approx(-0.99, abs=0.05)
    assert found.loc["female", "difference"] == pytest.approx(1.18, abs=0.05)
    assert found.loc["male", "high"] < 0 < found.loc["female", "low"]
    assert (found["p_holm"] >= found["p"]).all()
    assert found.loc["male", "w"] == 0  # every difference negative
    assert found.loc["male", "r"] == found.loc["male", "r_printed"] < 0
    assert found.loc["female", "r"] == -found.loc["female", "r_printed"] > 0


def test_unscored_items_leave_their_pair_out() -> None:
    frame = scores(PAPER)
    frame.loc[0, "score"] = np.nan
    found = compared(pairs(frame)).set_index("prof_gender")
    assert found.loc["balanced", "pairs"] == 23


def test_the_papers_pattern_supports_its_hypotheses() -> None:
    """H3 is what the paper itself could not confirm for female words."""
    verdicts = [(c.hypothesis, c.verdict) for c in hypotheses.evaluate(scores(PAPER))]
    assert verdicts == [
        ("H1", "supported"),
        ("H1", "supported"),
        ("H2", "supported"),
        ("H2", "supported"),
        ("H3", "refuted"),
    ]


def test_the_opposite_refutes_and_nothing_leaves_undecided() -> None:
    opposite = hypotheses.evaluate(scores({cell: -value for cell, value in PAPER.items()}))
    assert [c.verdict for c in opposite] == ["refuted"] * 5
    nothing = hypotheses.evaluate(scores(dict.fromkeys(PAPER, 0.0)))
    assert [c.verdict for c in nothing].count("undecided") >= 4


def test_changes_after_fine_tuning_are_judged_too() -> None:
    before = scores(PAPER)
    after = before.assign(score=before["score"] * 0.1)
    found = {c.claim: c.verdict for c in hypotheses.evaluate(before, after)}
    assert found["female words with female professions: falls after fine-tuning"] == "supported"
    assert found["female words with male professions: rises after fine-tuning"] == "supported"
    assert found["female words with balanced professions: no change after fine-tuning"] == "refuted"
    assert len(found) == 11


def test_changes_need_the_same_items() -> None:
    frame = scores(PAPER)
    with pytest.raises(BadInput, match="must have the same items"):
        changes(frame, frame.iloc[5:])


def test_the_workforce_correlation_is_the_one_that_was_put_in() -> None:
    frame = scores(dict.fromkeys(PAPER, 0.0), noise=0.0)
    numbers = {job: float(i) for i, job in enumerate(sorted(frame["profession"].unique()))}
    female = frame["gender"] == "female"
    frame.loc[female, "score"] = frame.loc[female, "profession"].map(numbers) * 2
    found = workforce.against(frame, numbers).set_index(["group", "score"])
    assert found.loc[("all", "difference"), "pearson"] == pytest.approx(1.0)
    assert found.loc[("all", "difference"), "spearman"] == pytest.approx(1.0)
    assert found.loc[("all", "difference"), "n"] == 24
    assert np.isnan(found.loc[("all", "male"), "pearson"])  # male scores do not vary
    assert len(found) == 4 * 3


def crossed(social: float, agrees: float, form: float) -> pd.DataFrame:
    frames = []
    for form_name, f in (("feminine", 1), ("masculine", -1)):
        for gender, g in (("female", 1), ("male", -1)):
            value = social * g / 2 + agrees * g * f / 2 + form * f / 2
            frame = scores({(group, gender): value for group in ("balanced", "female", "male")}, noise=0.0)
            frames.append(frame.assign(form=form_name))
    return pd.concat(frames).assign(id=lambda frame: [str(i) for i in range(len(frame))])


def test_crossing_takes_agreement_social_and_form_apart() -> None:
    effects = agreement.decompose(crossed(social=0.3, agrees=2.0, form=0.5))
    assert effects["social"].tolist() == pytest.approx([0.3] * 24)
    assert effects["agreement"].tolist() == pytest.approx([2.0] * 24)
    assert effects["form"].tolist() == pytest.approx([0.5] * 24)
    summed = agreement.summary(effects)
    assert len(summed) == 12
    assert summed["low"].tolist() == pytest.approx(summed["value"].tolist(), abs=1e-9)
    assert effects["level"].tolist() == pytest.approx([0.0] * 24)


def test_a_small_sample_without_one_of_the_four_has_no_effect_rather_than_a_crash() -> None:
    frame = crossed(social=0.3, agrees=2.0, form=0.5)
    part = frame[~((frame["gender"] == "male") & (frame["form"] == "masculine"))]
    assert agreement.decompose(part)["social"].isna().all()
    assert agreement.summary(agreement.decompose(part))["value"].isna().all()
    assert compared(pairs(frame.assign(score=np.nan))).empty


def test_what_the_release_shows_is_social_and_form_mixed() -> None:
    frame = crossed(social=0.0, agrees=2.0, form=0.5)
    agrees = (frame["gender"] == "female") == (frame["form"] == "feminine")
    found = compared(pairs(frame[agrees]))
    assert found["difference"].tolist() == pytest.approx([0.5] * 3)  # all alike, and none of it social


def test_agreement_needs_both_forms() -> None:
    with pytest.raises(BadInput, match="forms=crossed"):
        agreement.decompose(scores(PAPER))


def test_frequency_is_a_confound_on_request(tmp_path: object) -> None:
    frame = scores(PAPER)
    task = {"dataset": "becpro-en", "measure": "association", "by": ["prof_gender", "gender"], "cluster": "profession"}
    run = Run(tmp_path, {"tasks": [task], "seed": 0, "pieces": {}})  # type: ignore[arg-type]
    run.__dict__["scores"] = frame
    numbers = {job: float(i) for i, job in enumerate(frame["profession"].unique())}
    assert findings(run)[0].confounds == {}
    assert list(findings(run, frequency=numbers)[0].confounds) == ["frequency"]
