"""Published values stand next to ours, with whatever was measured differently."""

from dataclasses import replace

from evenhand.analysis.reference import by_source, references
from evenhand.measures import MEASURES
from helpers.written_runs import record, task

BECPRO = task("becpro-en", "association", dataset_version=1, measure_options={"masks": "words"})


def test_a_value_measured_in_the_same_way_is_named_alone() -> None:
    found = references(record(BECPRO, kind="masked"), BECPRO)
    assert len(found) == 6
    assert found[-1].words == "bert-base-uncased 0.16 (male, male)"
    assert list(by_source(record(BECPRO, kind="masked"), BECPRO)) == ["Bartl, Nissim and Gatt 2020, Table 4"]


def test_what_differs_is_named_next_to_it() -> None:
    other = replace(BECPRO, measure_options={"masks": "pieces"}, dataset_version=2, partial=True, limit=5)
    told = references(record(other, kind="masked"), other)[0].words
    assert told == (
        "bert-base-uncased -0.35 (balanced, female; there masks=words; there version 1 of the dataset; there all items)"
    )
    named = replace(BECPRO, dataset="becpro-en (articles=agree)")
    assert len(references(record(named, kind="masked"), named)) == 6


def test_there_are_none_of_other_measures_or_kinds() -> None:
    assert references(record(BECPRO, kind="causal"), BECPRO) == []
    tgb = task("tgb", "stereotype-share")
    assert references(record(tgb, kind="masked"), tgb) == []


def test_every_row_is_of_a_measure_that_there_is() -> None:
    for measure in ("stereoset-ss", "stereoset-lm", "icat"):
        asked = task("stereoset-intrasentence", measure, dataset_version=1, measure_options={"formula": "released"})
        found = references(record(asked, kind="masked"), asked)
        low, high = MEASURES[measure].bounds  # type: ignore[attr-defined]
        assert len(found) == 4
        assert all(low <= one.value <= high and not one.differs for one in found)
