"""Questions with options: the pronoun that fits a gap, yes or no about one person, or which of two people it was.

Each item lists all orders of its options, so that no option gains from its place. A control has questions of the same
form whose answer does not depend on gender: it shows whether a model can do the task.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any

from evenhand.core.dataset import Dataset, Partners
from evenhand.core.items import Choice, Groups
from evenhand.core.words import capitalise
from evenhand.datasets.blanks import tbd
from evenhand.datasets.files import read_toml
from evenhand.datasets.kinds import kinds_of, professions
from evenhand.datasets.templates import texts_of
from evenhand.errors import check_known
from evenhand.measures.choices import AMBIGUOUS, DISAMBIGUATED

GENDERS = ("female", "male")
UNNAMED = ("", "")
"""The pair of a woman and a man without names."""
Texts = Mapping[str, Any]


def load(name: str) -> Dataset:
    """The dataset of this name. What a control does not define itself, it takes from the set that it controls."""
    data = read_toml(f"choices-{'de' if name.endswith('-de') else 'en'}.toml")
    questions = name.removeprefix("choices-").removesuffix("-de")
    texts = data | data[questions.removesuffix("-control")] | data[questions] | {"name": name}
    if questions.endswith("-control"):
        texts["control"] = name.replace("-control", "")
    build, design = SETS[questions]
    items = list(build(texts))
    return Dataset(**texts_of(texts), flaws=texts["flaws"], items=items, kinds=kinds_of(name), **design)


def _pronouns(texts: Texts) -> Iterator[Choice]:
    """A question for each profession, in one of the templates; in German for each field of work, with a unisex name."""
    templates, names = texts["templates"], texts.get("names", [""])
    fields = texts.get("fields", {}).items()
    rows = [{"profession": field, "stereotype": kind} for kind, listed in fields for field in listed]
    for number, groups in _number_rows(rows or _professions(), "stereotype"):
        template, name = number % len(templates), names[number % len(names)]
        context = templates[template].format(**groups, name=name)
        groups = groups | {"template": str(template + 1)} | ({"name": name} if name else {})
        places: dict[str, Any] = dict(zip(("female", "male", "unknown"), range(len(texts["options"])), strict=False))
        yield _choice(texts, groups["profession"], context, groups, **places)


def _professions() -> Iterator[dict[str, str]]:
    """The professions of tbd."""
    kinds = professions()
    known = dict.fromkeys(kinds.female, "female") | dict.fromkeys(kinds.male, "male")
    for name, category in {item.groups["profession"]: item.groups["category"] for item in tbd().items}.items():
        yield {"profession": name, "stereotype": known.get(name, "none"), "category": category}


def _sentences(texts: Texts) -> Iterator[Choice]:
    """Sentences with a gap that only one of the options fits."""
    for right, sentences in texts["sentences"].items():
        for number, sentence in enumerate(sentences, start=1):
            yield _choice(texts, f"{right}/{number}", sentence, {"sentence": f"{right} {number}"}, right)


def _decisions(texts: Texts) -> Iterator[Choice]:
    """Yield each scenario with the unnamed pair of people and half of the named pairs.

    Consecutive scenarios of a kind alternate between the two halves.
    """
    pairs, half = texts["people"]["pairs"], len(texts["people"]["pairs"]) // 2
    for number, case in _number_rows(_scenarios(texts, "domain"), "expects"):
        first = number // 2 + half * (number % 2)
        named = [pairs[place % len(pairs)] for place in range(first, first + half)]
        for pair, gender in product([UNNAMED, *named], GENDERS):
            yield _decision(texts, case, pair, gender, {name: case[name] for name in ("domain", "expects")})


def _rules(texts: Texts) -> Iterator[Choice]:
    """Each scenario about one person. Women and men alternate, both where the answer is yes and where it is no."""
    pairs = [UNNAMED, *texts["people"]["pairs"]]
    for number, case in _number_rows(_scenarios(texts, "right"), "right"):
        gender = GENDERS[(number + (case["right"] == texts["options"][0])) % 2]  # a pair has one yes and one no
        yield _decision(texts, case, pairs[number % len(pairs)], gender, {}, case["right"])


def _decision(texts: Texts, case: Texts, pair: Sequence[str], gender: str, groups: Groups, right: str = "") -> Choice:
    person, label = _person(texts, pair, gender), "/".join(pair).strip("/") or "unnamed"
    groups = {"scenario": case["scenario"], "pair": label, "gender": gender, **groups}
    context, question = (case[key].format(**person) for key in ("context", "question"))
    return _choice({**texts, "question": question}, f"{case['scenario']}/{label}/{gender}", context, groups, right)


def _descriptions(texts: Texts) -> Iterator[Choice]:
    """Each scenario once; in the control twice, with a sentence that says that it was the woman, or the man.

    Within a kind, scenarios with words for people and with names alternate, and so does who comes first in either.
    """
    pairs = texts["people"]["pairs"]
    for number, case in _number_rows(_scenarios(texts, "domain"), "stereotype"):
        pair = pairs[number // 2 % len(pairs)] if number % 2 else UNNAMED
        people = [_person(texts, pair, gender) for gender in GENDERS]
        first, second = people[:: -1 if (number + number // 2) % 2 else 1]
        context = case["context"].format(One=first["Person"], other=second["person"])
        groups = {name: case[name] for name in ("scenario", "domain", "stereotype")}
        groups |= {"people": "names" if number % 2 else "words", "condition": AMBIGUOUS}
        named, unknown = [person["Who"] for person in people], texts["unknown"]
        asked = {**texts, "question": case["question"], "options": [*named, unknown]}
        places = {"unknown": 2} if "control" in texts else {"female": 0, "male": 1, "unknown": 2}
        if "control" not in texts:
            yield _choice(asked, case["scenario"], context, groups, unknown, **places)
        for gender, person in zip(GENDERS, people, strict=True) if "control" in texts else ():
            groups = groups | {"gender": gender, "condition": DISAMBIGUATED}
            closed, id = f"{context} {case['told'].format(**person)}", f"{case['scenario']}/{gender}"
            yield _choice(asked, id, closed, groups, person["Who"], **places)


def _scenarios(texts: Texts, by: str) -> Iterator[dict[str, str]]:
    """The scenarios of a set, each with its name and the name of the table that it stands in."""
    for label, cases in texts["scenarios"].items():
        yield from ({"scenario": scenario, by: label, **case} for scenario, case in cases.items())


def _number_rows(rows: Iterable[dict[str, str]], kind: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row with its number within its kind, so that whatever alternates by number is balanced in every kind."""
    seen = Counter[str]()
    for row in rows:
        yield seen[row[kind]], row
        seen[row[kind]] += 1


def _person(texts: Texts, pair: Sequence[str], gender: str) -> dict[str, str]:
    """What fills the slots for one person of a pair, and the same capitalised for slots like {Who}."""
    forms, name = texts["people"][gender], pair[GENDERS.index(gender)]
    slots: dict[str, str] = forms["pronouns"] | {slot: name or words for slot, words in forms["unnamed"].items()}
    return slots | {slot.capitalize(): capitalise(words) for slot, words in slots.items()}


def _choice(texts: Texts, id: str, context: str, groups: Groups, right: str = "", **places: Any) -> Choice:
    """The item with all orders of its options; `right` is the correct option, if there is one."""
    options = tuple(texts["options"])
    if right:
        check_known(f"option of '{texts['name']}'", [right], options)
        places["right"] = options.index(right)
    groups = {**groups, "control": texts["control"]} if "control" in texts else groups
    places |= {"orders": tuple(permutations(range(len(options)))), "language": texts["language"]}
    return Choice(id, context, texts["question"], options, groups=groups, **places)


SETS: dict[str, tuple[Callable[[Texts], Iterator[Choice]], dict[str, Any]]] = {
    "pronouns": (_pronouns, {"by": ("stereotype",), "cluster": "profession", "crossed": "template"}),
    "pronouns-control": (_sentences, {"cluster": "sentence"}),
    "decisions": (
        _decisions,
        {"by": ("expects",), "cluster": "scenario", "crossed": "pair", "partners": Partners("gender", *GENDERS)},
    ),
    "decisions-control": (_rules, {"by": ("gender",), "cluster": "scenario"}),
    "descriptions": (_descriptions, {"by": ("stereotype",), "cluster": "scenario"}),
    "descriptions-control": (_descriptions, {"by": ("stereotype",), "cluster": "scenario"}),
}
"""By name without prefix and language: the function that builds the items, and the design of the dataset."""
NAMES = tuple(f"choices-{questions}{language}" for questions in SETS for language in ("", "-de"))
