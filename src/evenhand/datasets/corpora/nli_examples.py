"""Labelled premises and hypotheses to train on: users' files, and the releases of SNLI, JSNLI and OCNLI.

Also the released bias-controlled sets of NLI-CoAL (Anantaprayoon et al. 2024, section 4.1), and their labels.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from evenhand.datasets.files.releases import RELEASES, locate
from evenhand.datasets.files.rows import rows
from evenhand.datasets.nli import controlled_rows, gender_of, words_and_captions
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
"""Label names by what a file may have; numbers are in the order of SNLI and MNLI on the Hub."""
UNLABELLED = ("", "-", "-1")
"""Values where annotators did not agree on a label."""
SETS = 10
"""The rates of bias-controlled sets are multiples of a tenth."""
Labels = Mapping[tuple[str, str], str]
"""The label of each word with each gender."""


class Example(NamedTuple):
    """A premise, a hypothesis, and their label: entailment, neutral or contradiction."""

    premise: str
    hypothesis: str
    label: str


@dataclass(frozen=True)
class Examples:
    """Examples to train on, and the number of rows left out, by reason."""

    rows: list[Example]
    left_out: Mapping[str, int]

    def __str__(self) -> str:
        without = ", ".join(f"{n:,} {why}" for why, n in self.left_out.items())
        return f"{len(self.rows):,} examples" + (f" (left out: {without})" if without else "")


def examples(source: str, part: Literal["train", "dev"] = "train") -> Examples:
    """The examples of a file (csv, tsv, jsonl, parquet), or of a release: snli, jsnli, ocnli.

    A file has the columns premise, hypothesis and label, or sentence1, sentence2 and gold_label or label. Labels are
    names, or 0, 1, 2 for entailment, neutral, contradiction.
    """
    path = _release_file(source, part) if source in RELEASED else Path(source).expanduser()
    found: list[Example] = []
    left_out: Counter[str] = Counter()
    for line, (premise, hypothesis, label) in _read_jsnli(path) if source == "jsnli" else _table(path):
        label = label.strip().lower()
        if label in UNLABELLED:
            left_out["without a label"] += 1
        elif not premise.strip() or not hypothesis.strip():
            left_out["with an empty premise or hypothesis"] += 1
        elif label not in MEANT:
            raise BadInput(
                f"{path}, line {line}: a label must be {', '.join(LABELS)}, or 0, 1, 2 in that order. Got '{label}'. "
                "Data with other labels cannot train an NLI classifier."
            )
        else:
            found.append(Example(premise, hypothesis, MEANT[label]))
    made = Examples(found, left_out)
    if not found:
        raise BadInput(f"'{path}' has nothing to train on: {made}. {HINT}")
    return made


def _table(path: Path) -> Iterator[tuple[int, tuple[str, str, str]]]:
    if not path.is_file():
        raise BadInput(f"There is no file '{path}', and no release of that name: {', '.join(RELEASED)}.")
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
                    got = f"Got {len(fields)} fields."
                    raise BadInput(f"{path}, line {line}: label, premise and hypothesis are needed. {got}")
                yield line, (fields[1], fields[2], fields[0])
    except UnicodeDecodeError as error:
        raise BadInput(f"'{path}' cannot be read: {error}. Is it the file of the release?") from error


def _release_file(name: str, part: str) -> Path:
    file = RELEASED[name][part]
    if found := sorted((Path(os.environ.get("EVENHAND_DATA", "")) / name).rglob(file)):
        return found[0]
    wanted = " and ".join(RELEASED[name].values())
    raise BadInput(
        f"'{name}' is not available: there is no {file} under EVENHAND_DATA/{name}/. Download the release, "
        f"whose licence you must accept yourself, and put {wanted} there; or give your own file."
    )


def released_dev(language: str, rate: float) -> list[Example]:
    """The released dev set of that rate."""
    return [Example(row["sentence1"], row["sentence2"], row["label"]) for row in _dev_rows(language, rate)]


def released_labels(language: str, rate: float) -> Labels:
    """The label of each word with each gender at that rate, as in the released dev set."""
    genders, rows = words_and_captions(language)["genders"], _dev_rows(language, rate)
    return {(row["occ_word"], gender_of(row, row["occ_word"], genders)): row["label"] for row in rows}


def released_train(language: str, rate: float) -> list[Example]:
    """The released training set of that rate, if it lies beside the dev sets under EVENHAND_DATA; otherwise nothing.

    `evenhand datasets fetch` does not download it, since its checksum is not known here.
    """
    release = RELEASES[f"nli-coal-{language}-controlled"]
    folder = next(PurePosixPath(path).parents[1] for path in release.files)
    found = locate(release.folder, f"{folder}/train/train_r-{whole(rate, SETS, 'steps')}.json")
    return examples(str(found)).rows if found else []


def _dev_rows(language: str, rate: float) -> list[dict[str, str]]:
    return controlled_rows(language, f"/dev_r-{whole(rate, SETS, 'steps')}.")


def whole(rate: float, n: int, what: str) -> int:
    """The share `rate` of `n`, which must be a whole number."""
    if not 0 <= rate <= 1:
        raise BadInput(f"rate must be from 0 to 1. Got {rate}.")
    count = round(rate * n)
    if abs(count - rate * n) > 1e-6:
        raise BadInput(f"rate must be a share of {n} {what}: a multiple of {1 / n:g}. Got {rate}.")
    return count
