"""The studies of papers, with their numbers next to ours."""

import inspect
from collections.abc import Callable
from typing import Any

from evenhand.errors import BadInput, check_known
from evenhand.papers import anantaprayoon2024, bartl2020, barza2023, predictions, word_vectors
from evenhand.papers.base import Reproduction

PAPERS: dict[str, dict[str, Callable[..., Reproduction]]] = {
    "anantaprayoon2024": anantaprayoon2024.PARTS,
    "bartl2020": {"tables": bartl2020.reproduce},
    "barza2023": barza2023.PARTS,
    "bolukbasi2016": {"tables": word_vectors.bolukbasi2016},
    "caliskan2017": {"tables": word_vectors.caliskan2017},
    "liang2020": {"tables": word_vectors.liang2020},
    "nadeem2021": {"tables": predictions.nadeem2021},
    "pikuliak2024": {"tables": predictions.pikuliak2024},
}
"""The studies of each paper, by name."""

__all__ = ["PAPERS", "Reproduction", "options_of", "reproduce"]


def reproduce(paper: str = "bartl2020", part: str = "tables", **options: Any) -> Reproduction:
    """Run a study of a paper, and compare its numbers with ours; `options` are the parameters of the study."""
    known = options_of(paper, part)
    for option in options:
        if option not in known:
            raise BadInput(f"'{option}' is not an option of '{paper}', part '{part}'. It has: {', '.join(known)}.")
    return PAPERS[paper][part](**options)


def options_of(paper: str, part: str) -> list[str]:
    """The names of the options of a study."""
    check_known("paper", [paper], PAPERS)
    check_known(f"part of '{paper}'", [part], PAPERS[paper])
    return list(inspect.signature(PAPERS[paper][part]).parameters)
