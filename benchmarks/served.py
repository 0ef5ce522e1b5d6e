"""How many requests a second the client of served models handles, with a server that does nothing.

    python -m benchmarks.served [REQUESTS]

The server is a process of its own that answers every request with the same next tokens, so that what is measured is the
client alone: making requests, reading replies, making answers and keeping them. On a busy machine read the second
number, the client's time on a processor.
"""

import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from evenhand import Choose, Remembering
from evenhand.models.served.connection import Address
from evenhand.models.served.model import ServedModel

TOP = {" A": -0.5, " B": -1.5, " C": -3.0, " the": -4.0, " I": -5.0}
LOGPROBS = {"tokens": [" A"], "token_logprobs": [-0.5], "top_logprobs": [TOP], "text_offset": [0]}
REPLY = json.dumps({"model": "null", "choices": [{"index": 0, "text": " A", "logprobs": LOGPROBS}]}).encode()
HEAD = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(REPLY)}\r\n\r\n".encode()
CONCURRENCY = 32


def serve(port: Any) -> None:
    """Answer everything with REPLY, on a free port, which goes into `port`."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if b"content-length: " in (lower := head.lower()):
                    await reader.readexactly(int(lower.split(b"content-length: ")[1].split(b"\r\n")[0]))
                writer.write(HEAD + REPLY)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def measure(count: int) -> tuple[float, float]:
    """Requests for each second by the clock, and for each second of the client's processor time."""
    context = multiprocessing.get_context("spawn")
    port = context.Queue()
    server = context.Process(target=serve, args=(port,), daemon=True)
    server.start()
    try:
        model = ServedModel(Address("null", f"http://127.0.0.1:{port.get()}/v1"), concurrency=CONCURRENCY)
        options = ("The man", "The woman", "Not enough information")
        questions = [Choose(f"Case {n}.\nQuestion: Who was late?", options, by="letters") for n in range(count)]
        with tempfile.TemporaryDirectory() as folder:
            kept = Remembering(model, Path(folder) / "answers.sqlite")
            clock, processor = time.perf_counter(), time.process_time()
            kept.answer(questions)
            return count / (time.perf_counter() - clock), count / (time.process_time() - processor)
    finally:
        server.terminate()


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    by_clock, by_processor = measure(asked)
    print(f"{asked:,} requests, {CONCURRENCY} at once: {by_clock:,.0f} a second, {by_processor:,.0f} of processor time")
