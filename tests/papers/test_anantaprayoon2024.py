"""Anantaprayoon et al. 2024: its scores follow from its distributions, but for one; its released set on our models."""

import math
import shutil
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand import Answer, BadInput, NliPair, Score, datasets, measures
from evenhand.core.loop import Task
from evenhand.models.loading.names import find
from evenhand.papers import reproduce
from helpers import made_release, tiny
from helpers.typed import number

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined", "few_draws")

NUMBERS = tomllib.loads((files("evenhand.papers") / "data" / "anantaprayoon2024.toml").read_text(encoding="utf-8"))
SCORES = ("fraction-neutral", "nli-coal")
ROWS = [(row, score) for row in NUMBERS["table3"] for score in SCORES]
MISPRINT = ("Laboro DistilBERT-base", "fraction-neutral")
LABELS = ("entailment", "contradiction", "neutral")  # as the table has them
ORDER = ("entailment", "neutral", "contradiction")  # as models answer


def derived(row: dict[str, Any], measure: str) -> float:
    """The score of as many pairs as each set has, labelled as the published shares say."""
    how = measures.load(measure)
    scores = []
    for name, n in NUMBERS["sizes"][row["language"]].items():
        shares = dict(zip(LABELS, row[name], strict=True))
        counts = {label: round(shares[label] * n) for label in ("entailment", "neutral")}
        counts["contradiction"] = n - sum(counts.values())  # shares may sum to 1.001
        item = NliPair("", "The nurse sleeps.", "The woman sleeps.", {"set": name})
        for label, count in counts.items():
            answer = Answer(tuple(math.log(0.8 if label == other else 0.1) for other in ORDER))
            scores += [Score("", how.score(item, [answer]), item.groups)] * count
    return how.summarise(scores)


@pytest.mark.parametrize(
    ("row", "measure"), ROWS, ids=lambda value: value["model"] if isinstance(value, dict) else value
)
def test_published_scores_follow_from_published_distributions(row: dict[str, Any], measure: str) -> None:
    found = derived(row, measure)
    if (row["model"], measure) == MISPRINT:
        assert found == pytest.approx(0.597, abs=0.001)
        assert row[measure] == 0.633
    else:
        assert found == pytest.approx(row[measure], abs=0.0011)  # of shares with three decimals


def test_there_are_fourteen_models_and_28_scores() -> None:
    assert len(ROWS) == 28
    assert len({hub for row in NUMBERS["table3"] for hub in row["hub"][-1:]}) == 14
    assert sum(NUMBERS["sizes"]["en"].values()) == sum(NUMBERS["sizes"]["ja"].values()) == 5420
    assert sum(NUMBERS["sizes"]["zh"].values()) == 5320


def test_shares_sum_to_one_up_to_rounding_and_models_are_in_order_of_nli_coal() -> None:
    for row in NUMBERS["table3"]:
        for name in ("pro", "anti", "non"):
            assert sum(row[name]) == pytest.approx(1, abs=0.0011)
    for language in NUMBERS["sizes"]:
        coal = [row["nli-coal"] for row in NUMBERS["table3"] if row["language"] == language]
        assert coal == sorted(coal, reverse=True)


def test_table_2_marks_what_cannot_be_significant() -> None:
    """Over eleven rates |r| must be .602 at least for p < .05."""
    for row in NUMBERS["table2"].values():
        for measure in SCORES:
            marked = measure in row["marked"]
            assert marked == (abs(row.get(measure, 0)) > 0.602) or row.get(measure) == -0.263


# Shares of entailment, contradiction and neutral by set, as measured once. On the full English set, 5,420 pairs:
# bundled PS .895/.007/.098, AS .155/.100/.745, NS .524/.041/.435, CoAL .520, FN .570;
# folder PS .679/.024/.297, AS .066/.185/.749, NS .394/.082/.525, CoAL .446, FN .476.
MEASURED = {
    "bundled": {"pro": (0.701, 0.000, 0.299), "anti": (0.343, 0.090, 0.567), "non": (0.515, 0.136, 0.348)},
    "folder": {"pro": (0.403, 0.015, 0.582), "anti": (0.179, 0.104, 0.716), "non": (0.394, 0.152, 0.455)},
}


@pytest.mark.parametrize("which", ["bundled", "folder"])
@pytest.mark.usefixtures("data")
def test_the_released_set_gives_the_distribution_measured_before(which: str, models: Path) -> None:
    """A third of the down-sampled English set: the whole takes minutes."""
    model = evenhand.load("mini-en-nli" if which == "bundled" else str(models / "mini-en-nli"))
    released = datasets.load("nli-coal-en", words="down-sampled")
    sample = replace(released, items=released.items[::3])
    names = ("fraction-entailment", "fraction-contradiction", "fraction-neutral")
    results = evenhand.measure_all(model, [Task(sample, measures.load(name)) for name in (*names, "nli-coal")])
    found = {(r.measure, v.groups.get("set", "all")): v.value for r in results for v in r.estimates}
    for name, (entailment, contradiction, neutral) in MEASURED[which].items():
        shares = [found[measure, name] for measure in names]
        assert shares == pytest.approx([entailment, contradiction, 1 - neutral], abs=0.011)
    terms = (
        found["fraction-entailment", "pro"],
        found["fraction-contradiction", "anti"],
        found["fraction-neutral", "non"],
    )
    assert found["nli-coal", "all"] == pytest.approx(sum(terms) / 3)


def test_table_3_stands_beside_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENHAND_DATA", raising=False)
    monkeypatch.setattr("evenhand.datasets.files.releases.cache", lambda: tmp_path / "none")
    model = shutil.copytree(find("mini-en-nli").source, tmp_path / "bert-base-uncased-nli")
    done = reproduce("anantaprayoon2024", models=[str(model)], limit=90, out=tmp_path)
    cells = done.cells.set_index(["model", "data", "what"])
    assert len(cells) == 5 * 11
    row = ("BERT-base", "AS set", "contradiction")
    assert number(cells, row, "published") == 0.501
    assert number(cells, row, "difference") == pytest.approx(number(cells, row, "ours") - 0.501)
    assert cells["ours"].notna().sum() == 11  # the other four are not at hand
    assert "the released one is not fetched" in done.notes[0]
    found = done.runs[0].values
    coal = found[(found["measure"] == "nli-coal") & found["set"].isna()]["value"].item()
    assert cells.loc[("BERT-base", "all", "nli-coal"), "ours"] == coal


def test_a_model_that_is_none_of_the_papers_is_not_comparable(tmp_path: Path) -> None:
    model = tiny.save_classifier("roberta", tmp_path / "mine", max_position_embeddings=512)
    done = reproduce("anantaprayoon2024", models=[str(model)], limit=60, out=tmp_path)
    assert any("mine' is not one of the paper's models" in note for note in done.notes)
    with pytest.raises(BadInput, match="'ja'"):
        reproduce("anantaprayoon2024", lang="ja", out=tmp_path)
    with pytest.raises(BadInput, match="en, ja or zh"):
        reproduce("anantaprayoon2024", lang="de", out=tmp_path)


@pytest.mark.parametrize("fetched", [False, True])
def test_table_2_stands_beside_ours(fetched: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("evenhand.datasets.files.releases.cache", lambda: tmp_path / "cache")
    if fetched:
        made_release.write(tmp_path / "data")
    model = tiny.save_classifier("roberta", tmp_path / "mine", max_position_embeddings=512)
    options = {"rates": [0.0, 0.5, 1.0], "size": 60, "limit": 60, "out": tmp_path}
    done = reproduce("anantaprayoon2024", "correlations", model=str(model), **options)
    assert set(done.cells["data"]) == {"nli-coal", "fraction-neutral"}
    assert done.cells.set_index("data").loc["nli-coal", "published"] == 0.999
    assert any("takes .602" in note for note in done.notes)
    assert any("fetch nli-coal-en-controlled" in note for note in done.notes) != fetched
    assert any("labels of the released sets" in note for note in done.notes) == fetched
