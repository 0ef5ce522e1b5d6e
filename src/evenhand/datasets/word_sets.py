"""Association tests of two sets of words with words for men and for women: the released ones, and ours.

WEAT (Caliskan, Bryson and Narayanan 2017) has single words, SEAT (May et al. 2019, who released both) has these words
in sentences without further content. A stereotype associates the set X with men and Y with women; A are words for men
and B words for women. In the release X and Y are `targ1` and `targ2`, A and B are `attr1` and `attr2`. An association,
mean cos(w, A) - mean cos(w, B), is above 0 for a word that is nearer to men, and an effect above 0 is in the direction
of the stereotype.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from evenhand.core.dataset import Dataset
from evenhand.core.files import from_json, read_given
from evenhand.core.items import SIDES, Place, Target, TargetSentence
from evenhand.core.questions import Span, check_positive
from evenhand.core.typed import as_typed
from evenhand.datasets.files import read_toml
from evenhand.datasets.files.releases import RELEASES, find_release
from evenhand.datasets.kinds import GENDER_TESTS, TRAITS, kinds_of
from evenhand.datasets.templates import TEXTS, check_keys, check_required, check_words, render, texts_of
from evenhand.errors import BadInput, check_known
from evenhand.measures.ceat import Draw

Competent = Literal["competent", "competent-sentence", "competent-1", "competent-1-", "competent-1+3-"]
Likable = Literal["likable", "likable-sentence", "likable-1", "likable-1-", "likable-1+3-"]
LONGER = {"sentence": "one_sentence"}
"""The release's names of the longer texts of the double-bind tests, where ours differ."""
Weat = Literal["6", "6b", "7", "7b", "8", "8b", "1", "2", "3", "3b", "4", "5", "5b", "9", "10"]
Test = Literal["all", Weat, Competent, Likable]
SETS = ("targ1", "targ2", "attr1", "attr2")
IRREGULAR = {"man": "men", "woman": "women", "children": "child"}
GENDERED = ("male terms", "female terms")
"""Categories of attributes whose words are partners by position: he and she, his and hers."""
WANTED = f'A test is a JSON object of {", ".join(SETS)}, each {{"category": "Math", "examples": ["algebra", ...]}}.'
FORMS = {"der": "masculine", "die": "feminine"}
SOURCE = "evenhand, in the manner of Caliskan et al. 2017 (WEAT) and May et al. 2019 (SEAT)"
JOBS = "; jobs: Bartl, Nissim and Gatt 2020, Tables 6 and 7"
SEAT, WEAT = (
    tuple(f"{kind}-{topic}-{code}" for topic in ("emotions", "placebo", "professions") for code in ("de", "en"))
    for kind in ("seat", "weat")
)
"""The names of our tests: with words in sentences, and with single words."""
Words = Mapping[str, list[str]]
"""Words by the name of their templates; those of "der/die" have two forms each, as in "Maurer/Maurerin"."""


def own_tests(name: str) -> Dataset:
    """The words of a topic alone (weat-) or in sentences (seat-), as in weat-professions-en.

    Professions are those that BEC-Pro calls female or male and that are a single common word, as tables of word vectors
    need. A German profession is two items with the same `word`, its masculine and its feminine form. Grammar is then
    the same on both sides, and there are values for each `form`.
    """
    kind, topic, language = name.split("-")
    data = read_toml(f"word-sets-{language}.toml")
    templates = data["templates"] if kind == "seat" else {}
    items = list(_own_targets(data, topic, templates))
    return Dataset(
        name=name,
        language=language,
        about=data[topic]["about"],
        source=SOURCE + (JOBS if topic == "professions" else ""),
        licence="CC0 1.0",
        flaws=data[topic]["flaws"],
        items=items,
        by=tuple(group for group in ("test", "form") if group in items[0].groups),
        cluster="word",
        kinds=kinds_of(name),
    )


def _own_targets(data: Mapping[str, Any], topic: str, templates: Words) -> Iterator[Target]:
    kind = TargetSentence if templates else Target
    men, women = (tuple(place for _, place in _places(data["attributes"][side], templates)) for side in ("A", "B"))
    for test in data[topic]["tests"]:
        test_group = {"test": test["test"]} if "test" in test else {}
        for side in SIDES:
            for groups, place in _places(test[side]["words"], templates):
                groups = {**test_group, "side": side, "set": test[side]["set"], **groups}
                yield kind(f"{test.get('test', topic)}/{place[0]}", place, (men, women), groups, paired=True)


def _places(words: Words, templates: Words) -> Iterator[tuple[dict[str, str], Place]]:
    """The groups and the place of each word: alone, or in each of its templates."""
    for articles, listed in words.items():
        for word in listed:
            for article, form in zip(articles.split("/"), word.split("/"), strict=True):
                groups = {"word": word} | ({"form": FORMS[article]} if form != word else {})
                if not templates:
                    yield groups, (form, Span(0, len(form)))
                    continue
                for number, template in enumerate(templates[article], start=1):
                    text, spans = render(template, word=form)
                    yield groups | {"template": str(number)}, (text, spans["word"])


def from_file(file: str, data: Mapping[str, Any], options: Mapping[str, Any]) -> Dataset:
    """A user's own test: words of the sets X and Y, and of the attributes, men and women or else A and B.

    With men and women the effect size is a stereotype, of X with men. `paired` says that attributes are partners by
    position.
    """
    gendered = "men" in data or "women" in data
    sets = (*SIDES, *(("men", "women") if gendered else ("A", "B")))
    check_keys(file, data, (*TEXTS, *sets, "paired"))
    check_required(file, data, ("name", "language", *sets))
    for key in sets:
        check_words(file, key, data[key])
    both = [word for word, count in Counter(word for key in sets for word in data[key]).items() if count > 1]
    if both:
        raise BadInput(f"{file}: each word must be in one of {', '.join(sets)} only. In two of them: {both}.")
    if not isinstance(paired := data.get("paired", False), bool):
        raise BadInput(f"{file}: 'paired' must be true or false. Got {paired!r}.")
    x, y, *attributes = [tuple((word, Span(0, len(word))) for word in data[key]) for key in sets]
    items = [
        Target(place[0], place, (attributes[0], attributes[1]), {"side": side, "word": place[0]}, paired)
        for side, places in zip(SIDES, (x, y), strict=True)
        for place in places
    ]
    kinds, texts = kinds_of("weat") if gendered else None, texts_of(data, f"Two sets of words, of {Path(file).name}.")
    return Dataset(**texts, items=items, cluster="word", kinds=kinds, builder="templates", options=options)


def released_tests(name: str, test: Test = "all") -> Dataset:
    """The words of `weat` or the sentences of `seat`: all six tests of gender, or any single test.

    Besides the fifteen tests of WEAT there are the double-bind tests of May et al. (2019), after Heilman et al. (2004):
    is a woman who succeeds taken for less competent, or less likable, than a man? X are names of men and Y of women; A
    says that somebody is competent, or likable, B the opposite. `competent` and `likable` are names and adjectives, in
    `seat` in sentences without further content; `-sentence`, `-1`, `-1-` and `-1+3-` are the release's longer texts.
    """
    tests = GENDER_TESTS if test == "all" else (test,)
    texts = "Sentences that say nothing but a word" if name == "seat" else "Words"
    return Dataset(
        name=name,
        about=f"{texts}, of two sets X and Y, and two sets of attributes that they may be nearer to.",
        **RELEASES[name].texts,
        items=[item for number in tests for item in _released_targets(name, number)],
        by=("test",) if test == "all" else (),
        cluster="word",
        kinds=kinds_of(name, {"test": test}),
        options={"test": test},
    )


def ceat(words: str = "seat-professions-en", test: Test = "6", draws: int = 1000, seed: int = 0) -> Dataset:
    """Draws of a sentence for each word of a test, for `ceat`: of our own sentences, or of a `test` of `seat`."""
    check_known("value of words", [words], ("seat", *SEAT))
    count, seed = as_typed("draws", draws, int), as_typed("seed", seed, int)
    check_positive("draws", count)
    source = released_tests("seat", test) if words == "seat" else own_tests(words)
    targets = [item for item in source.items if isinstance(item, TargetSentence)]
    if len({item.groups.get("test") for item in targets}) > 1:
        raise BadInput(f"`words` must have one test. '{words}' has several: take seat-professions-en, or seat.")
    sets: list[dict[str, list[Place]]] = [{}, {}, {}, {}]
    for item in targets:
        sets[SIDES.index(item.groups["side"])].setdefault(item.groups["word"], []).append(item.place)
    for contexts, places in zip(sets[2:], targets[0].attributes, strict=True):
        for text, span in places:
            contexts.setdefault(span.of(text).lower(), []).append((text, span))
    rng = random.Random(seed)
    items = [
        Draw(str(number), tuple(tuple(rng.choice(contexts[word]) for word in contexts) for contexts in sets))
        for number in range(1, count + 1)
    ]
    return Dataset(
        name="ceat",
        language=source.language,
        about=f"Draws of a sentence for each word of {source.name}.",
        source="Drawn as by Guo and Caliskan 2021, from sentences that say nothing else, and not from Reddit.",
        licence=source.licence,
        flaws=source.flaws,
        items=items,
        options={"words": words, "test": test, "draws": count, "seed": seed},
    )


def _released_targets(name: str, test: str) -> Iterator[Target]:
    trait, _, longer = test.partition("-")
    file = f"heilman_double_bind_{trait}_one_word.jsonl" if trait in TRAITS else f"weat{test}.jsonl"
    words = sets = _read_sets(find_release(name, file))
    if longer and name == "weat":
        raise BadInput(f"The test '{test}' has texts, no single words: take the dataset seat, or the test '{trait}'.")
    if name == "seat":
        texts = f"sent-{file}" if not longer else file.replace("one_word", LONGER.get(longer, longer))
        sets = _read_sets(find_release(name, texts))
    x, y, a, b = (_places_in(known, texts) for (_, known), (_, texts) in zip(words, sets, strict=True))
    attributes = tuple(place for _, place in a), tuple(place for _, place in b)
    names = [name for name, _ in sets]
    paired = tuple(names[2:]) == GENDERED and len(a) == len(b)
    kind = TargetSentence if name == "seat" else Target
    for side, called, places in zip(SIDES, names[:2], (x, y), strict=True):
        for word, place in places:
            groups = {"test": test, "side": side, "set": called, "word": word}
            yield kind(f"{test}/{place[0]}", place, attributes, groups, paired)


def _read_sets(path: Path) -> list[tuple[str, list[str]]]:
    """The name and the words or sentences of each of a file's four sets; "MaleNames" becomes "male names"."""
    data, sets = read_given(path, from_json, "The test", WANTED), []
    for key in SETS:
        words = data.get(key) if isinstance(data, dict) else None
        if not isinstance(words, dict) or not isinstance(words.get("category"), str):
            raise BadInput(f"{path}: '{key}' must have a category, a text, and examples. Got {words!r}. {WANTED}")
        check_words(str(path), f"examples of {key}", words.get("examples"))
        sets.append((re.sub(r"(?<=[a-z])(?=[A-Z])", " ", words["category"]).lower(), words["examples"]))
    return sets


def _places_in(words: Sequence[str], texts: Sequence[str]) -> list[tuple[str, Place]]:
    """Which of the words each text has, and its place there, which may be the plural or the singular of the word.

    A text that has none of the words is a word as a whole, without its full stop.
    """
    forms = {
        form.lower(): word
        for word in words
        for form in (f"{word}s", f"{word}es", f"{word[:-1]}ies", word.removesuffix("s"), IRREGULAR.get(word, word))
        if form
    } | {word.lower(): word for word in words}  # hers is a word itself, not the plural of her
    longest_first = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    places = []
    for text in texts:
        match, whole = re.search(rf"\b(?:{longest_first})\b", text, re.I), text.removesuffix(".")
        word = forms.get(match[0].lower()) if match else None
        span = Span(*match.span()) if match and word else Span(0, len(whole))
        places.append((word or whole, (text, span)))
    return places
