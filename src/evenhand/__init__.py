"""Measure gender bias in language models, with intervals.

Everything public is here; each name is loaded when it is first used, so that `import evenhand` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any
from warnings import warn

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from evenhand.analysis.comparison import compare
    from evenhand.auditing.audit import audit, rescore
    from evenhand.auditing.sweep import sweep
    from evenhand.checks.doctor import doctor
    from evenhand.checks.lint import lint
    from evenhand.core.dataset import Dataset
    from evenhand.core.items import Blank, NliPair, Pair, Sentence
    from evenhand.core.loop import measure, measure_all
    from evenhand.core.measure import Measure
    from evenhand.core.model import Model
    from evenhand.core.questions import Answer, Entail, Fill, Likelihood, Span
    from evenhand.core.scores import Result, Score, mean
    from evenhand.errors import BadInput, EvenhandError, ModelError, RunError
    from evenhand.formats import export
    from evenhand.gate.gate import Gate
    from evenhand.gate.policy import Rule
    from evenhand.measures.association import Association
    from evenhand.measures.likelihood import LikelihoodDifference
    from evenhand.measures.pronoun import Pronoun
    from evenhand.mitigation.swap_file import swap
    from evenhand.models import load
    from evenhand.models.cache import Remembering
    from evenhand.models.table import Table
    from evenhand.runs.folder import Run
    from evenhand.studies.debias import debias

_HOME = {
    "Answer": "core.questions",
    "Association": "measures.association",
    "BadInput": "errors",
    "Blank": "core.items",
    "Dataset": "core.dataset",
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
    "debias": "studies.debias",
    "doctor": "checks.doctor",
    "lint": "checks.lint",
    "load": "models",
    "mean": "core.scores",
    "measure": "core.loop",
    "measure_all": "core.loop",
    "rescore": "auditing.audit",
    "swap": "mitigation.swap_file",
    "sweep": "auditing.sweep",
}

__all__ = [
    "Answer",
    "Association",
    "BadInput",
    "Blank",
    "Dataset",
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
    "debias",
    "doctor",
    "export",
    "lint",
    "load",
    "mean",
    "measure",
    "measure_all",
    "rescore",
    "swap",
    "sweep",
]


_WITHIN = ("datasets", "errors", "measures", "mitigation", "models", "studies", "testing", "training")
"""What people reach into after `import evenhand` alone: `evenhand.datasets.load("tgb")`."""


_DEPRECATED = {"macro_mean": "evenhand.core.scores"}
"""Names that were public in 0.1.0: they go with 0.3.0."""


def __getattr__(name: str) -> Any:
    if name in _DEPRECATED:
        warn(f"evenhand.{name} is deprecated: it is in {_DEPRECATED[name]}.", DeprecationWarning, stacklevel=2)
        return getattr(import_module(_DEPRECATED[name]), name)
    if name in _WITHIN:
        return import_module(f"evenhand.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'evenhand' has no attribute '{name}'")
    found = getattr(import_module(f"evenhand.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_WITHIN})
