"""Do a model and a dataset suit each other? Judged by what the tokenizer makes of the dataset's words."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from evenhand.datasets.base import Dataset
from evenhand.items import Sentence
from evenhand.models.base import Pieced

TOO_MANY = 0.5


@dataclass(frozen=True)
class Fit:
    """Pieces of each distinct target word, and mean pieces of the attributes by cluster; 0 pieces: unknown."""

    dataset: str
    language: str
    targets: dict[str, int]
    pieces: dict[str, float]

    def warnings(self, model: str) -> Iterator[str]:
        """A sentence with the evidence where most target words are split or unknown."""
        odd = {word: n for word, n in self.targets.items() if n != 1}
        if self.targets and len(odd) / len(self.targets) > TOO_MANY:
            shown = ", ".join(f"{word} ({n or 'unknown'})" for word, n in list(odd.items())[:4])
            yield (
                f"{len(odd)} of {len(self.targets)} target words of {self.dataset} are unknown to '{model}', or cut "
                f"into several pieces: {shown}. Is it a model of '{self.language}'? Its scores may mean little."
            )


def fit(model: Pieced, dataset: Dataset) -> Fit:
    """Count the pieces of what will be measured, once for each distinct word."""
    sentences = [item for item in dataset.items if isinstance(item, Sentence)]
    targets = {item.target.of(item.text): (item.text, item.target) for item in sentences}
    attributes = {
        (item.groups[dataset.cluster], item.attribute.of(item.text)): (item.text, item.attribute) for item in sentences
    }
    counts = dict(zip(attributes, model.count_pieces(list(attributes.values())), strict=True))
    by_cluster: dict[str, list[int]] = {}
    for (cluster, _), n in counts.items():
        by_cluster.setdefault(cluster, []).append(n)
    return Fit(
        dataset.name,
        dataset.language,
        dict(zip(targets, model.count_pieces(list(targets.values())), strict=True)),
        {cluster: fmean(ns) for cluster, ns in by_cluster.items()},
    )
