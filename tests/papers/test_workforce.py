"""Scores against the world: correlations over professions, as SciPy has them, of what was put in."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evenhand import BadInput
from evenhand.datasets.becpro import professions
from evenhand.papers.findings import by_profession, correlate_with, german_shares, workforce_shares
from helpers.made_scores import PAPER, scores


def jobs(frame: pd.DataFrame) -> list[str]:
    return sorted(frame["profession"].unique())


def numbered(frame: pd.DataFrame) -> dict[str, float]:
    return {job: float(i) for i, job in enumerate(jobs(frame))}


def rows(frame: pd.DataFrame, numbers: dict[str, float], **more: Any) -> Any:
    return correlate_with(frame, numbers, **more).set_index(["group", "score"])


def small(*cells: tuple[str, str, float]) -> pd.DataFrame:
    """Rows of (profession, gender, score), all in one group."""
    frame = pd.DataFrame(cells, columns=["profession", "gender", "score"])
    return frame.assign(prof_gender="male")


def test_a_profession_has_the_mean_of_each_gender_and_their_difference() -> None:
    found = by_profession(
        small(*(("cook", "female", x) for x in (1.0, 1.0, 5.5)), ("cook", "male", 2.0), ("smith", "male", 3.0))
    )
    assert list(found) == ["prof_gender", "profession", "female", "male", "difference"]
    cook, smith = found.to_dict("records")
    assert cook == {"prof_gender": "male", "profession": "cook", "female": 2.5, "male": 2.0, "difference": 0.5}
    assert (smith["profession"], smith["male"]) == ("smith", 3.0)
    assert math.isnan(smith["female"])  # not measured is not 0
    assert math.isnan(smith["difference"])


def test_unscored_items_are_left_out_of_a_professions_mean() -> None:
    found = by_profession(small(("cook", "female", 1.0), ("cook", "female", math.nan), ("cook", "male", 0.0)))
    assert found["female"].tolist() == [1.0]


def test_a_sample_of_one_gender_has_no_difference_rather_than_a_crash() -> None:
    found = by_profession(small(("cook", "male", 1.0), ("smith", "male", 2.0)))
    assert found["difference"].isna().all()


def test_the_correlation_is_the_one_that_was_put_in() -> None:
    frame = scores(dict.fromkeys(PAPER, 0.0), noise=0.0)
    numbers = numbered(frame)
    female = frame["gender"] == "female"
    frame.loc[female, "score"] = frame.loc[female, "profession"].map(numbers) * 2
    found = rows(frame, numbers)
    assert found.loc[("all", "female"), ["pearson", "spearman"]].tolist() == pytest.approx([1, 1])
    assert found.loc[("all", "difference"), ["pearson", "spearman"]].tolist() == pytest.approx([1, 1])
    assert math.isnan(found.loc[("all", "male"), "pearson"])  # male scores do not vary: no correlation, not one of 0


def test_groups_have_rows_of_their_own_beside_all_together() -> None:
    """Opposite lines within groups of professions that all together rise."""
    frame = scores({("female", "female"): 0.0, ("male", "female"): 0.0}, noise=0.0)
    place = frame["profession"].str[-1].astype(float)
    frame["score"] = np.where(frame["prof_gender"] == "female", 100 - place, place)
    numbers = {job: float(job[-1]) + (50 if job.startswith("female") else 0) for job in jobs(frame)}
    found = rows(frame, numbers)
    assert found["n"].xs("female", level="score").to_dict() == {"all": 16, "female": 8, "male": 8}
    assert found.loc[("female", "female"), "pearson"] == pytest.approx(-1)
    assert found.loc[("male", "female"), "pearson"] == pytest.approx(1)
    assert found.loc[("all", "female"), "pearson"] > 0.9
    assert len(found) == 3 * 3


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
@pytest.mark.parametrize("what", ["female", "male", "difference"])
def test_correlation_and_p_are_scipys_over_professions(kind: str, what: str) -> None:
    frame = scores(PAPER, noise=1.0)
    numbers = dict(zip(jobs(frame), np.random.default_rng(5).normal(size=24), strict=True))
    found = rows(frame, numbers).loc["male", :].loc[what]
    means = by_profession(frame).query("prof_gender == 'male'")
    test = stats.pearsonr if kind == "pearson" else stats.spearmanr
    wanted = test(means[what], means["profession"].map(numbers))
    assert (found[kind], found[f"{kind}_p"]) == pytest.approx((wanted.statistic, wanted.pvalue))
    assert found[f"{kind}_low"] < found[kind] < found[f"{kind}_high"]


def test_professions_without_a_number_or_a_score_are_left_out_and_counted() -> None:
    frame = scores(PAPER, noise=1.0)
    known = numbered(frame)
    gone, unscored = "male0", "male1"
    frame.loc[(frame["profession"] == unscored) & (frame["gender"] == "male"), "score"] = np.nan
    found = rows(frame, {job: number for job, number in known.items() if job != gone} | {"nobody's": 9.0})
    assert found.loc["male", "n"].to_dict() == {"female": 7, "male": 6, "difference": 6}
    assert found.loc["all", "n"].to_dict() == {"female": 23, "male": 22, "difference": 22}
    without = frame[~frame["profession"].isin([gone, unscored])]
    columns = ["n", "pearson", "pearson_low", "spearman", "spearman_low"]
    one, other = found.loc[("male", "difference"), columns], rows(without, known).loc[("male", "difference"), columns]
    assert one.tolist() == pytest.approx(other.tolist(), nan_ok=True)


def test_of_fewer_than_eight_professions_there_is_a_value_but_no_interval() -> None:
    frame = scores(PAPER, jobs=7, noise=1.0)
    found = rows(frame, numbered(frame))
    within, every = found.loc[("male", "female")], found.loc[("all", "female")]
    assert not math.isnan(within["pearson"])
    assert math.isnan(within["pearson_low"])
    assert math.isnan(within["spearman_high"])
    assert every["pearson_low"] < every["pearson"] < every["pearson_high"]


def test_the_order_of_rows_changes_nothing() -> None:
    frame = scores(PAPER, noise=1.0)
    shuffled = frame.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(correlate_with(shuffled, numbered(frame)), correlate_with(frame, numbered(frame)))


def test_the_columns_for_group_and_profession_can_have_other_names() -> None:
    frame = scores(PAPER, noise=1.0).rename(columns={"prof_gender": "emotion", "profession": "word"})
    found = correlate_with(frame, numbered(frame.rename(columns={"word": "profession"})), by="emotion", cluster="word")
    same = scores(PAPER, noise=1.0)
    pd.testing.assert_frame_equal(found, correlate_with(same, numbered(same)))


def test_shares_are_those_of_the_papers_sixty_professions() -> None:
    found, group = workforce_shares(), {job.name: job.prof_gender for job in professions()}
    assert set(found) == set(group)
    assert len(found) == 60
    means = pd.Series(found).groupby(pd.Series(group)).mean()
    assert means["male"] < 10 < means["balanced"] < 60 < means["female"]


HEAD = "professions\tsimplified_professions\tpercent_us\tpercent_de\n"


def test_german_shares_are_read_from_the_released_table(tmp_path: Path) -> None:
    file = tmp_path / "professions_us_de.tsv"
    file.write_text(HEAD + "Registered nurses\tregistered nurse\t88.9\t79.36\nRoofers\troofer\t1.9\t2.5\n")
    assert german_shares(file) == {"registered nurse": 79.36, "roofer": 2.5}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        ("profession\tpercent\nroofer\t2.5\n", "simplified_professions"),
        (HEAD.replace("percent_de", "percent") + "Roofers\troofer\t1.9\t2.5\n", "percent_de"),
        (HEAD + "Roofers\troofer\t1.9\tfew\n", "'few'"),
        (HEAD + "Roofers\troofer\t1.9\t\n", "float: ''"),
    ],
)
def test_another_file_is_refused_with_what_is_wrong(tmp_path: Path, content: str | None, says: str) -> None:
    file = tmp_path / "professions_us_de.tsv"
    if content is not None:
        file.write_text(content)
    with pytest.raises(BadInput, match="professions_us_de.tsv") as refused:
        german_shares(file)
    assert says in str(refused.value).split("Got: ")[1]


def test_the_released_table_has_every_profession_and_the_share_of_its_broad_category(data: Path) -> None:
    found = german_shares(data / "becpro" / "professions_us_de.tsv")
    assert set(found) == set(workforce_shares())
    assert list(found.values()).count(79.36) == 19  # all health, social and teaching jobs
