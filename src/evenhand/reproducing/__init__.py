"""The papers' tables beside ours."""

import inspect
from collections.abc import Callable
from typing import Any

from evenhand.errors import BadInput, UnknownName
from evenhand.reproducing import bartl2020, barza2023
from evenhand.reproducing.base import Reproduction

PAPERS: dict[str, Callable[..., Reproduction]] = {"bartl2020": bartl2020.reproduce, "barza2023": barza2023.reproduce}

__all__ = ["PAPERS", "Reproduction", "reproduce"]


def reproduce(paper: str = "bartl2020", **options: Any) -> Reproduction:
    """Run a paper's study and set its numbers beside ours; options as its module in evenhand.reproducing has them."""
    if paper not in PAPERS:
        raise UnknownName("paper", paper, PAPERS)
    known = inspect.signature(PAPERS[paper]).parameters
    for option in options:
        if option not in known:
            raise BadInput(f"'{option}' is no option of '{paper}'. It has: {', '.join(known)}.")
    return PAPERS[paper](**options)
