"""Check that a model suits a dataset: count the tokens of the dataset's words."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile
from statistics import fmean
from typing import NamedTuple, TypeVar

from evenhand.core.dataset import Dataset, base_name
from evenhand.core.foreign import foreign
from evenhand.core.items import Blank, Item, NliPair, Pair, Place, Sentence, Target, texts, words_asked
from evenhand.core.model import TokenCounter
from evenhand.core.questions import Span
from evenhand.core.words import changes, words
from evenhand.datasets import BUILDERS
from evenhand.datasets.faults import faults
from evenhand.datasets.gendered import gender as gender_of

TOO_MANY = 0.5
TRIED = 3
LOOKED_AT = 5_000

ARTICLES = ("a", "an", "the")
TYPED = ("prof_gender", "type")
"""Groups whose label is the gender that an attribute is associated with."""

Name = TypeVar("Name")


@dataclass(frozen=True)
class Fit:
    """The number of tokens of each distinct target word (0: unknown), and the mean number for attributes by cluster.

    `texts` is for items that ask about whole texts: the number of tokens of a text by its cluster; 0 if it has unknown
    characters.
    """

    dataset: str
    language: str
    targets: dict[str, int]
    tokens: dict[str, float]
    texts: dict[str, int] = field(default_factory=dict)

    def warnings(self, model: str) -> Iterator[str]:
        """Yield a sentence if most texts have unknown characters, and one if most target words are split or unknown."""
        unknown = [word for word, n in self.texts.items() if not n]
        if self.texts and len(unknown) / len(self.texts) > TOO_MANY:
            yield (
                f"The texts of {self.dataset} about {len(unknown)} of {len(self.texts)} words have characters "
                f"unknown to '{model}': {', '.join(unknown[:4])}. Is it a model of '{self.language}'? All are unscored."
            )
        odd = {word: n for word, n in self.targets.items() if n != 1}
        if self.targets and len(odd) / len(self.targets) > TOO_MANY:
            split = any(odd.values())
            shown = ", ".join(f"{word} ({n or 'unknown'})" if split else word for word, n in list(odd.items())[:4])
            yield (
                f"{len(odd)} of {len(self.targets)} {'target ' if split else ''}words of {self.dataset} are unknown to "
                f"'{model}'{', or split into several tokens' if split else ''}: {shown}. Is "
                f"it a model of '{self.language}'? Its scores may mean little."
            )


def fit(model: TokenCounter, dataset: Dataset) -> Fit:
    """Count the tokens of the words and texts of a dataset that are measured, once for each distinct word."""
    targets: dict[str, list[Place]] = {}
    attributes: dict[tuple[str, str], list[Place]] = {}
    whole: dict[str, list[Place]] = {}
    for item in dataset.items:
        asked = words_asked(item)
        for text, span in asked:
            targets.setdefault(span.of(text), []).append((text, span))
        if isinstance(item, Sentence):
            named = item.groups[dataset.cluster], item.attribute.of(item.text)
            attributes.setdefault(named, []).append((item.text, item.attribute))
        elif not asked and (text := texts(item)[0]):  # whole texts may have words of several tokens
            whole.setdefault(item.groups.get(dataset.cluster, item.id), []).append((text, Span(0, len(text))))
    by_cluster: dict[str, list[int]] = {}
    for (cluster, _), n in _count_tokens(model, attributes).items():
        if n:
            by_cluster.setdefault(cluster, []).append(n)
    tokens = {cluster: fmean(counts) for cluster, counts in by_cluster.items()}
    return Fit(dataset.name, dataset.language, _count_tokens(model, targets), tokens, _count_tokens(model, whole))


class Cut(NamedTuple):
    """A word to be measured: target or attribute, its gender, and its number of tokens; 0 means unknown."""

    role: str
    gender: str
    text: str
    tokens: int

    @property
    def split(self) -> bool:
        return self.tokens > len(words(self.text))


def cuts(model: TokenCounter, dataset: Dataset) -> list[Cut]:
    """The words of the dataset that have a gender, or are associated with one, with their numbers of tokens."""
    places: dict[tuple[str, str, str], list[Place]] = {}
    for item in dataset.items:
        for role, gender, (text, span) in _gendered_words(item):
            places.setdefault((role, gender, span.of(text)), []).append((text, span))
    return [Cut(*named, n) for named, n in _count_tokens(model, places).items()]


def flaw_warnings(dataset: Dataset) -> Iterator[str]:
    """Yield a sentence if sets of words overlap, or English pairs break a rule of `evenhand datasets lint`."""
    sets = [({each.place}, *map(set, each.attributes)) for each in dataset.items if isinstance(each, Target)]
    if both := sorted({word for place, a, b in sets for word, _ in (a & b) | (place & (a | b))}):
        yield f"Words in two sets of {dataset.name}, each nearest to itself: {', '.join(both[:4])}."
    if dataset.language != "en":
        return
    pairs = [(i.id, i.stereotype, i.counterpart) for i in dataset.items[:LOOKED_AT] if isinstance(i, Pair)]
    if not (rules := {(fault.id, fault.rule) for fault in faults(pairs)}):
        return
    listed = ", ".join(f"{rule}: {n:,}" for rule, n in Counter(rule for _, rule in rules).most_common())
    says = f"Flawed pairs of {dataset.name}: {len({id for id, _ in rules}):,} of {len(pairs):,} ({listed})"
    file = str(dataset.options.get("file", base_name(dataset.name)))
    command = ["evenhand", "datasets", "lint", file]
    for name in ("stereotype", "counterpart"):
        if (column := str(dataset.options.get(name, name))) != name:
            command += [f"--{name}", column]
    look = f" Look at them with: {shlex.join(command)}" if "file" in dataset.options or file in BUILDERS else ""
    yield f"{says}.{look}"


def _gendered_words(item: Item) -> Iterator[tuple[str, str, Place]]:
    """Yield the role (target, attribute), gender and place of each word that an item asks about."""
    typed = next((item.groups[name] for name in TYPED if name in item.groups), "")
    if isinstance(item, Sentence):
        yield "target", item.groups.get("gender", ""), (item.text, item.target)
        yield "attribute", typed, (item.text, item.attribute)
    elif isinstance(item, Blank):
        for gender, place in zip(("male", "female"), words_asked(item), strict=False):
            yield "target", gender, place
    elif isinstance(item, NliPair):
        for change in changes(item.premise, item.hypothesis):
            attribute = _without_article(item.premise, change.old)
            person = _without_article(item.hypothesis, change.new)
            if attribute and person:
                yield "attribute", typed, (item.premise, attribute)
                yield "target", item.groups.get("gender", ""), (item.hypothesis, person)
    else:
        for text, span in words_asked(item):
            yield "target", gender_of(span.of(text)) or "", (text, span)


def _without_article(text: str, spans: Sequence[Span]) -> Span | None:
    """The span from the first to the last word, without leading articles, which are not measured; None if no word."""
    trimmed = list(dropwhile(lambda span: span.of(text).lower() in ARTICLES, spans))
    return Span(trimmed[0].start, trimmed[-1].stop) if trimmed else None


def _count_tokens(model: TokenCounter, places: Mapping[Name, list[Place]]) -> dict[Name, int]:
    """The largest number of tokens of each word in a few sentences; it is 0 in one where another word is unknown."""
    few = {name: [some[i * len(some) // TRIED] for i in range(TRIED)] for name, some in places.items()}
    with foreign(f"The model '{getattr(model, 'name', model)}' failed to count tokens", model):
        counts = iter(model.count_tokens([place for some in few.values() for place in some]))
        return {name: max(int(next(counts)) for _ in some) for name, some in few.items()}
