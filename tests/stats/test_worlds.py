"""Verdicts in worlds where it is known what is there; docs/verdicts.md has the table of 1,000 models a dataset."""

import statistics
from functools import cache
from typing import Any

import numpy as np
import pytest

from helpers.worlds import Headline, headlines, outcomes

MODELS = 24
BUNDLED = [of for of in headlines() if of.dataset in ("becpro-en", "tgb", "tbd", "nli-en") and "bert" not in of.model]


def named(of: Headline) -> str:
    return f"{of.dataset}, {of.model}"


@cache
def of_nothing(of: Headline) -> list[dict[str, Any]]:
    """Models that lean nowhere."""
    return list(outcomes(of, "symmetric", range(MODELS)))


@pytest.mark.parametrize("of", BUNDLED, ids=named)
def test_where_nothing_is_hardly_any_model_is_said_to_lean(of: Headline) -> None:
    wrong = [any(model["leans"]) for model in of_nothing(of)]
    assert sum(wrong) <= 5  # 1.2 expected; 6 or more are 1 in 1,100


@pytest.mark.parametrize("of", BUNDLED, ids=named)
def test_a_default_alone_is_hardly_ever_called_a_stereotype(of: Headline) -> None:
    models = outcomes(of, "default", range(MODELS))
    wrong = [model["leans"][model["estimands"].index("stereotype")] for model in models]
    assert sum(wrong) <= 5


@pytest.mark.parametrize("of", BUNDLED, ids=named)
def test_what_is_called_detectable_is_found_four_times_in_five(of: Headline) -> None:
    effect = statistics.median(model["detectable"] for model in of_nothing(of))
    leans = [model["leans"][0] for model in outcomes(of, "symmetric", range(100, 100 + MODELS), effect)]
    assert 0.55 < np.mean(leans) < 0.99
