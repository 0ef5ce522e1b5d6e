"""Values of seeded scores of our datasets: see tests/stats/test_pinned.py, by whose rule these numbers stay, too.

If they are meant to move: `PYTHONPATH=src:tests python -m core.test_pinned` writes the new ones.
"""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenhand import Score, datasets, measures
from evenhand.core.dataset import Design
from evenhand.core.estimands import estimates
from evenhand.core.measure import Traits
from evenhand.core.scores import Value, group_values

FILE = Path(__file__).with_name("pinned.json")
CASES = {
    "becpro-en": "association",
    "becpro-de": "association",
    "choices-decisions": "decision-odds",
    "choices-pronouns": "choice-gap",
    "nli-en": "fraction-entailment",
    "nli-zh": "nli-coal",
    "stories-en": "written-share",
    "tbd": "pronoun",
    "tbd-gendered": "gender-agreement",
    "tgb": "stereotype-share",
}
NUMBERS = ("value", "low", "high", "p", "p_holm", "n", "unscored", "clusters", "needed", "detectable", "narrow_low")


def values(dataset: str) -> list[Value]:
    """Stereotype and default, and the values of the groups, of a score for each item but every eleventh."""
    data, how, rng = datasets.load(dataset), measures.load(CASES[dataset]), np.random.default_rng(5)
    design, traits = Design.of(data), Traits.of(how)
    low, high = traits.bounds
    if math.isinf(high):
        drawn = rng.normal(0.2, 1, len(data.items))
    else:
        drawn = low + (high - low) * rng.integers(3, size=len(data.items)) / 2
    drawn[::11] = math.nan
    groups = [{**item.groups} for item in data.items]
    weights = {traits.weight: rng.uniform(0.2, 1, len(drawn))} if traits.weight else {}
    scores = [Score(item.id, float(drawn[n]), groups[n]) for n, item in enumerate(data.items)]
    frame = pd.DataFrame(groups).assign(id=[item.id for item in data.items], score=drawn, **weights)
    by_group = group_values(scores, how.summarise, design, neutral=how.neutral, bounds=traits.bounds)
    return [*estimates(frame, design, how), *by_group]


def found(dataset: str) -> list[float]:
    return [float(getattr(value, name)) for value in values(dataset)[:12] for name in NUMBERS]


@pytest.mark.parametrize("dataset", CASES)
def test_seeded_values_are_those_of_the_last_version(dataset: str) -> None:
    pinned = json.loads(FILE.read_text(encoding="utf-8"))[dataset]
    assert found(dataset) == pytest.approx(pinned, rel=1e-7, abs=1e-12, nan_ok=True)


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}: {json.dumps(found(name))}" for name in CASES)
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
