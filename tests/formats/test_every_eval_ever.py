"""Every Eval Ever: the documented fields, and nothing that is no JSON."""

import json
import math
from typing import Any

import pytest

import evenhand
from evenhand import BadInput
from evenhand.core.measure import Traits
from evenhand.measures import MEASURES
from helpers.written_runs import HOSTILE, Made, task


def record(run: evenhand.Run, **options: Any) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    read: dict[str, Any] = json.loads(evenhand.export(run, "every-eval-ever", **options), parse_constant=refuse)
    return read


def test_what_the_schema_requires_is_there(made: Made) -> None:
    found = record(made(model="org/mini"), organization="Us", relationship="first_party")
    assert found["schema_version"] == "0.3.0"
    assert found["evaluation_id"] == "evenhand/org_mini/1767323045.0"
    assert found["source_metadata"]["source_organization_name"] == "Us"
    assert found["source_metadata"]["evaluator_relationship"] == "first_party"
    assert found["eval_library"] == {"name": "evenhand", "version": "0.1.0"}
    assert (found["model_info"]["id"], found["model_info"]["developer"]) == ("org/mini", "org")
    assert found["model_info"]["additional_details"]["deployment_type"] == "self_deployed"
    assert len(found["evaluation_results"]) == 3  # all items, a group, a part
    assert found["source_metadata"]["additional_details"]["values_left_out"] == "2"


def test_uncertainty_is_the_interval(made: Made) -> None:
    _, group, _ = record(made())["evaluation_results"]
    assert group["evaluation_result_id"] == "tgb/likelihood-lean/gender=female"
    assert group["score_details"]["score"] == 0.25
    interval = {"lower": 0.125, "upper": 0.5, "confidence_level": 0.95, "method": "clustered by profession"}
    assert group["score_details"]["uncertainty"] == {"confidence_interval": interval, "num_samples": 3}
    assert group["score_details"]["details"]["unscored"] == "0"
    assert group["metric_config"]["lower_is_better"] is False
    assert group["metric_config"]["additional_details"]["direction"].startswith("neither")


def test_additional_details_are_text_whatever_they_were(made: Made) -> None:
    def check(node: object) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                if key in ("additional_details", "details"):
                    assert all(isinstance(text, str) for text in value.values())
                check(value)
        elif isinstance(node, list):
            for value in node:
                check(value)

    check(record(made(model=HOSTILE, dataset=HOSTILE, label=HOSTILE, partial=True, limit=60)))


BETTER = {
    "lower": {"fraction-contradiction", "fraction-entailment", "fraction-neutral"}
    | {"direct-bias", "likelihood-difference", "nli-coal", "nli-coal-weighted", "tpr-gap-rms"},
    "higher": {"choice-accuracy", "choice-coverage", "gender-agreement", "icat", "net-neutral", "stereoset-lm"},
    "level": {"ceat-heterogeneity", "first-mention-nobody", "gender-direction", "singular-they", "written-undetected"}
    | {"choice-first", "choice-turns", "decision-odds", "decision-share"},
}


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_directions_and_ends_are_those_of_the_measures(name: str, made: Made) -> None:
    run = made(measure=name, tasks=(task("tgb", name, partners=None),), neutral=MEASURES[name].neutral)
    first = record(run)["evaluation_results"][0]["metric_config"]
    low, high = Traits.of(MEASURES[name]).bounds
    assert first["min_score"] == (low if math.isfinite(low) else "-Infinity")
    assert first["max_score"] == (high if math.isfinite(high) else "Infinity")
    assert first["metric_unit"]
    says = first["additional_details"]["direction"]
    assert [word for word in BETTER if word in says] == [word for word, names in BETTER.items() if name in names]
    assert first["lower_is_better"] == (name in BETTER["lower"])


def test_a_measure_of_ones_own_is_better_closer_to_neutral(made: Made) -> None:
    first = record(made(measure="mine"))["evaluation_results"][0]["metric_config"]
    assert (first["min_score"], first["max_score"]) == ("-Infinity", "Infinity")
    assert "nearest to the neutral value" in first["additional_details"]["direction"]
    assert "metric_unit" not in first


def test_a_relationship_is_one_of_four(made: Made) -> None:
    with pytest.raises(BadInput, match="'first_party'"):
        record(made(), relationship="firstparty")
