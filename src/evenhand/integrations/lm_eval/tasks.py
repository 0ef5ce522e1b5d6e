"""A dataset as a task of lm-evaluation-harness: a .yaml file, the documents, and a copy of `exported`."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path
from typing import Any

from evenhand.core.dataset import Dataset, base_name
from evenhand.core.files import check_new, prepare, write_whole
from evenhand.core.items import Blank, Choice, Item, Pair
from evenhand.core.measure import Measure, Traits
from evenhand.core.questions import Choose, Fill, Likelihood, Question
from evenhand.errors import BadInput
from evenhand.measures import MEASURES
from evenhand.measures.choices import ChoiceAccuracy
from evenhand.measures.likelihood import LikelihoodDifference
from evenhand.measures.pronoun import Pronoun

FUNCTIONS = "evenhand_tasks"
"""The file name of the copy of `exported`, which all tasks of a folder share."""
MEAN = "mean"
OF_PAIRS = ("likelihood-difference", "likelihood-lean", "stereotype-share")


@dataclass(frozen=True)
class _Kind:
    """How items of a kind become documents: the measure that asks about them, and what is computed from the answers."""

    items: type
    function: str
    """The function of `exported`."""
    measure: Measure[Any]
    aggregations: Mapping[str, str]
    """By metric, what makes one number of all documents: the harness's mean, or a function of `exported`."""
    more: Sequence[str] = ()
    """Other fields of the item that are copied into its document."""


KINDS = (
    _Kind(Pair, "pairs", LikelihoodDifference(), dict.fromkeys(OF_PAIRS, MEAN)),
    _Kind(Blank, "blanks", Pronoun(among="candidates"), {"pronoun": MEAN}),
    _Kind(
        Choice,
        "choices",
        ChoiceAccuracy(),
        {"bbq-bias": "bias_score", "choice-accuracy": "mean_of_answered", "choice-coverage": MEAN},
        ("right", "stereotype", "unknown"),
    ),
)


def task_name(dataset: Dataset) -> str:
    """The name of a dataset's task, such as evenhand_crows_pairs."""
    return "evenhand_" + re.sub(r"\W+", "_", base_name(dataset.name)).strip("_")


def write(dataset: Dataset, folder: Path, *, force: bool = False) -> str:
    """Write the task into a folder, for the harness's `--include_path`, and give the name of the task.

    The choices are the two sentences of a pair, the sentences with each pronoun of a blank, or the lettered options of
    a question: the texts that our measures compare with a causal model. Other items are an error.
    """
    kinds = {type(item) for item in dataset.items}
    kind = next((kind for kind in KINDS if kinds == {kind.items}), None)
    if kind is None:
        raise BadInput(
            f"Only sentence pairs, pronoun blanks and questions with options can be tasks of lm-evaluation-harness, "
            f"which compares the likelihoods of texts. '{dataset.name}' has items of the kind "
            f"{', '.join(sorted(kind.__name__ for kind in kinds))}. Export it as .tsv."
        )
    name = task_name(dataset)
    lines = [json.dumps(_document(dataset, item, kind), ensure_ascii=False) for item in dataset.items]
    files = {
        f"{name}.jsonl": "\n".join(lines) + "\n",
        f"{FUNCTIONS}.py": Path(__file__).with_name("exported.py").read_text(encoding="utf-8"),
        f"{name}.yaml": _yaml(dataset, name, kind),  # last: without it there is no task
    }
    check_new(folder / f"{name}.yaml", force)
    prepare(folder)
    for file, text in files.items():
        write_whole(folder / file, methodcaller("write", text.encode()))
    return name


def _document(dataset: Dataset, item: Item, kind: _Kind) -> dict[str, Any]:
    context, choices = _context_and_choices(kind.measure.ask(item))
    about: dict[str, Any] = {"id": item.id, "dataset": base_name(dataset.name), "version": dataset.version}
    options = {name: str(value) for name, value in dataset.options.items() if name not in ("file", "sha256")}
    about |= {"options": options} if options else {}
    groups = {"groups": dict(item.groups)} if item.groups else {}
    more = {name: getattr(item, name) for name in kind.more}
    return about | {"context": context, "choices": choices} | more | groups


def _context_and_choices(questions: Sequence[Question]) -> tuple[str, list[str]]:
    """A context and its possible continuations, whose likelihoods answer the questions about an item."""
    first = questions[0]
    if isinstance(first, Choose):
        return first.text, list(first.continuations)
    if isinstance(first, Fill):
        return "", [first.filled(candidate)[0] for candidate in first.among]
    return "", [question.text for question in questions if isinstance(question, Likelihood)]


def _higher_is_better(metric: str) -> str:
    """Whether higher values of a measure are better, as YAML; null if neither the highest nor the lowest is best."""
    traits = Traits.of(MEASURES[metric])
    return "true" if traits.better == "higher" else "false" if MEASURES[metric].neutral == traits.bounds[0] else "null"


def _yaml(dataset: Dataset, name: str, kind: _Kind) -> str:
    from jinja2 import Template

    about = {
        "Dataset": f"{dataset.name}, version {dataset.version}. {dataset.about}",
        "Source": dataset.source,
        "Licence": dataset.licence or "not stated; ask before you pass the documents on",
        "Flaws": dataset.flaws,
    }
    text = Path(__file__).with_name("task.yaml.j2").read_text(encoding="utf-8")
    task = Template(text, trim_blocks=True, keep_trailing_newline=True)
    known = {"functions": FUNCTIONS, "better": _higher_is_better}
    return str(task.render(dataset=dataset, name=name, kind=kind, about=about, **known))
