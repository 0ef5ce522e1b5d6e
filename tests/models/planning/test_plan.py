"""Plans: every distinct input once, within the limit, and back to answers in order."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.models.planning.plan import Batch, Limit, Plan, Read, Reading, Values, duration, run_batches

WIDE = Limit(tokens=10**9, inputs=10**9, positions=10**9)
reads = st.builds(
    lambda ids, position: Read(tuple(ids), ((position % len(ids), 7), (0, 3))),
    st.lists(st.integers(0, 2), min_size=1, max_size=6),
    st.integers(0, 5),
)
several = st.lists(reads, max_size=4).map(lambda r: Reading(tuple(r), "" if r else "nothing to read"))
readings = st.lists(several, max_size=12).map(lambda asked: asked + asked[:3])  # some questions share their reads


@given(readings, st.integers(1, 30), st.integers(1, 5), st.integers(1, 8), st.integers(0, 40))
def test_plans_cover_everything_once_and_keep_the_limit(
    asked: list[Reading], tokens: int, inputs: int, positions: int, enough: int
) -> None:
    plan = Plan(asked, Limit(tokens, inputs, positions, enough))
    planned = [ids for batch in plan.batches for ids in batch.inputs]
    assert len(planned) == len(set(planned)) == plan.inputs
    assert set(planned) == {read.ids for reading in asked for read in reading.reads}
    for batch in plan.batches:
        projected = sum(len({p for p, _ in cells}) for cells in batch.cells)
        assert len(batch.inputs) == 1 or (
            batch.tokens <= tokens and len(batch.inputs) <= inputs and projected <= positions
        )
        lengths = [len(ids) for ids in batch.inputs]
        assert lengths == sorted(lengths, reverse=True)
        shorter = sum(length < lengths[0] for length in lengths)
        assert not shorter or (len(lengths) - 1) * lengths[0] < enough  # it was not yet, when it took the last one


@given(readings, st.integers(1, 30))
def test_values_find_their_way_back_to_the_questions(asked: list[Reading], tokens: int) -> None:
    plan = Plan(asked, Limit(tokens, 10**9, 10**9))
    answers = dict(plan.unanswerable())
    for number, batch in enumerate(plan.batches):
        values = [
            [float(sum(ids) + 10 * position + token) for position, token in cells]
            for ids, cells in zip(batch.inputs, batch.cells, strict=True)
        ]
        answers.update(plan.settle(number, values))
    for i, reading in enumerate(asked):
        want = tuple(float(sum(r.ids) + 10 * p + t) for r in reading.reads for p, t in r.cells)
        assert answers[i].logps == want if reading.reads else answers[i].note == "nothing to read"


def test_inputs_of_one_length_alone_on_request() -> None:
    asked = [Reading((Read(tuple(range(n)), ((0, 0),)),)) for n in (5, 3, 5, 4, 3)]
    plan = Plan([*asked, Reading((Read((9, 9, 9), ((0, 0),)),))], replace(WIDE, enough=0))
    assert [{len(ids) for ids in batch.inputs} for batch in plan.batches] == [{5}, {4}, {3}]


def test_a_batch_that_is_large_enough_is_not_padded_out() -> None:
    asked = [Reading((Read((n, *range(length - 1)), ((0, 0),)),)) for length in (16, 15, 14, 8) for n in (1, 2)]
    plan = Plan(asked, replace(WIDE, enough=64))
    assert [[len(ids) for ids in batch.inputs] for batch in plan.batches] == [[16, 16, 15, 15], [14, 14, 8, 8]]
    assert len(Plan(asked, replace(WIDE, enough=129)).batches) == 1
    nearly = [Reading((Read((n, *range(length - 1)), ((0, 0),)),)) for length in (16, 15) for n in range(100, 104)]
    assert [len(batch.inputs[0]) for batch in Plan(nearly, replace(WIDE, enough=64)).batches] == [16, 15]


def test_long_work_says_how_long_it_will_take(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan([Reading((Read((i,), ((0, 0),)),)) for i in range(10)], Limit(1, 1, 1))

    def stream(batches: Sequence[tuple[int, Batch]]) -> Iterator[tuple[int, Values]]:
        return ((number, []) for number, _ in batches)

    clock = iter(range(0, 1000, 3))  # a batch takes three seconds
    monkeypatch.setattr("evenhand.models.planning.plan.time.monotonic", lambda: next(clock))
    with caplog.at_level(logging.INFO, logger="evenhand"):
        assert [number for number, _ in run_batches(plan, range(10), stream)] == list(range(10))
    assert caplog.messages == ["About 27 s to go."]


def test_durations_read_as_people_say_them() -> None:
    assert [duration(s) for s in (7.2, 89, 90, 200, 5399, 5400, 9000)] == [
        *("7 s", "89 s", "2 min", "3 min", "90 min", "1.5 h", "2.5 h")
    ]
