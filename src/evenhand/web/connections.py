"""Connections of the server: how many there may be, and how long a request may take to arrive.

Uvicorn's own limit, `limit_concurrency`, also counts connections that ask for nothing, and refuses the next visitor for
their sake; a limit of time for requests it does not have.
"""

from asyncio import TimerHandle, Transport
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 100
"""Connections at a time. One more takes the place of the one that has waited longest without a request."""
ARRIVING, READING = 30.0, 120.0
"""Seconds for a request to arrive whole, and for a visitor to read what was sent."""
ARRIVED = (h11.DONE, h11.MUST_CLOSE, h11.CLOSED, h11.ERROR)
LATE = "408 Request Timeout", "The request took too long to arrive."
FULL = "503 Service Unavailable", "There are too many visitors. Try again in a minute."


class Connection(H11Protocol):
    """A connection that is closed when a request takes too long to arrive, or its answer to be read."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.arriving: TimerHandle | None = None
        self.reading: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Wait for a request. If there are too many connections, one that waits is closed: this one, if all others are
        being answered."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > MOST:
            min((c for c in self.connections if isinstance(c, Connection)), key=Connection._importance)._end(*FULL)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        _stop(self.reading)
        self.reading = None

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that asks for nothing more, at last even one that does not read what was sent."""
        super().timeout_keep_alive_handler()
        self._wait_for_reader()

    def connection_lost(self, exc: Exception | None) -> None:
        _stop(self.arriving)
        _stop(self.reading)
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self.conn.their_state in ARRIVED or self.transport.is_closing():
            _stop(self.arriving)
            self.arriving = None
        elif self.arriving is None:
            self.arriving = self.loop.call_later(ARRIVING, self._end, *LATE)

    def _wait_for_reader(self) -> None:
        self.reading = self.reading or self.loop.call_later(READING, self.transport.abort)

    def _importance(self) -> tuple[bool, float]:
        """First those that wait for a request, the longest wait first; then those that are answered or still read."""
        waits = self.cycle is None or self.cycle.response_complete
        return not waits or self.transport.get_write_buffer_size() > 0, self.arriving.when() if self.arriving else 0.0

    def _end(self, status: str, why: str) -> None:
        """Close the connection, with a sentence if it has had no answer."""
        _stop(self.arriving)
        self.connections.discard(self)
        if self.cycle is None or not self.cycle.response_started:
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
            self.transport.write(f"{head}Content-Length: {len(why)}\r\n\r\n{why}".encode())
        if self.transport.get_write_buffer_size():  # it does not read; closing would wait for it
            self.transport.abort()
        self.transport.close()


def _stop(timer: TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
