"""More requests are under way as long as they are no slower, and half as many where a server is busy."""

import asyncio
import time

import pytest

from evenhand.models.served.client import Pace, Places


def paced(pace: Pace, seconds: dict[int, float], requests: int) -> list[int]:
    """How many may be under way after each request, where each takes so many seconds by how many there are."""
    found = []
    for _ in range(requests):
        pace.took(seconds[pace.now])
        found.append(pace.now)
    return found


def waiting(slots: int) -> dict[int, float]:
    """Seconds that a request takes with a server that has so many slots, by the number of requests at once."""
    return {n: max(1.0, n / slots) for n in range(1, 100)}


def test_it_begins_with_two_and_grows_by_one_after_each_round() -> None:
    pace = Pace(5)
    assert pace.now == 2
    assert paced(pace, waiting(99), 14) == [2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5]


@pytest.mark.parametrize(
    ("slots", "most", "expected"), [(99, 8, 8), (99, 1, 1), (2, 8, 3), (4, 8, 6), (1, 8, 3), (16, 32, 24)]
)
def test_it_does_not_grow_where_requests_wait_for_each_other(slots: int, most: int, expected: int) -> None:
    """A request may take half as long again, so that the server always has one to begin with."""
    pace = Pace(most)
    assert paced(pace, waiting(slots), 1000)[-1] == expected


def test_it_grows_where_requests_are_quick_whatever_they_wait_for() -> None:
    assert paced(Pace(8), {n: 0.01 * n for n in range(1, 9)}, 1000)[-1] == 8
    assert paced(Pace(32), {n: 0.01 * n for n in range(1, 33)}, 1000)[-1] == 10


def test_a_new_list_of_quick_requests_goes_on_with_as_many() -> None:
    pace, quick = Pace(8), dict.fromkeys(range(1, 9), 0.01)
    paced(pace, quick, 100)
    pace.start(1000)
    assert paced(pace, quick, 100) == [8] * 100


def test_a_server_that_does_many_at_once_a_little_more_slowly_gets_them_all() -> None:
    batched = {n: 1 + 0.01 * n for n in range(1, 33)}
    assert paced(Pace(32), batched, 1000)[-1] == 32


def test_a_busy_server_gets_half_once_for_all_that_were_sent_before() -> None:
    pace = Pace(8)
    paced(pace, waiting(99), 100)
    sent = time.monotonic()
    for _ in range(8):
        pace.busy(sent)
    assert pace.now == 4
    pace.busy(time.monotonic())
    assert pace.now == 2
    for _ in range(4):
        pace.busy(time.monotonic())
    assert pace.now == 1
    assert paced(pace, waiting(99), 3)[-1] > 1


def test_a_new_list_is_timed_anew_with_half_as_many_and_single_requests_change_nothing() -> None:
    pace = Pace(8)
    paced(pace, waiting(99), 100)
    pace.start(1)
    assert pace.now == 8
    pace.start(1000)
    assert paced(pace, waiting(99), 8)[-1] == 4
    longer = dict.fromkeys(range(1, 9), 10.0)  # other requests, which take longer whatever their number is
    assert paced(pace, longer, 100)[-1] == 8


def test_there_are_as_many_places_as_the_pace_allows_now() -> None:
    async def places_taken(changes: list[int]) -> list[int]:
        """How many of eight tasks have a place, some steps after each change."""
        pace, there, found = Pace(8), 0, []
        places = Places(pace)

        async def task() -> None:
            nonlocal there
            await places.acquire()
            while True:
                there += 1
                await asyncio.sleep(0)
                there -= 1
                await places.keep()

        tasks = [asyncio.create_task(task()) for _ in range(8)]
        for pace.now in changes:
            for _ in range(40):
                await asyncio.sleep(0)
            found.append(there)
        for one in tasks:
            one.cancel()
        return found

    assert asyncio.run(places_taken([2, 5, 1, 8, 3])) == [2, 5, 1, 8, 3]
