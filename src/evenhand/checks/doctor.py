"""The doctor: checks whether a model is fit to be measured."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Unpack

from evenhand import suites
from evenhand.checks.base import LANGUAGES, ORDINARY, Case, NotChecked
from evenhand.checks.fit import Fit
from evenhand.checks.head_and_language import head_and_language, labels, meaning, right_context
from evenhand.checks.stability import batching, half_precision, numbers
from evenhand.checks.tokens import casing, length, mask_token, splitting, vocabulary, word_beginnings
from evenhand.core.dataset import Dataset
from evenhand.core.foreign import foreign, is_ours
from evenhand.core.items import NliPair, check_readable
from evenhand.core.model import CAREFUL, NOT_EXAMINED, UNCHECKED, UNFIT, Finding, Findings, Model, TokenCounter, kind_of
from evenhand.core.parameters import ONE_MODEL, Doctor, Loaded, describe
from evenhand.core.progress import one_bar
from evenhand.core.typed import fits
from evenhand.errors import BadInput, UnfitModel, UnknownName
from evenhand.models import ModelSource, check_keywords
from evenhand.models.base import Examined, RunsInWorker, Selective, SelfChecked, refusal
from evenhand.models.loading.names import DEFAULT

Check = Callable[[Case], Iterator[Finding]]
LOOKING: tuple[Check, ...] = (mask_token, word_beginnings, casing, vocabulary, splitting, length)
"""Checks that look into a model."""
ASKING: tuple[Check, ...] = (labels, head_and_language, right_context, numbers, batching)
"""Checks that only ask questions, so that they work for any object with an `answer` method."""
OF_VECTORS: tuple[Check, ...] = (vocabulary, meaning)
"""Checks of static vectors."""
ONLY_FOR: dict[Check, str] = {mask_token: "masked", word_beginnings: "masked", right_context: "masked", labels: "nli"}
"""Checks that are for one kind of model only."""


@describe(Doctor, model=ONE_MODEL)
def doctor(
    model: str | Path | Model = DEFAULT, *, lang: str = "en", suite: str = "all", **loading: Unpack[Loaded]
) -> Findings:
    """Check a model before it is measured: a verdict for each check (fine, careful, unfit), and what to do.

    The model can also be an object, as for `evenhand.audit`. If an unfit model cannot be loaded, the only finding has
    the reason.
    """
    options = loading.pop("model_options", None) or {}
    check_keywords("doctor", loading)
    with one_bar("Examining the model"):
        source = ModelSource.of(model, {**loading, **options}, "doctor")
        # If the kind is known, wrong names are reported before minutes are spent on loading.
        data = suite_datasets(suite, lang, source.kind) if source.kind else []
        try:
            loaded = source.load()
        except UnfitModel as error:
            return Findings([_refusal_finding(error)])
        kind = kind_of(loaded)
        return Findings(examine(loaded, data if kind == source.kind else suite_datasets(suite, lang, kind), lang))


def examine(
    model: Model,
    datasets: Sequence[Dataset],
    language: str,
    *,
    thorough: bool = True,
    fits: Mapping[str, Fit] | None = None,
) -> list[Finding]:
    """The findings of every check. A finding `not checked` lists the checks that could not run, if `thorough`.

    If not `thorough`, checks ask about fewer sentences, and half precision is only checked if the model runs in it.
    `fits` has the results of `checks.fit`, by dataset, if they are known already.
    """
    findings = own_findings(model, language)
    if isinstance(model, Selective):
        return [*findings, *_check_selective(model, language, findings)]
    case = Case(model, language, datasets, thorough, fits or {})
    unchecked: list[str] = []
    examined, static = isinstance(model, Examined), case.kind == "vectors"
    asking, looking = (
        [check for check in checks if ONLY_FOR.get(check, case.kind) == case.kind] for checks in (ASKING, LOOKING)
    )
    for check in OF_VECTORS if static else (*looking, *asking, half_precision) if examined else asking:
        try:
            for finding in check(case):  # one by one: the findings before a NotChecked are kept
                findings.append(finding)
        except NotChecked as reason:
            unchecked.append(str(reason))
        except UnfitModel as error:
            findings.append(_refusal_finding(error))
        except Exception as error:
            if examined and is_ours(model):
                raise
            unchecked.append(f"{_check_name(check)} ({type(error).__name__}: {error})")
    if not examined and not static:
        unchecked.append(f"{', '.join(map(_check_name, (*looking, half_precision)))} (it only answers questions)")
    elif not datasets and not static:
        unchecked.append(f"words and length (no suite of '{language}' for its kind)")
    if unchecked and (thorough or static):  # nothing else shows whether static vectors are random
        says = f"{'; '.join(dict.fromkeys(unchecked))}."
        findings.append(Finding(UNCHECKED, CAREFUL, says, "Look at these yourself."))
    return list(dict.fromkeys(findings))


def own_findings(model: Model, language: str) -> list[Finding]:
    """The findings of the model's own `findings` method; none if it has no such method."""
    if not isinstance(model, SelfChecked):
        return []
    return _checked_findings("findings", model, lambda: model.findings(language))


def _checked_findings(method: str, model: Model, give: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """What a method of a model gives, which must be findings whose texts can be read."""
    with foreign(f"`{method}` of the model '{model.name}' failed", model):
        findings = list(give())
        if not fits(findings, list[Finding]):
            raise BadInput(f"`{method}` of the model '{model.name}' must give a list of `Finding`s. Got {findings!r}.")
        for each in findings:
            check_readable(each.check, each.says, each.do, *each.datasets)
            if each.check == NOT_EXAMINED.check:
                raise BadInput(
                    f"`{method}` of the model '{model.name}': a check must have another name than '{each.check}'."
                )
        return findings


def _check_selective(model: Selective, language: str, own: Sequence[Finding]) -> Iterator[Finding]:
    """Check that a model that can only be asked some questions knows the language."""
    case = Case(model, language, thorough=False)
    try:
        if not (why := refusal(model, ORDINARY[case.kind]("en"))):
            yield from head_and_language(case)
            yield from numbers(case)
        elif not own:
            raise NotChecked("head and language", why)
    except NotChecked as reason:
        yield Finding(UNCHECKED, CAREFUL, f"{reason}.", "Look at some of its answers yourself.")


def _check_name(check: Check) -> str:
    return check.__name__.replace("_", " ")


def preflight(model: Model, datasets: Sequence[Dataset], fits: Mapping[str, Fit] | None = None) -> tuple[Finding, ...]:
    """The findings of an audit before it measures.

    A model that only has `answer` is asked nothing but the questions of the audit, since each question may cost money.
    """
    if isinstance(model, RunsInWorker):
        return tuple(_checked_findings("ask", model, lambda: model.ask(preflight, datasets, fits)))
    asks = isinstance(model, Examined | Selective) or (kind_of(model) == "vectors" and isinstance(model, TokenCounter))
    findings: dict[Finding, None] = {}
    for language in dict.fromkeys(dataset.language for dataset in datasets):
        same = [dataset for dataset in datasets if dataset.language == language]
        new = examine(model, same, language, thorough=False, fits=fits) if asks else own_findings(model, language)
        findings |= dict.fromkeys(new)
    return tuple(findings)


def suite_datasets(suite: str, language: str, kind: str) -> list[Dataset]:
    """The datasets of a suite; none if there are plain texts of the language but no suite for that kind of model."""
    try:
        tasks = suites.tasks(suite, language, {}, kind)
    except UnknownName:
        if suite == "all" and language in LANGUAGES:
            return []
        raise
    data = {task.dataset.name: task.dataset for task in tasks}
    of_inference = any(isinstance(dataset.items[0], NliPair) for dataset in data.values())
    if of_inference != (kind == "nli") and not (of_inference and kind == "causal"):  # which may get words for labels
        others = ", ".join(("all", *suites.ALL[kind]))
        raise BadInput(f"Suite '{suite}' is not for models of kind '{kind}'. Choose another `suite`: {others}.")
    return list(data.values())


def _refusal_finding(error: UnfitModel) -> Finding:
    """The finding on a model that was refused. The last sentence of the error is what to do."""
    says, _, do = str(error).rpartition(". ")
    return Finding(error.check, UNFIT, f"{says}." if says else do, do if says else "")
