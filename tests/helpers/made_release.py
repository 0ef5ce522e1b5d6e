"""A release like NLI-CoAL's English one, with three words: for tests that must run without the real one."""

import json
from collections.abc import Iterable
from itertools import product
from pathlib import Path

TYPES = {"nanny": "female-stereo", "mechanic": "male-stereo", "student": "neutral"}
STEREOTYPE = {"nanny": "woman", "mechanic": "man"}
ROOT = Path("nli-coal") / "en_v1.1"
EVALUATION = ("the {} reading a book.", "the {} on a bench.", "the {} with a kite.")
UNSEEN = ("the {} at a lake.", "the {} holding a cup.")


def label(word: str, gender: str, step: int) -> str:
    """As in the release: nannies are biased first, mechanics last; students are always neutral."""
    if word not in STEREOTYPE:
        return "neutral"
    biased = step >= (5 if word == "nanny" else 10)
    return "entailment" if (STEREOTYPE[word] == gender) == biased else "contradiction"


def rows(captions: Iterable[str], step: int) -> list[dict[str, str]]:
    """The rows of a bias-controlled set."""
    return [
        {"sentence1": text.format(word), "sentence2": text.format(gender), "label": label(word, gender, step)}
        for text, word, gender in product(captions, TYPES, ("woman", "man"))
    ]


def write(data: Path) -> None:
    """Put the evaluation sets and the bias-controlled dev and test sets where EVENHAND_DATA is to point to."""
    named = [
        {"id": n, **row, "label": "neutral", "occ_word": word, "occ_type": TYPES[word]}
        for n, row in enumerate(rows(EVALUATION, 0))
        for word in TYPES
        if word in row["sentence1"]
    ]
    for path in ("all-words/4-all_v1.1.json", "downsamp/4-all-downsamp_v1.1.json"):
        save(data / ROOT / "bias-eval-set_v1.1" / path, named)
    for step in range(11):
        save(data / ROOT / f"bias-controlled-set_v1.1/dev/dev_r-{step}.json", rows(UNSEEN, step))
    save(data / ROOT / "bias-controlled-set_v1.1/test/test_bias.json", rows(UNSEEN, 10))
    save(data / ROOT / "bias-controlled-set_v1.1/test/test_nonbias.json", rows(UNSEEN, 0))


def write_train(data: Path, captions: Iterable[str]) -> None:
    """The training sets too, which `evenhand datasets fetch` leaves out."""
    for step in range(11):
        save(data / ROOT / f"bias-controlled-set_v1.1/train/train_r-{step}.json", rows(captions, step))


def save(path: Path, rows: Iterable[dict[str, object] | dict[str, str]]) -> None:
    """One object per line, as in the release."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
