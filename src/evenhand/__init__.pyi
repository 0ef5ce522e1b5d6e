"""The public names, and where each is from: type checkers read this, and `__init__.py` takes its list from it."""

from typing import Any

from evenhand.calls.audit import audit as audit
from evenhand.calls.audit import from_scores as from_scores
from evenhand.calls.audit import rescore as rescore
from evenhand.calls.audit import sweep as sweep
from evenhand.calls.audit import track as track
from evenhand.calls.debias import debias as debias
from evenhand.checks.doctor import doctor as doctor
from evenhand.checks.lint import lint as lint
from evenhand.core.dataset import Dataset as Dataset
from evenhand.core.dataset import Kinds as Kinds
from evenhand.core.dataset import Partners as Partners
from evenhand.core.items import Blank as Blank
from evenhand.core.items import Choice as Choice
from evenhand.core.items import NliPair as NliPair
from evenhand.core.items import Pair as Pair
from evenhand.core.items import Prompt as Prompt
from evenhand.core.items import Sentence as Sentence
from evenhand.core.items import Target as Target
from evenhand.core.items import TargetSentence as TargetSentence
from evenhand.core.items import Triple as Triple
from evenhand.core.loop import measure as measure
from evenhand.core.loop import measure_all as measure_all
from evenhand.core.measure import Measure as Measure
from evenhand.core.measure import Unscored as Unscored
from evenhand.core.model import Finding as Finding
from evenhand.core.model import Model as Model
from evenhand.core.questions import Answer as Answer
from evenhand.core.questions import Choose as Choose
from evenhand.core.questions import Embed as Embed
from evenhand.core.questions import Entail as Entail
from evenhand.core.questions import Fill as Fill
from evenhand.core.questions import FirstMention as FirstMention
from evenhand.core.questions import Follows as Follows
from evenhand.core.questions import Likelihood as Likelihood
from evenhand.core.questions import Question as Question
from evenhand.core.questions import Span as Span
from evenhand.core.questions import Write as Write
from evenhand.core.scores import OfTotals as OfTotals
from evenhand.core.scores import Result as Result
from evenhand.core.scores import Score as Score
from evenhand.core.scores import Summary as Summary
from evenhand.core.scores import mean as mean
from evenhand.core.shown import Drawing as Drawing
from evenhand.core.shown import Sections as Sections
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
from evenhand.mitigation.base import Mitigation as Mitigation
from evenhand.mitigation.base import Wrapper as Wrapper
from evenhand.models import load as load
from evenhand.models.cache import Remembering as Remembering
from evenhand.models.table import Table as Table
from evenhand.run import Run as Run
from evenhand.run import compare as compare
from evenhand.show.paper_table import table as table
from evenhand.text.swap_file import swap as swap
from evenhand.text.swap_file import swap_text as swap_text

__version__: str
__all__: list[str]

def __getattr__(name: str) -> Any: ...
