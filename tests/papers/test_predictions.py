"""Published predictions give the published numbers, and say which orderings of models they support."""

from pathlib import Path

import numpy as np
import pytest

from evenhand import BadInput, Score, mean
from evenhand.errors import DataNotFound
from evenhand.papers import reproduce
from evenhand.papers.predictions import every_pair, neighbours, orderings

pytestmark = pytest.mark.usefixtures("without_pages")


@pytest.mark.parametrize("paper", ["nadeem2021", "pikuliak2024"])
def test_without_the_predictions_it_says_where_they_are(
    paper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    with pytest.raises(DataNotFound, match="EVENHAND_DATA/published/"):
        reproduce(paper, out=tmp_path)


def test_pairs_of_models_begin_with_the_higher_one() -> None:
    order = {"a": 1.0, "b": 3.0, "c": 2.0}
    assert every_pair(order) == [("b", "c"), ("b", "a"), ("c", "a")]
    assert neighbours(order) == [("b", "c"), ("c", "a")]


def test_only_orderings_beyond_chance_are_shown() -> None:
    rng = np.random.default_rng(0)
    low = rng.normal(size=60)
    values = {"low": low, "high": low + 1 + 0.1 * rng.normal(size=60), "same": low + 0.1 * rng.normal(size=60)}
    values["lower"] = low - 1
    scores = {name: [Score(str(i), v, {"id": str(i)}) for i, v in enumerate(of)] for name, of in values.items()}
    told = orderings("ICAT", [(name, "low") for name in ("high", "same", "lower")], scores, mean, "id")
    assert told == (
        "ICAT: 1 of 3 published orderings of two models are shown (p adjusted by Holm). "
        "Not shown: same above low; lower above low."
    )


def test_stereosets_published_scores_are_met(data: Path, tmp_path: Path) -> None:
    done = reproduce("nadeem2021", models=["gpt2", "SentimentModel.json"], out=tmp_path)
    assert len(done.cells) == 2 * (2 * 5 * 3 + 3)
    assert (done.cells["difference"] == 0).all()
    assert (done.cells["low"] < done.cells["high"]).all()
    assert "ICAT, overall: 1 of 1 published orderings" in " ".join(done.notes)
    with pytest.raises(BadInput, match="Did you mean 'gpt2'"):
        reproduce("nadeem2021", models=["gpt"], out=tmp_path)


def test_gests_printed_rates_are_met(data: Path, tmp_path: Path) -> None:
    done = reproduce("pikuliak2024", models=["gpt2-xl"], out=tmp_path)
    rates = done.cells[done.cells["what"] != "g_s"]
    assert len(rates) == 2 * 16
    assert (rates["difference"].abs() <= 0.005 + 1e-9).all()
    assert "Of all 72 models and templates, no r_i is more than 0.0050 away" in " ".join(done.notes)
    with pytest.raises(BadInput, match="'gpt3'"):
        reproduce("pikuliak2024", models=["gpt3"], out=tmp_path)
