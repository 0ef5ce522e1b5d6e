"""What is known of each measure: the bundled numbers are those of the docs, and are told only where they were tried."""

import csv
import math
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from evenhand.analysis.reference import RateCorrelation, meta_evaluation
from evenhand.measures import MEASURES
from evenhand.models.loading.names import BUNDLED
from helpers.written_runs import record, task

DOCS = Path(__file__).parents[2] / "docs" / "metaeval.md"
NUMBER = r"[+-]\d\.\d+"


def documented() -> dict[str, list[str]]:
    """The rows of the tables in docs/metaeval.md that have an interval, by measure: their cells."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in DOCS.read_text("utf-8").splitlines()]
    with_interval = [row for row in rows if len(row) > 4 and "[" in row[1]]
    return {(re.match(r"[\w-]+(, size)?", row[0]) or "")[0]: row for row in with_interval}


def bundled() -> dict[str, dict[str, str]]:
    text = (files("evenhand.analysis") / "data" / "followed.tsv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {row["measure"]: row for row in csv.DictReader(lines, delimiter="\t")}


TABLE, ROWS = documented(), bundled()


def known(dataset: str, measure: str) -> RateCorrelation:
    found = meta_evaluation(record(), task(dataset, measure), ROWS[measure]["estimand"])
    assert found is not None
    return found


def test_trust_is_given_to_the_number_that_was_tested_alone() -> None:
    assert meta_evaluation(record(), task("becpro-en", "association"), "stereotype") is not None
    for measure, estimand in (("association", ""), ("association", "default")):
        assert meta_evaluation(record(), task("becpro-en", measure), estimand) is None
    assert meta_evaluation(record(), task("tbd", "pronoun"), "default") is None


def test_the_docs_tell_of_measures_that_there_are() -> None:
    assert {name.split(",")[0] for name in TABLE} < set(MEASURES)
    assert len(TABLE) == 16
    assert set(TABLE) == set(ROWS)


@pytest.mark.parametrize("measure", TABLE)
def test_the_bundled_numbers_are_those_of_the_docs(measure: str) -> None:
    row = ROWS[measure]
    numbers = [float(number) for number in re.findall(NUMBER, TABLE[measure][1])]
    assert [float(row[name]) for name in ("pearson", "pearson_low", "pearson_high")] == numbers
    assert float(row["spearman"]) == pytest.approx(float(re.findall(NUMBER, TABLE[measure][2])[0]), abs=0.005)
    smallest = TABLE[measure][4]  # rounded to two digits; a dash where there is none
    assert (
        not row["smallest"] if smallest == "–" else float(row["smallest"]) == pytest.approx(float(smallest), rel=0.05)
    )
    assert (BUNDLED / row["model"]).is_dir() or row["model"] == "SmolLM2-135M-Instruct"


def test_what_orders_models_is_told_from_what_does_not_by_rank_and_in_words() -> None:
    told = (
        "towards the stereotype of jobs, it ranked 33 small models, trained from mini-en, by the bias put in (rank "
        "correlation 0.96)"
    )
    assert str(known("becpro-en", "association")) == told
    assert known("nli-en", "nli-coal").orders
    assert "did not rank 11 small models" in str(known("nli-en", "fraction-neutral"))
    assert "partly ranked" in str(known("tgb", "crows-pairs"))


def test_an_order_in_steps_that_no_audit_sees_supports_nothing() -> None:
    found = known("weat-professions-en", "weat")
    assert not found.orders
    assert "(rank correlation 0.98, in steps too small for one audit to see)" in str(found)
    assert known("seat-professions-en", "seat").orders


def test_lower_is_the_right_way_for_a_measure_of_what_is_right() -> None:
    assert ROWS["net-neutral"]["spearman"].startswith("-")
    assert known("nli-en", "net-neutral").spearman > 0


@pytest.mark.parametrize(
    ("dataset", "measure", "model"),
    [
        ("emotions-en", "association", {}),
        ("crows-pairs", "stereotype-share", {}),
        ("becpro-de", "association", {}),
        ("nli-ja", "nli-coal", {}),
        ("becpro-en", "association", {"caveats": ("causal",)}),
        ("weat-professions-en", "weat", {"kind": "vectors"}),
    ],
)
def test_of_data_and_kinds_of_models_that_were_not_tried_nothing_is_told(
    dataset: str, measure: str, model: dict[str, Any]
) -> None:
    assert meta_evaluation(record(**model), task(dataset, measure), ROWS[measure]["estimand"]) is None


def test_a_value_that_never_changes_orders_nothing() -> None:
    assert str(RateCorrelation("on pairs", "mini", 5, math.nan)) == (
        "on pairs, it did not rank 5 small models, trained from mini, by the bias put in (its value never changed)"
    )
