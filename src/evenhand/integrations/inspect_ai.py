"""Tasks of inspect_ai, which finds them by an entry point: `inspect eval evenhand/choices --model openai/gpt-4o`.

If inspect was asked for log-probabilities (`--logprobs --top-logprobs 20`) and the letters of the options have at least
half of the probability, the answer is the probability of each letter; otherwise it is the option that the reply names.
If the reply names no option, the sample is unscored, not wrong. docs/integrations/inspect.md describes the tasks.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache, wraps
from itertools import zip_longest
from typing import Any

from rich.markup import escape

from evenhand import datasets, measures
from evenhand.auditing.sampling import order_of_drawing
from evenhand.core.dataset import Dataset
from evenhand.core.foreign import need
from evenhand.core.items import Choice, NliPair, Prompt
from evenhand.core.loop import score as score_item
from evenhand.core.questions import LABELS, Answer, Choose, Write, countable_text
from evenhand.core.scores import Score
from evenhand.datasets.choices import NAMES
from evenhand.datasets.nli import LANGUAGES
from evenhand.errors import BadInput, EvenhandError, check_known
from evenhand.measures.choices import CONDITION, ChoiceCoverage, coverage
from evenhand.measures.nli import NEUTRAL, FractionNeutral
from evenhand.measures.written import WrittenShare
from evenhand.models.planning.plan import normalise_logps
from evenhand.models.planning.sequences import USUAL, as_choice, label_words
from evenhand.models.served.asking import Ability, answer
from evenhand.models.served.options import UNLISTED, named_option
from evenhand.suites import tasks_on

need("inspect", "A task of inspect_ai")

from inspect_ai import Epochs, Task, task  # noqa: E402
from inspect_ai._util.error import PrerequisiteError  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput  # noqa: E402
from inspect_ai.scorer import Metric, SampleScore, Scorer, Target, Value, grouped, mean, metric, scorer, stderr  # noqa: E402
from inspect_ai.scorer import Score as Logged  # noqa: E402
from inspect_ai.solver import Generate, Solver, TaskState, solver  # noqa: E402

__all__ = ["bbq", "choices", "nli", "nli_coal", "stories"]

NO_OPTION, EMPTY = "the reply names no option", "the reply is empty"
HALF = 0.5
FRACTIONS = ("fraction-neutral", "fraction-entailment", "fraction-contradiction")
OUTPUTS = "evenhand_outputs"
"""Where a sample's store has the output of each of its questions."""
Build = Callable[..., Task]
Ask = Callable[[Any], Sequence[Choose | Write]]


@solver
def each_question() -> Solver:
    """Ask the questions of a sample, such as one for each order of its options, each in a conversation of its own."""

    async def ask(state: TaskState, generate: Generate) -> TaskState:
        said, outputs = [], []
        for question in state.metadata["questions"]:
            state.messages = [ChatMessageUser(content=question["text"])]
            state = await generate(state)
            said += state.messages
            outputs.append(state.output.model_dump())
        state.messages = said
        state.store.set(OUTPUTS, outputs)
        return state

    return ask


def _read(
    item: NliPair | Choice | Prompt, questions: Sequence[Mapping[str, Any]], outputs: Sequence[ModelOutput]
) -> tuple[list[Answer], bool]:
    """The answer to each question; True if it has the model's log-probabilities, False if only what a reply says."""
    if isinstance(item, Prompt):
        return [Answer(text=countable_text(o.completion, cut=o.stop_reason == "max_tokens")) for o in outputs], False
    asked = [Choose(question["text"], tuple(question["options"]), "letters", chat=True) for question in questions]
    tokens = [output.choices[0].logprobs if output.choices else None for output in outputs]
    replies = [{"choices": [{"logprobs": known.model_dump()}]} for known in tokens if known is not None]
    if len(replies) == len(asked):
        read = [answer(question, Ability(chat_next=1), [reply]) for question, reply in zip(asked, replies, strict=True)]
        if isinstance(item, Choice):  # a measure of choices knows what to do with letters that are unlikely
            return read, True
        if not read[0].note and coverage(read[0]) >= HALF:
            return [Answer(normalise_logps([(logp,) for logp in read[0].logps]))], True
    return [_read_reply(*pair) for pair in zip(asked, outputs, strict=True)], False


def _read_reply(question: Choose, output: ModelOutput) -> Answer:
    place = named_option(output.completion, question)
    if place is None:
        return Answer.none(NO_OPTION if output.completion.strip() else EMPTY)
    return Answer(tuple(0.0 if n == place else UNLISTED for n in range(question.count)))


@metric
def value(measure: str, by: str = "") -> Metric:
    """The value of evenhand's measure of this name; with `by`, one for each label of this group, or dataset."""
    summarise = measures.load(measure).summarise

    def compute(scores: list[SampleScore]) -> Value:
        parts: dict[str, list[Score]] = {}
        for sample in scores:
            about = sample.sample_metadata or {}
            score = Score(str(sample.sample_id), sample.score.as_float(), about["item"]["groups"])
            parts.setdefault(about[by] if by else "", []).append(score)
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
    return _scorer(("nli-coal", *FRACTIONS))


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
    return _scorer(("bbq-bias", "choice-accuracy"))


@scorer(
    metrics={
        "choice-gap": [value("choice-gap", "dataset")],
        "decision-share": [value("decision-share", "gender")],
        "choice-accuracy": [value("choice-accuracy", "dataset")],
    }
)
def shares_of_options() -> Scorer:
    """Whom a model chooses, what it decides about women and about men, and how well it does the controls."""
    return _scorer(("choice-gap", "decision-share", "choice-accuracy"))


@scorer(metrics={"written-share": [value("written-share")], "written-undetected": [mean()]})
def written_texts() -> Scorer:
    """The share of texts about women among those about women or men, and of texts that do not say it."""
    return _scorer(("written-share", "written-undetected"))


def _scorer(names: Sequence[str]) -> Scorer:
    """A scorer of replies by those of these measures that suit the item's dataset; the others are NaN.

    Its metadata has the answers that were scored, for `evenhand import`.
    """
    by_name = {name: measures.load(name) for name in names}

    async def score(state: TaskState, target: Target) -> Logged:
        item, questions = _rebuild(state.metadata["item"]), state.metadata["questions"]
        outputs = [ModelOutput.model_validate(output) for output in state.store.get(OUTPUTS)]
        read, probabilities = _read(item, questions, outputs)
        if note := next((answer.note for answer in read if answer.note), ""):
            why = "no_response" if note == EMPTY else "invalid_response_format"
            return Logged.unscored(reason=why, explanation=note, metadata={"note": note})
        suitable = [name for name in names if name in state.metadata["measures"]]
        scores = {name: score_item(item, read, by_name[name]) for name in suitable}
        notes = "; ".join(dict.fromkeys(score.note for score in scores.values() if math.isnan(score.value)))
        chosen = [q["options"][a.logps.index(max(a.logps))] for q, a in zip(questions, read, strict=True) if a.logps]
        return Logged(
            value={name: scores[name].value if name in scores else math.nan for name in names},
            answer=" / ".join(dict.fromkeys(chosen)),
            explanation=notes or state.output.completion,
            metadata={"logps": [logp for answer in read for logp in answer.logps], "probabilities": probabilities},
        )

    return score


def _rebuild(item: Mapping[str, Any]) -> NliPair | Choice | Prompt:
    """The item whose fields are in the metadata of a sample."""
    if "premise" in item:
        return NliPair(**item)
    if "options" in item:
        return Choice(**{**item, "options": tuple(item["options"]), "orders": tuple(map(tuple, item["orders"]))})
    return _prompts()[item["id"]]


@cache
def _prompts() -> dict[str, Prompt]:
    return {item.id: item for item in datasets.load("stories-en", chat=True).items if isinstance(item, Prompt)}


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
    conditions = [datasets.load(f"bbq-{condition}", order=order) for condition in ("ambiguous", "disambiguated")]
    return _task("bbq", conditions, ChoiceCoverage(chat=True).ask, chosen_options())


@task
@_with_prerequisite_errors
def choices(questions: str = "all", language: str = "en") -> Task:
    """Our questions about pronouns, decisions and descriptions, with their controls, in all orders of their options."""
    check_known("questions", [questions], ("all", "pronouns", "decisions", "descriptions"))
    check_known("language", [language], ("en", "de"))
    names = [name for name in NAMES if name.endswith("-de") == (language == "de")]
    parts = [datasets.load(name) for name in names if questions in ("all", name.split("-")[1])]
    return _task("choices", parts, ChoiceCoverage(chat=True).ask, shares_of_options(), epochs=Epochs(1, "mean"))


@task
@_with_prerequisite_errors
def stories(subjects: str = "all", forms: str = "all") -> Task:
    """Texts about somebody whose gender is left open (stories-en): are they about women or about men?"""
    dataset = datasets.load("stories-en", subjects=subjects, forms=forms, chat=True)
    measure = WrittenShare(chat=True)
    config = GenerateConfig(temperature=measure.temperature, top_p=1.0, max_tokens=measure.longest)
    how: dict[str, Any] = {"config": config, "epochs": Epochs(measure.texts, "mean")}
    return _task("stories", [dataset], lambda item: measure.ask(item)[:1], written_texts(), {"texts": True}, **how)


def _inference_task(name: str, language: str, labels: str | Sequence[str], options: Mapping[str, str]) -> Task:
    check_known("language", [language], LANGUAGES)
    words = label_words(labels if isinstance(labels, str) else [str(label) for label in labels])
    if words is None:
        raise BadInput("`labels` must be three words, for entailment, neutral and contradiction. Got none.")
    dataset = datasets.load(f"{name}-{language}", **options)

    def ask(item: NliPair) -> list[Choose]:
        (question,) = FractionNeutral().ask(item)
        return [replace(as_choice(question, words, "letters"), chat=True)]

    return _task(name, [dataset], ask, nli_labels(), {"labels": list(words)})


def _task(
    name: str, parts: Sequence[Dataset], ask: Ask, scorer: Any, about: Mapping[str, Any] | None = None, **how: Any
) -> Task:
    """The task of these datasets; `ask` gives the questions about an item.

    Samples stand in the order in which `evenhand audit --limit` draws items. So inspect's own limit takes the same
    items, with partners together and every group in proportion.
    """
    by_dataset = []
    for data in parts:
        suitable = [task.measure.name for task in tasks_on([(data, {})], kind="causal")]
        drawn = [data.items[n] for *_, unit in order_of_drawing(data, 0) for n in unit]
        place = f"{data.name}/" if len(parts) > 1 else ""  # two datasets may have items with the same id
        by_dataset.append([_sample(place, data, item, ask(item), suitable) for item in drawn])
    samples = [sample for row in zip_longest(*by_dataset) for sample in row if sample is not None]
    versions = {data.name: {"version": data.version, "options": dict(data.options)} for data in parts}
    return Task(
        dataset=MemoryDataset(samples, name=name),
        solver=each_question(),
        scorer=scorer,
        version=max(data.version for data in parts),
        metadata={"evenhand": {"datasets": versions, **(about or {})}},
        **{"epochs": Epochs(1, "mode"), **how},
    )


def _sample(
    place: str, dataset: Dataset, item: Any, asked: Sequence[Choose | Write], suitable: Sequence[str]
) -> Sample:
    questions = [{"text": question.text, "options": list(getattr(question, "options", ()))} for question in asked]
    about = {"dataset": dataset.name, "version": dataset.version, "measures": suitable, "questions": questions}
    fields = {"id": item.id, "groups": item.groups} if isinstance(item, Prompt) else asdict(item)  # not all its words
    right = NEUTRAL if isinstance(item, NliPair) else getattr(item, "right", None)
    target = "" if right is None else LABELS["letters"][right]
    metadata = {**item.groups, **about, "item": fields}
    return Sample(questions[0]["text"], id=f"{place}{item.id}", target=target, metadata=metadata)
