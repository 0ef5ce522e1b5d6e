"""Findings: for each dataset with women and men all that its own scores say, and nothing that does not apply."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenhand.papers.findings import (
    DatasetFindings,
    correlate_with,
    decompose,
    evaluate_hypotheses,
    findings,
    pairs,
    signed_ranks,
    summarise_effects,
    workforce_shares,
)
from helpers.made_scores import PAPER, associations, crossed, run, scores
from helpers.written_runs import task

BY = ("prof_gender", "gender")


@pytest.fixture(autouse=True)
def no_released_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENHAND_DATA", raising=False)


def pronouns() -> pd.DataFrame:
    """A dataset without partners, with a group of its own."""
    frame = pd.DataFrame({"dataset": "tbd", "measure": "pronoun", "id": ["1", "2"], "score": [0.1, np.nan]})
    return frame.assign(category="jobs")


def only(found: list[DatasetFindings]) -> DatasetFindings:
    (one,) = found
    return one


def feelings(noise: float = 0.05) -> pd.DataFrame:
    """The same scores of another dataset, whose groups have other names."""
    names = {"prof_gender": "emotion", "profession": "word"}
    return scores(PAPER, noise=noise).rename(columns=names).assign(dataset="emotions-en")


def test_there_are_findings_for_datasets_with_women_and_men_that_were_scored() -> None:
    unscored = scores(PAPER).assign(dataset="unscored", score=np.nan)
    frame = pd.concat([pronouns(), scores(PAPER), unscored, feelings()], ignore_index=True)
    tasks = [
        task("tbd", "pronoun", by=("category",)),
        task("unscored", "association", by=BY),
        task("emotions-en", "association", by=("emotion", "gender"), cluster="word"),
        task("becpro-en", "association", by=BY),
    ]
    found = findings(run(frame, tasks))
    assert [(one.dataset, one.by) for one in found] == [("emotions-en", "emotion"), ("becpro-en", "prof_gender")]
    assert findings(run(pronouns(), tasks[:1])) == []


def test_each_finding_is_that_of_the_datasets_own_scores_by_the_runs_seed() -> None:
    """Scores of another dataset in the same run, ten times as large, change nothing."""
    frame = scores(PAPER, noise=0.5)
    known = dict(zip(frame["profession"].unique(), workforce_shares(), strict=False))
    frame["profession"] = frame["profession"].map(known)  # professions of which the share of women is known
    others = feelings().assign(score=lambda of: of["score"] * 10)
    found = only(findings(associations(pd.concat([frame, others], ignore_index=True), seed=5)))
    pd.testing.assert_frame_equal(found.ranks, signed_ranks(pairs(frame)))
    assert found.claims == evaluate_hypotheses(frame, seed=5)
    every, others = (correlate_with(frame, workforce_shares(), seed=seed) for seed in (5, 6))
    wanted, other = (one[one["score"] == "difference"].reset_index(drop=True) for one in (every, others))
    pd.testing.assert_frame_equal(found.workforce["US"], wanted)
    assert not found.workforce["US"].equals(other)


def test_the_papers_claims_and_the_workforce_are_about_professions_alone() -> None:
    asked = task("emotions-en", "association", by=("emotion", "gender"), cluster="word")
    found = only(findings(run(feelings(), [asked])))
    assert found.ranks["emotion"].tolist() == ["balanced", "female", "male"]
    assert found.ranks["pairs"].tolist() == [24, 24, 24]
    assert found.claims == []
    assert found.workforce == {}
    assert found.agreement.empty


def numbers(frame: pd.DataFrame, cluster: str = "profession") -> dict[str, float]:
    """A number for each profession: the mean score of its female words minus that of its male ones."""
    female, male = (frame[frame["gender"] == of].groupby(cluster)["score"].mean() for of in ("female", "male"))
    return {str(name): float(mean) for name, mean in (female - male).items()}


def pearson(found: pd.DataFrame) -> float:
    rows: Any = found.set_index(["group", "score"])
    return float(rows.loc[("all", "difference"), "pearson"])


def test_token_counts_are_a_confound_where_the_run_counted_them_for_that_dataset() -> None:
    frame = scores(PAPER)
    counted = associations(frame, tokens={"becpro-en": numbers(frame), "tbd": {}})
    found = only(findings(counted))
    assert list(found.confounds) == ["tokens"]
    assert pearson(found.confounds["tokens"]) == pytest.approx(1)
    assert only(findings(associations(frame, tokens={"becpro-de": numbers(frame)}))).confounds == {}


def test_frequency_is_a_confound_on_request() -> None:
    frame = scores(PAPER)
    assert only(findings(associations(frame))).confounds == {}
    found = only(findings(associations(frame), frequency=numbers(frame)))
    assert list(found.confounds) == ["frequency"]
    assert pearson(found.confounds["frequency"]) == pytest.approx(1)


def test_confounds_are_looked_at_for_other_words_than_professions_too() -> None:
    frame = feelings()
    asked = task("emotions-en", "association", by=("emotion", "gender"), cluster="word")
    found = only(findings(run(frame, [asked]), frequency=numbers(frame, "word")))
    assert pearson(found.confounds["frequency"]) == pytest.approx(1)


def test_agreement_is_taken_apart_where_every_person_has_both_forms() -> None:
    frame = crossed(social=0.3, agrees=2.0, form=0.5)
    found = only(findings(associations(frame, seed=3)))
    pd.testing.assert_frame_equal(found.agreement, summarise_effects(decompose(frame), seed=3))
    released = frame[(frame["gender"] == "female") == (frame["form"] == "feminine")]
    assert only(findings(associations(released))).agreement.empty


def test_german_shares_are_added_for_a_german_run_if_the_released_table_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    german = scores(PAPER).assign(dataset="becpro-de")
    assert list(only(findings(associations(german))).workforce) == ["US"]
    (tmp_path / "becpro").mkdir()
    shares = "".join(f"{job}\t{share}\n" for job, share in numbers(german).items())
    (tmp_path / "becpro" / "professions_us_de.tsv").write_text("simplified_professions\tpercent_de\n" + shares)
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    found = only(findings(associations(german))).workforce
    assert list(found) == ["US", "Germany"]
    assert pearson(found["Germany"]) == pytest.approx(1)
    assert list(only(findings(associations(scores(PAPER)))).workforce) == ["US"]


def test_a_dataset_without_groups_is_one_group() -> None:
    whole = associations(scores(PAPER))
    bare = run(whole.scores, [task("becpro-en", "association", by=(), cluster="", within="")])
    found = only(findings(bare))
    assert found.by == "items"
    assert found.ranks["items"].tolist() == ["all"]
    assert found.ranks["pairs"].tolist() == [72]
