"""Measure gender bias in language models, with intervals.

Everything public is here; each name is loaded when it is first used, so that `import evenhand` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from evenhand.analysis.comparison import compare
    from evenhand.auditing.audit import audit, rescore
    from evenhand.auditing.sweep import sweep
    from evenhand.checks.doctor import doctor
    from evenhand.checks.lint import lint
    from evenhand.core.items import Blank, NliPair, Pair, Sentence
    from evenhand.core.loop import measure, measure_all
    from evenhand.core.measure import Measure
    from evenhand.core.model import Model
    from evenhand.core.questions import Answer, Entail, Fill, Likelihood, Span
    from evenhand.core.scores import Result, Score, macro_mean, mean
    from evenhand.errors import BadInput, EvenhandError, ModelError, RunError
    from evenhand.formats import export
    from evenhand.gate.gate import Gate
    from evenhand.gate.policy import Rule
    from evenhand.measures.association import Association
    from evenhand.measures.likelihood import LikelihoodDifference
    from evenhand.measures.pronoun import Pronoun
    from evenhand.models import load
    from evenhand.models.cache import Remembering
    from evenhand.models.table import Table
    from evenhand.runs.folder import Run

_HOME = {
    "Answer": "core.questions",
    "Association": "measures.association",
    "BadInput": "errors",
    "Blank": "core.items",
    "Entail": "core.questions",
    "EvenhandError": "errors",
    "Fill": "core.questions",
    "Gate": "gate.gate",
    "Likelihood": "core.questions",
    "LikelihoodDifference": "measures.likelihood",
    "Measure": "core.measure",
    "Model": "core.model",
    "ModelError": "errors",
    "NliPair": "core.items",
    "Pair": "core.items",
    "Pronoun": "measures.pronoun",
    "Remembering": "models.cache",
    "Result": "core.scores",
    "Run": "runs.folder",
    "Rule": "gate.policy",
    "RunError": "errors",
    "Score": "core.scores",
    "Sentence": "core.items",
    "Span": "core.questions",
    "Table": "models.table",
    "audit": "auditing.audit",
    "export": "formats",
    "compare": "analysis.comparison",
    "doctor": "checks.doctor",
    "lint": "checks.lint",
    "load": "models",
    "macro_mean": "core.scores",
    "mean": "core.scores",
    "measure": "core.loop",
    "measure_all": "core.loop",
    "rescore": "auditing.audit",
    "sweep": "auditing.sweep",
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
    "Rule",
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


_WITHIN = ("datasets", "errors", "measures", "mitigation", "models", "studies", "testing", "training")
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
