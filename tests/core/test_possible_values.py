"""No interval holds a value that a number cannot have, however few words were tested."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenhand.core.dataset import Design, Kinds, Partners
from evenhand.core.estimands import estimates
from evenhand.core.scores import Score, group_values, mean
from evenhand.measures import load
from evenhand.runs.rows import make_rows
from evenhand.runs.values import value_record
from evenhand.show.page.readings import reading, verdict
from helpers.made_scores import change_table, run
from helpers.written_runs import record, row, task

KINDS = Kinds("kind")
PARTNERS = Partners("gender", "female", "male", ("person",))
WORDS = 4
"""Words of each kind."""


def few(low: float, high: float, *, seed: int, partners: bool) -> pd.DataFrame:
    """Scores at both ends of what is possible, of few words in few templates."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"id": f"{kind}{word}{t}{who}", "score": rng.choice([low, high]), "kind": kind, "word": f"{kind}{word}"}
        | {"template": str(t), "gender": who, "person": who}
        for kind in ("female", "male")
        for word in range(WORDS)
        for t in range(2)
        for who in (("female", "male") if partners else ("female",))
    )


@pytest.mark.parametrize("measure", ["choice-gap", "pronoun", "pronoun-lean", "stereotype-share", "decision-share"])
@pytest.mark.parametrize("partners", [False, True])
def test_stereotype_and_default_stay_where_they_can_be(measure: str, partners: bool) -> None:
    how: Any = load(measure)
    design = Design(cluster="word", crossed="template", kinds=KINDS, partners=PARTNERS if partners else None)
    low, high = how.bounds
    most = (high - low) if partners else (high - low) / 2
    neutral = 0.0 if partners else how.neutral
    cut = 0
    for seed in range(6 if partners else 20):
        for value in estimates(few(low, high, seed=seed, partners=partners), design, how):
            assert not value.low < neutral - most - 1e-12
            assert not value.high > neutral + most + 1e-12
            assert math.isnan(value.low) or value.low <= value.value <= value.high
            cut += value.high == neutral + most
    assert cut or measure == "decision-share"


def test_what_is_cut_detects_no_more_than_before() -> None:
    """The smallest lean that would show follows from the standard error, which cutting leaves as it is."""
    scores = [
        Score(str(n), score, {"word": str(n % 7)}) for n, score in enumerate([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0])
    ]
    found, open_ended = (
        next(iter(group_values(scores, mean, Design(cluster="word"), neutral=0.0, bounds=bounds)))
        for bounds in ((-1.0, 1.0), (-math.inf, math.inf))
    )
    assert (found.low, found.high) == (max(open_ended.low, -1.0), 1.0)
    assert open_ended.high > 1
    assert found.detectable == open_ended.detectable


def test_a_change_is_no_larger_than_can_be() -> None:
    asked = task("tbd", "pronoun", cluster="word", crossed="template", kinds=KINDS, partners=None, by=("kind",))
    for seed in range(4):
        frames = [few(-1.0, 1.0, seed=seed + more, partners=False) for more in (0, 50)]
        frames = [frame.assign(dataset="tbd", measure="pronoun") for frame in frames]
        table = change_table(run(frames[0], [asked], "one"), run(frames[1], [asked], "other"))
        judged = table[table["estimand"] != ""]
        assert len(judged)
        assert judged[["low", "high"]].abs().max().max() <= 2
        assert judged[["worse_low", "worse_high"]].abs().max().max() <= 1


WHOLE: dict[str, Any] = {"p": 0.6, "p_holm": 0.6, "clusters": 4, "needed": 3, "n": 12}


def test_where_everything_is_possible_a_sentence_says_that_the_data_say_nothing() -> None:
    asked = task("tbd", "pronoun")
    told = {}
    for name, low in (("nothing", -1.0), ("something", -0.9)):
        found = row(0.1, low, 1.0, **WHOLE)
        object.__setattr__(found, "task", asked)
        told[name] = verdict(found, reading(asked))
    assert told["nothing"].short == "the data say nothing"
    assert told["nothing"].much == ""  # and no interval in percent next to it
    assert told["something"].short == "no lean shown"


def test_rows_of_a_run_know_how_far_apart_their_values_can_be() -> None:
    design = Design(cluster="word", kinds=KINDS, partners=PARTNERS)
    asked = task("choices-decisions", "decision-share", kinds=KINDS, partners=PARTNERS)
    values = estimates(few(0.0, 1.0, seed=0, partners=True), design, load("decision-share"))
    records = [value_record(value, "m", "f", 0.5, asked) for value in values]
    widths = {one.width for one in make_rows(records, record(asked), lambda _: asked)}
    assert widths == {2.0}  # from -1 to 1
