"""Do a model and a dataset suit each other? Judged by what the tokenizer makes of the dataset's words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import TypeVar

from evenhand.core.dataset import Dataset
from evenhand.core.items import Blank, Item, NliPair, Pair, Sentence
from evenhand.core.model import TokenCounter
from evenhand.core.questions import Fill, Span
from evenhand.core.words import changes, words
from evenhand.datasets.faults import faults
from evenhand.datasets.gendered import gender as gender_of

TOO_MANY = 0.5
TRIED = 3
LOOKED_AT = 5_000

TYPED = ("prof_gender", "type")
"""Groups that say which gender an attribute is thought of with."""

Place = tuple[str, Span]
Name = TypeVar("Name")


@dataclass(frozen=True)
class Fit:
    """Pieces of each distinct target word, and mean pieces of the attributes by cluster; 0 pieces: unknown.

    `texts` has the pieces of a premise for each word that premises are about: 0 where it has unknown characters.
    """

    dataset: str
    language: str
    targets: dict[str, int]
    pieces: dict[str, float]
    texts: dict[str, int] = field(default_factory=dict)

    def warnings(self, model: str) -> Iterator[str]:
        """A sentence with the evidence where most target words are split or unknown, or most premises unknown."""
        unknown = [word for word, n in self.texts.items() if not n]
        if self.texts and len(unknown) / len(self.texts) > TOO_MANY:
            yield (
                f"What {self.dataset} says of {len(unknown)} of {len(self.texts)} words has characters unknown to "
                f"'{model}': {', '.join(unknown[:4])}. Is it a model of '{self.language}'? Such pairs are not scored."
            )
        odd = {word: n for word, n in self.targets.items() if n != 1}
        if self.targets and len(odd) / len(self.targets) > TOO_MANY:
            shown = ", ".join(f"{word} ({n or 'unknown'})" for word, n in list(odd.items())[:4])
            yield (
                f"{len(odd)} of {len(self.targets)} target words of {self.dataset} are unknown to '{model}', or cut "
                f"into several pieces: {shown}. Is it a model of '{self.language}'? Its scores may mean little."
            )


def fit(model: TokenCounter, dataset: Dataset) -> Fit:
    """Count the pieces of what will be measured, once for each distinct word."""
    targets: dict[str, list[Place]] = {}
    attributes: dict[tuple[str, str], list[Place]] = {}
    texts: dict[str, list[Place]] = {}
    for item in dataset.items:
        for word, place in asked_about(item):
            targets.setdefault(word, []).append(place)
        if isinstance(item, Sentence):
            named = item.groups[dataset.cluster], item.attribute.of(item.text)
            attributes.setdefault(named, []).append((item.text, item.attribute))
        elif isinstance(item, NliPair):
            whole = Span(0, len(item.premise))
            texts.setdefault(item.groups.get(dataset.cluster, item.id), []).append((item.premise, whole))
    by_cluster: dict[str, list[int]] = {}
    for (cluster, _), n in _counted(model, attributes).items():
        if n:
            by_cluster.setdefault(cluster, []).append(n)
    pieces = {cluster: fmean(counts) for cluster, counts in by_cluster.items()}
    return Fit(dataset.name, dataset.language, _counted(model, targets), pieces, _counted(model, texts))


def asked_about(item: Item) -> Iterator[tuple[str, Place]]:
    """The words whose probability will be read, each in its sentence."""
    if isinstance(item, Sentence):
        yield item.target.of(item.text), (item.text, item.target)
    elif isinstance(item, Blank):
        for candidate in item.candidates:
            text, span, _ = Fill(item.text, item.blank, candidate).filled()
            yield candidate, (text, span)
    elif isinstance(item, Pair):
        for text, spans in zip((item.stereotype, item.counterpart), item.changed, strict=True):
            yield from ((span.of(text), (text, span)) for span in spans)


@dataclass(frozen=True, slots=True)
class Cut:
    """A word to be measured: target or attribute, its gender, and its pieces; 0 pieces: unknown."""

    role: str
    gender: str
    text: str
    pieces: int

    @property
    def split(self) -> bool:
        """Has it more pieces than words?"""
        return self.pieces > len(words(self.text))


def cuts(model: TokenCounter, dataset: Dataset) -> list[Cut]:
    """The words of the dataset that have a gender, or are thought of with one, and into how many pieces each is cut."""
    found: dict[tuple[str, str, str], list[Place]] = {}
    for item in dataset.items:
        for role, gender, (text, span) in _gendered(item):
            found.setdefault((role, gender, span.of(text)), []).append((text, span))
    return [Cut(*named, pieces) for named, pieces in _counted(model, found).items()]


def flawed(dataset: Dataset) -> Iterator[str]:
    """A sentence where pairs of a user's dataset differ in more than gendered words."""
    pairs = [(i.id, i.stereotype, i.counterpart) for i in dataset.items[:LOOKED_AT] if isinstance(i, Pair)]
    if pairs and (found := {fault.id for fault in faults(pairs)}):
        yield (
            f"{len(found):,} of {len(pairs):,} pairs of {dataset.name} differ in more than gendered words, or are "
            "otherwise flawed. Look at them with: evenhand datasets lint"
        )


def _gendered(item: Item) -> Iterator[tuple[str, str, Place]]:
    """Role and gender of what an item asks about, each in its sentence."""
    typed = next((item.groups[name] for name in TYPED if name in item.groups), "")
    if isinstance(item, Sentence):
        yield "target", item.groups.get("gender", ""), (item.text, item.target)
        yield "attribute", typed, (item.text, item.attribute)
    elif isinstance(item, Blank):
        for gender, (_, place) in zip(("male", "female"), asked_about(item), strict=False):
            yield "target", gender, place
    elif isinstance(item, Pair):
        for word, place in asked_about(item):
            yield "target", gender_of(word) or "", place
    elif isinstance(item, NliPair):
        for change in changes(item.premise, item.hypothesis):
            if change.here and change.there:
                yield "attribute", typed, (item.premise, Span(change.here[0].start, change.here[-1].stop))
                person = Span(change.there[0].start, change.there[-1].stop)
                yield "target", item.groups.get("gender", ""), (item.hypothesis, person)


def _counted(model: TokenCounter, places: Mapping[Name, list[Place]]) -> dict[Name, int]:
    """Pieces of each word in a few of its sentences, at most: another word there may be the unknown one."""
    few = {name: [found[i * len(found) // TRIED] for i in range(TRIED)] for name, found in places.items()}
    counts = iter(model.count_tokens([place for found in few.values() for place in found]))
    return {name: max(next(counts) for _ in found) for name, found in few.items()}
