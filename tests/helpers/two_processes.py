"""Two processes that train together, as torchrun starts them."""

import os
import socket
from collections.abc import Callable
from typing import Any

from torch.multiprocessing.spawn import start_processes


def start_two(work: Callable[..., None], *arguments: Any) -> None:
    """Call `work(*arguments)` in two processes at once. They are forked, so that what they import is imported once."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    start_processes(_ranked, (port, work, arguments), nprocs=2, start_method="fork")  # type: ignore[no-untyped-call]


def _ranked(rank: int, port: int, work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    about = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "MASTER_PORT": port}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", **{name: str(number) for name, number in about.items()}}
    work(*arguments)
