"""An import that lacks items is partial everywhere, and half of a dataset is no dataset."""

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from evenhand import Run, datasets, from_scores
from evenhand.auditing.sampling import draw_sample
from evenhand.show.page.runs import page

pytestmark = pytest.mark.usefixtures("without_pages")


def imported(ids: Sequence[str], folder: Path) -> Run:
    """A run of scores of these pairs, in each of which the stereotype wins."""
    frame = pd.DataFrame({"id": ids, "score": 3.0 + pd.Series(range(len(ids))) / 100})
    return from_scores(frame, dataset="tgb", measure="likelihood-lean", name="mine", out=folder)


def ids(n: int = 300) -> list[str]:
    return [item.id for item in datasets.load("tgb").items[:n]]


@pytest.mark.parametrize("n", [20, 150, 290])
def test_what_lacks_items_is_partial_in_values_words_and_page(tmp_path: Path, n: int) -> None:
    run = imported(ids(n), tmp_path)
    assert {(task.limit, task.partial) for task in run.record.tasks} == {(n, True)}
    assert set(run.values["partial"]) == {True}
    assert run.record.sample == f"Partial: a sample of {n} items, those in a data frame, of each dataset."
    assert run.record.sample in " ".join(str(run).split())
    assert "<b>Partial:</b>" in page([run])


def test_what_has_all_items_is_not(tmp_path: Path) -> None:
    run = imported(ids(), tmp_path)
    assert (run.record.partial, run.record.sample) == (False, "")


@pytest.mark.parametrize(("n", "measured"), [(20, False), (150, False), (151, True)])
def test_from_half_of_the_items_missing_there_is_no_headline(tmp_path: Path, n: int, measured: bool) -> None:
    run = imported(ids(n), tmp_path)
    assert bool(run.unmeasured) is not measured
    said = f"mine: could not be measured. {300 - n} of 300 items have no score (not in a data frame). Import all"
    assert " ".join(str(run).split()).startswith("mine: yes" if measured else said)
    assert any(row.leans for row in run.rows if row.headline) is measured


def test_the_items_that_a_limit_draws_are_a_sample_as_any(tmp_path: Path) -> None:
    drawn = [item.id for item in draw_sample(datasets.load("tgb"), 40, 0).items]
    run = imported(drawn, tmp_path)
    assert set(run.scores_of("tgb", "likelihood-lean")["id"]) == set(drawn)
    assert (run.record.partial, run.unmeasured, run.record.unscored) == (True, {}, {"tgb/likelihood-lean": {}})


def test_some_of_the_texts_are_not_all_of_them(tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    rows = ({"id": item.id, "written": "She went home with her bag."} for item in datasets.load("stories-en").items)
    file.write_text("".join(f"{json.dumps(row)}\n" for row, _ in zip(rows, range(200), strict=False)))
    run = from_scores(file, dataset="stories-en", name="writer", out=tmp_path / "runs")
    assert set(run.unmeasured) == {"stories-en"}
    assert set(run.values["partial"]) == {True}
    assert str(run).startswith("writer: could not be measured. 260 of 420 items")


def test_a_share_of_texts_says_of_how_many(tmp_path: Path) -> None:
    """Four of five texts say whom they are about; of these, women's and men's are as often about a woman."""
    she, he, they = "She went home with her bag.", "He went home with his bag.", "They went home."
    texts = ([she, she, she, she, they], [she, she, he, he, they])
    rows = [
        {"id": item.id, "written": text}
        for n, item in enumerate(datasets.load("stories-en").items)
        for text in texts[n % 2]
    ]
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    run = from_scores(file, dataset="stories-en", name="writer", out=tmp_path / "runs")
    told = (
        "of 100 texts, 80 say whom they are about, and 75 % of these are about women, whomever the stereotype expects"
    )
    assert told in " ".join(str(run).split())
