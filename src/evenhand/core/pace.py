"""How many requests are under way at once: more of them, as long as they do not wait for each other."""

import asyncio
import math
import time
from statistics import fmean

FIRST = 2
SLOWER = 1.5
"""A request may take so many times as long as in the quickest round; one that takes longer waits for others."""
QUICK = 0.1
"""Seconds of a request that need not be shorter, and may be spent on our side."""


class Pace:
    """`now` of at most `most` requests: one more after each round that was not slower, half where a server is busy."""

    def __init__(self, most: int) -> None:
        self.most, self.now = most, min(FIRST, most)
        self._least, self._round, self._halved, self._began = math.inf, list[float](), 0.0, False

    def start(self, requests: int) -> None:
        """Begin a list of requests, which may take longer than those before: half as many, unless they are quick."""
        if requests > self.now:
            self._change(self.now)
            self._began = True

    def took(self, seconds: float) -> None:
        """A request was answered in so many seconds."""
        self._round.append(seconds)
        if len(self._round) >= self.now:
            mean, self._round = fmean(self._round), []
            if self._began and mean >= QUICK:
                self._change(max(min(FIRST, self.most), self.now // 2))
                return
            self._least, self._began = min(mean, self._least), False
            self.now += mean < max(QUICK, SLOWER * self._least) and self.now < self.most

    def busy(self, sent: float) -> None:
        """The server had no time for a request that was sent then: half as many, once for all sent before."""
        if sent >= self._halved:
            self._halved = time.monotonic()
            self._change(max(1, self.now // 2))

    def _change(self, now: int) -> None:
        self.now, self._least, self._round, self._began = now, math.inf, [], False


class Places(asyncio.Semaphore):
    """The places for the requests of one list, as many as its pace allows."""

    def __init__(self, pace: Pace) -> None:
        super().__init__(pace.now)
        self._pace, self._count = pace, pace.now

    def release(self) -> None:
        self._count -= 1
        self._open()

    async def keep(self) -> None:
        """Keep the place, unless there are fewer now; open those that are new."""
        self._open()
        if self._count > self._pace.now:
            self.release()
            await self.acquire()

    def _open(self) -> None:
        while self._count < self._pace.now:
            self._count += 1
            super().release()
