"""Gaps of true positive rates: by hand, as fairlearn computes them, and from tables of any shape."""

import math
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy import stats

from evenhand import BadInput, Run, compare, from_scores
from evenhand.core.scores import Score
from evenhand.measures.tpr_gap import MeanGap, RootMeanSquareGap

pytestmark = pytest.mark.usefixtures("without_pages")


def made() -> pd.DataFrame:
    """800 people of three occupations."""
    rng, rows = random.Random(3), []
    for label, n, women, shift in (("nurse", 300, 0.85, 0.1), ("surgeon", 260, 0.2, -0.15), ("teacher", 240, 0.6, 0.0)):
        for _ in range(n):
            gender = "F" if rng.random() < women else "M"
            right = rng.random() < 0.7 + (shift if gender == "F" else 0)
            predicted = label if right else rng.choice(["nurse", "surgeon", "teacher", "lawyer"])
            rows.append({"label": label, "prediction": predicted, "gender": gender})
    return pd.DataFrame(rows)


def taken(scores: Any, out: Path, **more: Any) -> Run:
    given: dict[str, Any] = {"measure": "tpr-gap", "name": "classifier", "out": out}
    return from_scores(scores, **given | more)


def by_class(run: Run, measure: str) -> dict[str, float]:
    return {value.groups.get("label", "all"): value.value for value in run.values_of("predictions", measure)}


def test_gaps_are_those_of_fairlearn(tmp_path: Path) -> None:
    """By fairlearn 0.15.0's MetricFrame of true_positive_rate, class by class."""
    file = tmp_path / "predictions.csv"
    made().to_csv(file, index=False)
    run = taken(file, tmp_path)
    gaps = {"nurse": 0.022622387114, "surgeon": -0.128682170543, "teacher": 0.061760547660}
    assert by_class(run, "tpr-gap") == pytest.approx({"all": -0.014766411923, **gaps}, abs=1e-9)
    sizes = {label: abs(gap) for label, gap in gaps.items()}
    assert by_class(run, "tpr-gap-rms") == pytest.approx({"all": 0.083437079410, **sizes}, abs=1e-9)
    assert [row.measure for row in run.rows if row.main] == ["tpr-gap", "tpr-gap-rms"]
    assert all(math.isnan(value.p) for value in run.values_of("predictions", "tpr-gap-rms"))  # compared, not judged


def test_a_class_of_one_gender_has_no_gap_and_is_in_no_mean(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"label": list("aaaabb"), "prediction": list("aaxabb"), "gender": ["woman", "Female", "m", "man", "f", "other"]}
    )
    run = taken(frame, tmp_path)
    found = by_class(run, "tpr-gap")
    assert (found["all"], found["a"]) == (0.5, 0.5)
    assert math.isnan(found["b"])
    assert any(line == "Classes without women or without men have no gap: b." for line in run.record.warnings)
    (unscored,) = {tuple(unscored) for unscored in run.record.unscored.values()}
    assert unscored == ("the gender is neither female nor male",)


def test_rows_of_a_cluster_are_resampled_together(tmp_path: Path) -> None:
    frame = pd.concat([made().head(200)] * 2, ignore_index=True)
    frame.loc[::9, "gender"] = "M"
    frame["who"] = [str(place % 200) for place in range(400)]
    apart, together = (
        taken(frame, tmp_path, name=name, columns=columns).values_of("predictions", "tpr-gap")[0]
        for name, columns in (("apart", {}), ("together", {"cluster": "who"}))
    )
    assert together.value == apart.value
    assert together.high - together.low > 1.2 * (apart.high - apart.low)


def test_samples_without_a_gender_of_a_class_exclude_that_class() -> None:
    groups = ({"label": "a", "gender": "female"}, {"label": "a", "gender": "male"}, {"label": "b", "gender": "male"})
    scores = [Score(str(place), float(place == 0), of) for place, of in enumerate(groups)]
    assert (MeanGap()(scores), RootMeanSquareGap()(scores), MeanGap()(scores[::2])) == pytest.approx(
        (1.0, 1.0, math.nan), nan_ok=True
    )


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("label,prediction\na,a\n", "no column 'gender'.*gender=COLUMN|no column 'gender'"),
        ("label,prediction,gender\na,,f\n", "line 2: 'prediction' is empty"),
        ("label,prediction,gender\n", "has no rows"),
        ("label,prediction,gender\n1,1.0,f\n2,2.0,m\n", "No prediction is a label. .*'1.0'.*'1'"),
    ],
)
def test_a_table_that_has_no_gaps_is_an_error_that_names_the_place(rows: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "predictions.csv"
    file.write_text(rows)
    with pytest.raises(BadInput, match=says):
        taken(file, tmp_path)


def sentences() -> pd.DataFrame:
    """Scores of 40 sentences with five women and five men each, of two emotions."""
    rng = random.Random(4)
    return pd.DataFrame(
        {
            "frame": f"{person} feels {word}",
            "group": "anger" if word % 2 else "joy",
            "gender": gender,
            "score": 0.5 + 0.01 * word + (0.1 if gender == "female" and word % 2 else 0.0) + rng.gauss(0, 0.05),
        }
        for word in range(20)
        for person in ("subject", "object")
        for gender in ("female", "male")
        for _ in range(5)
    )


def test_a_gap_of_scores_is_the_mean_difference_of_paired_sentences(tmp_path: Path) -> None:
    frame = sentences()
    means = frame.groupby(["frame", "gender"])["score"].mean().unstack()
    differences = means["female"] - means["male"]
    frame.to_csv(tmp_path / "scores.csv", index=False)
    run = taken(tmp_path / "scores.csv", tmp_path, measure="score-gap")
    (whole, anger, joy) = run.values_of("scored-sentences", "score-gap")
    assert whole.value == pytest.approx(differences.mean())
    assert (anger.n, joy.n, anger.low > 0.05, joy.low < 0 < joy.high) == (20, 20, True, True)
    paired = stats.ttest_1samp(differences, 0)  # the paper's test pairs the same means
    low, high = paired.confidence_interval()
    assert (whole.low, whole.high) == pytest.approx((low, high), abs=0.003)


def test_sentences_of_one_gender_are_unscored_and_scores_must_be_numbers(tmp_path: Path) -> None:
    frame = pd.DataFrame({"frame": list("aabbc"), "gender": list("fmfmf"), "score": [2.0, 1.0, 4.0, 1.0, 5.0]})
    run = taken(frame, tmp_path, measure="score-gap")
    (value,) = run.values_of("scored-sentences", "score-gap")
    assert (value.value, value.n, value.unscored) == (2.0, 2, 1)
    with pytest.raises(BadInput, match="row 5: score must be a finite number. Got 'high'"):
        taken(frame.assign(score=[*"1234", "high"]), tmp_path, measure="score-gap")
    with pytest.raises(BadInput, match="row 2: the frame 'a' had another group"):
        taken(frame.assign(group=list("xyxyx")), tmp_path, measure="score-gap")


def test_predictions_are_compared_for_the_same_people_alone(tmp_path: Path) -> None:
    people = made()
    before = taken(people, tmp_path, name="before")
    better = taken(people.assign(prediction=people["label"]), tmp_path, name="better")
    assert len(compare(before, better).rows) > 0
    others = taken(people.sample(frac=1, random_state=1), tmp_path, name="others")  # without ids, rows are people
    with pytest.raises(BadInput):
        compare(before, others)


def test_a_table_is_of_its_own_measures_and_each_person_is_in_a_cluster(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'score-gap' is not of this table|'tpr-gap' is not of this table"):
        taken(made(), tmp_path, measure=["tpr-gap", "score-gap"])
    with pytest.raises(BadInput, match="'cluster' is empty"):
        taken(made().assign(cluster=["a", ""] * 400), tmp_path)
