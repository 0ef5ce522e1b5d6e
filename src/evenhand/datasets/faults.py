"""Rules that find faulty pairs: sentences that differ in more than gendered words, captions that reveal a gender."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from evenhand.core.items import NliPair
from evenhand.core.words import WordChange, changes, words
from evenhand.datasets.gendered import frequency, gender, kind, partners
from evenhand.errors import BadInput

RULES = {
    "identical": "both sentences are the same, or one is empty",
    "unrelated": "the two have hardly a word in common: another language, or another sentence",
    "missing word": "a word of one sentence has no counterpart in the other",
    "other change": "something other than a pair of gendered words changes, such as a name",
    "left behind": "a gendered word stays the same while another changes",
    "spacing": "two spaces, a space before a mark or at an end",
    "casing": "a lower-case first letter, or a changed word in another case than its partner",
    "frequency": "a changed word is ten times as common as its partner, so it is likelier anyway",
    "pieces": "the two have different numbers of tokens, so their sums have different numbers of terms",
    "duplicate": "the same pair occurred before",
    "near-duplicate": "an earlier pair differs in a single word",
}
"""What each rule finds."""
RELATED = 0.5
PERSONS = ("pronoun", "person", "kinship", "partner", "title")
"""Kinds of words that show a person's gender; "actor" and "hero" are used for everybody."""
TENFOLD = 1.0
"""On the Zipf scale, which is logarithmic to the base 10."""
CHUNK = 1000
"""The number of pairs whose tokens are counted in one call."""
AGREEMENT = {frozenset(pair) for pair in (("a", "an"), ("is", "are"), ("was", "were"), ("has", "have"))}
"""Changes that grammar makes along with a gendered word."""
ODD_SPACING = re.compile(r"^\s|\s$|\s\s| [,.;:!?](?!\w)")


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule that a pair breaks: the row and id of the pair, the rule, and the words that break it."""

    row: int
    id: str
    rule: str
    what: str


Sentences = tuple[str, str, str]
"""Id, stereotype, counterpart."""
Count = Callable[[Sequence[str]], list[int]]
"""The number of tokens of each text; 0 where it is unknown."""


def faults(pairs: Iterable[Sentences], count: Count | None = None) -> Iterator[Fault]:
    """The faults of the pairs, in order. `count` gives the numbers of tokens; without it the rule "pieces" is skipped.

    Two pairs are near-duplicates if their stereotype sentences, without marks and gendered words, differ in one word.
    Each is looked up without each of its words in turn, so the time is proportional to the number of pairs.
    """
    seen: dict[int, str] = {}
    without: dict[int, str] = {}
    row = 0
    pairs = iter(pairs)
    while chunk := list(islice(pairs, CHUNK)):
        for number, (id, stereotype, counterpart) in enumerate(chunk, start=row):
            yield from (Fault(number, id, rule, what) for rule, what in _pair_faults(stereotype, counterpart))
            yield from (Fault(number, id, *fault) for fault in _duplicates(id, stereotype, counterpart, seen, without))
        if count is not None:
            counts = count([text for _, *texts in chunk for text in texts])
            by_pair = zip(chunk, counts[::2], counts[1::2], strict=True)
            for number, ((id, *_), n, m) in enumerate(by_pair, start=row):
                if n != m and n and m:
                    yield Fault(number, id, "pieces", f"{n} | {m}")
        row += len(chunk)


def tally(faults: Iterable[Fault], rules: Iterable[str] = RULES) -> Counter[str]:
    """How many pairs break each rule."""
    broken = Counter(rule for rule, _ in {(fault.rule, fault.row) for fault in faults})
    return Counter({rule: broken[rule] for rule in rules})


def _pair_faults(first: str, second: str) -> Iterator[tuple[str, str]]:
    if first.strip() == second.strip() or not first.strip() or not second.strip():
        yield "identical", first or "(empty)"
        return
    differing = changes(first, second)
    others = [
        change
        for change in differing
        if not any(partners(a.of(first), b.of(second)) for a, b in zip(change.old, change.new, strict=False))
    ]
    of_first, of_second = sum(len(change.old) for change in others), sum(len(change.new) for change in others)
    if max(of_first / len(words(first)), of_second / len(words(second))) > RELATED:
        yield "unrelated", f"{first} | {second}"
        return
    for text in (first, second):
        if ODD_SPACING.search(text):
            yield "spacing", repr(text)
    yield from _casing_faults(first, second, differing)
    for change in differing:
        yield from _word_faults(first, second, change)
    changed = {span for change in differing for span in change.old}
    stayed = [w.of(first) for w in words(first) if w not in changed and kind(w.of(first)) in PERSONS]
    if stayed and len(others) < len(differing):
        yield "left behind", ", ".join(stayed)


def _word_faults(first: str, second: str, change: WordChange) -> Iterator[tuple[str, str]]:
    old, new = [span.of(first) for span in change.old], [span.of(second) for span in change.new]
    if len(old) != len(new):
        yield "missing word", f"{' '.join(old) or '(none)'} | {' '.join(new) or '(none)'}"
        return
    for a, b in zip(old, new, strict=True):
        opposite = {gender(a), gender(b)} == {"female", "male"}
        if not opposite and not partners(a, b) and a.lower() != b.lower() and {a.lower(), b.lower()} not in AGREEMENT:
            yield "other change", f"{a} | {b}"
        common, other_common = frequency(a), frequency(b)
        if common is not None and other_common is not None and abs(common - other_common) >= TENFOLD:
            yield "frequency", f"{a} | {b}"


def _casing_faults(first: str, second: str, differing: Sequence[WordChange]) -> Iterator[tuple[str, str]]:
    for text in (first, second):
        if (letter := next((c for c in text if c.isalpha()), "A")).islower():
            yield "casing", f"{letter}: {text[:30]}"
    for change in differing:
        for a, b in zip(change.old, change.new, strict=False):
            if first[a.start].isupper() != second[b.start].isupper():
                yield "casing", f"{a.of(first)} | {b.of(second)}"


def _duplicates(
    id: str, first: str, second: str, seen: dict[int, str], without: dict[int, str]
) -> Iterator[tuple[str, str]]:
    """Yield the rule and the earlier pair if a pair is a duplicate; add a new pair to `seen` and `without`.

    Only hashes are stored, so a large file takes little memory.
    """
    plain = hash(tuple(w.of(text).lower() for text in (first, second) for w in words(text)))
    if plain in seen:
        yield "duplicate", seen[plain]
        return
    seen[plain] = id
    frame = [word for w in words(first) if (word := w.of(first).lower()).isalnum() and not gender(word)]
    keys = {hash(tuple(frame[:i] + frame[i + 1 :])) for i in range(len(frame))} if len(frame) > 2 else set()
    if near := next((without[key] for key in keys if key in without), None):
        yield "near-duplicate", near
    without.update(dict.fromkeys(keys, id))


LEAKS = {
    "pronoun": "a pronoun shows the person's gender in both sentences, so that neutral is no longer right",
    "another person": "another woman or man is mentioned, and the hypothesis may be about them",
    "twice": "the person is mentioned more than once",
    "other change": "the two sentences differ in more than the person",
    "duplicate": "the same pair occurred before",
}
"""What each rule finds."""
PRONOUN = {
    "en": re.compile(r"\b(?:he|him|his|himself|she|hers?|herself)\b", re.I),
    "ja": re.compile("彼女?(?!ら|たち)"),
    "zh": re.compile("她(?!们)|(?<![吉其])他(?!们)"),  # but for 吉他 (guitar) and 其他 (other)
}
PERSON = {
    "en": re.compile(
        r"\b(?:(?:wo)?m[ae]n|(?:fe)?males?|gentlem[ae]n|lady|ladies|guys?|husbands?|wife|wives|mothers?|fathers?)\b",
        re.I,
    ),
    "ja": re.compile("男(?!の子)|女(?!の子)|紳士|婦人|父親|母親|お父さん|お母さん|夫婦"),
    "zh": re.compile("男人|女人|男子|女子|男士|女士|妇女|先生|父亲|母亲|爸爸|妈妈|丈夫|妻子"),
}
"""Words for adults of one gender: a girl or a boy is neither a woman nor a man."""
ARTICLE = re.compile(r"\b(a)n(?= )", re.I)


def leaks(pairs: Iterable[NliPair], language: str) -> Iterator[Fault]:
    """The faults of the pairs, in order. The group `word` of a pair is the word for its person."""
    seen: dict[tuple[str, str], str] = {}
    for row, pair in enumerate(pairs):
        yield from (Fault(row, pair.id, *fault) for fault in _leaks_of(pair, language))
        texts = (pair.premise, pair.hypothesis)
        if texts in seen:
            yield Fault(row, pair.id, "duplicate", seen[texts])
        seen.setdefault(texts, pair.id)


def clean(pairs: Iterable[NliPair], language: str) -> list[NliPair]:
    """The pairs without a fault."""
    pairs = list(pairs)
    flawed = {fault.row for fault in leaks(pairs, language)}
    return [pair for row, pair in enumerate(pairs) if row not in flawed]


def _leaks_of(pair: NliPair, language: str) -> Iterator[tuple[str, str]]:
    if language not in PRONOUN:
        raise BadInput(f"NLI pairs can be checked only in {', '.join(PRONOUN)}. Got '{language}'.")
    if "word" not in pair.groups:
        raise BadInput(f"Pair '{pair.id}' needs the group 'word', the word for the person in its premise.")
    before, *after = re.split(re.escape(pair.groups["word"]), pair.premise, flags=re.I)
    context = "\n".join((before, *after))
    if len(after) > 1:
        yield "twice", pair.premise
    for rule, pattern in (("pronoun", PRONOUN[language]), ("another person", PERSON[language])):
        if words_said := pattern.findall(context):
            yield rule, f"{', '.join(words_said)}: {pair.premise}"
    if not _differs_only_in_person([before, *after], pair.hypothesis):
        yield "other change", f"{pair.premise} | {pair.hypothesis}"


def _differs_only_in_person(parts: list[str], hypothesis: str) -> bool:
    """Whether the hypothesis is the premise with another word for the person, articles aside.

    `parts` are the premise without that word.
    """
    if len(parts) < 2:
        return False
    plain = [ARTICLE.sub(r"\1", part) for part in parts]
    pattern = re.escape(plain[0]) + "(.+?)" + r"\1".join(re.escape(part) for part in plain[1:])
    return re.fullmatch(pattern, ARTICLE.sub(r"\1", hypothesis)) is not None
