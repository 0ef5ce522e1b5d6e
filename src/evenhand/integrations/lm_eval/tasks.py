"""A dataset as a task of lm-evaluation-harness: a .yaml file, the documents, and a copy of `exported`."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import methodcaller
from pathlib import Path
from typing import Any

from evenhand.auditing.sampling import order_of_drawing
from evenhand.core.dataset import Dataset, base_name
from evenhand.core.files import check_new, prepare, write_whole
from evenhand.core.items import Blank, Choice, Item, NliPair, Pair, Prompt
from evenhand.core.measure import Measure, Traits
from evenhand.core.questions import Choose, Fill, Likelihood, Question, Write
from evenhand.errors import BadInput, check_known
from evenhand.measures import MEASURES
from evenhand.measures.choices import ChoiceAccuracy
from evenhand.measures.likelihood import LikelihoodDifference
from evenhand.measures.pronoun import Pronoun
from evenhand.measures.written import WrittenShare
from evenhand.suites import tasks_on

FUNCTIONS = "evenhand_tasks"
"""The file name of the copy of `exported`, which all tasks of a folder share."""
CHAT = "_chat"
"""The end of the name of a task for a chat template."""
MEAN, ANSWERED = "mean", "mean_of_answered"
OF_PAIRS = ("likelihood-difference", "likelihood-lean", "stereotype-share")
OF_CHOICES = ("choice-gap", "decision-odds", "decision-share", "choice-accuracy")


@dataclass(frozen=True)
class _Kind:
    """How items of a kind become documents: the measure that asks about them, and what is computed from the answers."""

    items: type
    function: str
    """The function of `exported`."""
    measure: Any
    aggregations: Mapping[str, str]
    """By metric, what makes one number of all documents: the harness's mean, or a function of `exported`."""
    more: Sequence[str] = ()
    """Other fields of the item that are copied into its document."""
    options: Sequence[str] = ()
    """The options of the measure that a task may have."""


KINDS = (
    _Kind(Pair, "pairs", LikelihoodDifference(), dict.fromkeys(OF_PAIRS, MEAN)),
    _Kind(Blank, "blanks", Pronoun(among="candidates"), {"pronoun": MEAN}),
    _Kind(
        Choice,
        "choices",
        ChoiceAccuracy(),
        {"bbq-bias": "bias_score", **dict.fromkeys(OF_CHOICES, ANSWERED), "choice-coverage": MEAN},
        ("right", "stereotype", "unknown", "female", "male"),
        ("chat",),
    ),
    _Kind(Prompt, "texts", WrittenShare(), {"words": MEAN}, (), ("chat", "texts", "longest", "temperature")),
)


def write(dataset: Dataset, folder: Path, *, options: Mapping[str, Any] | None = None, force: bool = False) -> str:
    """Write the task into a folder, for the harness's `--include_path`, and give the name of the task.

    The choices are the two sentences of a pair, the sentences with each pronoun of a blank, or the labels of a
    question's options, in each of their orders: the texts that our measures compare with a causal model. After a prompt
    the model writes. Other items are an error. `options` are those of the measure that asks.
    """
    kinds = {type(item) for item in dataset.items}
    kind = next((kind for kind in KINDS if kinds == {kind.items}), None)
    if kind is None:
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        other = "inspect eval evenhand/nli --model ..., or " if NliPair in kinds else ""
        source = "--templates FILE" if dataset.builder == "templates" else f"--dataset {base_name(dataset.name)}"
        raise BadInput(
            "Only sentence pairs, pronoun blanks, questions with options and prompts for texts can be tasks of "
            f"lm-evaluation-harness. '{dataset.name}' has items of the kind {found}. Measure it by: {other}evenhand "
            f"audit MODEL {source}. Or export it as a .tsv, .csv or .jsonl file, and add scores for `evenhand import`."
        )
    check_known(f"option of '{dataset.name}' as a task", options or {}, [*dataset.options, *kind.options])
    given = {name: value for name, value in dataset.options.items() if name in kind.options} | dict(options or {})
    measure = replace(kind.measure, **given)
    stated = {**dataset.options, **{name: getattr(measure, name) for name in given}}
    known = {task.measure.name for task in tasks_on([(dataset, {})], kind="causal")} | {"words"}
    aggregations = {metric: how for metric, how in kind.aggregations.items() if metric in known}
    name = "evenhand_" + re.sub(r"\W+", "_", base_name(dataset.name)).strip("_") + CHAT * bool(stated.get("chat"))
    about: dict[str, Any] = {"dataset": base_name(dataset.name), "version": dataset.version}
    about["options"] = {name: str(value) for name, value in stated.items() if name not in ("file", "sha256")}
    about["metrics"] = list(aggregations)
    drawn = [dataset.items[n] for *_, unit in order_of_drawing(dataset, 0) for n in unit]  # `--limit` takes a sample
    lines = [json.dumps(_document(item, about, measure, kind), ensure_ascii=False) for item in drawn]
    files = {
        f"{name}.jsonl": "\n".join(lines) + "\n",
        f"{FUNCTIONS}.py": Path(__file__).with_name("exported.py").read_text(encoding="utf-8"),
        # last: without it there is no task
        f"{name}.yaml": _yaml(dataset, name=name, kind=kind, measure=measure, aggregations=aggregations),
    }
    check_new(folder / f"{name}.yaml", force)
    prepare(folder)
    for file, text in files.items():
        write_whole(folder / file, methodcaller("write", text.encode()))
    return name


def _document(item: Item, about: Mapping[str, Any], measure: Measure[Any], kind: _Kind) -> dict[str, Any]:
    groups = {"groups": dict(item.groups)} if item.groups else {}
    more = {name: getattr(item, name) for name in kind.more}
    return {"id": item.id, **about, **_context_and_choices(item, measure.ask(item)), **more, **groups}


def _context_and_choices(item: Item, questions: Sequence[Question]) -> dict[str, Any]:
    """What a model is asked: a context and its possible continuations, or a prompt."""
    first = questions[0]
    if isinstance(first, Choose) and isinstance(item, Choice):
        texts = [question.text for question in questions if isinstance(question, Choose)]
        orders = item.orders or (range(len(item.options)),)
        return {"context": texts, "choices": list(first.continuations), "orders": list(map(list, orders))}
    if isinstance(first, Write):
        return {"context": first.text}
    if isinstance(first, Fill):
        return {"context": "", "choices": [first.filled(candidate)[0] for candidate in first.among]}
    return {"context": "", "choices": [question.text for question in questions if isinstance(question, Likelihood)]}


def _higher_is_better(metric: str) -> str:
    """Whether higher values of a measure are better, as YAML; null if neither the highest nor the lowest is best."""
    if metric not in MEASURES:
        return "null"
    traits = Traits.of(MEASURES[metric])
    return "true" if traits.better == "higher" else "false" if MEASURES[metric].neutral == traits.bounds[0] else "null"


def _yaml(dataset: Dataset, **known: Any) -> str:
    from jinja2 import Template

    about = {
        "Dataset": f"{dataset.name}, version {dataset.version}. {dataset.about}",
        "Source": dataset.source,
        "Licence": dataset.licence or "not stated; ask before you pass the documents on",
        "Flaws": dataset.flaws,
    }
    text = Path(__file__).with_name("task.yaml.j2").read_text(encoding="utf-8")
    task = Template(text, trim_blocks=True, keep_trailing_newline=True)
    return str(task.render(dataset=dataset, about=about, functions=FUNCTIONS, better=_higher_is_better, **known))
