"""The page: what is measured is what is shown, and nothing that anybody wrote is more than text."""

import base64
import hashlib
import json
import math
import re
import shutil
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

import evenhand
from evenhand import Answer, BadInput, Fill, Run, Table
from evenhand.analysis.change import changed
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.questions import Question
from evenhand.report import page as pages_module
from evenhand.report.page import page, policy
from evenhand.report.page.numbers import Number, probability
from evenhand.report.page.provenance import debiasing
from evenhand.report.page.readings import reading, verdict
from evenhand.report.page.scale import domain, strip

pytestmark = pytest.mark.usefixtures("without_pages")

HOSTILE = "<b onclick=alert(1)>\"'&{{7*7}}<!--"
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


def model(name: str = "table", pull: float = 1.0, unknown: str = "") -> Table:
    """Answers that follow from the text, he likelier than she; a text with `unknown` has none."""

    def rule(q: Question) -> Answer | tuple[float, ...]:
        text = getattr(q, "text", "")
        if unknown and unknown in text:
            return Answer((NAN,), "unknown word")
        noise = zlib.crc32(repr(q).encode()) % 100 / 100
        if isinstance(q, Fill):
            return (-1.0 - noise - pull * (q.answer.lower() not in ("he", "his")),)
        return (-noise * pull,)

    return Table(rule, name=name)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Before and after a debiasing, with its record."""
    out = tmp_path_factory.mktemp("two")
    runs = [evenhand.audit(model(n, pull), limit=80, out=out) for n, pull in ((HOSTILE, 1.0), ("after", 0.1))]
    language = {"before": 10.0, "after": 12.5, "change": 0.2231, "low": 0.1, "high": 0.3, "p": 0.0001, "sentences": 200}
    record = {
        "before": runs[0].about["fingerprint"], "after": runs[1].about["fingerprint"], "language": language,
        "balance": [{"corpus": "before", "female": 1, "male": 3, "share": 0.25}], "alarms": ["Over-debiased: x"],
        "corpus": HOSTILE, "share": 0.5, "reminders": 3,
    }  # fmt: skip
    (out / "debias.json").write_text(json.dumps(record))
    return runs


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return evenhand.audit(model(), suite="emotions", limit=60, out=tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def html(two: list[Run]) -> str:
    return page(two[:1])


@pytest.fixture(scope="module")
def both(two: list[Run]) -> str:
    return page(two)


def test_every_value_of_the_run_is_on_the_page(two: list[Run], html: str) -> None:
    shown = {a["data-value"] for _, a in Tags(html).found if "data-value" in a}
    for row in two[0].results:
        assert str(row["value"]) in shown
        if row["low"] is not None:
            assert (
                f"[{row['low']:+.3f}, {row['high']:+.3f}]" in html or f"[{row['low']:.3f}, {row['high']:.3f}]" in html
            )


def test_what_others_wrote_stays_text(html: str, both: str, tmp_path: Path) -> None:
    file = tmp_path / f"{HOSTILE[:20]}.csv"
    rows = [f'"{HOSTILE} {i} he","{HOSTILE} {i} she",{HOSTILE if i % 2 else "x"}' for i in range(4)]
    rows = [row.replace("\"'", "''") for row in rows]  # a bare quote would end the cell
    file.write_text("stereotype,counterpart,category\n" + "\n".join(rows))
    run = evenhand.audit(model(HOSTILE), pairs=file, out=tmp_path / "o")
    record = json.loads((run.path / "run.json").read_text())
    record["doctor"] = [{"check": HOSTILE, "verdict": "careful", "says": HOSTILE, "do": HOSTILE}]
    record["warnings"] = [HOSTILE]
    (run.path / "run.json").write_text(json.dumps(record))
    record["model"] = f"{HOSTILE}\x07"
    (run.path / "run.json").write_text(json.dumps(record))
    (run.path / "gate.json").write_text(
        json.dumps({"policy": HOSTILE, "verdict": "fail", "rules": [{"rule": HOSTILE, "verdict": "fail", "says": "x"}]})
    )
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


def test_no_value_is_said_never_drawn_as_a_number(tmp_path: Path) -> None:
    html = page([evenhand.audit(model(unknown=" "), suite="becpro", limit=30, out=tmp_path)])
    assert "no value: no item could be scored" in html
    assert "could not be scored" in html
    some = page([evenhand.audit(model("some", unknown="nurse"), dataset="tbd", limit=300, out=tmp_path)])
    assert "could not be scored" in some
    assert not re.search(r"\bnan\b", Tags(some).text)


def test_an_older_run_without_texts_says_how_to_get_them(small: Run, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(small.path, old)
    (old / "items.parquet").unlink()
    record = json.loads((old / "run.json").read_text())
    del record["sha256"]["items.parquet"]
    record["tasks"] = [
        {k: v for k, v in task.items() if k not in ("about", "asks", "language", "source", "licence")}
        for task in record["tasks"]
    ]
    (old / "run.json").write_text(json.dumps(record))
    assert f"evenhand rescore {old}" in page([Run.load(old)])


def test_offensive_sentences_are_folded_behind_a_warning(two: list[Run], html: str) -> None:
    hostile = two[0].items.merge(two[0].scores.query("category == 'hostile'")[["dataset", "id"]].drop_duplicates())
    folded = "".join(re.findall(r'<details class="warned">.*?</details>', html, re.S))
    open_text = Tags(re.sub(r'<details class="warned">.*?</details>', "", html, flags=re.S)).text
    assert "Content warning" in folded
    assert not [text for text in hostile["text"] if text in open_text]
    assert [text for text in hostile["text"] if text in Tags(folded).text]


def test_two_runs_are_before_and_after_with_what_was_lost(two: list[Run], both: str) -> None:
    text = " ".join(Tags(both).text.split())
    assert "before and after debiasing" in text
    assert "10.0 → 12.5" in text
    assert "+25 %, its language got worse" in text
    assert "Over-debiased: x" in text
    row = changed(*two).query("dataset == 'tbd' and measure == 'pronoun' and group == 'all'").iloc[0]
    assert f"nearer to neutral. Change {row['change']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]" in text
    assert debiasing(two[::-1]) is None  # the record is of the other order


def test_without_a_record_the_page_says_what_is_not_known(small: Run) -> None:
    html = page([small, small])
    assert "Perplexity is known only" in html
    assert "no change shown" in html.lower()


def test_many_runs_stand_side_by_side(small: Run) -> None:
    html = page([small] * 3)
    assert "3 models side by side" in html
    assert html.count("table (2, table-") > 3  # those of one name are told apart


def test_inference_has_its_page_too(tmp_path: Path) -> None:
    table = Table(lambda q: tuple(math.log(p) for p in ((0.5, 0.3, 0.2) if "nurse" in repr(q) else (0.1, 0.8, 0.1))))
    table.kind = "nli"  # type: ignore[attr-defined]
    html = page([evenhand.audit(table, limit=200, out=tmp_path)])
    assert "Labels by set" in html
    assert "hypothesis" in html


def test_runs_that_measured_something_else_are_refused(two: list[Run], small: Run) -> None:
    with pytest.raises(BadInput, match="same suite"):
        page([two[0], small])
    with pytest.raises(BadInput, match="at least one run"):
        page([])


def test_the_command_writes_a_file_or_says_what_is_wrong(
    small: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(app, ["report", str(small.path)]) == 0
    assert (small.path / "report.html").read_text().startswith("<!doctype html>")
    assert run_command(app, ["report", str(small.path), str(small.path)]) == 0
    assert (tmp_path / "report.html").exists()
    assert run_command(app, ["report", str(small.path), "--out", "page.pdf"]) == 2
    (tmp_path / "crashed").mkdir()
    (tmp_path / "crashed" / "answers.sqlite").touch()
    assert run_command(app, ["report", str(tmp_path / "crashed")]) == 2
    assert "was not finished: run the audit again" in capsys.readouterr().err


@pytest.mark.usefixtures("pages")
def test_an_audit_leaves_its_page_and_a_page_that_fails_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = evenhand.audit(model(), suite="emotions", limit=30, out=tmp_path)
    assert "<h1>table</h1>" in (run.path / "report.html").read_text()
    (run.path / "report.html").unlink()

    def broken(runs: object) -> str:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(pages_module, "page", broken)
    again = evenhand.rescore(run.path)
    assert not (run.path / "report.html").exists()
    assert len(again.results) == len(run.results)
    assert "could not be written: oh" in caplog.text


@pytest.mark.parametrize(
    ("value", "low", "high", "tone", "says"),
    [
        (0.4, 0.3, 0.5, "leans", "leans male: the interval leaves out 0"),
        (-0.4, -0.5, -0.3, "leans", "leans female: the interval leaves out 0"),
        (0.4, -0.1, 0.9, "undecided", "no lean shown: the interval includes 0"),
        (0.4, 0.0, 0.9, "undecided", "no lean shown: the interval includes 0"),
        (0.4, NAN, NAN, "undecided", "no interval: there is too little to say how sure this is"),
        (NAN, NAN, NAN, "none", "no value: no item could be scored"),
    ],
)
def test_verdicts_are_read_off_the_interval(value: float, low: float, high: float, tone: str, says: str) -> None:
    found = verdict(Number(value, low, high), reading({"measure": "pronoun"}))
    assert (found.tone, found.says) == (tone, says)


def test_a_measure_that_is_not_known_here_speaks_for_itself() -> None:
    found = reading({"measure": "mine", "asks": "How odd is it?", "reading": "odd"})
    assert (found.title, found.asks) == ("mine", "How odd is it?")
    assert verdict(Number(1.0, 0.5, 1.5), found).says == "above the neutral value: the interval leaves out 0"
    assert verdict(Number(1.0, 0.5, 1.5, neutral=NAN), found).tone == "level"


def test_the_scale_holds_every_interval_and_what_is_neutral() -> None:
    numbers = [Number(-0.5, -0.668, -0.347), Number(0.008, -0.2, 0.227)]
    assert domain(numbers, None, 0.0) == (-0.8, 0.8)
    drawn = strip(numbers, ("a", "b"), (-0.8, 0.8), "")
    assert drawn.neutral == drawn.width / 2
    assert all(0 < mark.left < mark.x < mark.right < drawn.width for mark in drawn.marks)
    assert domain([Number(1.8, 1.6, 2.1, signed=False)], None, 0.0) == (0.0, 3.0)
    assert domain([Number(NAN)], None, NAN) == (-1.0, 1.0)
    assert probability(0.00001) == "p < .001"
