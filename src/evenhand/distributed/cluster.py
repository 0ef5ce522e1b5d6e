"""Connect to a Ray cluster, or start one on this machine for as long as it is needed."""

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evenhand.core.foreign import need
from evenhand.errors import BadInput, ClusterError, check_known

log = logging.getLogger(__name__)

ENGINES = ("local", "ray")
CONNECTING, ANSWERING = 5.0, 20.0  # seconds to wait for a connection, and for an answer of the cluster
STORE = 256 * 2**20  # bytes of shared memory of a cluster that we start: workers exchange little
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
}
"""No usage statistics, no warnings about later versions of Ray, no logs of lost machines among our results."""


def check_engine(engine: str, address: str | None, workers: int | None) -> None:
    """Raise where one of these cannot be used, before any work is done."""
    check_known("engine", [engine], ENGINES)
    if engine == "local" and (address is not None or workers is not None):
        raise BadInput("`address` and `workers` are for Ray: add `engine='ray'`, or leave them out.")
    if workers is not None and workers < 1:
        raise BadInput(f"`workers` must be at least 1. Got {workers}.")
    if engine == "ray":
        need("ray", "The engine 'ray'")


def silence_ray() -> None:
    """Keep Ray from printing; must be called before it is imported."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)


@contextmanager
def connection(address: str | None = None, cpus: int | None = None) -> Iterator[None]:
    """Connect to the cluster at `address`, or start one on this machine with `cpus` CPUs, by default all.

    A process that is connected to Ray already stays connected.
    """
    silence_ray()
    import ray

    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "address": address or "local"}
    if address is None:
        options |= {"include_dashboard": False, "num_cpus": cpus, "object_store_memory": STORE}
    elif address != "auto":
        check_reachable(address)
    log.info("Starting Ray on this machine." if address is None else f"Joining the Ray cluster at {address}.")
    try:
        ray.init(**options)
    except Exception as error:  # a node that takes too long to start is a plain Exception of Ray's
        raise _no_cluster_error(address or "this machine", str(error)) from error
    try:
        yield
    finally:
        ray.shutdown()


def check_reachable(address: str) -> None:
    """Raise if there is no cluster at the address: Ray itself would try for minutes, and then end the process."""
    host, _, port = address.rpartition(":")
    if not host or "//" in host or not port.isdecimal():
        raise BadInput(
            "`address` must be HOST:PORT, as `ray start --head` prints it, or 'auto' for the cluster on this machine. "
            f"Got '{address}'."
        )
    command = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
    try:
        socket.create_connection((host, int(port)), CONNECTING).close()
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=ANSWERING)
    except (OSError, OverflowError) as error:
        raise _no_cluster_error(address, getattr(error, "strerror", None) or str(error)) from error
    except subprocess.TimeoutExpired as error:
        raise _no_cluster_error(address, f"something listens there, but did not answer in {ANSWERING:.0f} s") from error
    except subprocess.CalledProcessError as error:
        raise _no_cluster_error(address, error.stderr) from error


def _no_cluster_error(address: str, said: str) -> ClusterError:
    why = (said.strip().splitlines() or ["no reason given"])[-1].rstrip(".")
    return ClusterError(
        f"There is no Ray cluster to work on at {address}: {why}. Start one with `ray start --head`, on "
        "more machines `ray start --address HOST:PORT`, and run this on one of them; or leave `address` out, to use "
        "only this machine."
    )
