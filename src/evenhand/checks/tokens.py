"""Check a tokenizer: its mask token, plain words, and the words and texts to be measured."""

from collections.abc import Iterator, Sequence

from evenhand.checks.base import SPACELESS, Case, NotChecked, plain_sentences
from evenhand.checks.fit import cuts, fit
from evenhand.core.items import Blank, Item, NliPair, Place, Triple, texts, words_asked
from evenhand.core.model import CAREFUL, FINE, UNFIT, Finding, TokenCounter
from evenhand.core.questions import Entail, Fill, Likelihood, Question, Span
from evenhand.core.words import words
from evenhand.models.base import Examined, Planned
from evenhand.models.planning.plan import Reading
from evenhand.models.planning.tokens import STRADDLES, TOO_LONG

LOOKED_AT = 200
"""About the number of words that are examined."""
CAPITALS = {
    "de": "'Sie' and 'sie' are one, and so are nouns and other words.",
    "en": "'She' and 'she' are one, and so are 'Will' and 'will', 'US' and 'us'.",
}
"""Languages with capitals, and what it means if a tokenizer ignores them."""
UNEVEN = {"target": 0.1, "attribute": 0.25}
"""The difference between the shares of split female and male words above which scores can be affected. It is smaller
for targets, since their own probability is scored."""
LONGEST = 100
"""The number of items of a dataset whose length is checked: those with the most characters."""


def mask_token(case: Case) -> Iterator[Finding]:
    """The token that hides a word. It must not be a word: texts with that word would have blanks of their own."""
    if isinstance(case.model, Examined) and case.model.mask.strip(" ▁Ġ").isalnum():
        do = "Set the tokenizer's own mask token, such as [MASK] or <mask>."
        yield Finding("mask token", UNFIT, f"A hidden word is {case.model.mask}, which is a word of texts, too.", do)
    elif isinstance(case.model, Examined):
        yield Finding("mask token", FINE, f"A hidden word is {case.model.mask}.")


def word_beginnings(case: Case) -> Iterator[Finding]:
    """Whether a word has the same tokens at the start of a text as within it, and shares no token with its neighbours.

    Words are tokenized in their text, so a space before them needs no rule. But a word that is only split at the start
    of a text, or that shares a token with its neighbour, is a different word to the model.
    """
    model = case.model
    if not isinstance(model, Examined) or not (places := _places(case)):
        return
    name = "word beginnings"
    blanks = [Fill(text, span, span.of(text)) for text, span in places]
    if shared := [blank.answer for blank in blanks if _read(model, blank).note == STRADDLES]:
        says = f"{len(shared)} of {len(places)} words share a token with their neighbours: {_quote(shared)}."
        verdict = UNFIT if len(shared) > len(places) / 2 else CAREFUL
        do = "Use a model whose tokenizer keeps words apart."
        yield Finding(name, verdict, f"{says} They cannot be masked alone, and have no score.", do)
        return
    first = dict.fromkeys(span.of(text) for text, span in places if not text[: span.start].strip())
    tokens = {word: (_tokens(model, word, 0), _tokens(model, word, 1)) for word in first}
    differing = [word for word, (start, inside) in tokens.items() if start != inside]
    within = "at the start of a text than within it"
    if cut := [word for word in differing if len(tokens[word][0]) > len(tokens[word][1])]:
        says = f"{len(cut)} of {len(first)} words are split further {within}: {_quote(cut)}."
        yield Finding(name, CAREFUL, says, "Compare sentences that begin with the word only with one another.")
    elif differing:
        says = f"{_quote(differing)} have other tokens {within}, because of the space before."
        yield Finding(name, FINE, f"{says} Words are tokenized where they stand.")
    else:
        yield Finding(name, FINE, "A word has the same tokens at the start of a text and within it.")


def casing(case: Case) -> Iterator[Finding]:
    """Whether the tokenizer distinguishes capitals, and whether it splits words because of their capitals."""
    if not isinstance(case.model, Examined) or case.language not in CAPITALS:
        return
    for text in plain_sentences(case.language):
        asked: list[Question] = [Entail(t, t) if case.kind == "nli" else Likelihood(t) for t in (text, text.lower())]
        as_is, small = (_read(case.model, question).reads for question in asked)
        if as_is:
            break
    else:
        raise NotChecked("casing", f"it cannot read plain sentences of '{case.language}'")
    if as_is == small:
        says, german = f"Capitals are not seen: {CAPITALS[case.language]}", case.language == "de"
        do = "Prefer a model that sees capitals: German words differ by them." if german else ""
        yield Finding("casing", CAREFUL if german else FINE, says, do)
        return
    if case.kind == "nli":
        yield Finding("casing", FINE, "Capitals are seen.")
        return
    # Only words at the start of a text, since German nouns have a capital everywhere.
    first = {span.of(text) for text, span in _places(case) if not text[: span.start].strip()}
    first = {word for word in first if word[:1].isupper()}
    cut = sorted(word for word in first if _n_tokens(case.model, word) > _n_tokens(case.model, word.lower()) > 0)
    if cut:
        says = f"Capitals are seen, and {len(cut)} of {len(first)} words are split because of theirs: {_quote(cut)}."
        do = "At the start of a sentence they are different words to the model: look at such items separately."
        yield Finding("casing", CAREFUL, says, do)
    else:
        yield Finding("casing", FINE, "Capitals are seen; no word is split because it begins a sentence.")


def vocabulary(case: Case) -> Iterator[Finding]:
    """Whether the tokenizer knows the words to be measured."""
    if not isinstance(case.model, TokenCounter) or not case.datasets:
        return
    fits = [case.fits.get(dataset.name) or fit(case.model, dataset) for dataset in case.samples]
    lines = [line for each in fits for line in each.warnings(case.model.name)]
    if lines:
        more = f" The same holds for {len(lines) - 1} more datasets." if lines[1:] else ""
        yield Finding("vocabulary", CAREFUL, lines[0] + more, "Choose another model, or its language with `lang`.")
        return
    known = {word: n for each in fits for word, n in (each.targets | each.texts).items()}
    unknown = [word for word, n in known.items() if not n]
    says = f"{len(unknown)} of {len(known)} words to be measured are unknown"
    if unknown:
        says += f": {', '.join(unknown[:4])}. Their items have no score."
        yield Finding("vocabulary", CAREFUL, says, "See the number of unscored items next to every value.")
    else:
        yield Finding("vocabulary", FINE, f"{says}.")


def splitting(case: Case) -> Iterator[Finding]:
    """The shares of target and attribute words that are split into several tokens, by gender.

    A word of several tokens has other log-probabilities than a word of one token. If more words of one gender are
    split, scores differ for that reason, not because of bias. Languages without spaces are not checked.
    """
    if not isinstance(case.model, TokenCounter) or case.language in SPACELESS:
        return
    all_cuts = [cut for dataset in case.samples for cut in cuts(case.model, dataset)]
    for role in ("target", "attribute"):
        shares, said = [], []
        for gender in ("female", "male"):
            distinct = {cut.text.lower(): cut for cut in all_cuts if (cut.role, cut.gender) == (role, gender)}
            if not distinct:
                break
            split = [cut.text for cut in distinct.values() if cut.split]
            typed = gender if role == "target" else f"{gender}-typed"
            shares.append(len(split) / len(distinct))
            said.append(f"{len(split)} of {len(distinct)} {typed}" + (f" ({', '.join(split[:3])})" if split else ""))
        else:
            uneven = abs(shares[0] - shares[1]) > UNEVEN[role]
            do = "Split words have other probabilities than whole ones: compare words with equal numbers of tokens."
            says = f"Split: {said[0]}, {said[1]}."
            yield Finding(f"{role} words", CAREFUL if uneven else FINE, says, do if uneven else "")


def length(case: Case) -> Iterator[Finding]:
    """Whether the longest items fit into the model."""
    model = case.model
    if not isinstance(model, Examined) or not case.datasets:
        return
    most, where, over, tried = 0, "", 0, 0
    for dataset in case.datasets:
        items = sorted(dataset.items, key=lambda item: max(map(len, _full_texts(item))), reverse=True)[:LONGEST]
        asked = [question for item in items for question in _questions(item, case.kind)]
        for reading in model.plan(asked).readings:
            tried += 1
            over += reading.note == TOO_LONG
            if (n := _input_length(reading, case.kind)) > most:
                most, where = n, dataset.name
    limit = f"{model.longest:,}" if model.longest < 2**31 else "any number of"
    if over:
        says = f"{over} of the {tried} longest texts have more than the {limit} tokens that the model takes."
        do = "They have no score: texts are never truncated. Use a model that takes longer texts, or shorter texts."
        yield Finding("length", UNFIT if over == tried else CAREFUL, says, do)
    else:
        yield Finding("length", FINE, f"The longest text ({where}) has {most} tokens; the model takes {limit}.")


def _places(case: Case) -> list[Place]:
    """The words to be measured, each in one sentence; without datasets, the words of plain sentences."""
    places: dict[str, Place] = {}
    for text, span in (place for dataset in case.samples for item in dataset.items for place in words_asked(item)):
        places.setdefault(span.of(text), (text, span))
    plain = () if case.language in SPACELESS else plain_sentences(case.language)
    chosen = list(places.values()) or [(t, span) for t in plain for span in words(t) if span.of(t).isalpha()]
    return chosen[:: max(1, len(chosen) // LOOKED_AT)]


def _tokens(model: Planned, word: str, position: int) -> tuple[int, ...]:
    """The tokens of the first (0) or second (1) word in the text "word word"."""
    start = (len(word) + 1) * position
    reads = _read(model, Fill(f"{word} {word}", Span(start, start + len(word)), word)).reads
    return tuple(token for read in reads for _, token in read.cells)


def _n_tokens(model: Examined, word: str) -> int:
    return model.count_tokens([(f"{word} {word}", Span(len(word) + 1, 2 * len(word) + 1))])[0]


def _read(model: Planned, question: Question) -> Reading:
    return model.plan([question]).readings[0]


def _quote(words: list[str]) -> str:
    return ", ".join(f"'{word}'" for word in words[:3])


def _input_length(reading: Reading, kind: str) -> int:
    """The number of tokens of the longest input; a causal model reads a start token and all that is asked as one."""
    if kind == "causal":
        return 1 + sum(len(read.cells) for read in reading.reads) if reading.reads else 0
    return max((len(read.ids) for read in reading.reads), default=0)


def _questions(item: Item, kind: str) -> list[Question]:
    """Questions whose inputs have all tokens of an item: any one word hidden, or for a causal model, the whole text."""
    if kind == "causal":
        whole = [f"{item.premise} {item.hypothesis}"] if isinstance(item, NliPair) else _full_texts(item)
        return [Likelihood(text) for text in whole if text.strip()]
    if isinstance(item, NliPair):
        return [Entail(item.premise, item.hypothesis)]
    if isinstance(item, Blank):
        return [Fill(item.text, item.blank, max(item.candidates, key=len))]
    return [Fill(text, (span := words(text)[0]), span.of(text)) for text in _full_texts(item) if text.strip()]


def _full_texts(item: Item) -> Sequence[str]:
    """The texts of an item; for a triple without fillers, each sentence after the context."""
    if not isinstance(item, Triple):
        return texts(item)
    return item.sentences if item.fillers else [f"{item.context} {sentence}" for sentence in item.sentences]
