"""Is a model fit to be measured? Looked at before any number is believed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand import models, suites
from evenhand.checks import plain_texts
from evenhand.checks.base import CAREFUL, UNFIT, Case, LeftOut
from evenhand.checks.fit import Fit
from evenhand.checks.head_and_language import head_and_language, labels
from evenhand.checks.stability import batching, half_precision, numbers
from evenhand.checks.tokenizer import casing, mask_token, word_beginnings
from evenhand.checks.words_and_length import length, splitting, vocabulary
from evenhand.core.dataset import Dataset
from evenhand.core.items import NliPair
from evenhand.core.model import Model, kind_of
from evenhand.errors import BadInput, UnfitModel, UnknownName
from evenhand.models.base import Elsewhere, Examined
from evenhand.models.loading.names import DEFAULT, find
from evenhand.models.loading.names import kind as kind_found
from evenhand.runs.record import Finding, RunRecord

Check = Callable[[Case], Iterator[Finding]]
LOOKING: dict[str, tuple[Check, ...]] = {
    "masked": (mask_token, word_beginnings, casing, vocabulary, splitting, length),
    "nli": (casing, vocabulary, splitting, length),
    "causal": (casing, vocabulary, splitting, length),
}
"""Checks that look into a model, by its kind."""
ASKING: dict[str, tuple[Check, ...]] = {
    "masked": (head_and_language, numbers, batching),
    "nli": (labels, head_and_language, numbers, batching),
    "causal": (head_and_language, numbers, batching),
}
"""Checks that ask it questions: these can be made of any object that answers."""
NOT_CHECKED = "not checked"


def doctor(
    model: str | Path | Model = DEFAULT, *, lang: str = "en", suite: str = "all", **loading: Any
) -> list[Finding]:
    """Look at a model before it is measured: for each check a verdict (fine, careful, unfit), and what to do.

    `model` is as for `evenhand.audit`, and so is `loading`. Words and lengths are those of the `suite` in the language.
    A model that loading refuses gets one finding, unfit, with the reason.
    """
    if not isinstance(model, str | Path):
        if loading:
            raise TypeError(f"doctor() got an unexpected keyword argument '{min(loading)}'")
        return examine(model, chosen(suite, lang, kind_of(model)), lang)
    kind = kind_found(find(str(model)))  # where a folder tells, names are checked before minutes are spent on loading
    data = chosen(suite, lang, kind) if kind else []
    try:
        loaded = models.load(str(model), **loading)
    except UnfitModel as error:
        return [_refused(error)]
    return examine(loaded, data if loaded.kind == kind else chosen(suite, lang, loaded.kind), lang)


def examine(
    model: Model,
    datasets: Sequence[Dataset],
    language: str,
    *,
    thorough: bool = True,
    fits: Mapping[str, Fit] | None = None,
) -> list[Finding]:
    """What every check finds; those that could not run are listed as `not checked`.

    Unless it is `thorough`, it takes less time: fewer sentences are asked about, other languages are not tried, and
    half precision is only looked at if the model runs in it. `fits` has, by dataset, what `checks.fit` found already.
    """
    case = Case(model, language, datasets, thorough, fits or {})
    findings: list[Finding] = []
    left: list[str] = []
    examined = isinstance(model, Examined)
    for check in (*LOOKING[case.kind], *ASKING[case.kind], half_precision) if examined else ASKING[case.kind]:
        try:
            for finding in check(case):  # one by one: what was found before the rest was left out, stays
                findings.append(finding)
        except LeftOut as out:
            left.append(str(out))
        except UnfitModel as error:
            findings.append(_refused(error))
        except Exception as error:
            if examined:
                raise
            left.append(f"{check.__name__.replace('_', ' ')} ({type(error).__name__}: {error})")
    if not examined:
        names = [check.__name__.replace("_", " ") for check in (*LOOKING[case.kind], half_precision)]
        left.append(f"{', '.join(names)} (it answers questions, and shows nothing else of itself)")
    elif not datasets:
        left.append(f"words and length (no suite of '{language}' for its kind)")
    if left and thorough:
        findings.append(Finding(NOT_CHECKED, CAREFUL, f"{'; '.join(dict.fromkeys(left))}.", "Look at these yourself."))
    return list(dict.fromkeys(findings))


def look_over(
    model: Model,
    datasets: Sequence[Dataset],
    earlier: RunRecord | None = None,
    fits: Mapping[str, Fit] | None = None,
) -> tuple[Finding, ...]:
    """What an audit checks before it measures; the findings of an `earlier` run of the same tasks are kept.

    A model that only answers questions is asked nothing beyond the audit's own: each may cost money.
    """
    if earlier and earlier.doctor:
        return earlier.doctor
    if isinstance(model, Elsewhere):
        found: tuple[Finding, ...] = model.ask(look_over, datasets, None, fits)
        return found
    if not isinstance(model, Examined):
        return ()
    findings: dict[Finding, None] = {}
    for language in dict.fromkeys(dataset.language for dataset in datasets):
        of_it = [dataset for dataset in datasets if dataset.language == language]
        findings |= dict.fromkeys(examine(model, of_it, language, thorough=False, fits=fits))
    return tuple(findings)


def chosen(suite: str, language: str, kind: str) -> list[Dataset]:
    """The datasets of a suite; none where we have texts of the language to look at, but no suite for that kind."""
    try:
        tasks = suites.tasks(suite, language, {}, kind)
    except UnknownName:
        if suite == "all" and language in plain_texts.LANGUAGES:
            return []
        raise
    data = {task.dataset.name: task.dataset for task in tasks}
    of_inference = any(isinstance(dataset.items[0], NliPair) for dataset in data.values())
    if of_inference != (kind == "nli") and not (of_inference and kind == "causal"):  # it may be given words for labels
        others = ", ".join(("all", *suites.ALL[kind]))
        raise BadInput(f"Suite '{suite}' is for models of another kind. Got a model of kind '{kind}': choose {others}.")
    return list(data.values())


def _refused(error: UnfitModel) -> Finding:
    """A model that was refused: what was wrong, and the message's last sentence, which says what to do."""
    says, _, do = str(error).rpartition(". ")
    return Finding(error.check, UNFIT, f"{says}." if says else do, do if says else "")
