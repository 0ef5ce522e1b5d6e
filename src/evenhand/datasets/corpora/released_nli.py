"""The released bias-controlled sets of NLI-CoAL (Anantaprayoon et al. 2024, section 4.1): examples and labels."""

from pathlib import PurePosixPath

from evenhand.datasets.corpora.biased import Labels, whole
from evenhand.datasets.corpora.nli_examples import Example, examples
from evenhand.datasets.files.releases import RELEASES, locate
from evenhand.datasets.nli import controlled_rows, gender_of, words_and_captions

SETS = 10
"""Rates are multiples of a tenth."""


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
