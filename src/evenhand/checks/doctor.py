"""The doctor: checks whether a model is fit to be measured."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from evenhand import models, suites
from evenhand.checks import plain_texts
from evenhand.checks.base import CAREFUL, FINE, UNFIT, Case, LeftOut, Verdict
from evenhand.checks.fit import Fit
from evenhand.checks.head_and_language import head_and_language, labels, right_context
from evenhand.checks.stability import batching, half_precision, numbers
from evenhand.checks.tokens import casing, length, mask_token, splitting, vocabulary, word_beginnings
from evenhand.core.dataset import Dataset
from evenhand.core.items import NliPair
from evenhand.core.model import Model, check_model, kind_of
from evenhand.core.progress import one_bar
from evenhand.core.words import words
from evenhand.errors import BadInput, UnfitModel, UnknownName
from evenhand.models.base import Elsewhere, Examined
from evenhand.models.loading.names import DEFAULT, find
from evenhand.models.loading.names import kind as kind_found
from evenhand.models.served.asking import letter
from evenhand.models.served.model import ServedModel
from evenhand.runs.origin import UNCHECKED
from evenhand.runs.record import AuditRecord, Finding, Findings

KNOWS, BARELY = 0.5, 0.2
"""Shares of plain beginnings that a model continues as anybody would: a random one continues none of them."""


def server(model: ServedModel, language: str) -> Iterator[Finding]:
    """What the server gives, whether its numbers can be relied on, and whether its model knows the language.

    By plain sentences where it gives the log-probabilities of a prompt, by plain beginnings where it lists next tokens.
    A model that gives text alone is not checked.
    """
    for check, verdict, says, do in model.probed.remarks:
        yield Finding(check, cast("Verdict", verdict), says, do)
    case = Case(model, language, thorough=False)
    try:
        if model.ability.whole:
            yield from head_and_language(case)
            yield from numbers(case)
        elif model.ability.kind == "b":
            yield _continues(model, language)
        else:
            raise LeftOut("head and language", "the server gives text only")
    except LeftOut as out:
        yield Finding(UNCHECKED, CAREFUL, f"{out}.", "Look at some of its answers yourself.")


def _continues(model: ServedModel, language: str) -> Finding:
    """How many plain beginnings are continued by the word that anybody expects, or by its first token.

    A reply in a chat may also say the whole text again, from its first word.
    """
    texts = plain_texts.beginnings(language)
    if not texts:
        raise LeftOut("head and language", f"we have no plain beginnings of '{language}'")
    chat = not model.ability.next
    asked = "Continue this text. Say the next word and nothing else: {}" if chat else "{}"
    found = [letter(token).lower() for token in model.likeliest([asked.format(text) for text in texts])]
    right = sum(
        (len(token) > 2 and word.startswith(token)) or (chat and words(text)[0].of(text).lower() == token)
        for token, (text, word) in zip(found, texts.items(), strict=True)
    )
    verdict = FINE if right >= KNOWS * len(texts) else CAREFUL if right >= BARELY * len(texts) else UNFIT
    do = "" if verdict == FINE else "Is it a trained model of this language? Look at some of its answers."
    says = f"{right} of {len(texts)} plain beginnings of '{language}' are continued by the word that anybody expects."
    return Finding("language", verdict, says, do)


Check = Callable[[Case], Iterator[Finding]]
LOOKING: tuple[Check, ...] = (mask_token, word_beginnings, casing, vocabulary, splitting, length)
"""Checks that look into a model."""
ASKING: tuple[Check, ...] = (labels, head_and_language, right_context, numbers, batching)
"""Checks that only ask questions, so that they work for any object that answers."""
ONLY_FOR: dict[Check, str] = {mask_token: "masked", word_beginnings: "masked", right_context: "masked", labels: "nli"}
"""Checks that are for one kind of model only."""


def doctor(model: str | Path | Model = DEFAULT, *, lang: str = "en", suite: str = "all", **loading: Any) -> Findings:
    """Check a model before it is measured: a verdict for each check (fine, careful, unfit), and what to do.

    `model` and `loading` are as for `evenhand.audit`. Words and lengths are those of the `suite` in the language. A
    model that cannot be loaded because it is unfit gets one finding with the reason.
    """
    with one_bar("Examining the model"):
        if of_plugin := models.own(model) if isinstance(model, str) else None:
            return Findings(examine(of_plugin, chosen(suite, lang, kind_of(of_plugin)), lang))
        if not isinstance(model, str | Path):
            check_model(model)
            if loading:
                raise TypeError(f"doctor() got an unexpected keyword argument '{min(loading)}'")
            return Findings(examine(model, chosen(suite, lang, kind_of(model)), lang))
        kind = kind_found(find(str(model)))  # if it is known, names are checked before minutes are spent on loading
        data = chosen(suite, lang, kind) if kind else []
        try:
            loaded = models.load(str(model), **loading)
        except UnfitModel as error:
            return Findings([_refused(error)])
        return Findings(examine(loaded, data if loaded.kind == kind else chosen(suite, lang, loaded.kind), lang))


def examine(
    model: Model,
    datasets: Sequence[Dataset],
    language: str,
    *,
    thorough: bool = True,
    fits: Mapping[str, Fit] | None = None,
) -> list[Finding]:
    """What every check finds; those that could not run are listed as `not checked`.

    Unless it is `thorough`, it takes less time: fewer sentences are asked about, and half precision is only looked at
    if the model runs in it. `fits` has, by dataset, what `checks.fit` found already.
    """
    if isinstance(model, ServedModel):
        return list(server(model, language))
    case = Case(model, language, datasets, thorough, fits or {})
    findings: list[Finding] = []
    left: list[str] = []
    examined = isinstance(model, Examined)
    asking, looking = (
        [check for check in checks if ONLY_FOR.get(check, case.kind) == case.kind] for checks in (ASKING, LOOKING)
    )
    for check in (*looking, *asking, half_precision) if examined else asking:
        try:
            for finding in check(case):  # one by one: those before a LeftOut are kept
                findings.append(finding)
        except LeftOut as out:
            left.append(str(out))
        except UnfitModel as error:
            findings.append(_refused(error))
        except Exception as error:
            if examined:
                raise
            left.append(f"{_name(check)} ({type(error).__name__}: {error})")
    if not examined:
        left.append(f"{', '.join(map(_name, (*looking, half_precision)))} (it only answers questions)")
    elif not datasets:
        left.append(f"words and length (no suite of '{language}' for its kind)")
    if left and thorough:
        says = f"{'; '.join(dict.fromkeys(left))}."
        findings.append(Finding(UNCHECKED, CAREFUL, says, "Look at these yourself."))
    return list(dict.fromkeys(findings))


def _name(check: Check) -> str:
    return check.__name__.replace("_", " ")


def look_over(
    model: Model, datasets: Sequence[Dataset], earlier: AuditRecord | None = None, fits: Mapping[str, Fit] | None = None
) -> tuple[Finding, ...]:
    """What an audit checks before it measures; the findings of an `earlier` audit of the same tasks are kept.

    A model that only answers questions is asked nothing beyond the audit's own: each may cost money.
    """
    if earlier and earlier.doctor:
        return earlier.doctor
    if isinstance(model, Elsewhere):
        found: tuple[Finding, ...] = model.ask(look_over, datasets, None, fits)
        return found
    if not isinstance(model, Examined | ServedModel):
        return ()
    findings: dict[Finding, None] = {}
    for language in dict.fromkeys(dataset.language for dataset in datasets):
        of_it = [dataset for dataset in datasets if dataset.language == language]
        findings |= dict.fromkeys(examine(model, of_it, language, thorough=False, fits=fits))
    return tuple(findings)


def chosen(suite: str, language: str, kind: str) -> list[Dataset]:
    """The datasets of a suite; none for a language with plain texts but no suite for that kind of model."""
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
        raise BadInput(
            f"Suite '{suite}' is for models of another kind. Got a model of kind '{kind}': choose `suite` {others}."
        )
    return list(data.values())


def _refused(error: UnfitModel) -> Finding:
    """The finding of a model that was refused; the last sentence of the message says what to do."""
    says, _, do = str(error).rpartition(". ")
    return Finding(error.check, UNFIT, f"{says}." if says else do, do if says else "")
