"""Measure gender bias in language models, with intervals.

Everything public is here; each name is loaded when it is first used, so that `import evenhand` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from evenhand.auditing import audit, rescore
    from evenhand.comparing import compare
    from evenhand.doctoring import doctor
    from evenhand.errors import BadInput, EvenhandError, ModelError, RunError
    from evenhand.folder import Run
    from evenhand.formats import export
    from evenhand.gating import Gate
    from evenhand.items import Blank, NliPair, Pair, Sentence
    from evenhand.linting import lint
    from evenhand.measures.association import Association
    from evenhand.measures.base import Measure
    from evenhand.measures.likelihood import LikelihoodDifference
    from evenhand.measures.pronoun import Pronoun
    from evenhand.models import load
    from evenhand.models.base import Model
    from evenhand.models.remembering import Remembering
    from evenhand.models.table import Table
    from evenhand.questions import Answer, Entail, Fill, Likelihood, Span
    from evenhand.result import Result, Score, macro_mean, mean
    from evenhand.run import measure, measure_all
    from evenhand.sweeping import sweep

_HOME = {
    "Answer": "questions",
    "Association": "measures.association",
    "BadInput": "errors",
    "Blank": "items",
    "Entail": "questions",
    "EvenhandError": "errors",
    "Fill": "questions",
    "Gate": "gating",
    "Likelihood": "questions",
    "LikelihoodDifference": "measures.likelihood",
    "Measure": "measures.base",
    "Model": "models.base",
    "ModelError": "errors",
    "NliPair": "items",
    "Pair": "items",
    "Pronoun": "measures.pronoun",
    "Remembering": "models.remembering",
    "Result": "result",
    "Run": "folder",
    "RunError": "errors",
    "Score": "result",
    "Sentence": "items",
    "Span": "questions",
    "Table": "models.table",
    "audit": "auditing",
    "export": "formats",
    "compare": "comparing",
    "doctor": "doctoring",
    "lint": "linting",
    "load": "models",
    "macro_mean": "result",
    "mean": "result",
    "measure": "run",
    "measure_all": "run",
    "rescore": "auditing",
    "sweep": "sweeping",
}

__all__ = [
    "Answer",
    "Association",
    "BadInput",
    "Blank",
    "Entail",
    "EvenhandError",
    "Fill",
    "Gate",
    "Likelihood",
    "LikelihoodDifference",
    "Measure",
    "Model",
    "ModelError",
    "NliPair",
    "Pair",
    "Pronoun",
    "Remembering",
    "Result",
    "Run",
    "RunError",
    "Score",
    "Sentence",
    "Span",
    "Table",
    "audit",
    "compare",
    "doctor",
    "export",
    "lint",
    "load",
    "macro_mean",
    "mean",
    "measure",
    "measure_all",
    "rescore",
    "sweep",
]


_WITHIN = ("corpus", "datasets", "errors", "measures", "mitigation", "models", "testing", "training")
"""What people reach into after `import evenhand` alone: `evenhand.datasets.load("tgb")`."""


def __getattr__(name: str) -> Any:
    if name in _WITHIN:
        return import_module(f"evenhand.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'evenhand' has no attribute '{name}'")
    found = getattr(import_module(f"evenhand.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_WITHIN})
