"""The page: what is measured is what is shown, and nothing that anybody wrote is more than text."""

import base64
import errno
import hashlib
import json
import math
import re
import shutil
import zlib
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest

import evenhand
from evenhand import BadInput, Run, Table
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.questions import BuiltIn
from evenhand.core.scores import Value
from evenhand.runs import rows as run_rows
from evenhand.runs.rows import FEMALE_MALE, Number
from evenhand.runs.values import rows_from
from evenhand.show.page import runs as pages_module
from evenhand.show.page.provenance import debiasing
from evenhand.show.page.readings import domain, group, group_name, probability, reading, strip, verdict
from evenhand.show.page.runs import page, policy
from helpers.document import Element, parsed
from helpers.made_scores import change_table
from helpers.served import changed
from helpers.stored_runs import HOSTILE, favouring_he
from helpers.written_runs import row as written_row
from helpers.written_runs import task

pytestmark = pytest.mark.usefixtures("without_pages", "few_draws")

NAN = float("nan")


class Tags(HTMLParser):
    """Every tag and attribute of a page, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment came in: {data}")


class Row(NamedTuple):
    """A row of a table of values: where it stands, of which groups it is, and its cells by the heads of columns."""

    dataset: str
    measure: str
    caption: str
    groups: dict[str, str]
    cells: dict[str, Element]


def rows(html: str) -> list[Row]:
    """The rows of all tables of values, measure by measure; {} are the groups of the row of all items.

    Groups are in the words of the page. One with a single label has no column: the caption names it.
    """
    found = []
    for article in parsed(html).one("section#measures").all("article"):
        measure, dataset = article.all("p.small")[0].text.split(":")[0].split(" on ")
        for table in article.all("table"):
            caption, *alone = table.one("caption").text.split(", ")
            named = dict(part.split(": ") for part in alone if ": " in part)
            heads = [head.text for head in table.one("thead").all("th")]
            names = [head.text for head in table.one("thead").all("th") if "n" not in head.attributes.get("class", "")]
            for place, head in enumerate(heads):
                if head == "95 % interval":
                    heads[place] = f"{heads[place - 1]}, interval"
            for line in table.one("tbody").all("tr"):
                cells = [part for part in line.inside if isinstance(part, Element)]
                labels = {name: cell.text for name, cell in zip(names, cells, strict=False)}
                groups = {} if set(labels.values()) == {"all"} else labels | named
                found.append(Row(dataset, measure, caption, groups, dict(zip(heads, cells, strict=True))))
    return found


JUDGED = ("Stereotype and default", "Women minus men")
SAMPLE = "Stereotype and default by "
Place = tuple[str, str, frozenset[tuple[str, str]]]


def values_in(html: str) -> dict[Place, Row]:
    """Those that hold values of results.json, by dataset, measure and groups; judged ones by their name, `row`."""
    own = [row for row in rows(html) if not row.caption.startswith(SAMPLE)]
    found = {(row.dataset, row.measure, frozenset(row.groups.items())): row for row in own}
    assert len(found) == len(own)  # none stands there twice
    assert all((row.caption in JUDGED) == ("what" in row.groups) for row in own)
    return found


def in_words(groups: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Groups as the page calls them; which values are better is no group to readers."""
    return frozenset((group_name(name), group(name, label)) for name, label in groups.items() if name != "better")


def name_of(result: Mapping[str, Any]) -> str:
    """What the page calls a row of stereotype, default, or women minus men."""
    return ", ".join(filter(None, (result["estimand"], *(group(*of) for of in result["groups"].items()))))


def place_of(result: Mapping[str, Any]) -> Place:
    judged = result["estimand"] or result["contrast"]
    of = frozenset({("what", name_of(result))}) if judged else in_words(result["groups"])
    return result["dataset"], result["measure"], of


def has_value(cell: Element, value: float | None) -> bool:
    """Is it this number, to the last digit, and does it read so? Without one it has a dash."""
    if value is None:
        return (cell.attributes["data-value"], cell.text) == ("nan", "–")
    return float(cell.attributes["data-value"]) == value and float(cell.text) == pytest.approx(value, abs=6e-4)


def has_interval(text: str, low: float | None, high: float | None, *narrow: float | None) -> bool:
    """Are these its ends, and after them those in these sentences, where there are such?"""
    if low is None or high is None:
        return text == "–"
    ends = [end for end in (low, high, *narrow) if end is not None]
    assert ("in these sentences" in text) == (len(ends) == 4)
    return [float(end) for end in re.findall(r"[+-]?\d+\.\d+", text)] == pytest.approx(ends, abs=6e-4)


def ends_of(result: Mapping[str, Any]) -> list[float | None]:
    return [result[name] for name in ("low", "high", "narrow_low", "narrow_high")]


def items_in(element: Element) -> list[dict[str, Any]]:
    """The tables of all items that its script would show: each column by its name."""
    found = []
    for packed in element.all("template"):
        whole = json.loads(zlib.decompress(base64.b64decode(packed.text)))
        texts = [column for column in whole["columns"] if column["kind"] == "text"]
        for place, column in enumerate(texts):
            column["rows"] = whole["texts"][place :: len(texts)]
        found.append({column["name"]: column for column in whole["columns"]})
    return found


@pytest.fixture(scope="module")
def two(stored: Path) -> list[Run]:
    """Before and after a debiasing, with its record."""
    runs = [Run.load(stored / name) for name in ("before", "after")]
    language = {"before": 10.0, "after": 12.5, "change": 0.2231, "low": 0.1, "high": 0.3, "p": 0.0001, "sentences": 200}
    record = {
        "before": runs[0].record.fingerprint, "after": runs[1].record.fingerprint, "language": language,
        "balance": [{"corpus": "before", "female": 1, "male": 3, "share": 0.25}], "alarms": ["Over-debiased: x"],
        "corpus": HOSTILE, "share": 0.5, "reminders": 3,
    }  # fmt: skip
    (stored / "debias.json").write_text(json.dumps(record))
    return runs


@pytest.fixture
def small(stored: Path) -> Run:
    return Run.load(stored / "emotions")


@pytest.fixture(scope="module")
def small_page(stored: Path) -> str:
    return page([Run.load(stored / "emotions")])


@pytest.fixture(scope="module")
def html(two: list[Run]) -> str:
    return page(two[:1])


@pytest.fixture(scope="module")
def both(two: list[Run]) -> str:
    return page(two)


def test_every_value_of_the_run_is_in_the_row_of_its_group_and_the_section_of_its_measure(
    two: list[Run], html: str
) -> None:
    shown = values_in(html)
    results = two[0].results
    assert {row["estimand"] for row in results} == {"", "stereotype", "default"}
    assert set(shown) == {place_of(result) for result in results}
    for result in results:
        cells = shown[place_of(result)].cells
        assert has_value(cells["value"], result["value"])
        assert has_interval(cells["value, interval"].text, *ends_of(result))
        assert [int(cells[name].text) for name in ("n", "unscored")] == [result["n"], result["unscored"]]


def test_a_line_of_the_scorecard_has_the_number_that_is_judged_and_leads_to_its_section(
    two: list[Run], html: str
) -> None:
    document, run = parsed(html), two[0]
    seen: list[tuple[str, str, str]] = []
    for card in document.one("section#scorecard").all("section.card"):
        measure = dataset = ""
        for line in card.all("div.line"):
            if line.all("a"):
                article = document.one(line.one("a").attributes["href"])
                measure, dataset = article.all("p.small")[0].text.split(":")[0].split(" on ")
                assert line.all("span.small")[0].text.startswith(f"{measure}, n ")
                assert card.one("code").text == dataset
            label = "".join(span.text for span in line.all("span.label"))
            (of,) = [row for row in _on_the_scorecard(run, dataset, measure) if name_of(row) == label]
            seen.append((dataset, measure, label))
            assert float(line.one("span.number").text) == pytest.approx(of["value"], abs=6e-4)
            assert has_interval(line.one("span.interval-text").text, of["low"], of["high"])
    names = [task.name for task in run.record.tasks]
    wanted = [(*name, name_of(row)) for name in names for row in _on_the_scorecard(run, *name)]
    assert sorted(seen) == sorted(wanted)


def _on_the_scorecard(run: Run, dataset: str, measure: str) -> list[dict[str, Any]]:
    """Stereotype and default of all items and women minus men; where there are none, the value of all items."""
    mine = [row for row in run.results if (row["dataset"], row["measure"]) == (dataset, measure)]
    judged = [row for row in mine if row["contrast"] or (row["estimand"] and not row["groups"])]
    return judged or [row for row in mine if not row["groups"]]


def test_a_page_shows_stereotype_and_default_by_template_and_by_person_word(small: Run, small_page: str) -> None:
    shown = [row for row in rows(small_page) if row.caption.startswith(SAMPLE)]
    task, scores = small.task("emotions-en", "association"), small.scores_of("emotions-en", "association")
    for name, head in (("template", "template"), ("slot", "person words")):
        mine = [row for row in shown if head in row.groups]
        wanted: dict[tuple[str, str], Value] = {}
        for label, part in scores.groupby(name):
            persons = " / ".join(dict.fromkeys(part["person"])) if name == "slot" else str(label)
            found = {row.estimand: row for row in rows_from(part, task) if row.estimand and not row.groups}
            wanted |= {(persons, estimand): row for estimand, row in found.items()}
        assert {(row.groups[head], row.groups["what"]) for row in mine} == set(wanted)
        assert {row.groups["what"] for row in mine} == {"stereotype", "default"}
        for row in mine:
            value = wanted[row.groups[head], row.groups["what"]]
            number, low, high = (None if math.isnan(n) else n for n in (value.value, value.low, value.high))
            assert has_value(row.cells["value"], number)
            assert has_interval(row.cells["value, interval"].text, low, high)
    assert {row.groups.get("person words", "") for row in shown} >= {"this woman / this man"}


def test_what_others_wrote_stays_text(html: str, both: str, tmp_path: Path) -> None:
    file = tmp_path / f"{HOSTILE[:20]}.csv"
    rows = [f'"{HOSTILE} {i} he","{HOSTILE} {i} she",{HOSTILE if i % 2 else "x"}' for i in range(4)]
    rows = [row.replace("\"'", "''") for row in rows]  # a bare quote would end the cell
    file.write_text("stereotype,counterpart,category\n" + "\n".join(rows))
    run = evenhand.audit(favouring_he(HOSTILE), pairs=file, out=tmp_path / "o")
    finding = {"check": HOSTILE, "verdict": "careful", "says": HOSTILE, "do": HOSTILE}
    changed(run.path, doctor=[finding], warnings=[HOSTILE], model=f"{HOSTILE}\x07")
    judged = {"policy": HOSTILE, "verdict": "fail", "rules": [{"rule": HOSTILE, "verdict": "fail", "says": "x"}]}
    (run.path / "gate.json").write_text(json.dumps(judged))
    for shown in (page([Run.load(run.path)]), html, both):
        tags = Tags(shown)
        assert HOSTILE.split("{{")[0] in tags.text
        assert "49" not in re.findall(r"\d+(?=<!--)", tags.text)
        names = [tag for tag, _ in tags.found]
        assert (names.count("script"), names.count("style")) == (1, 1)
        assert not set(names) & {"img", "iframe", "object", "embed", "base", "form", "link", "foreignobject", "image"}
        for _, attributes in tags.found:
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            assert not re.match(r"\s*(?!#)\S", attributes.get("href") or "")


def test_the_policy_lets_in_the_pages_own_style_and_script_alone(html: str) -> None:
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.S)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy()
    assert policy().startswith("default-src 'none'")
    assert "http://" not in html
    assert "https://" not in html


def test_no_value_is_said_never_drawn_as_a_number(stored: Path) -> None:
    run = Run.load(stored / "nothing-known")
    html = page([run])
    for result in run.results:
        cells = values_in(html)[place_of(result)].cells
        assert (cells["value"].text, cells["value, interval"].text) == ("–", "–")
        assert (cells["n"].text, cells["unscored"].text) == ("0", str(result["unscored"]))
    lines = parsed(html).one("section#scorecard").all("div.line")
    assert len(lines) == 5  # stereotype, default, and women minus men by three kinds of jobs
    for line in lines:
        assert line.one("p.read.none").text.startswith("– – – no value: no ")
        assert line.all("circle") == []


@pytest.fixture(scope="module")
def partly(stored: Path) -> tuple[Run, str]:
    """A run of which some items have no score, and its page."""
    run = Run.load(stored / "nurses-unknown")
    return run, page([run])


def test_what_could_not_be_scored_is_counted_beside_what_could(partly: tuple[Run, str]) -> None:
    run, html = partly
    assert not re.search(r"\bnan\b", Tags(html).text)
    for article in parsed(html).one("section#measures").all("article"):
        measure = article.all("p.small")[0].text.split(" on ")[0]
        lost = run.record.unscored[f"tbd/{measure}"]["unknown word"]
        told = [reason.text for reason in article.one("div.judged").all("li")]
        assert f"{lost} items without a score: unknown word" in told
        mine = [row for row in rows(html) if row.measure == measure and "profession" in row.groups]
        jobs = {row.groups["profession"]: row.cells["value"].text for row in mine}
        dashes = {job for job, value in jobs.items() if value == "–"}
        assert dashes == {job for job in jobs if "nurse" in job} != set()


def test_an_older_run_without_texts_says_how_to_get_them(small: Run, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(small.path, old)
    (old / "items.parquet").unlink()
    record = json.loads((old / "run.json").read_text())
    del record["sha256"]["items.parquet"]
    later = ("about", "asks", "language", "source", "licence")
    tasks = [{k: v for k, v in task.items() if k not in later} for task in record["audits"][0]["tasks"]]
    changed(old, sha256=record["sha256"], tasks=tasks)
    assert "evenhand rescore " in page([Run.load(old)])


def test_offensive_sentences_are_folded_behind_a_warning(two: list[Run], html: str) -> None:
    hostile = two[0].items.merge(two[0].scores.query("category == 'hostile'")[["dataset", "id"]].drop_duplicates())
    warned = [details for details in parsed(html).all("details.all") if "warned" in details.attributes["class"]]
    assert all("Content warning" in details.text and "open" not in details.attributes for details in warned)
    open_text = Tags(re.sub(r'<details class="all warned".*?</details>', "", html, flags=re.S)).text
    assert not [text for text in hostile["text"] if text in open_text]
    folded = [text for details in warned for table in items_in(details) for text in table["stereotype"]["rows"]]
    assert set(hostile["text"]) <= set(folded)


def test_every_item_is_there_with_its_scores_by_every_measure(partly: tuple[Run, str]) -> None:
    run, html = partly
    (table,) = items_in(parsed(html))
    texts = run.items.set_index("id")["text"]
    assert sorted(table["sentence"]["rows"]) == sorted(texts)
    for measure in ("pronoun", "singular-they"):
        scores = run.scores_of("tbd", measure)
        wanted = {texts[i]: score for i, score in zip(scores["id"], scores["score"], strict=True)}
        shown = table[reading(task("tbd", measure)).title]["rows"]
        assert None in shown
        for text, score in zip(table["sentence"]["rows"], shown, strict=True):
            assert score == (None if math.isnan(wanted[text]) else pytest.approx(wanted[text], abs=6e-4))
    labels = table["category"]["labels"]
    assert {labels[code] for code in table["category"]["rows"]} == set(run.scores_of("tbd", "pronoun")["category"])


def test_partners_are_one_row_with_the_difference_and_both_scores(small_page: str) -> None:
    (table,) = items_in(parsed(small_page))
    for one, other, apart in zip(
        *(table[name]["rows"] for name in ("score with a woman", "score with a man", "score")), strict=True
    ):
        assert apart == pytest.approx(one - other, abs=2e-3)


def test_what_people_read_are_words_not_names_of_columns(html: str) -> None:
    text = Tags(html).text
    assert "held by women" in text
    assert not re.search(r"prof_gender|\bbalanced\b|calls_for", text)
    for article in parsed(html).one("section#measures").all("article"):
        if article.all("p.small")[0].text.startswith("singular-they"):  # a level: no value of it is the better one
            assert not [caption.text for caption in article.all("caption") if "better" in caption.text]


@pytest.mark.parametrize(
    ("measure", "value", "much", "percent"),
    [
        ("association, female - male", -0.38, "such a word lowers THE ODDS by 32 %", "-32 %"),
        ("association, female - male", 0.288, "such a word raises THE ODDS by 33 %", "+33 %"),
        ("association, female - male", 1.2, "such a word multiplies THE ODDS by 3.32", "×3.32"),
        ("association, female - male", 0.001, "such a word does not change THE ODDS by", "+0.1 %"),
        ("pronoun", 0.005, "“he” is 0 percentage points likelier than “she”", "+0.5 points"),
        ("pronoun", -0.0003, "“he” is 0 percentage points less likely than “she”", "0 points"),
        ("pronoun", -0.448, "“he” is 45 percentage points less likely than “she”", "-45 points"),
        ("stereotype-share", 0.577, "in 58 of 100 pairs", "58 %"),
        ("singular-they", 0.028, "3 in 100 chances", "2.8 %"),
    ],
)
def test_a_size_is_told_in_percent(measure: str, value: float, much: str, percent: str) -> None:
    found = reading(task("mine", measure.removesuffix(FEMALE_MALE)), contrast=measure.endswith(FEMALE_MALE))
    told = much.replace("THE ODDS", "the odds of a woman's word against a man's")
    assert found.how_much(written_row(value)).startswith(told)
    assert found.in_percent(value) == percent


def moved(section: Element, title: str) -> dict[str, str]:
    """The entry of what was gained or lost about a dataset: its numbers, and what is said of them."""
    (entry,) = [entry for entry in section.all("li") if entry.one("b").text == title]
    return {"numbers": entry.one("span.from-to").text, "says": entry.one("span.detail").text}


def test_two_runs_are_before_and_after_in_every_table(two: list[Run], both: str) -> None:
    shown = values_in(both)
    for name, run in zip((f"before: {HOSTILE}", "after: after"), two, strict=True):
        assert len(run.results) == len(shown)
        for result in run.results:
            cells = shown[place_of(result)].cells
            assert has_value(cells[name], result["value"])
            assert has_interval(cells[f"{name}, interval"].text, *ends_of(result))


def test_a_change_is_in_the_row_of_its_group_and_nowhere_else(two: list[Run], both: str) -> None:
    by = {task.name: task.by for task in two[0].record.tasks}
    found = {}
    for row in rows(both):
        if "change" not in row.cells or row.cells["change"].text == "–":
            continue
        found[row.dataset, row.measure, frozenset(row.groups.items())] = row.cells
    wanted = {}
    for r in change_table(*two).to_dict("records"):
        measure = r["measure"].removesuffix(", female - male")
        labels = [] if r["group"] == "all" else r["group"].split(", ")
        named = dict(zip(by[r["dataset"], measure], labels[: -1 if r["estimand"] else None], strict=False))
        of = {"groups": named, "estimand": r["estimand"], "contrast": r["measure"] != measure}
        wanted[place_of({"dataset": r["dataset"], "measure": measure, **of})] = r
    assert set(found) == set(wanted)
    for place, cells in found.items():
        change = wanted[place]
        ends = [None if math.isnan(change[name]) else change[name] for name in ("low", "high")]
        assert has_value(cells["change"], change["change"])
        assert has_interval(cells["change, interval"].text, *ends)
        assert cells["p, adjusted"].text == probability(change["p_holm"])


def test_what_was_gained_and_what_it_cost_stand_apart(two: list[Run], both: str) -> None:
    short = parsed(both).one("section#short")
    gained, lost = short.one("section.gained"), short.one("section.lost")
    assert parsed(both).one("h1").text.endswith("before and after debiasing")
    frame: Any = change_table(*two).set_index(["dataset", "measure", "group"])
    for section, dataset, measure, of, title, says in (
        (gained, "tbd", "pronoun", "default", "Pronouns next to professions, default", "He or she? nearer to neutral."),
        (lost, "tbd-gendered", "gender-agreement", "all", "Words that call for one gender", "no cost here, knows more"),
    ):
        row = frame.loc[(dataset, measure, of)]
        entry = moved(section, title)
        assert entry["numbers"] == f"{row['before']:+.3f} → {row['after']:+.3f}"
        assert says in entry["says"]
        assert f"Change {row['change']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]" in entry["says"]
        assert title not in (lost if section is gained else gained).text


def test_the_record_of_a_debiasing_tells_what_the_language_lost(two: list[Run], both: str) -> None:
    short = parsed(both).one("section#short")
    entry = moved(short.one("section.lost"), "Its language")
    assert entry["numbers"] == "10.0 → 12.5"
    assert "+25 %, its language got worse. Change of the logarithm +0.223 [+0.100, +0.300], p < .001" in entry["says"]
    assert short.one("p.notice").text == "Careful: Over-debiased: x"
    trained = [cell.text for cell in short.one("table").one("tbody").one("tr").inside if isinstance(cell, Element)]
    assert trained == ["before", "1", "3", "0.250"]
    assert debiasing(two[::-1]) is None  # the record is of the other order


def test_without_a_record_two_models_are_a_and_b_and_nobody_gained_anything(stored: Path) -> None:
    document = parsed(page([Run.load(stored / name) for name in ("base", "better")]))
    assert document.one("h1").text == "base and better"
    short = document.one("section#short")
    titles = [title.text for title in short.one("div.balance").all("h3")]
    assert titles == ["Nearer to neutral in better", "Nearer to neutral in base"]
    heads = [head.text for head in document.one("section#measures").all("thead")[0].all("th")]
    assert "difference" in heads
    assert not re.search(r"\b(before|after|gained|cost|change)\b", short.text, re.I)


def test_many_runs_stand_side_by_side(small: Run) -> None:
    document = parsed(page([small] * 3))
    assert document.one("h1").text == "3 models side by side"
    names = [f"table ({small.record.fingerprint[:8]}) ({place})" for place in (1, 2, 3)]  # of one name, told apart
    assert [span.text for span in document.one("section#scorecard").all("p.key")[0].all("span")] == names
    heads = [head.text for head in document.one("section#measures").all("thead")[0].all("th")]
    assert [head for head in heads if head.startswith("table")] == names
    rows = document.one("section#short").one("table").one("tbody").all("tr")
    labels = ["stereotype", "default", "anger", "fear", "joy", "sadness"]
    assert [row.one("th").text.split(", ")[-1] for row in rows] == labels
    assert all(len(row.all("td")) == 3 for row in rows)
    for line in document.one("section#scorecard").all("div.line"):
        assert [dot.attributes["aria-label"] for dot in line.one("div.says").all("svg.dot")] == names


def test_inference_has_its_page_too(tmp_path: Path) -> None:
    table = Table(
        lambda q: tuple(math.log(p) for p in ((0.5, 0.3, 0.2) if "nurse" in repr(q) else (0.1, 0.8, 0.1))), kind="nli"
    )
    document = parsed(page([evenhand.audit(table, limit=200, out=tmp_path)]))
    articles = document.one("section#measures").all("article")
    by_measure = {article.all("p.small")[0].text.split(" on ")[0]: article for article in articles}
    captions = {name: [c.text for c in article.all("figcaption")] for name, article in by_measure.items()}
    assert [name for name, told in captions.items() if any("Labels by set" in text for text in told)] == ["nli-coal"]
    (items,) = items_in(document)
    assert list(items)[:2] == ["premise", "hypothesis"]


def test_runs_that_measured_something_else_are_refused(two: list[Run], small: Run) -> None:
    with pytest.raises(BadInput, match="same way"):
        page([two[0], small])
    with pytest.raises(BadInput, match="one run"):
        page([])


def test_the_command_writes_a_file_or_says_what_is_wrong(
    small: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(app, ["report", str(small.path)]) == 0
    assert (small.path / "report.html").read_text().startswith("<!doctype html>")
    monkeypatch.setattr(pages_module, "page", lambda runs: "a page")  # where it goes does not depend on what it shows
    assert run_command(app, ["report", str(small.path), str(small.path)]) == 0
    assert (tmp_path / "report.html").exists()
    assert run_command(app, ["report", str(small.path), "--out", "page.pdf"]) == 2
    (tmp_path / "report.html").write_text("mine")
    for several in ([str(small.path)] * 2, [str(small.path), "--out", "report.html"]):
        assert run_command(app, ["report", *several]) == 2
        assert (tmp_path / "report.html").read_text() == "mine"
        assert "exists already" in capsys.readouterr().err
    assert run_command(app, ["report", str(small.path), "--out", "report.html", "--force"]) == 0
    assert run_command(app, ["report", str(small.path), "--out", str(small.path / "report.html")]) == 0  # its own


@pytest.mark.usefixtures("pages")
def test_an_audit_leaves_its_page_and_a_page_that_fails_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = evenhand.audit(favouring_he(), suite="emotions", limit=30, out=tmp_path)
    assert "<h1>table</h1>" in (run.path / "report.html").read_text()
    (run.path / "report.html").unlink()

    def broken(runs: object) -> str:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(pages_module, "page", broken)
    again = evenhand.rescore(run.path)
    assert not (run.path / "report.html").exists()
    assert len(again.results) == len(run.results)
    assert "could not be written: oh" in caplog.text


@pytest.mark.usefixtures("pages")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_command_whose_page_cannot_be_written_prints_its_results_and_fails(
    small: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    """A pipeline that keeps the page must not take it for granted."""
    run = shutil.copytree(small.path, tmp_path / "run")
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(pages_module, "write_whole", Mock(side_effect=full))
    assert run_command(app, ["rescore", str(run), *more]) == 2
    said = capsys.readouterr()
    assert "emotions-en" in said.out
    assert "No space left on device" in said.err
    assert f"Make it again: evenhand report {run}" in said.err.splitlines()[-1]


def test_a_folder_in_the_place_of_a_file_of_the_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table" / "report.html").mkdir(parents=True)
    with pytest.raises(evenhand.RunError, match=r"report.html' is a folder.*Move the folder"):
        evenhand.audit(favouring_he(), suite="emotions", limit=30, out=tmp_path)
    assert [path.name for path in (tmp_path / "table").iterdir()] == ["report.html"]


TESTED: dict[str, Any] = {"p": 0.004, "p_holm": 0.012, "clusters": 20, "needed": 7, "detectable": 0.217}


@pytest.mark.parametrize(
    ("number", "tone", "says"),
    [
        (written_row(0.4, 0.3, 0.5, **TESTED), "leans", "leans to “he”: p = .012, adjusted"),
        (written_row(-0.4, -0.5, -0.3, **TESTED), "leans", "leans to “she”: p = .012, adjusted"),
        (written_row(0.1, -0.1, 0.3, **TESTED), "undecided", "no lean shown: a lean of 0.22 would probably have"),
        (written_row(0.4, -0.1, 0.9, **TESTED), "undecided", "no lean shown: the interval includes 0"),
        # P(he) - P(she) cannot be 1.3
        (written_row(0.4, -0.1, 0.9, **TESTED | {"detectable": 1.3}), "undecided", "no lean shown: the interval"),
        (written_row(0.4, 0.3, 0.5, **TESTED | {"p_holm": 0.06}), "undecided", "no lean shown*: its own interval"),
        (written_row(0.4, 0.3, 0.5, **TESTED | {"clusters": 5}), "none", "too few words, 5 of 7: more are needed"),
        (written_row(0.4, 0.3, 0.5, unfit=True, **TESTED), "none", "no verdict: the model is unfit to be measured"),
        (written_row(0.4, **TESTED), "none", "no interval: too few words, or scores that are all the same"),
        (written_row(NAN), "none", "no value: no item could be scored"),
    ],
)
def test_verdicts_follow_the_one_rule(number: run_rows.Row, tone: str, says: str) -> None:
    found = verdict(number, reading(task("tbd", "pronoun")))
    assert found.tone == tone
    assert found.says.startswith(says)


@pytest.mark.parametrize("measure", ["likelihood-difference", "nli-coal", "fraction-neutral", "singular-they"])
def test_what_can_only_be_on_one_side_of_neutral_is_not_judged_by_itself(measure: str) -> None:
    assert verdict(written_row(0.4, 0.3, 0.5, **TESTED), reading(task("mine", measure))).tone == "level"


def test_a_measure_that_is_not_known_here_speaks_for_itself() -> None:
    found = reading(task("keys", "mine", asks="How odd is it?"))
    assert (found.title, found.asks) == ("mine", "How odd is it?")
    assert verdict(written_row(1.0, 0.5, 1.5, **TESTED), found).short == "above neutral"
    assert verdict(written_row(1.0, 0.5, 1.5, neutral=NAN, **TESTED), found).tone == "level"


def test_the_scale_holds_every_interval_and_what_is_neutral() -> None:
    numbers = [Number(-0.5, -0.668, -0.347), Number(0.008, -0.2, 0.227)]
    assert domain(numbers, None, 0.0) == (-0.8, 0.8)
    drawn = strip(numbers, ("a", "b"), (-0.8, 0.8), "")
    assert drawn.neutral == drawn.width / 2
    assert all(0 < mark.left < mark.x < mark.right < drawn.width for mark in drawn.marks)
    assert domain([Number(1.8, 1.6, 2.1, spec=".3f")], None, 0.0) == (0.0, 3.0)
    assert domain([Number(5e-324, -1e-310, 1e-310)], None, 0.0) == (-1.0, 1.0)  # next to nothing
    assert domain([Number(NAN)], None, NAN) == (-1.0, 1.0)
    assert probability(0.00001) == "p < .001"


def test_a_share_alone_has_its_page_without_the_finer_measure_that_ranks_its_items(tmp_path: Path) -> None:
    run = evenhand.audit(Table(lambda q: (-1.0,)), dataset="tgb", measure="stereotype-share", limit=9, out=tmp_path)
    measures = parsed(page([run])).one("section#measures")
    assert measures.one("article").all("p.small")[0].text.startswith("stereotype-share on tgb")
    assert len(measures.all("table.items")) == 2  # towards either side


def test_groups_that_lean_to_both_sides_are_not_hidden_by_their_mean(tmp_path: Path) -> None:
    def rule(q: BuiltIn) -> tuple[float, ...]:
        sign = 1 if "mother" in q.text else -1  # type: ignore[union-attr]
        return (-2.0 - sign * (" he " in q.text) - zlib.crc32(q.text.encode()) % 100 / 1e3,)  # type: ignore[union-attr]

    file = tmp_path / "pairs.csv"
    sides = "Today he saw {0} {1}s.,Today she saw {0} {1}s.,{1}\n"
    made = [sides.format(n, word) for n in range(16) for word in ("mother", "doctor")]
    file.write_text("stereotype,counterpart,category\n" + "".join(made))
    run = evenhand.audit(Table(rule), pairs=file, out=tmp_path / "run")
    short = parsed(page([run])).one("section#short").text
    assert "But by group, doctor: prefers the stereotypes; mother: prefers the counterparts." in short


def test_a_stereotype_has_one_size_on_the_whole_page(two: list[Run], html: str) -> None:
    value = next(row.value for row in two[0].rows if row.dataset == "becpro-en" and row.estimand == "stereotype")
    in_table = re.findall(rf'data-value="{value}">([^<]*)</td>', html)
    assert in_table == [f"{value:+.3f}", f"{100 * (math.exp(2 * value) - 1):+.0f} %"]
    assert f'<span class="percent">{in_table[1]}</span>' in html  # the scorecard's
