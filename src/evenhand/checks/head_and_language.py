"""Check, by answers about plain texts, that a model was trained, knows the language and reads both sides of a blank."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, permutations
from statistics import fmean

import numpy as np

from evenhand.checks.base import (
    LANGUAGES,
    SPACELESS,
    Case,
    NotChecked,
    is_number,
    plain_inferences,
    plain_sentences,
    shuffle_words,
)
from evenhand.checks.stability import ROUNDING
from evenhand.core.answers import FAULTS
from evenhand.core.items import Pair, Sentence, Target, texts
from evenhand.core.model import CAREFUL, FINE, UNFIT, Finding, Verdict
from evenhand.core.questions import Answer, Embed, Entail, Fill, Likelihood, Span
from evenhand.core.words import words
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.datasets.gendered import lexicon
from evenhand.datasets.word_sets import WEAT, own_tests
from evenhand.models.loading.labels import LABELS
from evenhand.models.planning.tokens import UNKNOWN
from evenhand.stats.significance import pairing_test

LEARNT = 2.0
"""If a model has learnt the language, a plain sentence is likelier than its shuffled words by this many nats per word:
4 to 6 in small models of the language, up to 0.4 in models of another language, -2 to 1.2 in random ones."""
BARELY = 1.5
FOREIGN = 1.2
"""As BARELY, the least gain of a fit model, for sentences of datasets, which may be harder than plain ones."""
RIGHT = 0.75
"""The least share of plain inferences that a trained model gets right."""
GUESSED = 0.55
"""A share that guessing reaches once in a hundred tries."""
OWN = 8
"""The most sentences of a dataset that replace plain sentences."""
FEW = 4
"""The number of sentences that an audit asks about."""
PAIRS, FEWEST_PAIRS = 50, 5
"""The most and the fewest pairs of words whose vectors are compared."""
LUCK = 1e-4
"""p below which the vectors of pairs are not near each other by chance."""
NOTHING_LEARNT = {
    "masked": "Use a checkpoint with a trained head, unless the model is of a language that evenhand has no texts of.",
    "causal": "Use a trained checkpoint, unless the model is of a language that evenhand has no texts of.",
    "nli": "Use a model that has learnt inference in '{}', or train it: evenhand nli train",
}


@dataclass(frozen=True)
class Evidence:
    """What plain texts of a language show. `unread` is true if the model does not know the characters of most."""

    learnt: Verdict
    says: str
    reads: str = ""
    unread: bool = False
    own: bool = False
    """Whether the texts are sentences of the datasets instead of plain texts."""


def head_and_language(case: Case) -> Iterator[Finding]:
    """A finding on the head and one on the language; a model that knows any language has a trained head."""
    evidence = _inference_evidence if case.kind == "nli" else _context
    here = evidence(case, case.language)
    if here is not None and here.learnt == FINE:
        yield Finding("head", FINE, here.says)
        yield Finding("language", FINE, here.reads)
        return
    tried = [code for code in LANGUAGES if code != case.language]
    readable, home = list[str](), ""
    for code in tried:
        with suppress(NotChecked):  # a server's tokens may not spell texts in another alphabet
            if (other := evidence(case, code)) is not None:
                readable.append(code)
                if other.learnt == FINE:
                    home = code
                    yield Finding("head", FINE, other.says)
                    break
    if here is None:
        raise NotChecked("language" if home else "head and language", f"we have no plain texts of '{case.language}'")
    if home:
        says = f"{here.says} It seems to be a model of '{home}'."
        do = f"Take a model of '{case.language}'" if here.own else f"Measure it in that language: `lang='{home}'`"
        yield Finding("language", here.learnt, says, do)
    elif here.unread:
        do = f"Is it a model of '{case.language}'? Choose its language with `lang`."
        yield Finding("language", UNFIT, here.says, do)
    else:
        elsewhere = f" It is not better in {', '.join(readable)}." if readable else ""
        do = NOTHING_LEARNT[case.kind].format(case.language)
        yield Finding("head", here.learnt, f"{here.says}{elsewhere}", do)


def labels(case: Case) -> Iterator[Finding]:
    """Whether the labels are in the order in which plain inferences are right, and whether all three are used."""
    examples, _, said = _ask_inferences(case, case.language)
    if len(said) <= len(examples) / 2:
        why = f"it reads no plain inferences of '{case.language}'" if examples else "we have no pairs"
        raise NotChecked("labels", why)
    read = _count_right(said)
    best = max(read, key=read.__getitem__)
    never = sorted(set(LABELS) - {got for _, got in said})
    if read[best] >= RIGHT * len(said) and read[LABELS] < GUESSED * len(said):
        both = zip(LABELS, best, strict=True)
        swapped = ", ".join(f"'{ours}' is {theirs}" for ours, theirs in both if ours != theirs)
        says = f"{read[LABELS]} of {len(said)} plain inferences are right, but {read[best]} if its {swapped}."
        do = "Correct id2label in its config.json, or give `labels` in the right order."
        yield Finding("labels", UNFIT, says, do)
    elif never:
        says = f"It calls none of {len(said)} plain inferences {' or '.join(never)}."
        do = "Its scores follow the labels it prefers: look at the table of labels before the value."
        yield Finding("labels", CAREFUL, says, do)
    else:
        yield Finding("labels", FINE, f"Three labels, {', '.join(LABELS)}, and it uses them all.")


def _context(case: Case, language: str) -> Evidence | None:
    """The mean log-probability per word of plain sentences minus that of their shuffled words, as evidence.

    When a token is scored, the later tokens of its word are masked too. Otherwise a word that is split into letters
    would be easy to guess in any order of words.
    """
    plain = plain_sentences(language)
    own = () if plain or language != case.language else _dataset_sentences(case)
    if not (some := (plain or own)[: None if case.thorough else FEW]):
        return None
    mixed = [shuffle_words(text, language) for text in some]
    answers = case.ask([Likelihood(text, within_word=True) for text in (*some, *mixed)])
    counts = [len(words(text)) for text in some]
    both = list(zip(answers[: len(some)], answers[len(some) :], counts, strict=True))
    read = [(a, b, n) for a, b, n in both if is_number(a) and is_number(b)]
    if len(read) <= len(some) / 2:
        return _unread_evidence(language, answers[: len(some)], "sentences")
    unit = "a character" if language in SPACELESS else "a word"
    sense = fmean(a.logp / n for a, _, n in read)
    gain = fmean((a.logp - b.logp) / n for a, b, n in read)
    tokens = sum(len(a.logps) for a, _, _ in read) / sum(n for _, _, n in read)
    verdict: Verdict = FINE if gain >= LEARNT else CAREFUL if gain >= (FOREIGN if own else BARELY) else UNFIT
    what = "Sentences to be measured in" if own else "Plain sentences of"
    perplexity = math.exp(min(-sense, 300.0))  # a damaged model may have more, which would overflow a float
    shown = f"{perplexity:,.0f}" if perplexity < 1e9 else f"{perplexity:.0e}"
    return Evidence(
        verdict,
        f"{what} '{language}' are likelier than their words shuffled by {gain:+.1f} nats {unit}"
        + (f"; models that know a language reach {LEARNT:g}." if verdict != FINE else "."),
        f"'{language}': perplexity {shown} {unit} on {len(read)} {'own' if own else 'plain'} sentences, {tokens:.1f} "
        f"tokens {unit}, {_describe_unknown(len(some) - len(read), 'sentences')}.",
        own=bool(own),
    )


def _dataset_sentences(case: Case) -> tuple[str, ...]:
    """A few sentences of the datasets, for a language without plain texts."""
    items = [item for dataset in case.datasets for item in dataset.items if isinstance(item, Pair | Sentence)]
    return tuple(dict.fromkeys(texts(item)[0] for item in items[:: max(1, len(items) // OWN)]))[:OWN]


def _inference_evidence(case: Case, language: str) -> Evidence | None:
    """The share of plain inferences that is right in the best order of the labels; `labels` checks the order."""
    examples, answers, said = _ask_inferences(case, language)
    if not examples:
        return None
    if len(said) <= len(examples) / 2:
        return _unread_evidence(language, answers, "inferences")
    unknown = _describe_unknown(len(examples) - len(said), "inferences")
    read = _count_right(said)
    right = max(read.values())
    otherwise = "" if read[LABELS] == right else ", its labels taken in another order"
    share = right / len(said)
    verdict: Verdict = FINE if share >= RIGHT else CAREFUL if share >= GUESSED else UNFIT
    return Evidence(
        verdict,
        f"{right} of {len(said)} plain inferences of '{language}' are right{otherwise}; "
        f"guessing gives {len(said) / 3:.0f}.",
        f"'{language}': {right} of {len(said)} plain inferences are right, {unknown}.",
    )


def _unread_evidence(language: str, answers: Sequence[Answer], what: str) -> Evidence:
    """Evidence that the model does not know the characters of most texts. Raise NotChecked for other reasons."""
    notes = [answer.note for answer in answers if not is_number(answer)]
    if notes.count(UNKNOWN) < len(notes) / 2:
        raise NotChecked("head and language", f"plain {what} have no answer: {notes[0] or 'not a number'}")
    says = f"{len(notes)} of {len(answers)} plain {what} of '{language}' have characters it does not know."
    return Evidence(UNFIT, says, unread=True)


def _ask_inferences(case: Case, language: str) -> tuple[Sequence[Example], list[Answer], list[tuple[str, str]]]:
    """The plain inferences, the answers, and for each finite answer, the right label and the model's label."""
    examples = plain_inferences(language)
    answers = case.ask([Entail(e.premise, e.hypothesis) for e in examples])
    both = [(e.label, a.logps) for e, a in zip(examples, answers, strict=True) if is_number(a)]
    return examples, answers, [(label, LABELS[logps.index(max(logps))]) for label, logps in both]


def _count_right(said: Sequence[tuple[str, str]]) -> dict[tuple[str, ...], int]:
    return {order: sum(order[LABELS.index(got)] == label for label, got in said) for order in permutations(LABELS)}


def _describe_unknown(n: int, what: str) -> str:
    return f"{n} {what} with unknown characters" if n else "nothing unknown"


def right_context(case: Case) -> Iterator[Finding]:
    """How much answers about a word depend on the words to its right. Under a causal mask they do not."""
    for language in dict.fromkeys((case.language, *LANGUAGES)):
        if apart := _differences(case, language):
            break
    else:
        raise NotChecked("right context", "it answers none of our plain questions")
    if max(apart) < ROUNDING[case.dtype]:
        says = f"In {len(apart)} plain sentences, the words to the right of a blank change no answer."
        do = 'It reads from the left alone. Look for a causal mask: "is_decoder" in its config.json must be false.'
        yield Finding("right context", UNFIT, says, do)
    else:
        says = f"The words to the right of a blank change answers by {fmean(apart):.1f} nats."
        yield Finding("right context", FINE, says)


def _differences(case: Case, language: str) -> list[float]:
    """The differences, in nats, between answers about the first word with the other words visible and masked."""
    seen, unseen = [], []
    for text in plain_sentences(language)[: None if case.thorough else FEW]:
        first, *others = words(text)
        seen.append(Fill(text, first, first.of(text)))
        unseen.append(Fill(text, first, first.of(text), hidden=(Span(others[0].start, others[-1].stop),)))
    answers = case.ask([*seen, *unseen])
    pairs = zip(answers[: len(seen)], answers[len(seen) :], strict=True)
    return [abs(a.logp - b.logp) for a, b in pairs if is_number(a) and is_number(b)]


def meaning(case: Case) -> Iterator[Finding]:
    """Whether words of one meaning in two genders, such as man and woman, have nearer vectors than random words.

    Vectors that were never trained, or are those of other words, do not. Cosines of the pairs are compared, by
    `pairing_test`, with those of random partners from the women's words and the words to be measured. The pairs are
    paired attributes of the datasets, which may be sentences, and our lists for the language.
    """
    ours = [own_tests(name) for name in WEAT if name == f"weat-professions-{case.language}"]
    items = [item for dataset in (*case.samples, *ours) for item in dataset.items if isinstance(item, Target)]
    sides = dict.fromkeys(item.attributes for item in items if item.paired)
    pairs = [(man, woman) for side in sides for (man, _), (woman, _) in zip(*side, strict=True)]
    pairs += [(each.male, each.female) for each in lexicon() if case.language == "en" and not each.oneway]
    asked = dict.fromkeys([*(text for item in items for text, _ in item.words_asked()), *chain(*pairs)])
    answers = dict(zip(asked, case.ask(list(map(Embed, asked))), strict=True))
    known = {word: np.divide(a.numbers, np.linalg.norm(a.numbers)) for word, a in answers.items() if not a.note}
    if broken := [word for word, answer in answers.items() if answer.note in FAULTS]:
        says = f"{len(broken)} of {len(broken) + len(known)} vectors cannot be used: {answers[broken[0]].note}"
        do = "Save the file again without these words: missing words are excluded and counted."
        yield Finding("numbers", UNFIT, f"{says} ({', '.join(broken[:3])}).", do)
    by_woman = {woman: man for man, woman in pairs if man != woman and man in known and woman in known}
    partners = {man: woman for woman, man in by_woman.items()}  # each word is in one pair
    if len(partners) < FEWEST_PAIRS:
        why = f"pairs such as man and woman that it has: {len(partners)}, of {FEWEST_PAIRS} that are needed"
        raise NotChecked("meaning of vectors", why)
    others = [word for word in known if word not in partners and word not in by_woman]
    pool = [*list(partners.values())[:PAIRS], *others[:: max(1, len(others) // PAIRS)]]
    men, women = (np.array([known[word] for word in words]) for words in (list(partners)[:PAIRS], pool))
    nearness = men @ women.T
    near, random, p = np.trace(nearness) / len(men), nearness.mean(), pairing_test(nearness, np.random.default_rng(0))
    pair = " and ".join(map(repr, next(iter(partners.items()))))
    says = f"{len(men)} pairs such as {pair} have a mean cosine of {near:.2f}, random pairs {random:.2f} (p = {p:.1g})."
    do = "" if p < LUCK else f"Are the words in the order of their vectors, and of the language '{case.language}'?"
    yield Finding("meaning", UNFIT if do else FINE, says, do)
