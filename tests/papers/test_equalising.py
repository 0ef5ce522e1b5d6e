"""Are pronouns merely being equalised? The slope test on made-up models whose answer is known."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenhand import BadInput
from evenhand.datasets import load
from evenhand.datasets.corpora.texts import sentences
from evenhand.papers.equalising import before_after, equalising, professions_in
from evenhand.stats.correlation import fit_line
from helpers.typed import numbers


def words(professions: float, gendered: float, noise: float = 0.02, n: int = 10) -> pd.DataFrame:
    """Sixty professions and some gendered words, whose APPD a change multiplies by these."""
    rng = np.random.default_rng(1)
    rows = [(b, "closer to 0", professions) for b in rng.uniform(-0.4, 0.8, 60)]
    rows += [(b, "below 0" if b < 0 else "above 0", gendered) for b in np.linspace(-0.8, 0.8, n)]
    frame = pd.DataFrame(rows, columns=["before", "better", "by"])
    frame["profession"] = [str(i) for i in range(len(frame))]
    frame["after"] = frame["before"] * frame["by"] + rng.normal(0, noise, len(frame))
    return frame


@pytest.mark.parametrize(
    ("professions", "gendered", "verdict"),
    [(0.3, 0.3, "yes"), (0.3, 1.3, "no"), (0.3, 1.0, "not shown"), (1.0, 1.0, "undecided")],
)
def test_the_verdict_is_that_of_the_change(professions: float, gendered: float, verdict: str) -> None:
    found = equalising(words(professions, gendered))
    assert found is not None
    assert found.verdict.startswith(verdict)
    assert found.professions.slope == pytest.approx(professions, abs=0.05)
    assert found.professions.slope_low < professions < found.professions.slope_high
    assert found.spread.value == pytest.approx(professions, abs=0.05)


def test_noise_alone_is_no_change() -> None:
    """Least squares would find slopes below 1 here: what was before is noisy too."""
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        true = rng.normal(0.4, 0.1, 84)
        frame = pd.DataFrame({"before": true + rng.normal(0, 0.07, 84), "after": true + rng.normal(0, 0.07, 84)})
        frame = frame.assign(better="closer to 0", profession=[str(i) for i in range(84)])
        found = equalising(frame)
        assert found is not None
        wrong += found.spread.high < 1
    assert wrong <= 4


def test_without_gendered_words_the_question_stays_open() -> None:
    found = equalising(words(0.3, 1.0, n=1))
    assert found is not None
    assert found.gendered is None
    assert "to compare with" in found.verdict


def test_few_points_make_no_line() -> None:
    assert equalising(words(0.3, 1.0).head(2)) is None
    flat = words(0.3, 1.0).assign(before=0.5)
    found = equalising(flat)
    assert found is not None
    assert np.isnan(found.professions.slope)


def test_the_interval_of_a_slope_covers_it() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(60):
        x = rng.normal(size=30)
        line = fit_line(x, 0.5 * x + rng.normal(size=30), rng)
        hits += line.slope_low <= 0.5 <= line.slope_high
    assert hits >= 52


def test_words_are_paired_by_item() -> None:
    base = pd.DataFrame(
        {
            "dataset": "tbd", "measure": "pronoun", "id": ["1", "2", "3"], "score": [0.2, 0.4, 0.9], "category": "c",
            "better": "closer to 0", "profession": ["a", "a", "b"],
        }
    )  # fmt: skip
    found = before_after(base, base.assign(score=base["score"] / 2)).set_index("profession")
    assert numbers(found, "a", ["before", "after"]) == pytest.approx([0.3, 0.15])
    with pytest.raises(BadInput, match="same items"):
        before_after(base, base.head(2))


def test_professions_of_the_training_corpus_are_found() -> None:
    assert professions_in(["doctor", "web developer", "developer"], ["The Doctors left.", "A web developer."]) == {
        "web developer", "developer"
    }  # fmt: skip
    assert professions_in([], ["x"]) == set()


def test_nineteen_terms_of_the_thesis_are_in_mt_gender(data: Path) -> None:
    """As its own list of professions counts; one more is only said in a sentence, one is a plural in the thesis."""
    terms = {i.groups["profession"] for i in load("tbd").items}
    found = professions_in(terms, sentences("mt-gender"))
    wanted = """
        accountant bartender cashier chef chemist cook developer doctor engineer firefighter paramedic physician
        programmer receptionist scientist secretary surgeon technician veterinarian
    """
    assert found - {"web developer", "guard"} == set(wanted.split())
