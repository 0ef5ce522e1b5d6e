"""Measure gender bias in language models, with intervals.

All public names are here. Each is loaded when it is first used, so that `import evenhand` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any
from warnings import warn

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from evenhand.analysis.comparison import compare as compare
    from evenhand.auditing.audit import audit as audit
    from evenhand.auditing.importing import from_scores as from_scores
    from evenhand.auditing.rescoring import rescore as rescore
    from evenhand.auditing.sweep import sweep as sweep
    from evenhand.auditing.track import track as track
    from evenhand.checks.doctor import doctor as doctor
    from evenhand.checks.lint import lint as lint
    from evenhand.core.contrasts import Partners as Partners
    from evenhand.core.dataset import Dataset as Dataset
    from evenhand.core.items import Blank as Blank
    from evenhand.core.items import Choice as Choice
    from evenhand.core.items import NliPair as NliPair
    from evenhand.core.items import Pair as Pair
    from evenhand.core.items import Sentence as Sentence
    from evenhand.core.items import Triple as Triple
    from evenhand.core.loop import measure as measure
    from evenhand.core.loop import measure_all as measure_all
    from evenhand.core.measure import Measure as Measure
    from evenhand.core.model import Model as Model
    from evenhand.core.questions import Answer as Answer
    from evenhand.core.questions import Choose as Choose
    from evenhand.core.questions import Entail as Entail
    from evenhand.core.questions import Fill as Fill
    from evenhand.core.questions import Follows as Follows
    from evenhand.core.questions import Likelihood as Likelihood
    from evenhand.core.questions import Span as Span
    from evenhand.core.scores import Result as Result
    from evenhand.core.scores import Score as Score
    from evenhand.core.scores import mean as mean
    from evenhand.errors import BadInput as BadInput
    from evenhand.errors import EvenhandError as EvenhandError
    from evenhand.errors import ModelError as ModelError
    from evenhand.errors import RunError as RunError
    from evenhand.formats import export as export
    from evenhand.gate.gate import Gate as Gate
    from evenhand.gate.policy import Rule as Rule
    from evenhand.measures.association import Association as Association
    from evenhand.measures.likelihood import LikelihoodDifference as LikelihoodDifference
    from evenhand.measures.pronoun import Pronoun as Pronoun
    from evenhand.mitigation.swap_file import swap as swap
    from evenhand.models import load as load
    from evenhand.models.cache import Remembering as Remembering
    from evenhand.models.table import Table as Table
    from evenhand.runs.folder import Run as Run
    from evenhand.studies.debias import debias as debias

_MODULES = {
    "analysis.comparison": "compare",
    "auditing.audit": "audit",
    "auditing.importing": "from_scores",
    "auditing.rescoring": "rescore",
    "auditing.sweep": "sweep",
    "auditing.track": "track",
    "checks.doctor": "doctor",
    "checks.lint": "lint",
    "core.contrasts": "Partners",
    "core.dataset": "Dataset",
    "core.items": "Blank Choice NliPair Pair Sentence Triple",
    "core.loop": "measure measure_all",
    "core.measure": "Measure",
    "core.model": "Model",
    "core.questions": "Answer Choose Entail Fill Follows Likelihood Span",
    "core.scores": "Result Score mean",
    "errors": "BadInput EvenhandError ModelError RunError",
    "formats": "export",
    "gate.gate": "Gate",
    "gate.policy": "Rule",
    "measures.association": "Association",
    "measures.likelihood": "LikelihoodDifference",
    "measures.pronoun": "Pronoun",
    "mitigation.swap_file": "swap",
    "models": "load",
    "models.cache": "Remembering",
    "models.table": "Table",
    "runs.folder": "Run",
    "studies.debias": "debias",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted(_HOME)

_WITHIN = ("datasets", "errors", "integrations", "measures", "mitigation", "models", "studies", "testing", "training")
"""Submodules that can be used after `import evenhand` alone: `evenhand.datasets.load("tgb")`."""

_DEPRECATED = {"macro_mean": "evenhand.core.scores"}
"""Names that were public in 0.1.0, to be removed in 0.3.0."""


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
