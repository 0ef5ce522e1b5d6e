"""Questions that a measure can ask a model. What all questions have in common is in core.answers."""

import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import ClassVar, Literal, NamedTuple

from evenhand.core.answers import Answer as Answer
from evenhand.core.answers import OfLogps, OfVector, check_spans, check_texts, fault
from evenhand.core.answers import Question as Question
from evenhand.core.answers import Span as Span
from evenhand.core.typed import typed
from evenhand.errors import BadInput, check_known

Masks = Literal["pieces", "words", "span"]  # "pieces" are tokens: keys of cached answers have this older word
MASKS: tuple[Masks, ...] = ("pieces", "words")
"""The values of the option `masks` of measures."""
Among = Literal["vocabulary", "candidates"]
AMONG: tuple[Among, ...] = ("vocabulary", "candidates")
"""What a probability in a blank is normalised over."""
By = Literal["letters", "digits", "words", "total", "token", "byte"]
BY: tuple[By, ...] = ("letters", "digits", "words", "total", "token", "byte")
"""How the options of a `Choose` are compared."""
LISTED = ("letters", "digits", "words")
"""With these the prompt is followed by a list of the options, and the model is asked for one of their `labels`."""
LABELS = {"letters": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "digits": "123456789"}
Masked = Literal["each", "changed", "none"]
MASKED: tuple[Masked, ...] = ("each", "changed", "none")
"""Which tokens of a `Likelihood` are masked: each in turn, all that the other sentence lacks at once, or none."""
Layer = int | Literal["input"]
Pooling = Literal["first", "mean", "last"]
POOLING: tuple[Pooling, ...] = ("first", "mean", "last")
"""The tokens that a vector is made of."""
ASKED_IN: dict[str, dict[str, str]] = tomllib.loads(
    (files("evenhand.core") / "questions.toml").read_text(encoding="utf-8")
)
"""The words around a question and its options, by language."""
WORD = re.compile(r"[^\W\d_]+")
"""A word of a text that a model writes."""
SURROGATE = re.compile("[\ud800-\udfff]")
THOUGHT, END_OF_THOUGHT = "<think>", "</think>"
NO_MASSES = "not the masses of paths: shares from 0 to 1 that add up to 1"
ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class Fill(OfLogps):
    """Asks for the probability of `answer` at `blank` when `hidden` is masked as well.

    The result has one log-probability for each token of `answer`. The blank gets as many masks as `answer` has tokens;
    a hidden span gets one mask for each token, or for each word with `masks="words"`, or one with `masks="span"`. With
    `among` the result is a single log-probability, of the whole of `answer`, normalised over these candidates instead
    of the vocabulary. With `read_at` it is that of the first token of `answer`, read at the token to which this
    character of the text belongs.

    With `one_by_one`, the blank has a single mask: the tokens of `answer` are filled in from the left, each predicted
    from the tokens before it, without masks for the tokens after it (Nadeem et al. 2021).

    A causal model has no masks: it compares the sentences with each candidate, up to the first hidden span.
    """

    text: str
    blank: Span
    answer: str
    hidden: tuple[Span, ...] = ()
    masks: Masks = "pieces"
    among: tuple[str, ...] = ()
    one_by_one: bool = False
    read_at: int | None = None

    @typed
    def __post_init__(self) -> None:
        check_texts(self, (self.hidden, self.among), self.text)
        check_spans(self, self.text, (self.blank, *self.hidden))
        if not self.answer.strip():
            raise BadInput(f"Fill needs an `answer` to put into the blank. Got {self.answer!r} for {self.text!r}.")
        check_known("value of masks", [self.masks], (*MASKS, "span"))
        if self.read_at is not None:
            check_spans(self, self.text, (self.blank, Span(self.read_at, self.read_at + 1)))
            if self.among:
                raise BadInput("A Fill cannot have both `read_at`, which reads from the vocabulary, and `among`.")
        if not all(candidate.strip() for candidate in self.among):
            raise BadInput(f"No candidate may be empty: it is put into the blank. Got {self.among} for {self.text!r}.")
        if self.among and self.answer not in self.among:
            raise BadInput(f"`answer` must be one of the candidates, `among`. Got {self.answer!r} among {self.among}.")
        if self.among and self.one_by_one:
            raise BadInput("A Fill cannot have both `among`, which compares all tokens at once, and `one_by_one`.")

    def filled(self, answer: str = "") -> tuple[str, Span, tuple[Span, ...]]:
        """The text with an answer in the blank, and the spans of the blank and of the hidden words in this text."""
        text = self.text[: self.blank.start] + (answer or self.answer) + self.text[self.blank.stop :]
        longer = len(text) - len(self.text)
        hidden = tuple(s.shift(longer) if s.start >= self.blank.stop else s for s in self.hidden)
        return text, Span(self.blank.start, self.blank.stop + longer), hidden

    @property
    def count(self) -> int:
        return 1 if self.among or self.read_at is not None else 0

    @property
    def read_after_filling(self) -> int | None:
        if self.read_at is None or self.read_at < self.blank.start:
            return self.read_at
        return self.read_at + len(self.answer) - (self.blank.stop - self.blank.start)


@dataclass(frozen=True, slots=True)
class Likelihood(OfLogps):
    """Asks for the probability of each token of `text`, given all the others.

    The answer has one log-probability for each token outside `skip`, each masked in turn (Salazar et al. 2020). With
    `within_word`, the later tokens of the same word are masked too (Kauf & Ivanova 2023), so that a word of several
    tokens does not give itself away. A causal model scores each token given the tokens before it, in both cases; with
    `start_once`, only the first token is scored after the start token, later tokens are scored without it.

    With `masked="none"` the model sees every token while it scores it (Kaneko & Bollegala 2022); `attention` multiplies
    each log-probability by the attention that the token gets, the mean over layers, heads and tokens.

    `versus` has the two sentences of a pair, one of which is `text`. difflib compares their tokens, in this order, as
    in the released code of CrowS-Pairs; only tokens of `text` that both sentences share are scored. With
    `masked="changed"` the other tokens are scored instead, all masked together. The answer then has a row for each
    masked position, with the log-probability of each of these tokens there: the diagonal has each in its own place.
    """

    text: str
    skip: tuple[Span, ...] = ()
    within_word: bool = False
    start_once: bool = False
    masked: Masked = "each"
    attention: bool = False
    versus: tuple[str, str] | tuple[()] = ()

    @typed
    def __post_init__(self) -> None:
        check_texts(self, (self.skip, self.versus), self.text)
        check_spans(self, self.text, self.skip)
        check_known("value of masked", [self.masked], MASKED)
        if self.within_word and self.masked != "each":
            raise BadInput(f"`within_word` needs masked='each'. Got masked={self.masked!r}.")
        if self.attention and self.masked != "none":
            raise BadInput(f"`attention` needs masked='none'. Got masked={self.masked!r}.")
        if self.versus and (len(set(self.versus)) != 2 or self.text not in self.versus):
            raise BadInput(f"`versus` must be two different sentences, {self.text!r} and another. Got {self.versus}.")
        if self.masked == "changed" and not self.versus:
            raise BadInput(f"masked='changed' needs `versus`, two sentences to compare. Got none for {self.text!r}.")


@dataclass(frozen=True, slots=True)
class Entail(OfLogps):
    """Asks whether `premise` entails, leaves open or contradicts `hypothesis`.

    The answer has three log-probabilities: entailment, neutral, contradiction. With `unknown`, a classifier also
    answers where its tokenizer does not know a word, which it then reads as its token for unknown words.
    """

    count: ClassVar[int] = 3
    premise: str
    hypothesis: str
    unknown: bool = False

    def __post_init__(self) -> None:
        check_texts(self, (), self.premise, self.hypothesis)


@dataclass(frozen=True, slots=True)
class Follows(OfLogps):
    """Asks whether `second` is the sentence after `first` in a text.

    The answer has two log-probabilities: that it is, and that it is not. Only a model with a next-sentence head, such
    as BERT, can answer.
    """

    count: ClassVar[int] = 2
    first: str
    second: str

    def __post_init__(self) -> None:
        check_texts(self, (), self.first, self.second)


@dataclass(frozen=True, slots=True)
class Choose(OfLogps):
    """Asks which of `options` answers `prompt`.

    The answer has one log-probability for each option, in their order. With `by` "letters" or "digits" the options are
    listed below the prompt, each with a label, and the model is asked for a label; with "words" they are listed without
    labels, and the model is asked for an option, by the total of its tokens' log-probabilities. Otherwise the options
    are not listed, and are compared as continuations of the prompt: by the "total" of their tokens' log-probabilities,
    by the mean ("token"), or by the total per "byte" of UTF-8. The log-probabilities are not normalised over the
    options, so that the probability of all options together can be seen.

    In a plain prompt, a space precedes the label or option. With `chat` the prompt is the user's turn in the model's
    chat template, after a `system` prompt if there is one, and the label or option begins the reply. With `exact` only
    a probability is an answer, and not a share of texts, which is all that some servers give; questions that differ in
    `exact` alone are equal.
    """

    prompt: str
    options: tuple[str, ...]
    by: By = "total"
    chat: bool = False
    system: str = ""
    language: str = "en"
    exact: bool = field(default=False, compare=False)

    @typed
    def __post_init__(self) -> None:
        check_texts(self, (self.options,), self.prompt)
        check_known("value of by", [self.by], BY)
        if len({option.strip() for option in self.options} - {""}) < max(2, len(self.options)):
            wanted = "two or more different options, none of them empty"
            raise BadInput(f"Choose needs {wanted}. Got {self.options} for {self.prompt!r}.")
        if self.by in LABELS and len(self.options) > (most := len(LABELS[self.by])):
            raise BadInput(f"With by={self.by!r} there can be at most {most} options. Got {len(self.options)}.")
        if self.system and not self.chat:
            raise BadInput("`system` is a part of a chat template: set `chat`, too, or leave out `system`.")
        check_known("language of Choose", [self.language], ASKED_IN)

    @property
    def count(self) -> int:
        return len(self.options)

    @property
    def labels(self) -> tuple[str, ...]:
        """What is asked for: letters, digits, or the options themselves."""
        options = tuple(option.strip() for option in self.options)
        return tuple(LABELS[self.by][: len(options)]) if self.by in LABELS else options

    @property
    def text(self) -> str:
        """The prompt as it is asked: with the list of options, if a label is asked for."""
        if self.by not in LISTED:
            return self.prompt.rstrip()
        words, options = ASKED_IN[self.language], [option.strip() for option in self.options]
        labels = self.labels if self.by in LABELS else ("-",) * len(options)
        mark = "." if self.by in LABELS else ""
        listed = [f"{label}{mark} {option}" for label, option in zip(labels, options, strict=True)]
        return "\n".join([self.prompt.rstrip(), *listed, words[self.by] if self.chat else f"{words['answer']}:"])

    @property
    def continuations(self) -> tuple[str, ...]:
        """The possible continuations of the text: labels or options, each after a space unless it begins a reply."""
        return self.labels if self.chat else tuple(f" {label}" for label in self.labels)

    def fault(self, answer: Answer) -> str:
        """That of other questions; but means do not add up, nor does an option with another that it begins."""
        begins = any(a != b and b.startswith(a) for a in self.labels for b in self.labels)
        apart = not begins and self.by not in ("token", "byte")
        return OfLogps.fault(self, answer) if apart or len(answer.numbers) != self.count else fault(answer.numbers)

    def compared(self, logps: Sequence[Sequence[float]]) -> tuple[float, ...]:
        """The number by which to compare each option, from the log-probabilities of its tokens."""
        sizes = [1] * len(self.options)
        if self.by in ("token", "byte"):
            sizes = list(map(len, logps)) if self.by == "token" else [len(o.encode()) for o in self.options]
        return tuple(math.fsum(tokens) / size for tokens, size in zip(logps, sizes, strict=True))


@dataclass(frozen=True, slots=True)
class Embed(OfVector):
    """Asks for the vector of `text`, or of the word at `span` in it.

    `layer` 0 is the embeddings with their positions, and -1 the last layer, before the head. "input" is the embedding
    table, without positions or context. `pooling` takes the first token of the word or text, its last token, or the
    mean over its tokens. The first token of a whole text is the first one of the model's input, BERT's [CLS]; otherwise
    special tokens are excluded. A model of static vectors, without layers and tokens, looks up the word or the text.
    """

    text: str
    span: Span | None = None
    layer: Layer = -1
    pooling: Pooling = "first"

    @typed
    def __post_init__(self) -> None:
        check_texts(self, (), self.text)
        check_spans(self, self.text, (self.span,) if self.span else ())
        check_known("value of pooling", [self.pooling], POOLING)
        if self.layer != "input" and (not isinstance(self.layer, int) or isinstance(self.layer, bool)):
            raise BadInput(f"`layer` must be a whole number, or 'input' for the embedding table. Got {self.layer!r}.")

    @property
    def target(self) -> str:
        """The word or the text whose vector is asked for."""
        return self.span.of(self.text) if self.span else self.text


@dataclass(frozen=True, slots=True)
class Write:
    """Asks for a text that the model writes after `prompt`, of at most `longest` tokens.

    The answer has the text, without the prompt and without the model's reasoning, and the log-probability of each
    token, which some servers do not give. Tokens are sampled from the full distribution at `temperature`, without top-k
    or top-p; another `seed` gives another text. A text that is cut at `longest` ends with its last whole word.

    The model continues a plain prompt. With `chat` the prompt is the user's turn in the model's chat template, after a
    `system` prompt if there is one, and the text is the reply.
    """

    stored_as: ClassVar[str] = "text"
    prompt: str
    seed: int = 0
    longest: int = 40
    temperature: float = 1.0
    chat: bool = False
    system: str = ""

    @typed
    def __post_init__(self) -> None:
        check_prompt(self)

    @property
    def text(self) -> str:
        """The prompt without trailing white space, which belongs to the first token that is written."""
        return self.prompt.rstrip()

    def fault(self, answer: Answer) -> str:
        return fault(answer.numbers) or ("half of a surrogate pair" if SURROGATE.search(answer.text) else "")


class Masses(NamedTuple):
    """The probabilities, on one path, that the first gendered word is female, that it is male, and that there is none.

    `unresolved` is the probability that was left when the path was stopped early.
    """

    female: float
    male: float
    neither: float
    unresolved: float


@dataclass(frozen=True, slots=True)
class FirstMention:
    """Asks whom texts after `prompt` mention first: a word of `female`, of `male`, or nobody in `longest` tokens.

    `paths` texts are sampled. The probabilities that a listed word is completed at a token are summed over the tokens
    of a text, instead of counting only words that were sampled. A word is complete if no letter follows it: "he" is not
    in "hello". If a completion has a probability of `threshold` or more, one more step of the model gives the
    probability that no letter follows; a less likely completion counts if it is sampled. The path then goes on as if
    none of these words had been written. So each mass is unbiased, whatever the threshold, and has a smaller variance
    than a count of as many texts. A path ends when its remaining probability is below `stop`.

    The answer has the `Masses` of each path. `temperature`, `chat` and `system` are those of `Write`.
    """

    prompt: str
    female: tuple[str, ...]
    male: tuple[str, ...]
    paths: int = 8
    longest: int = 40
    threshold: float = 0.003
    stop: float = 0.01
    temperature: float = 1.0
    seed: int = 0
    chat: bool = False
    system: str = ""

    @typed
    def __post_init__(self) -> None:
        check_prompt(self)
        check_positive("paths", self.paths)
        for name, most in (("threshold", 1.0), ("stop", 0.5)):
            if not 0 <= getattr(self, name) <= most:
                raise BadInput(f"`{name}` must be a number from 0 to {most:g}. Got {getattr(self, name)!r}.")
        words = [*self.female, *self.male]
        if not self.female or not self.male or set(self.female) & set(self.male):
            raise BadInput("FirstMention needs words in both `female` and `male`, and no word may be in both.")
        if odd := [word for word in words if not WORD.fullmatch(word) or word != word.lower()]:
            raise BadInput(f"Words of `female` and `male` must consist of lower-case letters. Got {odd[0]!r}.")

    @property
    def text(self) -> str:
        return self.prompt.rstrip()

    def fault(self, answer: Answer) -> str:
        fine = len(answer.numbers) == len(Masses._fields) * self.paths and all(
            min(path) >= -ROUNDING and abs(math.fsum(path) - 1) <= ROUNDING for path in masses(answer)
        )
        return "" if fine else NO_MASSES


def masses(answer: Answer) -> list[Masses]:
    """The masses of each path of an answer to `FirstMention`."""
    size = len(Masses._fields)
    return [Masses(*answer.numbers[at : at + size]) for at in range(0, len(answer.numbers) - size + 1, size)]


def check_prompt(question: Write | FirstMention) -> None:
    """Raise BadInput if a field that both kinds of question have is out of range."""
    check_texts(question, (), question.prompt)
    check_positive("longest", question.longest)
    if not 0 < question.temperature < math.inf:
        raise BadInput(
            f"`temperature` must be a number above 0. Got {question.temperature!r}. At 0 all texts would be the "
            "same, and a share of them would say nothing."
        )
    if question.seed < 0:
        raise BadInput(f"`seed` must be a whole number of at least 0. Got {question.seed!r}.")
    if question.system and not question.chat:
        raise BadInput("`system` is a part of a chat template: set `chat`, too, or leave out `system`.")


def check_positive(name: str, number: int) -> None:
    """Raise BadInput unless the number is a whole number of at least 1."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise BadInput(f"`{name}` must be a whole number of at least 1. Got {number!r}.")


def countable_text(text: str, *, cut: bool = False) -> str:
    """The part of a written text that counts: without the model's reasoning and, if it was `cut`, its last word."""
    if cut:
        text = re.sub("(?<![^\\W\\d_])[^\\W\\d_]++\ufffd*+\\Z", "", text)
    if END_OF_THOUGHT in text:
        text = text.rpartition(END_OF_THOUGHT)[2]
    return text.partition(THOUGHT)[0].strip()


Unplanned = Embed | Write | FirstMention
"""The questions that networks answer batch by batch, without a plan of positions to read."""
BuiltIn = Fill | Likelihood | Entail | Follows | Choose | Unplanned
"""The questions that evenhand's own models know."""
