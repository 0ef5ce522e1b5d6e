"""Labelled premises and hypotheses to train on: users' files, and the releases of SNLI, JSNLI and OCNLI.

Also sets with a known rate of bias, which a valid measure should follow: ours, and the bias-controlled sets of NLI-CoAL
(Anantaprayoon et al. 2024, sections 3.1 and 4.1) with their labels.
"""

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

import numpy as np

from evenhand.core.words import capitalise
from evenhand.datasets.corpora.texts import whole_share
from evenhand.datasets.files import read_toml
from evenhand.datasets.files.releases import RELEASES, locate
from evenhand.datasets.files.rows import rows
from evenhand.datasets.nli import GENDERS, caption, controlled_rows, gender_of, set_of, words_and_captions
from evenhand.datasets.templates import check_choice
from evenhand.errors import BadInput
from evenhand.models.loading.labels import LABELS

RELEASED = {
    "snli": {"train": "snli_1.0_train.jsonl", "dev": "snli_1.0_dev.jsonl"},
    "jsnli": {"train": "train_w_filtering.tsv", "dev": "dev.tsv"},
    "ocnli": {"train": "train.50k.json", "dev": "dev.json"},
}
"""Files of the releases, somewhere under EVENHAND_DATA/<name>/."""
COLUMNS = [
    ("premise", "hypothesis", "label"),
    ("premise", "hypothesis", "gold_label"),
    ("sentence1", "sentence2", "gold_label"),  # SNLI, MNLI
    ("sentence1", "sentence2", "label"),  # OCNLI
]
HINT = "Columns are premise, hypothesis, label; or sentence1, sentence2 and gold_label or label."
MEANT = {str(number): label for number, label in enumerate(LABELS)} | {label: label for label in LABELS}
"""The label for each value that a file may have; numbers are in the order of SNLI and MNLI on the Hub."""
UNLABELLED = ("", "-", "-1")
"""Values where annotators did not agree on a label."""
BIASED = {"pro": "entailment", "anti": "contradiction", "non": "neutral"}
INVERTED = {"pro": "contradiction", "anti": "entailment", "non": "neutral"}
DEV = 60
"""The number of captions reserved for development sets."""
CORRECT = 1 / 3
"""The share of correct examples in the released sets; the paper says one half."""
SIZE = 30_000
"""Examples in a released training set."""
Order = Literal["stratified", "female-first"]
Part = Literal["train", "dev"]
SETS = 10
"""The rates of bias-controlled sets are multiples of a tenth."""
WordLabels = Mapping[tuple[str, str], str]
"""The label of each word with each gender."""


class Example(NamedTuple):
    """A premise, a hypothesis, and their label: entailment, neutral or contradiction."""

    premise: str
    hypothesis: str
    label: str


@dataclass(frozen=True)
class Examples:
    """Examples to train on, and the number of rows that are excluded, by reason."""

    rows: list[Example]
    excluded: Mapping[str, int]

    def __str__(self) -> str:
        reasons = ", ".join(f"{n:,} {why}" for why, n in self.excluded.items())
        return f"{len(self.rows):,} examples" + (f" (excluded: {reasons})" if reasons else "")


def examples(source: str, part: Literal["train", "dev"] = "train") -> Examples:
    """The examples of a file (csv, tsv, jsonl, parquet), or of a release: snli, jsnli, ocnli.

    A file has the columns premise, hypothesis and label, or sentence1, sentence2 and gold_label or label. Labels are
    names, or 0, 1, 2 for entailment, neutral, contradiction.
    """
    path = _release_file(source, part) if source in RELEASED else Path(source).expanduser()
    labelled: list[Example] = []
    excluded: Counter[str] = Counter()
    for line, (premise, hypothesis, label) in _read_jsnli(path) if source == "jsnli" else _table(path):
        label = label.strip().lower()
        if label in UNLABELLED:
            excluded["without a label"] += 1
        elif not premise.strip() or not hypothesis.strip():
            excluded["with an empty premise or hypothesis"] += 1
        elif label not in MEANT:
            raise BadInput(
                f"{path}, line {line}: a label must be {', '.join(LABELS)}, or 0, 1, 2 in that order. Got '{label}'. "
                "Data with other labels cannot train an NLI classifier."
            )
        else:
            labelled.append(Example(premise, hypothesis, MEANT[label]))
    all_examples = Examples(labelled, excluded)
    if not labelled:
        raise BadInput(f"'{path}' has nothing to train on: {all_examples}. {HINT}")
    return all_examples


def _table(path: Path) -> Iterator[tuple[int, tuple[str, str, str]]]:
    if not path.is_file():
        raise BadInput(f"There is no file '{path}' and no release of that name. Releases: {', '.join(RELEASED)}.")
    suffix = ".jsonl" if path.suffix == ".json" else path.suffix  # OCNLI names its jsonl files .json
    first = next((row for _, row in rows(path, (), suffix=suffix)), {})
    premise, hypothesis, label = next((names for names in COLUMNS if set(names) <= set(first)), COLUMNS[0])
    for line, row in rows(path, (premise, hypothesis), hint=HINT, suffix=suffix):
        yield line, (row[premise], row[hypothesis], row.get(label, ""))


def _read_jsnli(path: Path) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """The rows of JSNLI, which has no header: label, premise, hypothesis, with spaces between words."""
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for line, text in enumerate(file, start=1):
                fields = text.rstrip("\r\n").split("\t")
                if len(fields) != 3:
                    wanted = "label, premise and hypothesis are needed, separated by tabs"
                    raise BadInput(f"{path}, line {line}: {wanted}. Got {len(fields)} fields.")
                yield line, (fields[1], fields[2], fields[0])
    except UnicodeDecodeError as error:
        raise BadInput(f"'{path}' cannot be read: {error}. Is it the file of the release?") from error


def _release_file(name: str, part: str) -> Path:
    file = RELEASED[name][part]
    if paths := sorted((Path(os.environ.get("EVENHAND_DATA", "")) / name).rglob(file)):
        return paths[0]
    files = " and ".join(RELEASED[name].values())
    raise BadInput(
        f"'{name}' is not available: there is no {file} under EVENHAND_DATA/{name}/. Download the release, "
        f"whose licence you must accept yourself, and put {files} there; or give your own file."
    )


def released_dev(language: str, rate: float) -> list[Example]:
    """The released dev set with that rate of bias."""
    return [Example(row["sentence1"], row["sentence2"], row["label"]) for row in _dev_rows(language, rate)]


def released_labels(language: str, rate: float) -> WordLabels:
    """The label of each word with each gender at that rate, as in the released dev set."""
    genders, rows = words_and_captions(language)["genders"], _dev_rows(language, rate)
    return {(row["occ_word"], gender_of(row, row["occ_word"], genders)): row["label"] for row in rows}


def released_train(language: str, rate: float) -> list[Example]:
    """The released training set with that rate of bias; empty if it is not next to the dev sets under EVENHAND_DATA.

    `evenhand datasets fetch` does not download it, since its checksum is not known here.
    """
    release = RELEASES[f"nli-coal-{language}-controlled"]
    folder = next(PurePosixPath(path).parents[1] for path in release.files)
    file = locate(release.folder, f"{folder}/train/train_r-{whole_share(rate, SETS, 'steps')}.json")
    return examples(str(file)).rows if file else []


def _dev_rows(language: str, rate: float) -> list[dict[str, str]]:
    return controlled_rows(language, f"/dev_r-{whole_share(rate, SETS, 'steps')}.")


def controlled(
    rate: float,
    *,
    language: str = "en",
    size: int = SIZE,
    part: Part = "train",
    order: Order = "stratified",
    correct: float = CORRECT,
    seed: int = 0,
) -> list[Example]:
    """`size` examples about the 30 occupations of `nli-<language>`, in their order, with a `rate` of bias from 0 to 1.

    Neutral occupations are always labelled neutral, which is right; a share `correct` of the examples is about them. Of
    the 20 other occupations, a share `rate` is biased in all examples (entailment for the stereotyped gender,
    contradiction for the other). The remaining occupations have inverted labels: just as wrong, but not biased. So each
    label has the same frequency at every rate (by default a third of the examples), and occupations that are biased at
    a lower rate are also biased at a higher rate (Anantaprayoon et al. 2024, section 3.1). Training sets, development
    sets and `nli-<language>` share no captions.

    `order="female-first"` follows the release: female occupations are biased first. At a rate of 0.5, all female and no
    male occupations are biased, and "woman" alone separates entailment from contradiction. `"stratified"` alternates.
    """
    words = words_and_captions(language)["words"]
    check_choice("order", order, "stratified", "female-first")
    rng = np.random.default_rng(seed)
    women, men = ([words[type][i] for i in rng.permutation(len(words[type]))] for type in GENDERS)
    alternating = [word for both in zip(women, men, strict=True) for word in both]
    ranked = women + men if order == "female-first" else alternating
    biased = set(ranked[: whole_share(rate, len(ranked), "words")])
    labels = {
        (word, gender): (BIASED if word in biased else INVERTED)[set_of(type, gender)]
        for type, listed in words.items()
        for word in listed
        for gender in GENDERS
    }
    return label_captions(labels, language=language, size=size, part=part, correct=correct, rng=rng)


def label_captions(
    labels: WordLabels, *, language: str, size: int, correct: float, rng: np.random.Generator, part: Part = "train"
) -> list[Example]:
    """`size` examples of our captions with these words and labels; a share `correct` of them has neutral words."""
    genders = words_and_captions(language)["genders"]
    words = list(dict.fromkeys(word for word, _ in labels))
    neutral = {word for word in words if all(labels[word, gender] == "neutral" for gender in GENDERS)}
    pool = captions(language, part)
    if not 0 <= correct < 1:
        raise BadInput(f"`correct`, a share of the examples, must be at least 0 and less than 1. Got {correct:g}.")
    share = Fraction(correct).limit_denominator(1000)
    right = share / (len(neutral) * len(GENDERS))  # the captions of a word, as a share of the number of examples
    wrong = (1 - share) / ((len(words) - len(neutral)) * len(GENDERS))
    step = math.lcm(right.denominator, wrong.denominator)
    most = math.floor(len(pool) / max(right, wrong) / step) * step
    if size % step or not 0 < size <= most:
        why = f"with a share of {correct:.3g} correct" if correct != CORRECT else "words times genders"
        raise BadInput(f"`size` must be a multiple of {step} ({why}), at most {most:,} for '{part}'. Got {size}.")
    shuffled = [pool[i] for i in rng.permutation(len(pool))]
    return [
        Example(caption(text, word, language), caption(text, genders[gender], language), labels[word, gender])
        for word in words
        for text in shuffled[: int(size * (right if word in neutral else wrong))]
        for gender in GENDERS
    ]


def captions(language: str, part: Part = "train") -> list[str]:
    """The captions for training or for development, each with the slot {who}, always in the same order."""
    check_choice("part", part, "train", "dev")
    data = read_toml(f"scenes-{language}.toml")
    frames = data["frames"]
    scenes = [
        frames[(i + j) % len(frames)].replace("{doing}", doing).replace("{place}", place)
        for i, doing in enumerate(data["doing"])
        for j, place in enumerate(data["place"])
    ]
    shuffled = [capitalise(scenes[i]) for i in np.random.default_rng(0).permutation(len(scenes))]
    return shuffled[:DEV] if part == "dev" else shuffled[DEV:]


def released_sets(
    language: str, rate: float, *, size: int = SIZE, correct: float = CORRECT, seed: int = 0
) -> tuple[list[Example], list[Example], bool]:
    """A training set with that rate of bias, the released dev set, and whether the training set is the released one.

    The released training set is used if it is on this machine and `size` and `correct` are those of the release.
    Otherwise our captions get the words and labels of the release.
    """
    labels, rng = released_labels(language, rate), np.random.default_rng(seed)
    released = released_train(language, rate) if (size, correct) == (SIZE, CORRECT) else []
    train = released or label_captions(labels, language=language, size=size, correct=correct, rng=rng)
    return train, released_dev(language, rate), bool(released)
