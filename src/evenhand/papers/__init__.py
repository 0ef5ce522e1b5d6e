"""The studies of papers, with their numbers next to ours; charts, and meta-evaluation."""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from evenhand.errors import BadInput, check_known

if TYPE_CHECKING:
    from evenhand.papers.base import Reproduction

__all__ = ["PAPERS", "options_of", "reproduce"]

PAPERS = {
    "anantaprayoon2024": {"tables": "anantaprayoon2024.tables", "correlations": "anantaprayoon2024.correlations"},
    "bartl2020": {"tables": "bartl2020.reproduce"},
    "barza2023": {
        "tables": "barza2023.reproduce",
        "reminders": "barza2023.reminders",
        "learning-curve": "barza2023.learning_curve",
        "mt-gender": "barza2023.mt_gender",
        "corpora": "barza2023.corpora",
    },
    "bolukbasi2016": {"tables": "word_vectors.bolukbasi2016"},
    "caliskan2017": {"tables": "word_vectors.caliskan2017"},
    "liang2020": {"tables": "word_vectors.liang2020"},
    "nadeem2021": {"tables": "predictions.nadeem2021"},
    "pikuliak2024": {"tables": "predictions.pikuliak2024"},
}
"""The studies of each paper, by part: a module of this folder and its function. The module is imported when used."""


def reproduce(paper: str = "bartl2020", part: str = "tables", **options: Any) -> "Reproduction":
    """Run a study of a paper, and compare the paper's numbers with ours; `options` are the parameters of the study."""
    known = options_of(paper, part)
    for option in options:
        if option not in known:
            raise BadInput(f"'{option}' is not an option of '{paper}', part '{part}'. Its options: {', '.join(known)}.")
    return _load_study(paper, part)(**options)


def options_of(paper: str, part: str) -> list[str]:
    """The names of the options of a study."""
    return list(inspect.signature(_load_study(paper, part)).parameters)


def summary_of(paper: str, part: str) -> str:
    """What a study gives, in a sentence."""
    return (inspect.getdoc(_load_study(paper, part)) or "").partition("\n")[0]


def _load_study(paper: str, part: str) -> "Callable[..., Reproduction]":
    check_known("paper", [paper], PAPERS)
    check_known(f"part of '{paper}'", [part], PAPERS[paper])
    module, function = PAPERS[paper][part].split(".")
    study: Callable[..., Reproduction] = getattr(import_module(f"evenhand.papers.{module}"), function)
    return study
