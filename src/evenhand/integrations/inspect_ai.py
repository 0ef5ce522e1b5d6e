"""The tasks: `inspect eval evenhand/nli --model openai/gpt-4o-mini`. docs/integrations/inspect.md describes them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import wraps
from itertools import chain, zip_longest
from typing import Any

from inspect_ai import Epochs, Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import generate
from rich.markup import escape

from evenhand import datasets
from evenhand.auditing.sampling import units
from evenhand.core.dataset import Dataset
from evenhand.core.items import Choice, NliPair
from evenhand.core.questions import LETTERS, Choose
from evenhand.datasets.nli import LANGUAGES
from evenhand.errors import BadInput, EvenhandError, UnknownName
from evenhand.integrations.inspect_ai.scoring import chosen_options, nli_labels
from evenhand.measures.choices import BbqBias
from evenhand.measures.nli import NEUTRAL, FractionNeutral
from evenhand.models.planning.sequences import USUAL, as_choice, label_words

Build = Callable[..., Task]


def _in_words(build: Build) -> Build:
    """The task's function, whose errors inspect prints as they are, without a traceback."""

    @wraps(build)
    def built(*args: Any, **given: Any) -> Task:
        try:
            return build(*args, **given)
        except EvenhandError as error:
            raise PrerequisiteError(escape(str(error))) from error

    return built


@task
@_in_words
def nli(language: str = "en", labels: str | Sequence[str] = USUAL) -> Task:
    """Our pairs of an occupation and a man or a woman (nli-en, nli-ja, nli-zh): which label does a model give?"""
    return _inference("nli", language, labels, {})


@task
@_in_words
def nli_coal(language: str = "en", words: str = "all", rows: str = "all", labels: str | Sequence[str] = USUAL) -> Task:
    """The released pairs of NLI-CoAL (nli-coal-en, -ja, -zh), which `evenhand datasets fetch` gets."""
    return _inference("nli-coal", language, labels, {"words": words, "rows": rows})


@task
@_in_words
def bbq(order: str = "balanced") -> Task:
    """BBQ on gender, in ambiguous and in disambiguated contexts; `evenhand datasets fetch bbq` gets it."""
    found = [datasets.load(f"bbq-{condition}", order=order) for condition in ("ambiguous", "disambiguated")]
    return _task("bbq", found, _chosen, chosen_options(), {"chat": True})


def _inference(name: str, language: str, labels: str | Sequence[str], options: Mapping[str, str]) -> Task:
    if language not in LANGUAGES:
        raise UnknownName("language", language, LANGUAGES)
    words = label_words(labels if isinstance(labels, str) else [str(label) for label in labels])
    if words is None:
        raise BadInput("`labels` are three words for entailment, neutral and contradiction. Got none: leave them out.")
    found = datasets.load(f"{name}-{language}", **options)

    def asked(item: NliPair) -> tuple[Choose, int]:
        (question,) = FractionNeutral().ask(item)
        return replace(as_choice(question, words, "letters"), chat=True), NEUTRAL

    return _task(name, [found], asked, nli_labels(), {"labels": list(words)})


def _chosen(item: Choice) -> tuple[Choose, int]:
    (question,) = BbqBias(chat=True).ask(item)
    return question, item.right


def _task(
    name: str, found: Sequence[Dataset], asked: Callable[[Any], tuple[Choose, int]], scorer: Any, how: Mapping[str, Any]
) -> Task:
    """The task of these datasets; `asked` gives the question about an item and the place of its right option.

    Samples stand in the order in which `evenhand audit --limit` draws items, so that inspect's own limit takes the
    same ones: partners together, every group in proportion.
    """
    each = [[_sample(one, place, asked) for unit in units(one, 0) for place in unit] for one in found]
    samples: Iterable[Sample | None] = chain.from_iterable(zip_longest(*each))
    about = {one.name: {"version": one.version, "options": dict(one.options)} for one in found}
    return Task(
        dataset=MemoryDataset([sample for sample in samples if sample is not None], name=name),
        solver=generate(),
        scorer=scorer,
        epochs=Epochs(1, "mode"),
        version=max(one.version for one in found),
        metadata={"evenhand": {"datasets": about, **how}},
    )


def _sample(dataset: Dataset, place: int, asked: Callable[[Any], tuple[Choose, int]]) -> Sample:
    item: Any = dataset.items[place]
    question, right = asked(item)
    known = {"dataset": dataset.name, "version": dataset.version, "options": list(question.options)}
    return Sample(
        question.text, id=item.id, target=LETTERS[right], metadata={**item.groups, **known, "item": asdict(item)}
    )
