"""Questions with options: everything that should be balanced is, and what should be open is open."""

import re
from collections import Counter
from functools import cache
from itertools import permutations, product
from typing import Any

import pandas as pd
import pytest

from evenhand import BadInput, datasets
from evenhand.core.items import Choice
from evenhand.datasets import choices
from evenhand.datasets.blanks import tbd
from evenhand.datasets.files import read_toml
from evenhand.datasets.gendered import words_of
from evenhand.datasets.templates import VOWEL
from helpers.typed import all_of

ENGLISH = [name for name in choices.NAMES if not name.endswith("-de")]
GERMAN = [name for name in choices.NAMES if name.endswith("-de")]
CONTROLS = [name for name in choices.NAMES if "-control" in name]
KINDS = {"": {"female": 20, "male": 20, "none": 8}, "-de": {"female": 10, "male": 10, "none": 4}}
"""How many scenarios of decisions there are of each kind."""
DOMAINS = ["hiring", "promotion", "credit", "care", "custody", "sports", "praise", "blame"]
each = pytest.mark.parametrize("name", choices.NAMES)
LANGUAGES = pytest.mark.parametrize("language", ["", "-de"], ids=["en", "de"])
GENDERED_DE = {"er", "sie", "ihr", "ihm", "ihn", "ihre", "ihren", "ihrem", "seine", "seinen", "seinem", "herr"}


@cache
def items(name: str) -> list[Choice]:
    return all_of(Choice, datasets.load(name).items)


def counts(name: str, *groups: str) -> Counter[tuple[str, ...]]:
    return Counter(tuple(item.groups[group] for group in groups) for item in items(name))


def words(text: str) -> list[str]:
    return re.findall(r"[\w’'-]+", text)


def test_six_english_and_six_german_sets() -> None:
    kinds = ["pronouns", "decisions", "descriptions"]
    assert set(ENGLISH) == {f"choices-{kind}{control}" for kind in kinds for control in ("", "-control")}
    assert set(GERMAN) == {f"{name}-de" for name in ENGLISH}
    assert set(choices.NAMES) <= set(datasets.OURS)


def test_the_english_sets_ask_2_424_questions() -> None:
    asked = {name: sum(len(item.orders) for item in items(name)) for name in ENGLISH}
    assert asked == {
        "choices-pronouns": 84 * 6,
        "choices-pronouns-control": 24 * 6,
        "choices-decisions": 48 * 6 * 2 * 2,
        "choices-decisions-control": 24 * 2,
        "choices-descriptions": 32 * 6,
        "choices-descriptions-control": 64 * 6,
    }
    assert sum(asked.values()) == 2424 < 3000


@each
def test_options_stand_in_all_orders(name: str) -> None:
    for item in items(name):
        assert item.orders == tuple(permutations(range(len(item.options))))
        assert len(item.orders) == (2 if len(item.options) == 2 else 6)


@each
def test_language_licence_and_texts(name: str) -> None:
    made = datasets.load(name)
    language = "de" if name in GERMAN else "en"
    assert made.language == language
    assert {item.language for item in items(name)} == {language}
    assert made.licence == "CC0 1.0"
    assert made.source.startswith("evenhand")
    assert made.about.endswith(".")
    assert made.flaws.endswith(".")


@each
def test_sentences_are_whole(name: str) -> None:
    for item in items(name):
        text = f"{item.context} {item.question} {' '.join(item.options)}"
        assert not re.search(r"[{}]|  | [.,;?]|\.\.|,,", text), text
        assert not [one for one, two in zip(words(text.lower()), words(text.lower())[1:], strict=False) if one == two]
        assert item.context == item.context.strip()
        assert re.match("[A-ZÄÖÜ]", item.context)
        assert item.context.endswith(".")
        assert re.fullmatch(r"[A-ZÄÖÜ].*\?", item.question)
        for sentence in re.split(r"(?<=[a-z]\.) ", item.context):
            assert sentence[0].isupper(), item.context
        for article, word in re.findall(r"\b([Aa]n?) (\w+)", text) if item.language == "en" else ():
            assert (article.lower() == "an") == bool(VOWEL.match(word)), text
    assert len({(i.context, i.question) for i in items(name)}) == len(items(name))


@pytest.mark.parametrize("name", GERMAN)
def test_german_sets_are_drafts_until_a_native_reader_has_seen_them(name: str) -> None:
    assert "draft: no native reader" in datasets.load(name).flaws
    assert "(draft)" in datasets.words()[name]["title"]
    assert "draft" in datasets.words()[name]["says"]


@each
def test_a_control_names_its_set_and_has_the_right_answer(name: str) -> None:
    controlled = {item.groups.get("control") for item in items(name)}
    rights = {item.right for item in items(name)}
    if name in CONTROLS:
        assert controlled == {name.replace("-control", "")} < set(choices.NAMES)
        assert None not in rights
    else:
        assert controlled == {None}
        assert rights == ({2} if "descriptions" in name else {None})


@pytest.mark.parametrize("name", CONTROLS)
def test_right_answers_are_balanced_over_the_options(name: str) -> None:
    rights = Counter(item.right for item in items(name))
    places = len(items(name)[0].options) - ("descriptions" in name)  # never that it cannot be known
    assert rights == dict.fromkeys(range(places), len(items(name)) // places)


def test_pronouns_have_the_professions_of_tbd() -> None:
    professions = {(item.groups["profession"], item.groups["category"]) for item in items("choices-pronouns")}
    assert professions == {(item.groups["profession"], item.groups["category"]) for item in tbd().items}
    assert len(professions) == len(items("choices-pronouns")) == 84
    assert counts("choices-pronouns", "stereotype") == {("none",): 58, ("female",): 15, ("male",): 11}


@LANGUAGES
def test_templates_of_pronouns_are_equally_frequent_in_each_kind(language: str) -> None:
    frequencies = counts(f"choices-pronouns{language}", "stereotype", "template")
    for kind in ("female", "male", "none"):
        of_kind = [frequencies[(kind, str(template))] for template in range(1, 7)]
        assert max(of_kind) - min(of_kind) <= 1
    assert {template for _, template in frequencies} == set("123456")


@LANGUAGES
def test_the_gap_is_for_she_he_and_in_english_they(language: str) -> None:
    name = f"choices-pronouns{language}"
    for item in items(name):
        assert item.options == (("sie", "er") if language else ("she", "he", "they"))
        assert (item.female, item.male, item.unknown) == (0, 1, None if language else 2)
        assert item.groups["profession"] in item.context
    for item in (*items(name), *items(f"choices-pronouns-control{language}")):
        assert item.context.count("___") == 1
        assert not set(words(item.context.lower())) & {"she", "he", "her", "his", "they", "er", "sie", "seine", "ihre"}


def test_german_fields_are_ten_of_each_kind_and_each_name_stands_once_in_each() -> None:
    name = "choices-pronouns-de"
    assert counts(name, "stereotype") == {("female",): 10, ("male",): 10, ("none",): 10}
    assert set(counts(name, "stereotype", "name").values()) == {1}
    assert len(counts(name, "profession")) == 30


@LANGUAGES
def test_gaps_of_the_control_are_closed_to_other_words(language: str) -> None:
    """By the verb, which fits one of they, it and I; in German by the grammatical gender of the thing."""
    verb = {"they": "were|are|have", "it": "was|is|has", "I": "am"}
    for item in items(f"choices-pronouns-control{language}"):
        right = item.options[item.right or 0]
        if language:
            assert item.context.startswith({"sie": "Die ", "er": "Der "}[right])
        else:
            assert re.search(rf"___ ({verb[right]})\b", item.context), item.context


@LANGUAGES
def test_kinds_of_decisions_are_balanced_and_in_all_domains(language: str) -> None:
    scenarios = {item.groups["scenario"]: item.groups for item in items(f"choices-decisions{language}")}
    assert Counter(groups["expects"] for groups in scenarios.values()) == KINDS[language]
    frequencies = Counter((groups["domain"], groups["expects"]) for groups in scenarios.values())
    assert list(dict.fromkeys(groups["domain"] for groups in scenarios.values())) == DOMAINS
    for domain, kind in product(DOMAINS, ("female", "male")):
        assert frequencies[(domain, kind)] in ((1, 2) if language else (2, 3))
    assert Counter(domain for domain, _ in frequencies.elements()) == dict.fromkeys(DOMAINS, 3 if language else 6)


@LANGUAGES
def test_each_pair_of_names_is_equally_often_in_each_kind(language: str) -> None:
    name = f"choices-decisions{language}"
    pairs = {"/".join(pair) for pair in read_toml(f"choices-{language[1:] or 'en'}.toml")["people"]["pairs"]}
    assert len(pairs) == (6 if language else 10)
    for kind, scenarios in KINDS[language].items():
        frequencies = Counter(item.groups["pair"] for item in items(name) if item.groups["expects"] == kind)
        assert frequencies == dict.fromkeys(pairs, scenarios) | {"unnamed": 2 * scenarios}
    assert set(counts(name, "scenario", "pair", "gender").values()) == {1}
    assert set(Counter(scenario for scenario, _ in counts(name, "scenario", "pair")).values()) == {len(pairs) // 2 + 1}


@LANGUAGES
def test_partners_differ_in_the_person_alone(language: str) -> None:
    made = datasets.load(f"choices-decisions{language}")
    assert made.partners is not None
    rows = [{"id": item.id, "score": 0.0, **item.groups} for item in made.items]
    partners = made.partners.pairs(pd.DataFrame(rows))
    assert len(partners) * 2 == len(made.items)
    by_id = {item.id: item for item in all_of(Choice, made.items)}
    forms = read_toml(f"choices-{language[1:] or 'en'}.toml")["people"]
    for female, male in zip(partners["id_female"], partners["id_male"], strict=True):
        her_words, his_words = ([*words(by_id[id].context), *words(by_id[id].question)] for id in (female, male))
        pair = by_id[female].groups["pair"].split("/")
        known = {(pair[0], pair[-1])}
        for part in ("pronouns", "unnamed"):
            for slot, form in forms["female"][part].items():
                known |= set(zip(form.split(), forms["male"][part][slot].split(), strict=True))
        stems = {(a + end, b + end) for a, b in known for end in ("", "e", "en", "er", "em")}
        differing = {(a, b) for a, b in zip(her_words, his_words, strict=True) if a != b}
        assert {(a.lower(), b.lower()) for a, b in differing} <= {(a.lower(), b.lower()) for a, b in stems}
        assert differing - {(pair[0], pair[-1])}  # a pronoun says the gender, besides the name


@LANGUAGES
def test_rules_are_about_women_and_men_alike(language: str) -> None:
    name = f"choices-decisions-control{language}"
    frequencies = Counter((item.right, item.groups["gender"]) for item in items(name))
    assert frequencies == dict.fromkeys(product((0, 1), ("female", "male")), len(items(name)) // 4)
    of_pairs = Counter((item.groups["pair"], item.right) for item in items(name))
    for pair in {pair for pair, _ in of_pairs}:
        assert of_pairs[(pair, 0)] == of_pairs[(pair, 1)]  # no pair of names is refused more than others


@LANGUAGES
def test_descriptions_are_balanced(language: str) -> None:
    name = f"choices-descriptions{language}"
    half = len(items(name)) // 4
    assert counts(name, "stereotype", "people") == dict.fromkeys(product(("female", "male"), ("words", "names")), half)
    assert set(counts(name, "domain", "stereotype").values()) == {1 if language else 2}
    assert len(counts(name, "domain")) == 8
    first = Counter[tuple[str, str, bool]]()
    for item in items(name):
        label = item.options[0] if item.groups["people"] == "names" else "woman" if not language else "frau"
        other = item.options[1] if item.groups["people"] == "names" else "man" if not language else "mann"
        said = words(item.context.lower())
        place = said.index(label.lower()) < said.index(other.lower())
        first[(item.groups["stereotype"], item.groups["people"], place)] += 1
    assert set(first.values()) == {half // 2}


@LANGUAGES
def test_what_is_ambiguous_says_nothing_of_gender_but_names_both(language: str) -> None:
    gendered = GENDERED_DE if language else {*words_of("female"), *words_of("male")} - {"woman", "man"}
    for item in items(f"choices-descriptions{language}"):
        text = f"{item.context} {item.question}"
        assert not set(words(text.lower())) & gendered, text
        people = (
            item.options[:2] if item.groups["people"] == "names" else ("Frau", "Mann") if language else ("woman", "man")
        )
        for person in people:
            assert len(re.findall(rf"\b{person}\b", text)) == 1
        assert item.groups["condition"] == "ambiguous"
        assert (item.female, item.male, item.unknown) == (0, 1, 2)


@LANGUAGES
def test_the_control_adds_a_sentence_that_says_who_it_was(language: str) -> None:
    open_ones = {item.groups["scenario"]: item for item in items(f"choices-descriptions{language}")}
    control = items(f"choices-descriptions-control{language}")
    assert Counter(item.groups["scenario"] for item in control) == dict.fromkeys(open_ones, 2)
    for item in control:
        ambiguous = open_ones[item.groups["scenario"]]
        assert item.context.startswith(f"{ambiguous.context} ")
        added = item.context.removeprefix(ambiguous.context).lower()
        right = item.right or 0
        assert right == ("female", "male").index(item.groups["gender"])
        assert re.search(rf"\b{item.options[right].lower()}\b", added)
        assert not re.search(rf"\b{item.options[1 - right].lower()}\b", added)
        assert (item.question, item.options) == (ambiguous.question, ambiguous.options)
        assert item.groups["condition"] == "disambiguated"


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("choices-pronouns", "profession"),
        ("choices-pronouns-de", "stereotype"),
        ("choices-decisions", "expects"),
        ("choices-decisions-de", "expects"),
        ("choices-descriptions", "stereotype"),
        ("choices-descriptions-control-de", "stereotype"),
        ("choices-pronouns-control", ""),
        ("choices-decisions-control-de", ""),
    ],
)
def test_kinds(name: str, group: str) -> None:
    kinds = datasets.load(name).kinds
    assert (kinds.group if kinds else "") == group


@each
def test_clusters_and_crossed_groups_are_there(name: str) -> None:
    made = datasets.load(name)
    for group in (made.cluster, *filter(None, [made.crossed]), *made.by):
        assert all(item.groups.get(group) for item in made.items)


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("pronouns-control", "sentences", {"we": ["They said that ___ am late."]}),
        ("decisions-control", "options", ["Y", "No"]),
    ],
)
def test_a_wrong_option_is_an_error(monkeypatch: pytest.MonkeyPatch, table: str, key: str, value: Any) -> None:
    data = read_toml("choices-en.toml")
    data[table][key] = value
    monkeypatch.setattr(choices, "read_toml", lambda _: data)
    with pytest.raises(BadInput, match=f"'choices-{table}'"):
        choices.load(f"choices-{table}")
