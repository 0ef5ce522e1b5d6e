"""What an audit prints: an answer on one screen, in the words of the page."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import evenhand
from evenhand import Answer, Run, Table
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.report.answer import NARROWEST, answer, fitted
from evenhand.report.page.section import Measured
from evenhand.report.page.short import lead, summary
from helpers.written_runs import with_fields

pytestmark = pytest.mark.usefixtures("without_pages")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All suites on a model that likes men next to everything."""

    def rule(question: object) -> Answer:
        text = str(getattr(question, "answer", "") or getattr(question, "text", ""))
        return Answer((-1.0 - (text.lower() in ("she", "her")) - len(text) % 7 / 10,))

    return evenhand.audit(Table(rule, name="made"), limit=40, out=tmp_path_factory.mktemp("runs"))


def printed(run: Run, width: int = NARROWEST) -> list[str]:
    console = Console(width=width, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(answer(run, width))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_it_fits_on_a_screen(small: Run) -> None:
    lines = printed(small)
    assert len(lines) <= 40
    paths = [line for line in lines if str(small.path) in line]  # which are never cut
    assert max(len(line) for line in lines if line not in paths) <= NARROWEST


def test_it_begins_with_what_the_page_says_in_short(small: Run) -> None:
    sections = [Measured([small], ["made"], task, {}) for task in small.record.tasks]
    lines = summary(sections)
    assert " ".join(printed(small, 110)).startswith(f"made: {lead(lines)}")
    text = "\n".join(printed(small, 110))
    for section, found in lines:
        assert section.dataset in text
        assert f"{found.numbers[0].text} " in text
        assert found.verdicts[0].mark in text


def test_samples_and_unfit_models_are_said_before_the_numbers(small: Run) -> None:
    lines = printed(small)
    careful = next(n for n, text in enumerate(lines) if "Partial: a sample of at most 40 items" in text)
    assert careful < next(n for n, text in enumerate(lines) if "95 % interval" in text)


@pytest.mark.parametrize(("given", "used"), [(20, 80), (80, 80), (100, 100), (300, 110)])
def test_it_is_as_wide_as_the_terminal_within_reason(given: int, used: int) -> None:
    assert fitted(given) == used


@pytest.mark.parametrize(
    ("leaning", "others", "says"),
    [
        (0, 3, "none of 3 main numbers is shown to lean away from neutral."),
        (1, 0, "its one main number leans away from neutral."),
        (0, 1, "its one main number is not shown to lean away from neutral."),
        (2, 1, "2 of 3 main numbers lean away from neutral. 1 shows no lean."),
        (1, 4, "1 of 5 main numbers leans away from neutral. 4 show no lean."),
    ],
)
def test_the_first_sentence_counts(leaning: int, others: int, says: str) -> None:
    from types import SimpleNamespace

    tones = ["leans"] * leaning + ["undecided"] * others
    lines = [(None, SimpleNamespace(verdicts=[SimpleNamespace(tone=tone)])) for tone in tones]
    assert lead(lines) == says  # type: ignore[arg-type]


def test_what_has_no_verdict_is_not_said_to_show_no_lean() -> None:
    from types import SimpleNamespace

    def told(*tones: str) -> str:
        lines = [(None, SimpleNamespace(verdicts=[SimpleNamespace(tone=tone)])) for tone in tones]
        return lead(lines)  # type: ignore[arg-type]

    assert told("none", "none") == "none of 2 main numbers has a verdict."
    assert told("none", "undecided", "undecided") == (
        "none of 3 main numbers is shown to lean away from neutral. 1 has no verdict."
    )
    assert told("leans", "none", "none", "undecided") == (
        "1 of 4 main numbers leans away from neutral. 2 have no verdict, 1 shows no lean."
    )


def test_show_prints_the_answer_every_value_one_dataset_or_json(small: Run, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for more in ([], ["--full"], ["--dataset", "tgb"], ["--json"]):
        assert run_command(app, ["show", str(small.path), *more]) == 0
        outputs.append(capsys.readouterr().out)
    brief, full, one, as_json = outputs
    assert len(brief.splitlines()) <= 40 < len(full.splitlines())
    assert "likelihood-lean" in one
    assert "becpro-en" not in one
    assert '"measure": "association"' in as_json
    assert run_command(app, ["show", str(small.path), "--dataset", "tgbb"]) == 2
    assert "Did you mean 'tgb'?" in capsys.readouterr().err


def test_show_prints_the_command(small: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(app, ["show", str(small.path), "--command"]) == 0
    assert capsys.readouterr().out == "evenhand audit PATH/TO/made --limit 40\n"


def test_the_command_has_what_was_not_the_default(tmp_path: Path) -> None:
    from evenhand.auditing.command import commands

    model = Table(lambda _: Answer((-1.0,)), name="made")
    both = ["likelihood-lean", "stereotype-share"]
    how: dict[str, Any] = {"options": {"pll": "within-word"}, "limit": 9, "seed": 3, "out": tmp_path}
    run = evenhand.audit(model, dataset="tgb", measure=both, **how)
    asked = "--dataset tgb --measure likelihood-lean --measure stereotype-share --option pll=within-word"
    assert commands(run.record) == [f"evenhand audit PATH/TO/made {asked} --limit 9 --seed 3"]
    loaded = {"source": "us/made", "revision": "abc", "dtype": "bfloat16", "batch_size": 4}
    on_hub = with_fields(run.record, loaded=loaded)
    assert commands(on_hub)[0].startswith("evenhand audit us/made --revision abc --dataset")
    assert commands(on_hub)[0].endswith("--dtype bfloat16 --batch-size 4")
