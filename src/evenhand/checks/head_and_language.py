"""Has the model learnt anything, and in this language? Head and language are judged by what it makes of plain texts."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import fmean

from evenhand.checks import plain_texts
from evenhand.checks.base import CAREFUL, FINE, UNFIT, Case, LeftOut, Verdict, is_number
from evenhand.core.questions import Answer, Entail, Likelihood
from evenhand.core.words import words
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.models.loading.labels import LABELS
from evenhand.models.planning.tokens import UNKNOWN
from evenhand.runs.record import Finding

LEARNT = 2.0
"""Nats a word by which a plain sentence is likelier than its words shuffled, where a language was learnt: 4 to 6 in
small models of it, up to 0.4 in models of another language, from -2 to 1.2 in random ones."""
BARELY = 1.5
RIGHT = 0.75
"""Share of plain inferences that a trained model gets right at the least."""
GUESSED = 0.55
"""A share that guessing reaches once in a hundred tries."""
FEW = 4
"""Sentences that an audit asks about."""
NOTHING_LEARNT = {
    "masked": "Use a checkpoint with a trained head. (Of a model in a language that we have no sentences of, evenhand "
    "cannot tell.)",
    "causal": "Use a checkpoint that was trained. (Of a model in a language that we have no sentences of, evenhand "
    "cannot tell.)",
    "nli": "Use a model that has learnt inference in '{}', or train it: evenhand nli train",
}
ASK_THE_DOCTOR = "Its head is untrained, or it is no model of '{}'. Which of the two, says: evenhand doctor"


@dataclass(frozen=True)
class Evidence:
    """What plain texts of a language say: has it learnt, and how does it read them? `unread`: most it cannot read."""

    learnt: Verdict
    says: str
    reads: str = ""
    unread: bool = False


def head_and_language(case: Case) -> Iterator[Finding]:
    """A finding on each: whoever is at home in another language has a trained head, and is asked in the wrong one."""
    evidence = _inference if case.kind == "nli" else _context
    here = evidence(case, case.language)
    if here is not None and here.learnt == FINE:
        yield Finding("head", FINE, here.says)
        yield Finding("language", FINE, here.reads)
        return
    tried = [code for code in plain_texts.LANGUAGES if code != case.language] if case.thorough or here is None else []
    found: list[str] = []
    home = ""
    for code in tried:
        if (there := evidence(case, code)) is not None:
            found.append(code)
            if there.learnt == FINE:
                home = code
                yield Finding("head", FINE, there.says)
                break
    if here is None:
        raise LeftOut("language" if home else "head and language", f"we have no plain texts of '{case.language}'")
    if home:
        yield Finding(
            "language",
            here.learnt,
            f"{here.says} It seems to be a model of '{home}'.",
            f"Measure it in that language: --lang {home}",
        )
    elif here.unread:
        yield Finding("language", UNFIT, here.says, f"Is it a model of '{case.language}'? Choose its language: --lang")
    else:
        elsewhere = f" Nor is it any better in {', '.join(found)}." if found else ""
        do = (NOTHING_LEARNT[case.kind] if case.thorough else ASK_THE_DOCTOR).format(case.language)
        yield Finding("head", here.learnt, f"{here.says}{elsewhere}", do)


def labels(case: Case) -> Iterator[Finding]:
    """Do the three labels mean what they are called? Another order that gets the plain inferences right says no."""
    examples, _, said = _inferred(case, case.language)
    if len(said) <= len(examples) / 2:
        raise LeftOut(
            "labels", f"it reads no plain inferences of '{case.language}'" if examples else "we have no pairs"
        )
    read = _right(said)
    best = max(read, key=lambda order: read[order])
    never = sorted(set(LABELS) - {got for _, got in said})
    if read[best] >= RIGHT * len(said) and read[LABELS] < GUESSED * len(said):
        swapped = ", ".join(
            f"'{ours}' is {theirs}" for ours, theirs in zip(LABELS, best, strict=True) if ours != theirs
        )
        yield Finding(
            "labels",
            UNFIT,
            f"{read[LABELS]} of {len(said)} plain inferences are right, but {read[best]} where its {swapped}.",
            "Put id2label in its config.json right, or give --labels in the right order.",
        )
    elif never:
        yield Finding(
            "labels",
            CAREFUL,
            f"Of {len(said)} plain inferences none is {' or '.join(never)} to it.",
            "Its scores follow the labels it prefers: look at the table of labels before the value.",
        )
    else:
        yield Finding("labels", FINE, f"Three labels, {', '.join(LABELS)}, and it uses them all.")


def _context(case: Case, language: str) -> Evidence | None:
    """How much likelier plain sentences are than their words shuffled: log-probability a word, pieces masked in turn.

    Later pieces of a word are masked with it, or a word cut into letters would give itself away in any order.
    """
    texts = plain_texts.sentences(language)[: None if case.thorough else FEW]
    if not texts:
        return None
    mixed = [plain_texts.shuffled(text, language) for text in texts]
    answers = case.ask([Likelihood(text, within_word=True) for text in (*texts, *mixed)])
    counts = [len(words(text)) for text in texts]
    both = list(zip(answers[: len(texts)], answers[len(texts) :], counts, strict=True))
    read = [(a, b, n) for a, b, n in both if is_number(a) and is_number(b)]
    if len(read) <= len(texts) / 2:
        return _unread(language, answers[: len(texts)], "sentences")
    unit = "a character" if language in plain_texts.SPACELESS else "a word"
    sense = fmean(a.logp / n for a, _, n in read)
    gain = fmean((a.logp - b.logp) / n for a, b, n in read)
    pieces = sum(len(a.logps) for a, _, _ in read) / sum(n for _, _, n in read)
    verdict: Verdict = FINE if gain >= LEARNT else CAREFUL if gain >= BARELY else UNFIT
    return Evidence(
        verdict,
        f"Plain sentences of '{language}' are likelier than their words shuffled by {gain:+.1f} nats {unit}"
        + (f"; {LEARNT:g} is the least that learning gives." if verdict != FINE else "."),
        f"'{language}': perplexity {math.exp(-sense):,.0f} {unit} on {len(read)} plain sentences, {pieces:.1f} pieces "
        f"{unit}, {_unknown(len(texts) - len(read), 'sentences')}.",
    )


def _inference(case: Case, language: str) -> Evidence | None:
    """How many plain inferences are right, whatever the labels are called: their order is another check's."""
    examples, answers, said = _inferred(case, language)
    if not examples:
        return None
    unread = len(examples) - len(said)
    if len(said) <= len(examples) / 2:
        return _unread(language, answers, "inferences")
    read = _right(said)
    right = max(read.values())
    otherwise = "" if read[LABELS] == right else ", its labels taken in another order"
    share = right / len(said)
    verdict: Verdict = FINE if share >= RIGHT else CAREFUL if share >= GUESSED else UNFIT
    return Evidence(
        verdict,
        f"{right} of {len(said)} plain inferences of '{language}' are right{otherwise}; "
        f"guessing gives {len(said) / 3:.0f}.",
        f"'{language}': {right} of {len(said)} plain inferences are right, {_unknown(unread, 'inferences')}.",
    )


def _unread(language: str, answers: Sequence[Answer], what: str) -> Evidence:
    """Most texts have no answer: it does not know their characters, or for a reason that is another check's."""
    notes = [answer.note for answer in answers if not is_number(answer)]
    if notes.count(UNKNOWN) < len(notes) / 2:
        raise LeftOut("head and language", f"plain {what} have no answer: {notes[0] or 'not a number'}")
    says = f"{len(notes)} of {len(answers)} plain {what} of '{language}' have characters it does not know."
    return Evidence(UNFIT, says, unread=True)


def _inferred(case: Case, language: str) -> tuple[Sequence[Example], list[Answer], list[tuple[str, str]]]:
    """The plain inferences, the answers, and of those that are numbers the right label beside the model's."""
    examples = plain_texts.inferences(language)
    answers = case.ask([Entail(e.premise, e.hypothesis) for e in examples])
    said = [(e.label, _label(a)) for e, a in zip(examples, answers, strict=True) if is_number(a)]
    return examples, answers, said


def _right(said: Sequence[tuple[str, str]]) -> dict[tuple[str, ...], int]:
    """How many are right, for each order in which the labels may be taken."""
    return {order: sum(order[LABELS.index(got)] == label for label, got in said) for order in permutations(LABELS)}


def _unknown(n: int, what: str) -> str:
    return f"{n} {what} with unknown characters" if n else "nothing unknown"


def _label(answer: Answer) -> str:
    return LABELS[max(range(len(LABELS)), key=lambda i: answer.logps[i])]
