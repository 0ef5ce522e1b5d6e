"""Labels by set: read from the values of a run, each in its place, or not at all."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import pytest

from evenhand.measures.nli import FractionContradiction, FractionEntailment, FractionNeutral
from evenhand.papers.findings import distribution
from evenhand.runs.values import ValueRecord
from helpers.made_scores import run
from helpers.written_runs import task

SETS = ("pro", "anti", "non")
SHARES = {"pro": (0.6, 0.1, 0.3), "anti": (0.15, 0.5, 0.35), "non": (0.05, 0.25, 0.7)}
"""Of each set, how many pairs are entailed, contradicted, and neither."""


def row(measure: str, value: float, low: float, high: float, dataset: str = "nli-en", **groups: str) -> ValueRecord:
    return ValueRecord("m", "f", dataset, measure, 1, groups, value, low, high, n=10, unscored=0, neutral=0.0)


def results() -> list[ValueRecord]:
    """As a run has them: fraction-neutral counts what is not neutral. Intervals reach 0.02 down and 0.01 up."""
    found = []
    for name, (entailed, contradicted, neither) in SHARES.items():
        for how, value in (
            (FractionEntailment, entailed),
            (FractionContradiction, contradicted),
            (FractionNeutral, 1 - neither),
        ):
            found.append(row(how.name, value, value - 0.02, value + 0.01, set=name))
    return found


def labels_of(values: Sequence[ValueRecord], dataset: str = "nli-en") -> pd.DataFrame:
    """The table of a run that has these values."""
    names = dict.fromkeys((value.dataset, value.measure) for value in values)
    tasks = [task(*name, by=("set",), partners=None) for name in names]
    holds = run(pd.DataFrame({"dataset": [], "measure": [], "id": [], "score": []}), tasks)
    holds.__dict__["_values"] = list(values)
    return distribution(holds.values_of(dataset))


def table(frame: pd.DataFrame) -> dict[tuple[str, str], tuple[float, float, float]]:
    return {(r["set"], r["label"]): (r["value"], r["low"], r["high"]) for r in frame.to_dict("records")}


def test_every_share_stands_at_its_set_and_label_in_the_papers_order() -> None:
    found = table(labels_of(results()))
    labels = ("entailment", "contradiction", "neutral")
    assert list(found) == list(itertools.product(SETS, labels))
    for (name, label), (value, _, _) in found.items():
        assert value == pytest.approx(SHARES[name][labels.index(label)])


def test_neutral_is_turned_and_its_interval_too() -> None:
    found = table(labels_of(results()))
    assert found["non", "neutral"] == pytest.approx((0.7, 0.7 - 0.01, 0.7 + 0.02))
    assert found["non", "contradiction"] == pytest.approx((0.25, 0.25 - 0.02, 0.25 + 0.01))


def test_the_order_of_the_values_changes_nothing() -> None:
    pd.testing.assert_frame_equal(labels_of(results()[::-1]), labels_of(results()))


@pytest.mark.parametrize("missing", range(9))
def test_without_one_of_the_nine_there_is_no_table(missing: int) -> None:
    part = results()
    part.pop(missing)
    assert labels_of(part).empty


def test_only_values_of_the_dataset_by_set_alone_count() -> None:
    """Neither those of all items, nor of a set's parts, nor of another dataset, wherever they stand."""
    others = []
    for measure in ("fraction-entailment", "fraction-contradiction", "fraction-neutral"):
        others.append(row(measure, 9.0, 9.0, 9.0))
        others.append(row(measure, 9.0, 9.0, 9.0, about="women"))
        for name in SETS:
            others.append(row(measure, 9.0, 9.0, 9.0, set=name, about="women"))
            others.append(row(measure, 9.0, 9.0, 9.0, "nli-ja", set=name))
    wanted = labels_of(results())
    pd.testing.assert_frame_equal(labels_of(results() + others), wanted)
    pd.testing.assert_frame_equal(labels_of(others + results()), wanted)
    assert labels_of(results(), "nli-ja").empty
    assert distribution([]).empty


def test_no_value_stays_none_and_is_no_share_of_0() -> None:
    unknown = [replace(r, value=None, low=None, high=None) if r.groups["set"] == "anti" else r for r in results()]
    for (name, _), numbers in table(labels_of(unknown)).items():
        assert [math.isnan(number) for number in numbers] == [name == "anti"] * 3
