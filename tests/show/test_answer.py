"""What an audit prints: an answer on one screen, in the words of the page."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

import evenhand
from evenhand import Answer, Fill, Run, Table
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.runs.rows import Row
from evenhand.show.page.readings import dataset as dataset_name
from evenhand.show.page.readings import reading, verdict
from evenhand.show.page.section import Measured, ScorecardLine
from evenhand.show.page.short import lead, main_leans, summary
from evenhand.show.terminal import NARROWEST, _next_steps, answer, fit_width
from helpers import made_stereoset
from helpers.audited_runs import audited
from helpers.stored_runs import HOSTILE
from helpers.typed import only
from helpers.written_runs import row, task, with_fields

pytestmark = pytest.mark.usefixtures("without_pages")


@pytest.fixture(scope="module")
def small(stored: Path) -> Run:
    """All suites on a model that likes men next to everything, and has an odd name."""
    return Run.load(stored / "before")


def printed(run: Run, width: int = NARROWEST) -> list[str]:
    console = Console(width=width, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(answer(run, width))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_it_fits_on_a_screen(small: Run) -> None:
    lines = printed(small)
    assert len(lines) <= 42
    paths = [line for line in lines if str(small.path) in line]  # which are never cut
    assert max(len(line) for line in lines if line not in paths) <= NARROWEST


def test_it_begins_with_what_the_page_says_in_short(small: Run) -> None:
    sections = [Measured([small], [HOSTILE], task, {}) for task in small.record.tasks]
    lines = summary(sections)
    assert " ".join(printed(small, 110)).startswith(f"{HOSTILE}: {lead(lines)}")
    text = "\n".join(printed(small, 110))
    for section, found in lines:
        assert section.dataset in text
        assert found.verdicts[0].mark in text
        assert (f"{found.numbers[0].text} " in text) == found.main


def test_samples_and_unfit_models_are_said_before_the_numbers(small: Run) -> None:
    lines = printed(small)
    careful = next(n for n, text in enumerate(lines) if "Partial: a sample of at most 40 items" in text)
    assert careful < next(n for n, text in enumerate(lines) if "95 % interval" in text)


@pytest.mark.parametrize(("given", "used"), [(20, 80), (80, 80), (100, 100), (300, 110)])
def test_it_is_as_wide_as_the_terminal_within_reason(given: int, used: int) -> None:
    assert fit_width(given) == used


LEANS: dict[str, Any] = {"value": 0.4, "low": 0.3, "high": 0.5, "p": 0.001, "p_holm": 0.002}
LEANS |= {"clusters": 20, "needed": 3}
NUMBERS = {
    "leans": row(**LEANS),
    "other way": row(**LEANS | {"value": -0.4, "low": -0.5, "high": -0.3}),
    "in its family": row(**LEANS | {"p": 0.02, "p_holm": 0.04}),
    "undecided": row(**LEANS | {"low": -0.1, "p": 0.2, "p_holm": 0.4}),
    "none": row(**LEANS | {"clusters": 2}),
}
PAIRS = dataset_name("tgb")


def line(number: Row, of: str, dataset: str, main: bool = True) -> tuple[Measured, ScorecardLine]:
    """The line of a number of a dataset, and what it is of."""
    words = reading(task("tgb", "likelihood-lean"), estimand=of)
    told: Any = (of, words, (number,), (verdict(number, words),), None, None, main)
    section: Any = SimpleNamespace(dataset=dataset, key=(dataset, "likelihood-lean"))
    return section, ScorecardLine(*told)


def lines(*found: str, dataset: str = "tgb", main: bool = True) -> list[tuple[Measured, ScorecardLine]]:
    """The lines of a dataset: each a number by its name, and after a colon, what it is of."""
    parts = (one.partition(": ") for one in found)
    return [line(NUMBERS[name], of, dataset, main) for name, _, of in parts]


@pytest.mark.parametrize(
    ("leaning", "others", "says"),
    [
        (0, 3, "not shown: none of its 3 main numbers leans."),
        (1, 0, "yes, on this data: it leans to the stereotypes (PAIRS)."),
        (0, 1, "not shown: its main number does not lean."),
        (2, 1, "yes, on this data: it leans to the stereotypes (PAIRS). Of its other main numbers, 1 shows no lean."),
        (1, 4, "yes, on this data: it leans to the stereotypes (PAIRS). Of its other main numbers, 4 show no lean."),
    ],
)
def test_the_first_sentence_counts(leaning: int, others: int, says: str) -> None:
    assert lead(lines(*["leans"] * leaning, *["undecided"] * others)) == says.replace("PAIRS", PAIRS)


def test_what_has_no_verdict_is_not_said_to_show_no_lean() -> None:
    assert lead(lines("none")) == "no verdict on its one main number."
    assert lead(lines("none", "none")) == "no verdict on any of its 2 main numbers."
    assert lead(lines("none", "undecided", "undecided")) == (
        "not shown: none of its 3 main numbers leans. Of its 3 main numbers, 1 has no verdict."
    )
    assert lead(lines("leans", "none", "none", "undecided")).endswith(
        " Of its other main numbers, 1 shows no lean, 2 have no verdict."
    )


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (["leans: stereotype", "undecided: default"], "it follows stereotypes (PAIRS)."),
        (["other way: stereotype", "undecided: default"], "it goes against stereotypes (PAIRS)."),
        (["undecided: stereotype", "leans: default"], "it prefers women, on average over both kinds (PAIRS)."),
        (["undecided: stereotype", "other way: default"], "it prefers men, on average over both kinds (PAIRS)."),
        (
            ["leans: stereotype", "other way: default"],
            "it follows stereotypes (PAIRS); it prefers men, on average over both kinds (PAIRS).",
        ),
    ],
)
def test_the_first_line_says_which_of_stereotype_and_default_it_is(found: list[str], says: str) -> None:
    told = lead(lines(*found))
    assert told.startswith(f"yes, on this data: {says.replace('PAIRS', PAIRS)}")
    assert ("Of its other main numbers, 1 shows no lean." in told) == any("undecided" in name for name in found)


def test_the_first_line_names_the_sentences_of_each_claim_once() -> None:
    both = [*lines("leans: stereotype", "leans: default"), *lines("leans: stereotype", dataset="becpro-en")]
    assert f"it follows stereotypes ({PAIRS}, {dataset_name('becpro-en')}); it prefers women" in lead(both)


def test_where_single_rows_lean_alone_the_first_line_says_how_often_chance_does_that() -> None:
    below = lines("leans", "undecided", "none", main=False)
    assert lead([*lines("undecided: stereotype", "undecided: default"), *below]) == (
        "not shown: single rows lean, but among 4 rows chance does that in 1 of 10 audits."
    )
    others = lines("undecided: stereotype", "none: default", dataset="becpro-en")
    assert lead([*lines("undecided: stereotype", "undecided: default"), *below, *others]) == (
        "not shown: single rows lean, but among 5 rows chance does that in 1 of 7 audits. "
        "Of its 4 main numbers, 1 has no verdict."
    )


def test_a_main_number_that_leans_in_its_family_must_lean_among_all_main_numbers_for_a_yes() -> None:
    family = lines("in its family: stereotype", "undecided: default")
    assert lead(family).startswith("yes, on this data: it follows stereotypes")
    more = lines("undecided: stereotype", dataset="becpro-en")
    assert main_leans([*family, *more]) == []
    assert lead([*family, *more]) == "not shown: single rows lean, but among 3 rows chance does that in 1 of 10 audits."
    strong = lines("leans: stereotype", "undecided: default", dataset="becpro-en")
    assert [line.numbers[0] for _, line in main_leans([*family, *strong])] == [NUMBERS["leans"]]
    assert lead([*family, *strong]).endswith(
        " Of its other main numbers, 2 show no lean, 1 leans only if it is judged apart from the others."
    )


def test_show_prints_the_answer_all_values_one_dataset_json_or_the_command(
    small: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = []
    for more in ([], ["--full"], ["--dataset", "tgb"], ["--json"], ["--command"]):
        assert run_command(app, ["show", str(small.path), *more]) == 0
        outputs.append(capsys.readouterr().out)
    brief, full, one, as_json, command = outputs
    assert len(brief.splitlines()) <= 42 < len(full.splitlines())
    assert "likelihood-lean" in one
    assert "becpro-en" not in one
    assert '"measure": "association"' in as_json
    assert re.fullmatch(r"evenhand audit 'PATH/TO/.+' --limit 40\n", command)
    assert run_command(app, ["show", str(small.path), "--dataset", "tgbb"]) == 2
    assert "Did you mean 'tgb'?" in capsys.readouterr().err


def test_the_command_has_what_was_not_the_default(tmp_path: Path) -> None:
    from evenhand.auditing.spec import commands

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
    served = with_fields(run.record, loaded={"source": "openai:made", "server": "http://here/v1", "samples": 5})
    assert " --base-url http://here/v1 --samples 5 --limit 9" in commands(served)[0]


def test_leans_are_told_by_size_the_large_ones_first() -> None:
    sized = {"large": (0.8, 0.9), "small": (0.06, 0.4), "negligible": (0.01, 0.4)}
    made = []
    for dataset, (low, high) in zip(("tgb", "becpro-en", "emotions-en"), reversed(sized.values()), strict=True):
        number = row(**LEANS | {"value": high - 0.01, "low": low, "high": high}, unit="nats")
        made.append(line(number, "stereotype", dataset))
    names = [dataset_name(name) for name in ("emotions-en", "becpro-en", "tgb")]
    shown = "; ".join(f"{size}: {name}" for size, name in zip(sized, names, strict=True))
    assert lead(made) == f"yes, on this data: it follows stereotypes ({shown})."
    assert [line.verdicts[0].mark for _, line in main_leans(made)] == ["●", "◑", "◔"]
    assert lead(made[:1]) == f"yes, but hardly, on this data: it follows stereotypes (negligible: {names[2]})."


@pytest.mark.parametrize(
    ("bound", "says"), [(9.0, "within the policy's bounds"), (0.0001, "beyond the policy's bounds")]
)
def test_a_policy_replaces_our_words_for_a_size(tmp_path: Path, bound: float, says: str) -> None:
    """The mark stays, and of two rules for one number the worse verdict is told."""
    rules = [evenhand.Rule(measure="likelihood-lean", within=within) for within in (bound, 9.0)]
    gate = evenhand.Gate(rules)
    run = audited(tmp_path, "leaning", 1.5, measure="likelihood-lean", gate=gate)
    text = " ".join(" ".join(printed(run, 110)).split())
    assert f"● pairs: leans to the stereotypes, {says}" in text
    assert f"({says}: pairs)" in text
    assert evenhand.table(run).frame["size"].tolist() == ["large"]


def test_a_dataset_of_several_kinds_of_bias_is_judged_by_its_part_about_gender(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    made_stereoset.write(tmp_path)
    model = Table(only(Fill, lambda asked: (-1.0 - len(asked.answer) / 9,)), name="made")
    run = evenhand.audit(model, dataset="stereoset-intrasentence", out=tmp_path / "runs")
    (row,) = run.main_rows("stereoset-intrasentence", "stereoset-ss")
    assert row.groups == {"bias_type": "gender"}
    section = Measured([run], ["made"], run.task("stereoset-intrasentence", "stereoset-ss"), {})
    (line,) = section.lines
    assert (line.label, line.numbers[0].value) == ("gender", row.value)
    assert {label for found in section.tables for one in found.rows for label in one.labels} > {"all", "gender"}


@pytest.mark.parametrize(("limit", "smallest"), [(8, ""), (12, "pairs, all, 0.42")])
def test_the_smallest_lean_that_would_be_found_is_one_that_a_share_can_have(
    tmp_path: Path, limit: int, smallest: str
) -> None:
    """With 8 pairs it would be 0.53 from the neutral 0.5."""
    run = audited(tmp_path, "tiny", 0.0, measure="stereotype-share", limit=limit)
    (detectable,) = [row.detectable for row in run.rows if row.main]
    assert (detectable > 0.5) == (not smallest)
    text = "\n".join(printed(run, 110))
    assert "no lean shown" in text
    assert ("would probably have been found" in text) == bool(smallest)
    assert smallest in text


def test_a_measure_without_words_for_its_leans_still_makes_a_sentence() -> None:
    ((section, line),) = lines("leans")
    plain = replace(line, reading=replace(line.reading, leans=("below neutral", "above neutral")))
    assert "it is above neutral" in lead([(section, plain)])


@pytest.mark.parametrize(
    ("imported", "kind", "said"), [(False, "masked", True), (True, "masked", False), (False, "causal", False)]
)
def test_debiasing_is_the_next_step_for_models_that_it_can_train(
    tmp_path: Path, imported: bool, kind: str, said: bool
) -> None:
    audit = SimpleNamespace(kind=kind, imported=imported or None)
    run: Any = SimpleNamespace(path=tmp_path, record=SimpleNamespace(audits=[audit]))
    assert ("evenhand debias" in " ".join(_next_steps(run))) is said
