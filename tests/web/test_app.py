"""The server's pages: what they show of runs good and bad, and that hostile requests get nothing."""

import json
import os
import threading
import time
from collections.abc import Mapping
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import pytest
from starlette.types import ASGIApp

from evenhand import Gate, Rule, Run, compare
from evenhand.core.files import public_path
from evenhand.core.questions import Answer, Fill, Question, Span
from evenhand.errors import BadInput
from evenhand.show.page.section import Measured, ScorecardLine
from evenhand.show.page.short import lead, summary
from evenhand.web import listing, pages, probing
from evenhand.web.app import LARGEST_BODY
from evenhand.web.listing import Runs
from evenhand.web.server import COOKIE, Hosts, application
from helpers import served
from helpers.audited_runs import audited
from helpers.document import Element, parsed
from helpers.served import FORM, HERE, HOST, Response, send
from helpers.stored_runs import before_and_after
from helpers.typed import all_of

pytestmark = pytest.mark.usefixtures("without_pages")

SCRIPT = "<script>alert(1)</script>"
TOKEN = "t0ken-that-nobody-guesses"
SECRET = "the contents of a file that nobody may read"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return before_and_after(tmp_path_factory.mktemp("made"))


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A folder with two runs, and beside it a secret."""
    (tmp_path / "secret.txt").write_text(SECRET)
    return served.copied(made, tmp_path / "runs")


@pytest.fixture
def app(root: Path) -> ASGIApp:
    return application(root)


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of every model, one that finds the first letters of the alphabet likelier."""

    class Letters:
        name = fingerprint = "letters"

        def answer(self, questions: list[Question]) -> list[Answer]:
            return [
                Answer.none("unknown word") if q.answer == "qqq" else Answer((-float(ord(q.answer[0]) - 96),))
                for q in all_of(Fill, questions)
            ]

        def likeliest(self, text: str, blank: Span, n: int) -> list[tuple[str, float]]:
            return [(letter, -float(ord(letter) - 96)) for letter in "abcdefghijklmn"[:n]]

    monkeypatch.setattr(probing, "load_masked", lambda name: Letters())


def ids(root: Path) -> dict[str, str]:
    return {run.folder: run.id for run in Runs(root).all()}


def post(app: ASGIApp, path: str, headers: Mapping[str, str] = FORM, **fields: str) -> Response:
    return send(app, path, method="POST", headers=headers, body=[urlencode(fields).encode()])


def probe(app: ASGIApp, **fields: str) -> Response:
    return send(app, "/probe", query=urlencode(fields))


def main_numbers(path: Path) -> list[tuple[Measured, ScorecardLine]]:
    run = Run.load(path)
    return summary([Measured([run], ["mine"], task, {}) for task in run.record.tasks])


# Runs


def test_runs_are_listed_found_and_opened(app: ASGIApp, root: Path) -> None:
    page = send(app, "/").text
    assert "2 of 2 runs" in page
    run = ids(root)["before/plain"]
    assert f'href="/runs/{run}"' in page
    assert "tgb" in send(app, f"/runs/{run}").text
    assert "1 of 2 runs" in send(app, "/", query="q=BEFORE+plain").text
    assert "0 of 2 runs" in send(app, "/", query="q=before+debiased").text


def test_what_is_chosen_stays_while_searching(app: ASGIApp, root: Path) -> None:
    page = send(app, "/", query=f"q=nothing&run={ids(root)['after/debiased']}").text
    assert "1 of 2 runs" in page
    assert " checked>" in page


def listed(app: ASGIApp) -> list[Element]:
    """The rows of the list once all numbers are read."""
    deadline = time.monotonic() + 60
    while "data-again" in (page := send(app, "/").text):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return parsed(page).one("tbody").all("tr")


def test_the_list_has_the_headlines_and_verdicts_of_each_run(app: ASGIApp, root: Path) -> None:
    rows = listed(app)
    for row, name in zip(rows, ("after/debiased", "before/plain"), strict=True):
        found = main_numbers(root / name)
        assert [headline.label for _, headline in found] == ["stereotype", "default"]
        headline = found[0][1]
        number, verdict = headline.numbers[0], headline.verdicts[0]
        told = f"counterparts, stereotype: {number.text} {number.brackets} {verdict.short}"
        assert f"Sexist sentences and their {told}" in row.text
        assert lead(found).lower() in row.text.lower()
        assert "not shown: none of its 2 main numbers leans." in row.text.lower()
        assert "gate" not in row.text
    rules = [Rule(measure="likelihood-lean", low=9, high=10)]
    Gate(rules).judge(Run.load(root / "before" / "plain")).save(root / "before" / "plain")
    assert [("gate: fail" in row.text) for row in listed(app)] == [False, True]


def test_numbers_that_take_long_do_not_hold_up_the_list(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits, read = threading.Event(), listing.read_headlines
    monkeypatch.setattr(listing, "PATIENCE", 0.01)
    monkeypatch.setattr(listing, "read_headlines", lambda folder: waits.wait(60) and read(folder))
    app = application(root)
    assert "still being read" in send(app, "/").text
    waits.set()
    assert all("main number" in row.text for row in listed(app))


def test_a_run_whose_numbers_cannot_be_read_is_in_the_list(app: ASGIApp, root: Path) -> None:
    os.truncate(root / "before" / "plain" / "results.json", 50)
    (root / "after" / "debiased" / "gate.json").write_text("{")
    assert ["cannot be read: open it for the reason" in row.text for row in listed(app)] == [True, True]


def test_with_no_runs_it_says_how_to_make_one(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "not yet"):
        page = send(application(folder), "/")
        assert page.status == 200
        assert f"evenhand audit --out {public_path(folder)}" in page.text


def test_a_list_of_large_runs_reads_their_records_alone(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        run = served.copied(root / "before" / "plain", tmp_path / "many" / str(number))
        for name in ("results.json", "scores.parquet", "items.parquet"):
            os.truncate(run / name, 10**9)  # sparse: to read them would take minutes
    app, opened, plainly = application(tmp_path / "many"), set[str](), Path.open

    def noting(path: Path, *how: Any, **more: Any) -> Any:
        opened.add(path.name)
        return plainly(path, *how, **more)

    monkeypatch.setattr(pd, "read_parquet", None)
    monkeypatch.setattr(Path, "open", noting)
    assert "50 of 50 runs" in send(app, "/").text
    assert opened == {"run.json"}


@pytest.mark.parametrize(
    ("harm", "badge", "why"),
    [
        (lambda run: (run / "run.json").unlink(), "unfinished", "Resume it with the same command"),
        (lambda run: (run / "run.json").rename(run / ".lock"), "unfinished", "The audit is running, or was killed"),
        (lambda run: os.truncate(run / "run.json", 400), "damaged", "cannot be read"),
        (lambda run: (run / "run.json").write_text("[" * 10**5), "damaged", "nested"),
        (lambda run: (run / "run.json").write_bytes(b"\xff\xfe"), "damaged", "cannot be read"),
        (lambda run: served.changed(run, schema=99), "of a newer version", "Upgrade evenhand"),
        (lambda run: served.changed(run, audits="all"), "damaged", "audits should be a valid"),
        (lambda run: served.changed(run, sha256=[]), "damaged", "sha256 should be an object"),
        (lambda run: os.truncate(run / "run.json", listing.LARGEST + 1), "damaged", "no audit writes"),
        (lambda run: (run / "scores.parquet").unlink(), "damaged", "evenhand rescore"),
        (lambda run: os.truncate(run / "results.json", 0), "damaged", "missing or empty"),
    ],
)
def test_a_bad_run_is_shown_as_such_and_opens_nothing(root: Path, harm: Any, badge: str, why: str) -> None:
    app, run = application(root), ids(root)["before/plain"]
    harm(root / "before" / "plain")
    page = send(app, "/").text
    assert "2 of 2 runs" in page
    assert badge in page
    assert why in page
    answer = send(app, f"/runs/{run}")
    assert answer.status == 422
    assert why in answer.text


@pytest.mark.usefixtures("pages")
def test_a_run_opens_with_the_page_that_it_has(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, app = root / "before" / "plain", application(root)
    address = f"/runs/{ids(root)['before/plain']}"
    page = Run.load(run).report().read_text()
    monkeypatch.setattr(pages, "_page", lambda paths, stamps: "<body>made again")
    assert send(app, address).text == page.replace('<body class="one">', f'<body class="one">{pages.BACK}')

    def told(text: str) -> str:
        (run / "report.html").write_text(text)
        return send(app, address).text

    made = f"<body>{pages.BACK}made again"
    for harm in (
        '<meta http-equiv="refresh" content="0; url=https://evil.example">',
        "<META/http-equiv=refresh>",
        '<a href="https://evil.example">',
        '<svg><a xlink:href="https://evil.example">',
        '<a\nhref="#x" ping="https://evil.example">',
    ):
        assert told(page.replace("</main>", f"{harm}</main>")) == made, harm
    for old, new in (
        ("style-src ", "style-src * "),
        ("script-src ", "script-src data: "),
        ("default-src", "other-src"),
        ("form-action", "img-src"),
        ("base-uri &#39;none&#39;", "connect-src https:"),
        ("Content-Security-Policy", "Content-Security-Policy-Report-Only"),
        ("no-referrer", "unsafe-url"),
    ):
        assert old in page
        assert told(page.replace(old, new)) == made, new
    assert told(page) != made
    os.utime(run / "report.html", (0, 0))  # the results are newer
    assert send(app, address).text == made
    assert told(page) != made
    served.changed(run, evenhand="0.1.0")  # it was another version
    assert told(page) == made


def test_a_run_with_cut_results_says_so_when_it_is_opened(app: ASGIApp, root: Path) -> None:
    os.truncate(root / "before" / "plain" / "scores.parquet", 500)
    answer = send(app, f"/runs/{ids(root)['before/plain']}")
    assert answer.status == 422
    assert f"evenhand rescore {public_path(root)}/before/plain" in answer.text


# Compare


def test_two_runs_are_compared(app: ASGIApp, root: Path) -> None:
    run = ids(root)
    page = send(app, "/compare", query=f"run={run['before/plain']}&run={run['after/debiased']}")
    assert page.status == 200
    assert "likelihood-lean" in page.text
    assert page.text.count('<svg class="drawn"') >= 2
    assert f"/runs/{run['before/plain']},{run['after/debiased']}" in page.text


def test_two_different_runs_are_chosen_to_begin_with(root: Path) -> None:
    served.changed(served.copied(root / "before" / "plain", root / "latest"), started="2999-01-01")
    other = root / "latest" / "run.json"
    other.write_text(other.read_text().replace('"tgb"', '"something else"'))
    whole = served.changed(served.copied(root / "before" / "plain", root / "whole"), started="2998-01-01")
    (whole / "run.json").write_text((whole / "run.json").read_text().replace('"partial": true', '"partial": false'))
    page = parsed(send(application(root), "/compare").text)
    chosen = [[o.text for o in s.all("option") if "selected" in o.attributes] for s in page.all("select")]
    assert chosen == [["plain · before/plain"], ["debiased · after/debiased"]]


def test_a_comparison_says_what_moved(app: ASGIApp, root: Path) -> None:
    run = ids(root)
    page = parsed(send(app, "/compare", query=f"run={run['before/plain']}&run={run['after/debiased']}").text)
    frame = compare(root / "before" / "plain", root / "after" / "debiased").frame
    judged = frame[frame["needed"] > 0]  # not those that mix stereotype and default
    assert 0 < len(judged) < len(frame)
    assert [row.one("td.words").text for row in page.one("tbody").all("tr")] == [
        m or "not shown" for m in judged["moved"]
    ]
    assert f"{(judged['moved'] != '').sum()} of {len(judged)} rows moved" in page.text


def test_what_cannot_be_compared_says_why(app: ASGIApp, root: Path) -> None:
    run = ids(root)
    one = f"run={run['before/plain']}"
    for query, status, why in (
        ("", 200, "Compare two runs"),
        (one, 400, "Choose two different runs. Got 1"),
        (f"{one}&{one}", 400, "Choose two different runs. Got 1"),
        (f"{one}&run={'0' * 16}", 404, "nothing here"),
        (f"{one}&run=../../secret.txt", 404, "nothing here"),
    ):
        answer = send(app, "/compare", query=query)
        assert (answer.status, why in answer.text) == (status, True), query
    after = root / "after" / "debiased"
    tasks = json.loads((after / "run.json").read_text())["audits"][0]["tasks"]
    served.changed(after, tasks=[{**task, "dataset_version": 99} for task in tasks])
    answer = send(app, "/compare", query=f"{one}&run={run['after/debiased']}")
    assert answer.status == 400
    assert "were not measured in the same way" in answer.text


# Probe


def test_a_probe_draws_a_bar_for_each_word_and_the_ten_likeliest(app: ASGIApp) -> None:
    page = probe(app, text="The ___ left.", words="a, b,, qqq\nb", model="mini-en", other="mini-en-nli")
    assert page.status == 400  # a model of inference fills no blanks
    page = probe(app, text="The ___ left.", words="a, b,, qqq\nb", model="mini-en", other="")
    asked, likeliest = (table.one("tbody").all("tr") for table in parsed(page.text).all("table.bars"))
    assert [row.one("th").text for row in asked] == ["a", "b", "qqq"]
    assert [row.one("th").text for row in likeliest] == list("abcdefghij")
    assert [row.one("rect").attributes["width"] for row in asked] == ["100.00", "36.79", "0.00"]  # e to the -1
    assert [row.one("td").text for row in asked] == ["36.8 %-1.00 nats", "13.5 %-2.00 nats", "unknown word"]


def test_a_sentence_stands_next_to_the_one_with_the_other_gender(app: ASGIApp) -> None:
    page = parsed(probe(app, text="His wife is a [MASK].", words="a").text)
    (sides,) = page.all("div.sides")
    assert [part.one("h3").text for part in sides.all("section")] == [
        "His wife is a [MASK].",
        "Her husband is a [MASK].",
    ]
    assert len(sides.all("table.bars")) == 4
    assert [part.text for part in parsed(probe(app, text="A [MASK].", words="a").text).all("h3")] == ["A [MASK]."]


def test_the_link_of_a_probe_shows_it_again(app: ASGIApp) -> None:
    page = probe(app, text="She & he: ___", words="a,b", model="mini-en").text
    (link,) = [a for a in parsed(page).all("a") if a.text == "Link to this probe"]
    path, _, query = link.attributes["href"].partition("?")
    assert (path, send(app, path, query=query).text) == ("/probe", page)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"text": "No blank."}, "one blank, written [MASK] or ___. Got none"),
        ({"text": "[MASK] and ___."}, "Got 2"),
        ({"text": ""}, "Got none"),
        ({"text": "___" + "x" * 2000}, "at most 2,000 characters"),
        ({"words": " , "}, "There are no words"),
        ({"words": ",".join(map(str, range(51)))}, "At most 50 words at a time. Got 51"),
        ({"words": "x" * 101}, "at most 100 characters"),
        ({"model": "/etc"}, "Unknown model '/etc'"),
        ({"model": "google-bert/bert-base-uncased"}, "Unknown model"),
        ({"other": "../secret.txt"}, "Unknown model"),
        ({"model": SCRIPT}, "Unknown model"),
    ],
)
def test_a_probe_that_cannot_be_asked_says_why(app: ASGIApp, fields: dict[str, str], why: str) -> None:
    answer = probe(app, **{"text": "___ left.", "words": "he", "model": "mini-en"} | fields)
    assert answer.status == 400
    assert why in unescape(answer.text)
    assert SCRIPT not in answer.text


def test_models_are_those_with_a_name_and_those_given() -> None:
    probe = probing.ProbedModels(["some/model"])
    assert probe.names[0] == "some/model"
    assert "mini-en" in probe.names
    assert "mini-en-nli" not in probe.names


# Swap


def test_a_swap_marks_each_change_and_names_its_rule(app: ASGIApp) -> None:
    page = post(app, "/swap", text="He saw her.\r\n Mary Smith <left>.", names="on").text
    assert '<del>He</del><ins>She</ins><small class="rule">pronoun</small>' in page
    assert '<del>her</del><ins>him</ins><small class="rule">her: object</small>' in page
    assert "<ins>John</ins>" in page
    assert "Smith &lt;left&gt;." in page
    assert "<ins>John</ins>" not in post(app, "/swap", text="He saw her. Mary Smith left.").text
    assert "nothing to change" in post(app, "/swap", text="They left.").text


def test_a_swap_that_cannot_be_done_says_why(app: ASGIApp) -> None:
    assert "There is no text" in post(app, "/swap", text=" ").text
    assert "There is no text" in post(app, "/swap").text
    answer = post(app, "/swap", text="x" * 20_001)
    assert answer.status == 400
    assert "Got 20,001" in answer.text


def test_every_rule_has_its_words() -> None:
    from evenhand.datasets.gendered import lexicon
    from evenhand.web.app import RULES

    assert {words.kind for words in lexicon()} | {"name"} <= set(RULES)


# What runs, forms and addresses say is text, never markup


def test_names_in_runs_are_escaped(root: Path) -> None:
    before = root / "before" / "plain"
    (audit,) = json.loads((before / "run.json").read_text())["audits"]
    served.changed(before, model=SCRIPT, audits=[audit | {"started": SCRIPT, "evenhand": SCRIPT}])
    run = served.copied(root / "after" / "debiased", root / f"<img src=x onerror={'x' * 9}>")
    record = json.loads((run / "run.json").read_text())
    record["audits"][0]["tasks"][0]["dataset"] = '"><svg/onload=alert(1)>'
    (run / "run.json").write_text(json.dumps(record))
    app = application(root)
    pages = [send(app, "/"), send(app, "/compare"), *(send(app, f"/runs/{id}") for id in ids(root).values())]
    for page in pages:
        assert SCRIPT not in page.text
        assert "<img src=x" not in page.text
        assert "<svg/onload" not in page.text
    assert escape(SCRIPT) in pages[0].text


def test_what_was_typed_is_escaped(app: ASGIApp) -> None:
    for page in (
        send(app, "/", query="q=%3Cscript%3Ealert(1)%3C/script%3E"),
        probe(app, text=f"___ {SCRIPT}", words=f"he,{SCRIPT}"),
        post(app, "/swap", text=f"he{SCRIPT}</textarea>{SCRIPT}"),
        send(app, f"/{SCRIPT}"),
        send(app, "/compare", query="run=%3Cscript%3Ealert(1)%3C/script%3E"),
    ):
        assert SCRIPT not in page.text
        assert "script-src 'self'" in page.header("content-security-policy")


def test_half_characters_do_not_break_the_list(root: Path) -> None:
    served.changed(root / "before" / "plain", model="\ud800")
    (root / "after").rename(root / os.fsdecode(b"\xff"))
    page = send(application(root), "/")
    assert page.status == 200
    assert "2 of 2 runs" in page.text


# Nothing outside of the folder


@pytest.mark.parametrize(
    "path",
    [
        *("/runs/../../secret.txt", "/runs/..%2f..%2fsecret.txt", "/runs/%252e%252e%252fsecret.txt"),
        *("/runs/....//secret.txt", "/runs/..\\secret.txt", "/runs/\x00", "/runs/", "/runs/.", "/runs/,"),
        *("/runs/before/plain/run.json", "/runs/0000000000000000", "/runs/x\r\nX-Evil: 1"),
        *("/static/../app.py", "/static/..%2fapp.py", "/static/", "/static", "/static/templates/base.html"),
        *("//secret.txt", "/../secret.txt", "/etc/passwd", "/secret.txt"),
    ],
)
def test_no_path_leads_anywhere(app: ASGIApp, path: str) -> None:
    answer = send(app, path)
    assert answer.status == 404
    assert SECRET not in answer.text
    assert not answer.header("x-evil")


def test_links_that_lead_out_are_not_followed(root: Path, tmp_path: Path) -> None:
    outside = served.copied(root / "before" / "plain", tmp_path / "outside")
    (root / "linked").symlink_to(outside)
    (root / "circle").symlink_to(root)
    (root / "inside").mkdir()
    (root / "inside" / "run.json").symlink_to(outside / "run.json")
    stolen = served.copied(outside, root / "stolen")
    (stolen / "results.json").unlink()
    (stolen / "results.json").symlink_to(tmp_path / "secret.txt")
    found = ids(root)
    assert set(found) == {"before/plain", "after/debiased", "inside", "stolen"}
    app = application(root)
    assert send(app, "/").text.count("is a link to a place outside") == 2
    for name in ("inside", "stolen"):
        answer = send(app, f"/runs/{found[name]}")
        assert answer.status == 422
        assert SECRET not in answer.text


def test_the_record_above_a_run_may_not_be_a_link_out(root: Path, tmp_path: Path) -> None:
    (root / "debias.json").symlink_to(tmp_path / "secret.txt")
    assert send(application(root), "/").text.count("is a link to a place outside") == 2


@pytest.mark.parametrize("name", ["run.json", "results.json", "gate.json", "notes"])
def test_a_link_to_itself_damages_its_run_and_no_other(root: Path, name: str) -> None:
    run = root / "before" / "plain"
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(name)
    app, found = application(root), ids(root)
    page = send(app, "/")
    assert (page.status, page.text.count("damaged")) == (200, 2)  # the row's class and its badge
    assert f"{name} is not a file" in page.text
    assert send(app, "/compare").status == 200
    for path, query in (
        (f"/runs/{found['before/plain']}", ""),
        ("/compare", "&".join(f"run={i}" for i in found.values())),
    ):
        answer = send(app, path, query=query)
        assert (answer.status in (400, 422), f"{name} is not a file" in answer.text) == (True, True)


def test_a_link_that_stays_inside_is_fine(root: Path) -> None:
    run = root / "before" / "plain"
    (run / "items.parquet").rename(root / "items.parquet")
    (run / "items.parquet").symlink_to(root / "items.parquet")
    assert send(application(root), f"/runs/{ids(root)['before/plain']}").status == 200


def test_a_record_that_vouches_for_files_elsewhere_is_refused(root: Path) -> None:
    run = served.changed(root / "before" / "plain", sha256={"../../../secret.txt": "0" * 64})
    assert "does not list the files" in send(application(root), "/").text
    served.changed(run, sha256={str(root.parent / "secret.txt"): "0" * 64})
    assert "does not list the files" in send(application(root), "/").text


def test_a_pipe_does_not_make_it_wait(root: Path) -> None:
    os.mkfifo(root / "before" / "plain" / "gate.json")
    (root / "after" / "debiased" / "run.json").unlink()
    os.mkfifo(root / "after" / "debiased" / "run.json")
    assert send(application(root), "/").text.count("is not a file") == 2


# Who may ask


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8040", "127.0.0.1.evil.example", "x@127.0.0.1", "127.0.0.1:80:80", "10.0.0.7"),
        *("", " ", "localhost.", "[::1", "127.0.0.1/", "127.0.0.1#", "2130706433", "\u0142ocalhost"),
    ],
)
def test_other_names_are_refused(app: ASGIApp, host: str) -> None:
    answer = send(app, "/", headers=[("host", host)])
    assert answer.status == 421
    assert "before/plain" not in answer.text


def test_own_names_are_answered(app: ASGIApp) -> None:
    for host in ("127.0.0.1", "localhost:8040", "LOCALHOST", "[::1]:8040"):
        assert send(app, "/", headers=[("host", host)]).status == 200
    assert send(app, "/", headers=[]).status == 421
    assert send(app, "/", headers=[("host", HOST), ("host", "evil.example")]).status == 421


def test_on_other_hosts_addresses_are_names_too(root: Path) -> None:
    app = application(root, hosts=Hosts({"box"}, addresses=True))
    for host, status in (("box:8040", 200), ("10.0.0.7:8040", 200), ("[fe80::1]", 200), ("evil.example", 421)):
        assert send(app, "/", headers=[("host", host)]).status == status


@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://evil.example", f"http://{HOST}.evil.example", f"ftp://{HOST}", f"http://{HOST}/", ""],
)
def test_forms_of_other_pages_are_refused(app: ASGIApp, origin: str | None) -> None:
    headers = {**FORM, "origin": origin} if origin is not None else {k: v for k, v in FORM.items() if k != "origin"}
    for path in ("/swap", "/probe"):
        answer = post(app, path, headers, text="he ___", words="he")
        assert answer.status == 403
        assert "<ins>" not in answer.text


def test_the_token_is_asked_for_and_kept_as_a_cookie(root: Path) -> None:
    app = application(root, token=TOKEN)
    for headers, query in (
        ({}, ""),
        ({}, "token=wrong"),
        ({}, "token="),
        ({}, f"token={TOKEN[:-1]}"),
        ({}, "token=%F0%9F%92%A9"),
        ({"authorization": "Bearer wrong"}, ""),
        ({"authorization": f"Basic {TOKEN}x"}, ""),
        ({"cookie": f"{COOKIE}=wrong"}, ""),
        ({"cookie": f"other={TOKEN}"}, ""),
        ({"cookie": "=;;;\x7f=("}, ""),
    ):
        answer = send(app, "/", headers=HERE | headers, query=query)
        assert answer.status == 401
        assert "before/plain" not in answer.text
        assert TOKEN not in answer.text
    entered = send(app, "//evil.example/", headers=HERE, query=f"token={TOKEN}")
    assert (entered.status, entered.header("location")) == (303, "/evil.example/")
    back = send(app, "/\\/evil.example", headers=HERE, query=f"token={TOKEN}")
    assert back.header("location") == "/evil.example"
    cookie = entered.header("set-cookie")
    assert "httponly" in cookie.lower()
    assert "samesite=lax" in cookie.lower()
    assert send(app, "/", headers=HERE | {"cookie": cookie.partition(";")[0]}).status == 200
    assert send(app, "/", headers=HERE | {"authorization": f"Bearer {TOKEN}"}).status == 200
    assert send(app, "/static/style.css", headers=HERE).status == 200  # what everybody can install
    assert post(app, "/swap", FORM, text="he").status == 401


def test_a_link_is_still_known_after_the_token(root: Path) -> None:
    app = application(root, token=TOKEN)
    form = parsed(send(app, "/probe", headers=HERE, query="text=%22___&words=a").text).one("form")
    assert form.attributes["action"] == "/probe"
    hidden = {i.attributes["name"]: i.attributes["value"] for i in form.all("input") if "value" in i.attributes}
    assert hidden == {"text": '"___', "words": "a"}
    entered = send(app, "/probe", headers=HERE, query=f"text=%22___&token={TOKEN}&words=a")
    assert entered.header("location") == "/probe?text=%22___&words=a"


def test_pages_of_other_sites_can_lead_here_but_not_ask(app: ASGIApp) -> None:
    elsewhere = HERE | {"sec-fetch-site": "cross-site"}
    assert send(app, "/probe", headers=elsewhere | {"sec-fetch-mode": "navigate"}).status == 200
    assert send(app, "/probe", headers=elsewhere | {"sec-fetch-mode": "no-cors"}).status == 403


# What may be sent


def test_large_bodies_are_refused_however_they_come(app: ASGIApp) -> None:
    declared = {**FORM, "content-length": str(LARGEST_BODY + 1)}
    assert send(app, "/swap", method="POST", headers=declared, body=[b"text=he"]).status == 413
    read = []

    def chunks() -> Any:
        for number in range(10_000):
            read.append(number)
            yield b"x" * 100_000

    assert send(app, "/swap", method="POST", headers=FORM, body=chunks()).status == 413
    assert len(read) < 20  # the rest was not waited for
    lying = {**FORM, "content-length": "7"}
    assert send(app, "/swap", method="POST", headers=lying, body=[b"x" * 10**6] * 2).status == 413
    assert send(app, "/", headers=declared).status == 413


@pytest.mark.parametrize(
    ("content", "body", "status"),
    [
        ("application/json", b'{"text": "he"}', 415),
        ("application/json", b"{", 415),
        ("multipart/form-data; boundary=x", b"--x", 415),
        ("", b"text=he", 415),
        ("application/x-www-form-urlencoded", b"&".join([b"a=1"] * 50), 400),
        ("application/x-www-form-urlencoded", b"\xff\xfe%ff%00=%zz&text=%", 200),
        ("Application/X-WWW-Form-Urlencoded; charset=utf-8", b"text=he&text=she", 200),
    ],
)
def test_forms_are_all_that_can_be_sent(app: ASGIApp, content: str, body: bytes, status: int) -> None:
    answer = send(app, "/swap", method="POST", headers={**HERE, "content-type": content}, body=[body])
    assert answer.status == status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_other_methods_are_refused(app: ASGIApp, method: str) -> None:
    for path in ("/", "/compare", "/static/style.css"):
        assert send(app, path, method=method, headers=HERE).status == 405


# What every answer says


def test_every_answer_tells_the_browser_to_be_strict(app: ASGIApp, root: Path) -> None:
    run = ids(root)["before/plain"]
    answers = [
        send(app, path) for path in ("/", f"/runs/{run}", "/nothing", "/static/forms.js", "/probe", "/favicon.ico")
    ]
    answers += [send(app, "/", headers=[("host", "evil.example")]), post(app, "/swap", text="he")]
    answers.append(send(app, "/swap", method="POST", headers=FORM, body=[b"x" * 10**6] * 2))
    for answer in answers:
        policy = answer.header("content-security-policy")
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("referrer-policy") == "same-origin"
        assert answer.header("cache-control") == "no-store"
    assert "sandbox" in answers[1].header("content-security-policy")


def test_a_fault_shows_no_traceback(app: ASGIApp, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(runs: Runs) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr(Runs, "all", fault)
    answer = send(app, "/")
    assert answer.status == 500
    assert SECRET not in answer.text
    assert "Traceback" not in answer.text
    assert "default-src 'none'" in answer.header("content-security-policy")


def test_runs_of_different_samples_are_not_compared_here(tmp_path: Path) -> None:
    whole, part = (audited(tmp_path, f"{limit}", 1.0, limit=limit, measure="likelihood-lean") for limit in (None, 20))
    with pytest.raises(BadInput, match="different samples"):
        pages.comparison_tables(whole, part)
