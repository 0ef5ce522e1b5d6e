"""The case that checks examine (a model, a language, datasets), and plain texts that any model of a language knows."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

import numpy as np

from evenhand.checks.fit import Fit
from evenhand.core.answers import FAULTS
from evenhand.core.dataset import Dataset
from evenhand.core.model import Model, about, ask, kind_of
from evenhand.core.questions import Answer, Entail, Fill, Likelihood, Question
from evenhand.core.words import words
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.datasets.files import read_tsv

ENOUGH = 12_000
"""The most items of a dataset whose words are examined: more than any released corpus has."""
AT_ONCE = 6
"""The most ordinary questions."""
LANGUAGES = ("en", "de", "ja", "zh")
"""Languages with plain texts."""
SPACELESS = ("ja", "zh")
"""Languages that are written without spaces between words."""


@cache
def plain_sentences(language: str) -> tuple[str, ...]:
    """Short sentences of everyday life, from data/plain.tsv; none for languages that it does not have."""
    return tuple(row["text"] for row in read_tsv("plain.tsv", "evenhand.checks") if row["language"] == language)


@cache
def plain_inferences(language: str) -> tuple[Example, ...]:
    """Equal numbers of entailments, contradictions and neutral pairs, from data/plain-nli.tsv."""
    rows = (row for row in read_tsv("plain-nli.tsv", "evenhand.checks") if row["language"] == language)
    return tuple(Example(row["premise"], row["hypothesis"], row["label"]) for row in rows)


def shuffle_words(text: str, language: str) -> str:
    """The same words in a fixed random order; the last word or mark stays at the end.

    >>> shuffle_words("The river is too cold to swim in.", "en")
    'too river cold swim to in is The.'
    """
    *body, last = [span.of(text) for span in words(text)]
    order = np.random.default_rng(0).permutation(len(body))
    return ("" if language in SPACELESS else " ").join(body[i] for i in order) + last


class NotChecked(Exception):
    """Raised by a check that cannot run, with the reason."""

    def __init__(self, check: str, why: str) -> None:
        super().__init__(f"{check} ({why})")


@dataclass(frozen=True)
class Case:
    """The model, the language it is asked in, and the datasets it will be measured on.

    If `thorough`, checks ask about more sentences and try other precisions. An audit saves that time.
    """

    model: Model
    language: str
    datasets: Sequence[Dataset] = field(default_factory=list)
    thorough: bool = True
    fits: Mapping[str, Fit] = field(default_factory=dict)
    """The results of `checks.fit`, by dataset, if they are known already."""
    _kept: dict[Question, Answer] = field(default_factory=dict)

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """The model's answers; each distinct question is asked once."""
        fresh = list(dict.fromkeys(question for question in questions if question not in self._kept))
        if fresh:
            self._kept.update(zip(fresh, ask(self.model, fresh), strict=True))
        return [self._kept[question] for question in questions]

    @property
    def kind(self) -> str:
        return kind_of(self.model)

    @property
    def dtype(self) -> str:
        return str(about(self.model).get("dtype", "float32"))

    @cached_property
    def samples(self) -> list[Dataset]:
        """The datasets, of very large ones every n-th item, since finding the words of pairs takes time."""
        steps = [-(-len(dataset.items) // ENOUGH) for dataset in self.datasets]
        return [replace(d, items=d.items[::n]) if n > 1 else d for d, n in zip(self.datasets, steps, strict=True)]

    @cached_property
    def ordinary(self) -> tuple[list[Question], list[Answer]]:
        """A few questions of unequal length that the model can answer, and its answers to all of them at once."""
        for language in dict.fromkeys((self.language, *LANGUAGES)):
            questions = list(ORDINARY[self.kind](language))
            answers = ask(self.model, questions)
            answered = [q for q, a in zip(questions, answers, strict=True) if is_number(a) or a.note in FAULTS]
            if len(answered) == len(questions) > 0:
                return questions, answers
            if len(answered) > 2:
                return answered, ask(self.model, answered)
        raise NotChecked("batching and precision", "it answers none of our plain questions")


def is_number(answer: Answer) -> bool:
    """Whether all numbers of the answer are finite."""
    return math.isfinite(answer.logp)


def _blanks(language: str) -> Iterator[Fill]:
    texts = plain_sentences(language)
    space = "" if language in SPACELESS else " "
    for n in range(AT_ONCE if texts else 0):
        text = space.join(texts[(n + k) % len(texts)] for k in range(1 + n % 3))
        word = max(words(text), key=lambda span: span.stop - span.start)
        yield Fill(text, word, word.of(text))


def _texts(language: str) -> Iterator[Question]:
    return (Likelihood(blank.text) for blank in _blanks(language))


def _nli_questions(language: str) -> Iterator[Question]:
    """Some plain inferences. Every second premise is repeated, so that lengths differ."""
    examples = plain_inferences(language)
    for n, example in enumerate(examples[:: max(1, len(examples) // AT_ONCE)][:AT_ONCE]):
        yield Entail(" ".join([example.premise] * (1 + n % 2)), example.hypothesis)


ORDINARY: dict[str, Callable[[str], Iterator[Question]]] = {"masked": _blanks, "nli": _nli_questions, "causal": _texts}
"""Questions that each kind of model can answer, by kind."""
