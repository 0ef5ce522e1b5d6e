"""Items, the rows of a dataset: each has a unique id and the groups it belongs to."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Protocol

from evenhand.core.foreign import foreign
from evenhand.core.questions import ASKED_IN, SURROGATE, Fill, Span
from evenhand.core.typed import typed
from evenhand.core.words import changes
from evenhand.errors import BadInput, check_known

Groups = Mapping[str, str]
COLUMNS = ("dataset", "measure", "id", "score", "note")
"""The columns of scores that no group can be named after."""
LONGEST = 10_000
"""The most characters that a text may have."""
BLANK = "BLANK"
"""What stands for the blank in the context of a `Triple`."""

Place = tuple[str, Span]
"""A text, and the span of a word in it."""
SIDES = ("X", "Y")
"""The two sets of a `Target`."""


class Item(Protocol):
    """What every item has: any object with an id and groups can be measured.

    An item may have a method `texts`, which gives the two texts that pages show; the second one is empty if there are
    not two to compare. It may have a method `words_asked`, which gives a `Place` for each word whose probability is
    scored: the tokens of these words are counted before the model is measured.
    """

    @property
    def id(self) -> str:
        """Unique within its dataset."""

    @property
    def groups(self) -> Groups:
        """The item's label in each group: `{"gender": "female", ...}`."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with two spans marked: the target word, and the attribute it may be associated with.

    For models that can only compare whole sentences, `phrase` is the target with its determiner ("my mother"), and
    `candidates` are the phrases that the dataset puts in its place.
    """

    id: str
    text: str
    target: Span
    attribute: Span
    groups: Groups = field(default_factory=dict)
    phrase: Span | None = None
    candidates: tuple[str, ...] = ()

    def texts(self) -> tuple[str, str]:
        return self.text, ""

    def words_asked(self) -> list[Place]:
        return [(self.text, self.target)]


@dataclass(frozen=True, slots=True)
class Blank:
    """A sentence with one blank, and the candidates for it.

    Pronouns are given as male, female and, if asked for, singular they. `attribute` is the word that may sway the
    choice, if any.
    """

    id: str
    text: str
    blank: Span
    candidates: tuple[str, ...]
    groups: Groups = field(default_factory=dict)
    attribute: Span | None = None

    def texts(self) -> tuple[str, str]:
        return f"{self.text[: self.blank.start]}[{'/'.join(self.candidates)}]{self.text[self.blank.stop :]}", ""

    def words_asked(self) -> list[Place]:
        return [Fill(self.text, self.blank, candidate).filled()[:2] for candidate in self.candidates]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences that differ only in gendered words."""

    id: str
    stereotype: str
    counterpart: str
    groups: Groups = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.stereotype == self.counterpart:
            raise BadInput(f"The two sentences of pair '{self.id}' must differ. Got {self.stereotype!r} twice.")

    @property
    def changed(self) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
        """The spans of the words in which the sentences differ: those of the stereotype, those of the counterpart."""
        places = changes(self.stereotype, self.counterpart)
        return tuple(s for c in places for s in c.old), tuple(s for c in places for s in c.new)

    def texts(self) -> tuple[str, str]:
        return self.stereotype, self.counterpart

    def words_asked(self) -> list[Place]:
        return [(text, span) for text, spans in zip(self.texts(), self.changed, strict=True) for span in spans]


@dataclass(frozen=True, slots=True)
class NliPair:
    """A premise and a hypothesis."""

    id: str
    premise: str
    hypothesis: str
    groups: Groups = field(default_factory=dict)

    def texts(self) -> tuple[str, str]:
        return self.premise, self.hypothesis


@dataclass(frozen=True, slots=True)
class Triple:
    """A stereotype, an anti-stereotype and an unrelated sentence, three continuations of a context.

    If they fill a blank, the context contains BLANK, and `fillers` are the three words. Otherwise there are no
    `fillers`, and the context is the sentence before the three.
    """

    id: str
    stereotype: str
    anti_stereotype: str
    unrelated: str
    context: str
    groups: Groups = field(default_factory=dict)
    fillers: tuple[str, ...] = ()

    @typed
    def __post_init__(self) -> None:
        for name in ("stereotype", "anti_stereotype", "unrelated", "context"):
            if not getattr(self, name).strip():
                raise BadInput(f"Triple '{self.id}' needs a text as its {name}. Got {getattr(self, name)!r}.")
        fits = BLANK in self.context and len(self.fillers) == 3 and all(map(str.strip, self.fillers))
        if self.fillers and not fits:
            wanted = f"three words as `fillers`, for the {BLANK} of its context"
            raise BadInput(f"Triple '{self.id}' needs {wanted}. Got {self.fillers} for {self.context!r}.")

    @property
    def sentences(self) -> tuple[str, str, str]:
        """The three sentences: stereotype, anti-stereotype, unrelated."""
        return self.stereotype, self.anti_stereotype, self.unrelated

    def texts(self) -> tuple[str, str]:
        """The stereotype, after the context if the context is a sentence; and the other two sentences."""
        before = "" if self.fillers else f"{self.context} "
        return before + self.stereotype, f"{self.anti_stereotype} / {self.unrelated}"

    @property
    def filled(self) -> tuple[tuple[str, tuple[Span, ...]], ...]:
        """The context with each of the fillers, and the spans of the filler in it."""
        before, *rest = self.context.split(BLANK)
        texts = []
        for filler in self.fillers:
            text, spans = before, list[Span]()
            for part in rest:
                spans.append(Span(len(text), len(text) + len(filler)))
                text += filler + part
            texts.append((text, tuple(spans)))
        return tuple(texts)


@dataclass(frozen=True, slots=True)
class Target:
    """A word of one of two sets, and the two sets of attributes that it may be nearer to (Caliskan et al. 2017).

    `place` has the word by itself. Its groups are `side` (X or Y), `set` (the name of that set) and, if the dataset has
    several tests, `test`. If `paired`, attributes at the same position are partners, such as he and she.
    """

    id: str
    place: Place
    attributes: tuple[tuple[Place, ...], tuple[Place, ...]]
    groups: Groups = field(default_factory=dict)
    paired: bool = False

    def __post_init__(self) -> None:
        if self.groups.get("side") not in SIDES:
            raise BadInput(f"Target '{self.id}' needs a group `side`, X or Y. Got {dict(self.groups)}.")
        if not all(self.attributes) or (self.paired and len(set(map(len, self.attributes))) > 1):
            wanted = "two sets of attributes, of equal size if they are `paired`"
            raise BadInput(
                f"Target '{self.id}' needs {wanted}. Got {' and '.join(map(str, map(len, self.attributes)))}."
            )

    def texts(self) -> tuple[str, str]:
        return self.place[0], ""

    def words_asked(self) -> list[Place]:
        return [self.place, *self.attributes[0], *self.attributes[1]]


@dataclass(frozen=True, slots=True)
class TargetSentence(Target):
    """A `Target` whose word and attributes each stand in a sentence that says nothing else: "This is a nurse"."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt for a text that a model writes: its beginning, or a request for it.

    `female` and `male` are the words, in lower case, that show whether a text is about a woman or a man. Where these do
    not, `names` may: capitalised first names with their gender, "female" or "male". `noun` is what the prompt calls its
    person, as in "nurse".
    """

    id: str
    text: str
    female: tuple[str, ...] = field(repr=False)
    male: tuple[str, ...] = field(repr=False)
    groups: Groups = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    noun: str = ""

    @typed
    def __post_init__(self) -> None:
        if not self.text.strip():
            raise BadInput(f"Prompt '{self.id}' needs a text. Got {self.text!r}.")
        if not self.female or not self.male or set(self.female) & set(self.male):
            raise BadInput(f"Prompt '{self.id}' needs words in both `female` and `male`, and no word may be in both.")

    def texts(self) -> tuple[str, str]:
        return self.text, ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A question about a context, and its options.

    `right`, `stereotype` (the stereotyped option), `unknown`, `female` (the option that names a woman) and `male` are
    indices of options; None if there is no such option. Each of `orders` is a permutation of all indices: the question
    is asked with the options in each order, and answers are averaged. Without `orders` it is asked once.
    """

    id: str
    context: str
    question: str
    options: tuple[str, ...]
    right: int | None = None
    stereotype: int | None = None
    unknown: int | None = None
    groups: Groups = field(default_factory=dict)
    female: int | None = None
    male: int | None = None
    orders: tuple[tuple[int, ...], ...] = ()
    language: str = "en"

    @typed
    def __post_init__(self) -> None:
        for name in ("context", "question"):
            if not getattr(self, name).strip():
                raise BadInput(f"Choice '{self.id}' needs a text as its {name}. Got {getattr(self, name)!r}.")
        if len({option.strip() for option in self.options} - {""}) < max(2, len(self.options)):
            raise BadInput(f"Choice '{self.id}' needs two or more different options. Got {self.options}.")
        for name in ("right", "stereotype", "unknown", "female", "male"):
            place = getattr(self, name)
            if place is not None and place not in range(len(self.options)):
                raise BadInput(
                    f"Choice '{self.id}': `{name}` must be an index of `options`, counted from 0. Got {place!r}."
                )
        places = list(range(len(self.options)))
        if wrong := [order for order in self.orders if sorted(order) != places]:
            raise BadInput(f"Choice '{self.id}': each of `orders` must list all indices once. Got {wrong[0]}.")
        check_known(f"language of Choice '{self.id}'", [self.language], ASKED_IN)

    def texts(self) -> tuple[str, str]:
        return f"{self.context} {self.question}", " / ".join(self.options)


def check_readable(*texts: str) -> None:
    """Raise BadInput for a text of more than 10,000 characters, or with half of a surrogate pair, which no model reads.

    Ten thousand characters are about a hundred sentences; comparing longer texts word by word would take hours.
    """
    for text in texts:
        if len(text) > LONGEST:
            raise BadInput(
                f"A sentence has {len(text):,} characters, and at most {LONGEST:,} can be measured: {text[:40]!r}... "
                "Is it a whole document, or is a quotation mark missing?"
            )
        if half := SURROGATE.search(text):
            raise BadInput(f"{half[0]!r} is half of a surrogate pair, not a character. It is in the text {text!r}.")


def check_labels(labels: Mapping[str, Any], others: Collection[str] = ()) -> None:
    """Raise an error unless these are texts, numbers or lists of them, by names that no other column of scores has."""
    for name, label in labels.items():
        parts = label if isinstance(label, list) else [label]
        check_readable(name, *map(str, parts))
        if name in (*COLUMNS, *others) or not all(isinstance(part, str | Real) for part in parts):
            raise BadInput(f"Groups, and what `keep` gives, are texts or numbers by name. Got {name!r}: {label!r}.")


def texts(item: Item) -> tuple[str, str]:
    """The two texts of an item; an empty one for each that it lacks."""
    with foreign(f"`texts` of item '{item.id}' failed", item):
        text, other = item.texts() if hasattr(item, "texts") else ("", "")
        if not (isinstance(text, str) and isinstance(other, str)):
            raise TypeError(f"`texts` must return two texts. Got {(text, other)!r}")
        return text, other


def words_asked(item: Item) -> list[Place]:
    """The words that an item asks about, each in its text; none if it asks about whole texts."""
    with foreign(f"`words_asked` of item '{item.id}' failed", item):
        return list(item.words_asked()) if hasattr(item, "words_asked") else []
