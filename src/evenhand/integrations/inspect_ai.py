"""Tasks of inspect_ai, which finds them by an entry point: `inspect eval evenhand/nli --model openai/gpt-4o-mini`.

If inspect was asked for log-probabilities (`--logprobs --top-logprobs 20`) and the letters of the options have at least
half of the probability, the answer is the probability of each letter; otherwise it is the option that the reply names.
If the reply names no option, the sample is unscored, not wrong. docs/integrations/inspect.md describes the tasks.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import wraps
from itertools import zip_longest
from typing import Any

from rich.markup import escape

from evenhand import datasets, measures
from evenhand.auditing.sampling import order_of_drawing
from evenhand.core.dataset import Dataset
from evenhand.core.foreign import need
from evenhand.core.items import Choice, NliPair
from evenhand.core.loop import score as score_item
from evenhand.core.questions import LABELS, Answer, Choose
from evenhand.core.scores import Score
from evenhand.datasets.nli import LANGUAGES
from evenhand.errors import BadInput, EvenhandError, check_known
from evenhand.measures.choices import CONDITION, BbqBias, coverage
from evenhand.measures.nli import NEUTRAL, FractionNeutral
from evenhand.models.planning.plan import normalise_logps
from evenhand.models.planning.sequences import USUAL, as_choice, label_words
from evenhand.models.served.asking import Ability, answer
from evenhand.models.served.options import UNLISTED, named_option

need("inspect", "A task of inspect_ai")

from inspect_ai import Epochs, Task, task  # noqa: E402
from inspect_ai._util.error import PrerequisiteError  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.model import ModelOutput  # noqa: E402
from inspect_ai.scorer import Metric, SampleScore, Scorer, Target, Value, grouped, mean, metric, scorer, stderr  # noqa: E402
from inspect_ai.scorer import Score as Logged  # noqa: E402
from inspect_ai.solver import TaskState, generate  # noqa: E402

__all__ = ["bbq", "nli", "nli_coal"]

NO_OPTION, EMPTY = "the reply names no option", "the reply is empty"
HALF = 0.5
FRACTIONS = ("fraction-neutral", "fraction-entailment", "fraction-contradiction")
Build = Callable[..., Task]


def _read_output(question: Choose, output: ModelOutput) -> tuple[Answer, bool]:
    """The answer in the output; True if it has the model's log-probabilities, False if only the option named."""
    first = output.choices[0].logprobs if output.choices else None
    if first is not None:
        read = answer(question, Ability(chat_next=1), [{"choices": [{"logprobs": first.model_dump()}]}])
        if not read.note and coverage(read) >= HALF:
            return read, True
    place = named_option(output.completion, question)
    if place is None:
        return Answer.none(NO_OPTION if output.completion.strip() else EMPTY), False
    return Answer(tuple(0.0 if n == place else UNLISTED for n in range(len(question.options)))), False


@metric
def value(measure: str, by: str = "") -> Metric:
    """The value of evenhand's measure of this name; with `by`, a value for each label of this group."""
    summarise = measures.load(measure).summarise

    def compute(scores: list[SampleScore]) -> Value:
        parts: dict[str, list[Score]] = {}
        for sample in scores:
            groups = (sample.sample_metadata or {})["item"]["groups"]
            score = Score(str(sample.sample_id), sample.score.as_float(), groups)
            parts.setdefault(groups[by] if by else "", []).append(score)
        return {label: summarise(parts[label]) for label in sorted(parts)} if by else summarise(parts.get("", []))

    return compute


@scorer(
    metrics={
        "nli-coal": [value("nli-coal"), grouped(mean(), "set", all=False)],
        **{name: [mean(), stderr(cluster="word")] for name in FRACTIONS},
    }
)
def nli_labels() -> Scorer:
    """NLI-CoAL, and the shares of labels with standard errors over occupations."""
    return _scorer(("nli-coal", *FRACTIONS), lambda item: NliPair(**item), normalise=True)


@scorer(
    metrics={
        "bbq-bias": [value("bbq-bias", CONDITION)],
        "choice-accuracy": [
            value("choice-accuracy", CONDITION),
            grouped(stderr(cluster="template"), CONDITION, all=False, name_template="{group_name} stderr"),
        ],
    }
)
def chosen_options() -> Scorer:
    """BBQ's bias score and accuracy, in ambiguous and in disambiguated contexts."""
    return _scorer(("bbq-bias", "choice-accuracy"), lambda item: Choice(**{**item, "options": tuple(item["options"])}))


def _scorer(names: Sequence[str], rebuild: Callable[[dict[str, Any]], Any], *, normalise: bool = False) -> Scorer:
    """A scorer of replies by these measures. Its metadata has the answer that was scored, for `evenhand import`.

    With `normalise`, the probabilities of the options are divided by their sum.
    """
    by_name = {name: measures.load(name) for name in names}

    async def score(state: TaskState, target: Target) -> Logged:
        options = tuple(state.metadata["options"])
        read, probabilities = _read_output(Choose(state.input_text, options, "letters", chat=True), state.output)
        if note := read.note:
            why = "no_response" if note == EMPTY else "invalid_response_format"
            return Logged.unscored(reason=why, explanation=note, metadata={"note": note})
        if probabilities and normalise:
            read = Answer(normalise_logps([(logp,) for logp in read.logps]))
        item, logps = rebuild(state.metadata["item"]), read.logps
        scores = {name: score_item(item, [read], measure) for name, measure in by_name.items()}
        notes = "; ".join(dict.fromkeys(score.note for score in scores.values() if math.isnan(score.value)))
        return Logged(
            value={name: score.value for name, score in scores.items()},
            answer=options[logps.index(max(logps))],
            explanation=notes or state.output.completion,
            metadata={"logps": list(logps), "probabilities": probabilities},
        )

    return score


def _with_prerequisite_errors(build: Build) -> Build:
    """Raise our errors as inspect's PrerequisiteError, which it prints without a traceback."""

    @wraps(build)
    def make_task(*args: Any, **given: Any) -> Task:
        try:
            return build(*args, **given)
        except EvenhandError as error:
            raise PrerequisiteError(escape(str(error))) from error

    return make_task


@task
@_with_prerequisite_errors
def nli(language: str = "en", labels: str | Sequence[str] = USUAL) -> Task:
    """Our pairs of an occupation and a man or a woman (nli-en, nli-ja, nli-zh): which label does a model give?"""
    return _inference_task("nli", language, labels, {})


@task
@_with_prerequisite_errors
def nli_coal(language: str = "en", words: str = "all", rows: str = "all", labels: str | Sequence[str] = USUAL) -> Task:
    """The released pairs of NLI-CoAL (nli-coal-en, -ja, -zh), which `evenhand datasets fetch` downloads."""
    return _inference_task("nli-coal", language, labels, {"words": words, "rows": rows})


@task
@_with_prerequisite_errors
def bbq(order: str = "balanced") -> Task:
    """BBQ on gender, in ambiguous and in disambiguated contexts; `evenhand datasets fetch bbq` downloads it."""
    # Not "all", which asks a question in every order: inspect asks it once.
    check_known("order of options for inspect", [order], ("balanced", "released"))
    conditions = [datasets.load(f"bbq-{condition}", order=order) for condition in ("ambiguous", "disambiguated")]

    def ask(item: Any) -> tuple[Choose, int]:
        (question,) = BbqBias(chat=True).ask(item)
        return question, item.right

    return _task("bbq", conditions, ask, chosen_options(), {"chat": True})


def _inference_task(name: str, language: str, labels: str | Sequence[str], options: Mapping[str, str]) -> Task:
    check_known("language", [language], LANGUAGES)
    words = label_words(labels if isinstance(labels, str) else [str(label) for label in labels])
    if words is None:
        raise BadInput("`labels` must be three words, for entailment, neutral and contradiction. Got none.")
    dataset = datasets.load(f"{name}-{language}", **options)

    def ask(item: NliPair) -> tuple[Choose, int]:
        (question,) = FractionNeutral().ask(item)
        return replace(as_choice(question, words, "letters"), chat=True), NEUTRAL

    return _task(name, [dataset], ask, nli_labels(), {"labels": list(words)})


def _task(
    name: str, parts: Sequence[Dataset], ask: Callable[[Any], tuple[Choose, int]], scorer: Any, about: Mapping[str, Any]
) -> Task:
    """The task of these datasets; `ask` gives the question about an item and the position of its right option.

    Samples stand in the order in which `evenhand audit --limit` draws items. So inspect's own limit takes the same
    items, with partners together and every group in proportion.
    """
    by_dataset = [
        [_sample(data, data.items[n], ask) for *_, unit in order_of_drawing(data, 0) for n in unit] for data in parts
    ]
    samples = [sample for row in zip_longest(*by_dataset) for sample in row if sample is not None]
    versions = {data.name: {"version": data.version, "options": dict(data.options)} for data in parts}
    return Task(
        dataset=MemoryDataset(samples, name=name),
        solver=generate(),
        scorer=scorer,
        epochs=Epochs(1, "mode"),
        version=max(data.version for data in parts),
        metadata={"evenhand": {"datasets": versions, **about}},
    )


def _sample(dataset: Dataset, item: Any, ask: Callable[[Any], tuple[Choose, int]]) -> Sample:
    question, right = ask(item)
    about = {"dataset": dataset.name, "version": dataset.version, "options": list(question.options)}
    metadata = {**item.groups, **about, "item": asdict(item)}
    return Sample(question.text, id=item.id, target=LABELS["letters"][right], metadata=metadata)
