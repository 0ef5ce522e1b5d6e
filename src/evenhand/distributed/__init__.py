"""Distributed runs on Ray. Only `workers` imports Ray itself."""

from evenhand.core.foreign import need
from evenhand.errors import BadInput, check_known

ENGINES = ("local", "ray")


def check_engine(engine: str, address: str | None, workers: int | None) -> None:
    """Raise an error if the engine, the address or the number of workers cannot be used, before any work is done."""
    check_known("engine", [engine], ENGINES)
    if engine == "local" and (address is not None or workers is not None):
        raise BadInput("`address` and `workers` are only for Ray: add `engine='ray'`, or remove them.")
    if workers is not None and workers < 1:
        raise BadInput(f"`workers` must be at least 1. Got {workers}.")
    if engine == "ray":
        need("ray", "The engine 'ray'")
