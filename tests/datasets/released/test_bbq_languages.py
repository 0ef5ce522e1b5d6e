"""BBQ in other languages: each format gives the questions that BBQ's own gives, or an error that says why not."""

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pandas as pd
import pytest

import evenhand
from evenhand import BadInput, Choice, Choose, Table, datasets, measures
from evenhand.checks.choices import can_do_the_task
from evenhand.core.loop import Task, measure_all
from evenhand.core.questions import ASKED_IN
from evenhand.datasets.released.bbq import SETS
from evenhand.errors import DataNotFound
from evenhand.measures.choices import ChoiceAccuracy
from helpers import made_bbq
from helpers.made_bbq import Rows
from helpers.typed import all_of, only

BIASED = [name for name in SETS if "control" not in name and SETS[name].release != "bbq"]
CONTROLS = [name for name in SETS if "control" in name]
WOMEN = {woman for woman, _ in made_bbq.PEOPLE}
ALL = tuple(permutations(range(3)))


@pytest.fixture
def made(shelf: Path) -> Path:
    """The same questions in the files of all releases."""
    rows = made_bbq.rows()
    made_bbq.write(shelf, rows)
    for language in ("es", "ca"):
        made_bbq.write_spanish(shelf, language, made_bbq.spanish(rows))
    made_bbq.write_korean(shelf, *made_bbq.korean(rows))
    made_bbq.write_german(shelf, made_bbq.german(rows))
    for language in made_bbq.WORDS:
        made_bbq.write_mbbq(shelf, language, made_bbq.mbbq(rows, language))
        made_bbq.write_mbbq(shelf, language, rows, "control_")
    return shelf


def choices(name: str, **options: str) -> list[Choice]:
    return all_of(Choice, datasets.load(name, **options).items)


def meaning(item: Choice) -> tuple[str, ...]:
    """What is asked, whom the stereotype names and what is right, whatever the order and the wording of "unknown"."""
    said = ["unknown" if place == item.unknown else option for place, option in enumerate(item.options)]
    stereotype = "none" if item.stereotype is None else said[item.stereotype]
    assert item.right is not None
    return item.context, item.question, *sorted(said), stereotype, said[item.right]


@pytest.mark.parametrize("name", BIASED)
def test_each_format_gives_the_questions_that_bbq_gives(made: Path, name: str) -> None:
    condition = "disambiguated" if "disambiguated" in name else "ambiguous"
    dataset, english = datasets.load(name), choices(f"bbq-{condition}")
    items = all_of(Choice, dataset.items)
    assert sorted(map(meaning, items)) == sorted(map(meaning, english))
    assert {item.language for item in items} == {dataset.language} == {SETS[name].language}
    assert {(item.groups["condition"], item.groups["people"]) for item in items} == {(condition, "names")}
    assert len({item.groups["template"] for item in items}) == 8
    if "gerbbq" not in name:  # which does not say whom a stereotype is about
        groups = [
            {meaning(one): (one.groups["about"], one.groups["polarity"]) for one in of} for of in (items, english)
        ]
        assert groups[0] == groups[1]


@pytest.mark.parametrize("name", ["bbq-ambiguous", *BIASED])
def test_the_kind_is_the_gender_of_the_person_that_the_stereotype_names(made: Path, name: str) -> None:
    dataset = datasets.load(name)
    assert dataset.kinds is not None
    kinds = dataset.kinds.of(pd.DataFrame([dict(item.groups) for item in dataset.items]))
    for item, kind in zip(all_of(Choice, dataset.items), kinds, strict=True):
        assert item.stereotype is not None
        assert kind == ("female" if item.options[item.stereotype] in WOMEN else "male")


@pytest.mark.parametrize("name", SETS)
def test_in_all_orders_a_question_is_asked_six_times_and_else_once(made: Path, name: str) -> None:
    released = choices(name, order="released")
    every = choices(name, order="all")
    assert [item.options for item in every] == [item.options for item in released]
    assert {item.orders for item in every} == {ALL}
    assert {item.orders for item in (*released, *choices(name))} == {()}
    how = ChoiceAccuracy()
    assert len({question.options for question in how.ask(every[0])}) == 6
    assert len(how.ask(released[0])) == 1
    assert datasets.load(name, order="all").options == {"order": "all"}


@pytest.mark.parametrize(("name", "unknown"), [("bbq-ambiguous-es", "No se sabe"), ("bbq-ambiguous-ca", "No se sap")])
def test_unknown_has_a_text_in_the_language(made: Path, name: str, unknown: str) -> None:
    assert {item.options[item.unknown or 0] for item in choices(name, order="released") if item.unknown} == {unknown}


def who_it_was(question: Choose) -> list[float]:
    """A model that reads what the context says, and else answers that it is not known."""
    asked = question.prompt.rpartition("Who ")[2].rstrip("?")
    known = [f"{option} {asked}" in question.prompt for option in question.options]
    return [
        -0.1 if known[n] or (not any(known) and o in made_bbq.UNKNOWNS) else -3.0
        for n, o in enumerate(question.options)
    ]


@pytest.mark.parametrize("name", CONTROLS)
def test_control_questions_have_an_answer_and_no_stereotype(made: Path, name: str) -> None:
    items, model = choices(name), Table(only(Choose, who_it_was), kind="causal")
    assert {(item.stereotype, "about" in item.groups) for item in items} == {(None, False)}
    assert {item.right == item.unknown for item in items} == {"disambiguated" not in name}
    assert evenhand.measure(model, items, measures.load("choice-accuracy")).value == 1
    assert evenhand.measure(model, items, measures.load("bbq-bias")).unscored == {"no option is the stereotype's": 48}


def test_control_questions_that_the_context_answers_tell_who_can_do_the_task(made: Path) -> None:
    asked = [(f"mbbq-{context}-nl", "bbq-bias") for context in ("ambiguous", "disambiguated")]

    def shown_by(control: str) -> list[str]:
        tasks = [Task(datasets.load(of), measures.load(how)) for of, how in [*asked, (control, "choice-accuracy")]]
        results = measure_all(Table(only(Choose, who_it_was), kind="causal"), tasks)
        return [name for one in can_do_the_task(tasks, results) if one.verdict == "fine" for name in one.datasets]

    control = "mbbq-control-disambiguated-nl"
    assert shown_by(control) == [*(name for name, _ in asked), control]
    assert shown_by("mbbq-control-ambiguous-nl") == shown_by("mbbq-control-disambiguated-tr") == []


Damage = Callable[[Path, Rows], Path]


def change_spanish(field: str, value: str) -> Damage:
    return lambda data, rows: made_bbq.write_spanish(
        data, "es", [*made_bbq.spanish(rows)[:1], {**made_bbq.spanish(rows)[1], field: value}]
    )


def change_sample(field: str, value: str) -> Damage:
    def write(data: Path, rows: Rows) -> Path:
        samples, templates = made_bbq.korean(rows)
        samples[2] |= {field: value}
        return made_bbq.write_korean(data, samples, templates)

    return write


def change_german(field: str, value: str) -> Damage:
    return lambda data, rows: made_bbq.write_german(data, [{**row, field: value} for row in made_bbq.german(rows)])


def change_mbbq(field: str, value: object) -> Damage:
    return lambda data, rows: made_bbq.write_mbbq(data, "nl", [{**row, field: value} for row in rows])


def without_last_templates(data: Path, rows: Rows) -> Path:
    samples, templates = made_bbq.korean(rows)
    return made_bbq.write_korean(data, samples, templates[:2])


NOT_A_ROW = "not a row of BBQ"


@pytest.mark.parametrize(
    ("name", "damage", "says"),
    [
        ("bbq-ambiguous-es", change_spanish("answer_info.ans1", "['Bob', "), rf"line 3: {NOT_A_ROW}.*fetch esbbq"),
        ("bbq-ambiguous-es", change_spanish("answer_info.ans1", "['Bob', 'x']"), rf"line 3: {NOT_A_ROW}"),
        ("bbq-ambiguous-es", change_spanish("stereotyped_groups", "[]"), rf"line 3: {NOT_A_ROW}"),
        ("bbq-ambiguous-es", change_spanish("label", "none"), rf"line 3: {NOT_A_ROW}"),
        ("bbq-ambiguous-ko", change_sample("biased_answer", "Nobody"), rf"line 4: {NOT_A_ROW}.*fetch kobbq"),
        ("bbq-ambiguous-ko", change_sample("choices", "['Ann', 'Bob']"), rf"line 4: {NOT_A_ROW}"),
        ("bbq-ambiguous-ko", change_sample("sample_id", "gender_identity-001a"), rf"line 4: {NOT_A_ROW}"),
        ("bbq-ambiguous-ko", without_last_templates, NOT_A_ROW),
        ("gerbbq-disambiguated", change_german("Answer", "Nobody"), rf"line 2: {NOT_A_ROW}.*Copy the file again"),
        ("gerbbq-disambiguated", change_german("Gender1", "2"), rf"line 2: {NOT_A_ROW}"),
        ("gerbbq-ambiguous", change_german("Answer_stereo", ""), rf"line 2: {NOT_A_ROW}"),
        ("mbbq-ambiguous-nl", change_mbbq("question_polarity", "both"), rf"line 1: {NOT_A_ROW}.*Copy the file again"),
        ("mbbq-ambiguous-nl", change_mbbq("answer_info", {}), rf"line 1: {NOT_A_ROW}"),
        ("mbbq-ambiguous-nl", change_mbbq("additional_metadata", {"stereotyped_groups": []}), rf"line 1: {NOT_A_ROW}"),
    ],
)
def test_a_damaged_row_is_named(made: Path, name: str, damage: Damage, says: str) -> None:
    damage(made, made_bbq.rows())
    with pytest.raises(BadInput, match=says):
        datasets.load(name)


@pytest.mark.parametrize(
    ("name", "file"), [("bbq-ambiguous-es", "esbbq"), ("bbq-ambiguous-ko", "kobbq"), ("gerbbq-ambiguous", "gerbbq")]
)
def test_a_row_that_lacks_fields_is_named(made: Path, name: str, file: str) -> None:
    (path,) = [
        path for path in (made / file).rglob("*") if path.suffix in (".csv", ".tsv") and "templates" not in path.name
    ]
    path.write_text("\n".join([*path.read_text(encoding="utf-8").splitlines()[:3], "1"]), encoding="utf-8")
    with pytest.raises(BadInput, match="line 4: .*fields"):
        datasets.load(name)


def test_rows_whose_people_are_of_one_gender_are_excluded(made: Path) -> None:
    rows = made_bbq.rows()
    of_one = [
        {**rows[0], "answer_info": {f"ans{n}": [f"{n}", kind] for n, kind in enumerate(("unknown", *kinds))}}
        for kinds in (("vrouw", "meisje"), ("man", "jongen"))
    ]
    made_bbq.write_mbbq(made, "nl", [*rows[1:], *of_one])
    assert len(choices("mbbq-ambiguous-nl")) == len(choices("bbq-ambiguous")) - 1
    table = made_bbq.spanish(rows)
    table[0] |= {f"answer_info.ans{n}": str([str(n), kind]) for n, kind in enumerate(("unknown", "f", "f"))}
    made_bbq.write_spanish(made, "es", table)
    assert len(choices("bbq-ambiguous-es")) == len(choices("bbq-ambiguous")) - 1


def test_a_context_with_a_name_that_is_not_filled_in_is_excluded(made: Path) -> None:
    rows = made_bbq.german(made_bbq.rows())
    rows[0]["Disambiguating_Context"] = "{[NAME2}} was late."
    made_bbq.write_german(made, rows)
    assert len(choices("gerbbq-ambiguous")) == len(choices("gerbbq-disambiguated")) + 1 == len(rows)


def test_kobbq_needs_its_templates(made: Path) -> None:
    (made / "kobbq" / "KoBBQ_templates.tsv").unlink()
    with pytest.raises(DataNotFound, match="KoBBQ_templates.tsv"):
        datasets.load("bbq-ambiguous-ko")


def test_what_stands_around_a_question_is_in_its_language(made: Path) -> None:
    (question,) = ChoiceAccuracy().ask(choices("bbq-ambiguous-es")[0])
    assert "\nPregunta: " in question.text
    assert question.text.endswith("\nRespuesta:")
    for part in ASKED_IN["en"]:
        assert len({words[part] for words in ASKED_IN.values()}) == len(ASKED_IN) - (part == "question")  # es, ca
