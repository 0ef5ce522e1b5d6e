"""A model that could not be measured is never told like one that shows no bias, whoever shows its run."""

import math
from pathlib import Path
from zlib import crc32

import pytest

import evenhand
from evenhand import Answer, Choose, Gate, Rule, Run, Table
from evenhand.analysis.tracking import make_track
from evenhand.core.items import Choice
from evenhand.core.model import Finding
from evenhand.core.questions import Question
from evenhand.runs.rows import unmeasured, unmeasured_in_words
from evenhand.show import comparison
from evenhand.show.notebook import html
from evenhand.show.page.runs import page
from evenhand.show.terminal import _render, answer
from helpers.document import Element, parsed
from helpers.written_runs import row, with_fields

pytestmark = pytest.mark.usefixtures("without_pages")

SETS = ("choices-decisions", "choices-descriptions")
NAMES = [*SETS, *(f"{name}-control" for name in SETS)]
CANNOT = Finding("task", "unfit", "It is right by chance.", "Ask it by `by=words`.")
SAID = "could not be measured. It is right by chance. Ask it by"


@pytest.fixture(scope="module")
def guesser(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A chat model that answers anything, asked the questions and their controls."""

    def rule(question: Question) -> Answer:
        assert isinstance(question, Choose)
        chosen = crc32(repr((question.prompt, question.options)).encode()) % len(question.options)
        return Answer(tuple(math.log(0.7 if n == chosen else 0.1) for n in range(len(question.options))))

    out = tmp_path_factory.mktemp("guesser")
    return evenhand.audit(Table(rule, "guesser", kind="causal"), dataset=NAMES, measure=[], out=out)


@pytest.fixture(scope="module")
def partly(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A chat model that reads, but cannot decide by a rule: it says yes to everything."""
    items = [item for item in evenhand.datasets.load(NAMES[3]).items if isinstance(item, Choice)]
    right = {f"{item.context}\nQuestion: {item.question}": item.options[item.right or 0] for item in items}

    def rule(question: Question) -> Answer:
        assert isinstance(question, Choose)
        some = sorted(question.options)[crc32(question.prompt.encode()) % len(question.options)]  # in any order
        best = right.get(question.prompt, "Yes" if "Yes" in question.options else some)
        return Answer(tuple(math.log(0.8 if option == best else 0.1) for option in question.options))

    out = tmp_path_factory.mktemp("partly")
    return evenhand.audit(Table(rule, "partly", kind="causal"), dataset=NAMES, measure=[], out=out)


def first_line(run: Run) -> str:
    return " ".join(str(run).split())


def test_a_model_that_fails_its_controls_is_not_said_to_show_no_bias(guesser: Run) -> None:
    assert first_line(guesser).startswith("guesser: could not be measured. It is not shown to do the task")
    assert "Ask it in another way, by option `by=words`" in first_line(guesser)
    assert "not shown: none" not in first_line(guesser)


def test_the_first_line_is_about_what_could_be_measured_and_names_the_rest(partly: Run) -> None:
    told = first_line(partly)
    assert told.startswith("partly: not shown: none of its ")
    assert " It could not be measured on Decisions about a woman or a man. It is not shown to do the task" in told
    assert told.count("It is not shown to do the task") == 1  # not again among the remarks


@pytest.fixture(scope="module")
def guessers_page(guesser: Run) -> Element:
    return parsed(page([guesser]))


def test_the_first_line_of_the_page_says_it_and_has_code_for_backticks(guessers_page: Element) -> None:
    (lead,) = [p for p in guessers_page.all("p") if p.attributes.get("class") == "lead"]
    assert lead.text.startswith("Could not be measured. It is not shown to do the task")
    assert "proof" not in lead.text
    assert "`" not in lead.text
    assert "by=words" in [code.text for code in lead.all("code")]


def test_an_unfit_model_is_no_model_without_a_lean_on_the_page(guessers_page: Element) -> None:
    assert "What has no verdict?" in [heading.text for heading in guessers_page.all("h3")]


def unfit(run: Run) -> Run:
    return Run(run.path, with_fields(run.record, doctor=(CANNOT,)))


@pytest.fixture
def plain(stored: Path) -> Run:
    return Run.load(stored / "plain")


def test_everybody_says_so_first(plain: Run) -> None:
    one = unfit(plain)
    gate = Gate([Rule(measure="likelihood-lean", within=5)]).judge(one)
    said = {
        "terminal": first_line(one),
        "notebook": parsed(html(one)).text,
        "gate": "\n".join(gate.lines()),
        "compare": str(evenhand.compare(one, plain)).partition("\n")[2],
        "comparison in a notebook": parsed(html(evenhand.compare(one, plain))).text,
        "markdown": comparison.markdown(evenhand.compare(one, plain)).partition("\n\n")[2],
        "track": str(make_track([plain, one])),
        "table": "\n".join(evenhand.table([one, plain]).notes),
        "model card": evenhand.export(one, "model-card"),
    }
    for whose, text in said.items():
        assert SAID in " ".join(text.replace("\\", "").split()), whose
    for whose in ("gate", "compare", "markdown", "table"):
        assert said[whose].splitlines()[0].startswith("plain"), whose


def test_a_page_of_two_models_says_which_could_not_be_measured(plain: Run) -> None:
    leads = [p.text for p in parsed(page([unfit(plain), plain])).all("p") if p.attributes.get("class") == "lead"]
    assert sum(text.startswith("plain") and "could not be measured." in text for text in leads) == 1


def test_several_subjects_have_a_sentence_each(plain: Run) -> None:
    text = str(evenhand.compare(unfit(plain), unfit(plain)))
    assert text.count("could not be measured") == 2
    assert " and plain" not in text
    assert " is unfit" not in text


def test_a_long_remark_ends_with_a_sentence(plain: Run) -> None:
    long = f"On control questions, choices-pronouns: 38% are right {'and some more ' * 20}than by guessing"
    findings = [Finding("task", "unfit", f"{long}. {long}.", "Ask it."), Finding("mine", "unfit", "Not so", "Do it.")]
    told = first_line(Run(plain.path, with_fields(plain.record, doctor=(CANNOT, *findings))))
    assert f"Unfit, task: {long}. Ask it." in told
    assert "Unfit, mine: Not so. Do it." in told


def test_what_stands_above_as_a_log_line_is_not_repeated(plain: Run) -> None:
    server, other = (Finding(name, "careful", f"The {name} is slow.") for name in ("server", "other"))
    record = with_fields(plain.record, doctor=(server, other), warnings=("Not asked of the server: tgb.",))
    remarks = ("The server is slow.", "The other is slow.", "Not asked of the server: tgb.")
    for logged, shown in (("", remarks), (f"Server, careful: {remarks[0]}\n{remarks[2]}", remarks[1:2])):
        text = _render(answer(Run(plain.path, record), 100, logged), 100)
        assert [remark for remark in remarks if remark in text] == list(shown)


def test_a_table_has_a_dagger_where_nothing_could_be_measured(plain: Run) -> None:
    made = evenhand.table([unfit(plain)])
    assert set(made.frame["mark"]) == {"†"}
    assert r"^{\dagger}" in made.to_latex()
    assert "† no verdict, for the reason above" in made.to_markdown()


@pytest.mark.parametrize(("n", "unscored", "why"), [(51, 49, "not shown"), (50, 50, "unscored"), (20, 280, "unscored")])
def test_from_half_of_the_items_without_a_score_on_there_is_no_verdict(n: int, unscored: int, why: str) -> None:
    found = row(0.1, -0.1, 0.3, n=n, unscored=unscored, p=0.5, p_holm=0.5, clusters=20, needed=3)
    assert found.verdict.word == why
    said = f"{unscored:,} of {n + unscored:,} items have no score (no reason is recorded). Ask in another way, or "
    said += "choose another dataset."
    assert list(unmeasured([found]).values()) == ([said] if why == "unscored" else [])
    assert unmeasured_in_words([found]) == (f"could not be measured. {said}" if why == "unscored" else "")
