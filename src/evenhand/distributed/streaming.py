"""Stream texts through a Ray cluster (Ray Data): read here, processed anywhere, results in the order of the texts."""

import logging
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import ray
import ray.data
from ray.exceptions import RayError

from evenhand.distributed.worker import as_evenhand_error, stopped
from evenhand.errors import EvenhandError

T = TypeVar("T")
Text = TypeVar("Text")
"""A text, or the texts of a row."""

CHUNK = 500
"""Texts that a worker gets at a time."""


def streamed(
    texts: Callable[[], Iterator[Text]],
    work: Callable[[list[tuple[int, Text]]], T],
    *,
    size: int = CHUNK,
    workers: int | None = None,
) -> Iterator[T]:
    """The results of `work` on each chunk of `size` texts, numbered from 0.

    Needs a connection to a cluster. A process on this machine reads, no further ahead than memory allows, so files need
    not be on other machines.
    """
    folder, data = Path.cwd(), os.environ.get("EVENHAND_DATA")

    def read(_: Any) -> Iterator[dict[str, Any]]:
        os.chdir(folder)
        if data:
            os.environ["EVENHAND_DATA"] = data
        numbered = enumerate(texts())
        while chunk := list(islice(numbered, size)):
            yield {"chunk": [pickle.dumps(chunk)]}

    def attempted(chunk: list[tuple[int, Text]]) -> T | EvenhandError:
        try:
            return work(chunk)
        except EvenhandError as error:  # returned, since Ray Data hides what is raised
            return error
        except OSError as error:
            return stopped(error)

    def worked(rows: dict[str, Any]) -> dict[str, Any]:
        return {"result": [pickle.dumps(attempted(pickle.loads(chunk))) for chunk in rows["chunk"]]}

    with _in_order():
        here = {f"node:{ray.util.get_node_ip_address()}": 0.001}
        chunks = ray.data.from_items([0], override_num_blocks=1).map_batches(
            read, batch_size=1, num_cpus=0, resources=here
        )
        results = chunks.map_batches(worked, batch_size=1, num_cpus=1, concurrency=workers)
        try:
            for row in results.iter_rows():
                result = pickle.loads(row["result"])
                if isinstance(result, EvenhandError):
                    raise result
                yield result
        except RayError as error:
            raise as_evenhand_error(error) from None


@contextmanager
def _in_order() -> Iterator[None]:
    """Run Ray Data without progress bars and log lines, with chunks kept separate and in order."""
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about options that Ray sets itself
        warnings.filterwarnings("ignore", "The maximum number of concurrent tasks")  # one chunk, and several workers
        context = ray.data.DataContext.get_current()
        before = context.enable_progress_bars, context.target_max_block_size, context.execution_options.preserve_order
        context.enable_progress_bars, context.target_max_block_size = False, 1  # bytes
        context.execution_options.preserve_order = True
        try:
            yield
        finally:
            context.enable_progress_bars, context.target_max_block_size = before[:2]
            context.execution_options.preserve_order = before[2]
