"""Questions about what a model writes: a text, and whom texts mention first. Also, what counts as a word of a text."""

import math
import re
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from evenhand.core.answers import Answer, check_texts, fault
from evenhand.core.typed import typed
from evenhand.errors import BadInput

WORD = re.compile(r"[^\W\d_]+")
SURROGATE = re.compile("[\ud800-\udfff]")
THOUGHT, END_OF_THOUGHT = "<think>", "</think>"
NO_MASSES = "not the masses of paths: shares from 0 to 1 that add up to 1"
ROUNDING = 1e-3


class Masses(NamedTuple):
    """Of one path: the probabilities that the first gendered word is female, that it is male, and that there is none.

    `unresolved` is what was left when the path was stopped early.
    """

    female: float
    male: float
    neither: float
    unresolved: float


@dataclass(frozen=True, slots=True)
class Write:
    """Asks for a text that the model writes after `prompt`, of at most `longest` tokens.

    The answer has the text, without the prompt and without a model's thoughts, and the log-probability of each of its
    tokens; a server may give none. Tokens are drawn from the model's own distribution at `temperature`, without
    truncation; `seed` makes another text. A text that is cut at `longest` ends with its last whole word.

    After a plain prompt the model goes on. With `chat` the prompt is the user's turn in the model's chat template,
    behind a `system` prompt if there is one, and the text is the reply.
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
        """The prompt without white space at its end, which belongs to the first token that is written."""
        return self.prompt.rstrip()

    def fault(self, answer: Answer) -> str:
        return fault(answer.numbers) or ("half of a surrogate pair" if SURROGATE.search(answer.text) else "")


@dataclass(frozen=True, slots=True)
class FirstMention:
    """Asks whom texts after `prompt` mention first: a word of `female`, of `male`, or nobody in `longest` tokens.

    `paths` texts are drawn, and at each token the probability that a listed word is completed there is added up,
    instead of waiting for it to be drawn. A word is complete when no letter follows it: "he" is not in "hello". For
    completions of probability `threshold` or more, one more step of the model says how likely this is; others count
    when they are drawn. The path goes on as if none of these words had come. So each mass is unbiased, whatever the
    threshold, and varies less than a count of as many texts. A path is stopped where less than `stop` is left of it.

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
            raise BadInput("FirstMention needs words of both genders, and no word twice.")
        if odd := [word for word in words if not WORD.fullmatch(word) or word != word.lower()]:
            raise BadInput(f"A word to look for is in lower-case letters, without spaces. Got {odd[0]!r}.")

    @property
    def text(self) -> str:
        return self.prompt.rstrip()

    def fault(self, answer: Answer) -> str:
        found = masses(answer)
        fine = len(answer.numbers) == len(Masses._fields) * self.paths and all(
            min(path) >= -ROUNDING and abs(math.fsum(path) - 1) <= ROUNDING for path in found
        )
        return "" if fine else NO_MASSES


def masses(answer: Answer) -> list[Masses]:
    """The masses of each path of an answer to `FirstMention`."""
    size = len(Masses._fields)
    return [Masses(*answer.numbers[at : at + size]) for at in range(0, len(answer.numbers) - size + 1, size)]


def check_prompt(question: Write | FirstMention) -> None:
    """Raise if the fields that both questions have are out of range."""
    check_texts(question, (), question.prompt)
    check_positive("longest", question.longest)
    if not 0 < question.temperature < math.inf:
        raise BadInput(
            f"`temperature` must be a number above 0. Got {question.temperature!r}: at 0 all texts are the same, and "
            "say nothing about how often a model writes what."
        )
    if question.seed < 0:
        raise BadInput(f"`seed` must be a whole number from 0. Got {question.seed!r}.")
    if question.system and not question.chat:
        raise BadInput("A system prompt needs a chat template: give `chat`, or leave `system` out.")


def check_positive(name: str, number: int) -> None:
    """Raise unless it is a whole number from 1."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise BadInput(f"`{name}` must be a whole number from 1. Got {number!r}.")


def countable_text(text: str, *, cut: bool = False) -> str:
    """What counts of a written text: without a model's thoughts, and without a last word that was `cut`."""
    if cut:
        text = re.sub("[^\\W\\d_]+\ufffd*\\Z", "", text)
    if END_OF_THOUGHT in text:
        text = text.rpartition(END_OF_THOUGHT)[2]
    return text.partition(THOUGHT)[0].strip()
