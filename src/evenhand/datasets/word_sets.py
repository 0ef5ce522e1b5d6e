"""Association tests of our own, in English and German: two sets of words, and words for men and for women.

As WEAT (Caliskan et al. 2017) has them, words by themselves, and as SEAT (May et al. 2019), each in four sentences that
say nothing else. X is what a stereotype gives to men, Y what it gives to women, A are words for men and B for women. So
an association, mean cos(w, A) - mean cos(w, B), is above 0 for a word that is nearer to men.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.core.dataset import Dataset
from evenhand.core.items import SIDES, Place, Target, TargetSentence
from evenhand.core.questions import Span
from evenhand.datasets.files.bundled import read_toml
from evenhand.datasets.kinds import kinds_of
from evenhand.datasets.templates import render

FORMS = {"der": "masculine", "die": "feminine"}
SOURCE = "evenhand, in the manner of Caliskan et al. 2017 (WEAT) and May et al. 2019 (SEAT)"
JOBS = "; jobs: Bartl, Nissim and Gatt 2020, Tables 6 and 7"
Words = Mapping[str, list[str]]
"""Words by the name of their templates; "der/die" has both forms of each, as in "Maurer/Maurerin"."""


def load(name: str) -> Dataset:
    """The words of a topic by themselves (weat-) or in sentences (seat-), as in weat-professions-en.

    Professions are those of BEC-Pro that are held by men or by women and that a common word names, since tables of word
    vectors have single words. A German one is two items, its masculine and its feminine form, which share their `word`:
    so grammar is the same on both sides, and values are by `form`, too.
    """
    kind, topic, language = name.split("-")
    data = read_toml(f"word-sets-{language}.toml")
    templates = data["templates"] if kind == "seat" else {}
    items = list(_targets(data, topic, templates))
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


def _targets(data: Mapping[str, Any], topic: str, templates: Words) -> Iterator[Target]:
    kind = TargetSentence if templates else Target
    men, women = (tuple(place for _, place in _places(data["attributes"][of], templates)) for of in ("A", "B"))
    for test in data[topic]["tests"]:
        several = {"test": test["test"]} if "test" in test else {}
        for side in SIDES:
            for groups, place in _places(test[side]["words"], templates):
                groups = {**several, "side": side, "set": test[side]["set"], **groups}
                yield kind(f"{test.get('test', topic)}/{place[0]}", place, (men, women), groups, paired=True)


def _places(words: Words, templates: Words) -> Iterator[tuple[dict[str, str], Place]]:
    """Each word by itself, or in each of its templates, and the groups that say which."""
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
