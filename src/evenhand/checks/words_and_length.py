"""Checks of a model with datasets: unknown words, words that are split, texts that are too long."""

from collections.abc import Iterator, Sequence

from evenhand.checks import plain_texts
from evenhand.checks.base import CAREFUL, FINE, UNFIT, Case
from evenhand.checks.fit import Cut, cuts, fit
from evenhand.core.items import Blank, Item, NliPair, Triple, texts
from evenhand.core.model import TokenCounter
from evenhand.core.questions import Entail, Fill, Likelihood, Question
from evenhand.core.words import words
from evenhand.models.base import Examined
from evenhand.models.planning.plan import Reading
from evenhand.models.planning.tokens import TOO_LONG
from evenhand.runs.record import Finding

UNEVEN = {"target": 0.1, "attribute": 0.25}
"""Difference between the shares of split female and male words that can affect scores. It is smaller for targets, whose
own probability is scored."""
LONGEST = 100
"""Number of items of a dataset that are tried, the longest in characters."""


def vocabulary(case: Case) -> Iterator[Finding]:
    """Whether the tokenizer knows the words to be measured."""
    if not isinstance(case.model, TokenCounter) or not case.datasets:
        return
    fits = [case.fits.get(dataset.name) or fit(case.model, dataset) for dataset in case.sampled]
    lines = [line for found in fits for line in found.warnings(case.model.name)]
    if lines:
        more = f" The same holds for {len(lines) - 1} more datasets." if lines[1:] else ""
        yield Finding("vocabulary", CAREFUL, lines[0] + more, "Choose another model, or its language with `lang`.")
        return
    known = {word: n for found in fits for word, n in (found.targets | found.texts).items()}
    unknown = [word for word, n in known.items() if not n]
    says = f"{len(unknown)} of {len(known)} words to be measured are unknown"
    if unknown:
        says += f": {', '.join(unknown[:4])}. Their items have no score."
        yield Finding("vocabulary", CAREFUL, says, "See the number of unscored items next to every value.")
    else:
        yield Finding("vocabulary", FINE, f"{says}.")


def splitting(case: Case) -> Iterator[Finding]:
    """The shares of target and attribute words that are split into several tokens, by gender.

    A word of several tokens has other log-probabilities than a whole one. If more words of one gender are split, scores
    differ for that reason, not for bias. Languages without spaces have no words that could be split.
    """
    if not isinstance(case.model, TokenCounter) or case.language in plain_texts.SPACELESS:
        return
    found = [cut for dataset in case.sampled for cut in cuts(case.model, dataset)]
    for role in ("target", "attribute"):
        by = {g: _distinct(c for c in found if c.role == role and c.gender == g) for g in ("female", "male")}
        if all(by.values()):
            yield _split(role, by["female"], by["male"])


def length(case: Case) -> Iterator[Finding]:
    """Whether the longest items fit into the model."""
    model = case.model
    if not isinstance(model, Examined) or not case.datasets:
        return
    most, where, over, tried = 0, "", 0, 0
    for dataset in case.datasets:
        items = sorted(dataset.items, key=_size, reverse=True)[:LONGEST]
        asked = [question for item in items for question in _questions(item, case.kind)]
        for reading in model.plan(asked).readings:
            tried += 1
            over += reading.note == TOO_LONG
            if (n := _tokens(reading, case.kind)) > most:
                most, where = n, dataset.name
    limit = f"{model.longest:,}" if model.longest < 2**31 else "any number of"
    if over:
        says = f"{over} of the {tried} longest texts have more than the {limit} tokens that the model takes."
        do = "They have no score: texts are never truncated. Use a model that takes longer texts, or shorter texts."
        yield Finding("length", UNFIT if over == tried else CAREFUL, says, do)
    else:
        yield Finding("length", FINE, f"The longest text ({where}) has {most} tokens; the model takes {limit}.")


def _split(role: str, female: list[Cut], male: list[Cut]) -> Finding:
    shares, said = [], []
    for gender, found in (("female", female), ("male", male)):
        cut = [each.text for each in found if each.split]
        typed = gender if role == "target" else f"{gender}-typed"
        shares.append(len(cut) / len(found))
        said.append(f"{len(cut)} of {len(found)} {typed}" + (f" ({', '.join(cut[:3])})" if cut else ""))
    uneven = abs(shares[0] - shares[1]) > UNEVEN[role]
    do = "Split words have other probabilities than whole ones: compare words with equal numbers of tokens."
    return Finding(f"{role} words", CAREFUL if uneven else FINE, f"Split: {said[0]}, {said[1]}.", do if uneven else "")


def _distinct(found: Iterator[Cut]) -> list[Cut]:
    return list({cut.text.lower(): cut for cut in found}.values())


def _size(item: Item) -> int:
    return max(map(len, _whole(item)))


def _tokens(reading: Reading, kind: str) -> int:
    """The tokens of the longest input; a causal model's inputs are shared, so its start and all that is asked count."""
    if kind == "causal":
        return 1 + sum(len(read.cells) for read in reading.reads) if reading.reads else 0
    return max((len(read.ids) for read in reading.reads), default=0)


def _questions(item: Item, kind: str) -> list[Question]:
    """Questions whose inputs have all tokens of an item: any one word hidden; for a causal model, the whole text."""
    if kind == "causal":
        whole = [f"{item.premise} {item.hypothesis}"] if isinstance(item, NliPair) else _whole(item)
        return [Likelihood(text) for text in whole if text.strip()]
    if isinstance(item, NliPair):
        return [Entail(item.premise, item.hypothesis)]
    if isinstance(item, Blank):
        return [Fill(item.text, item.blank, max(item.candidates, key=len))]
    return [Fill(text, (span := words(text)[0]), span.of(text)) for text in _whole(item) if text.strip()]


def _whole(item: Item) -> Sequence[str]:
    """The texts of an item; of a triple, each sentence with what comes before it."""
    if not isinstance(item, Triple):
        return texts(item)
    return item.sentences if item.fillers else [f"{item.context} {sentence}" for sentence in item.sentences]
