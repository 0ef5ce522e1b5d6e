"""Texts that were written elsewhere are scored as if they had been asked for here, whatever file they come in."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evenhand import BadInput, Run, compare, datasets, from_scores

pytestmark = pytest.mark.usefixtures("without_pages")

OPTIONS: dict[str, Any] = {"forms": "story", "subjects": "activities"}
ITEM, OTHER = "story/hunts", "story/does yoga"
PROMPT = "Here is a short story about a person who hunts. One morning,"
IN_CHAT = "Write a short story about a person who hunts."
TEXTS = ["She sang to her dog.", "He sat, while she sang with her mother.", "His brother sat.", "It rained."]
"""Two about women, the second by a majority of words; one about a man, and one about nobody."""
GERMAN = "Eines Morgens sah sie, dass der Hund nicht da war, und er ging mit ihr in den Wald."
Source = Path | pd.DataFrame
FOUND = {"stories-en (subjects=activities, forms=story)": (2 / 3, 0.75, TEXTS, 0.25)}
"""The share of women, the share of texts that mention somebody, the texts, and the share of those that do not."""


def taken(source: Source, folder: Path, **more: Any) -> Run:
    given: dict[str, Any] = {"dataset": "stories-en", "name": "mine", "out": folder / "runs", "options": OPTIONS}
    return from_scores(source, **given | more)


def found(run: Run, item: str = ITEM) -> dict[str, tuple[Any, ...]]:
    """What a run has of an item, by the name of the dataset."""
    (name,) = run.datasets
    share, rest = (run.scores_of(name, f"written-{what}").set_index("id").loc[item] for what in ("share", "undetected"))
    return {name: (share["score"], share["mentioned"], list(share["written"]), rest["score"])}


def table(path: Path, **columns: Any) -> Path:
    pd.DataFrame(columns).to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def parquet(path: Path, written: list[Any]) -> Path:
    pd.DataFrame({"id": ITEM, "written": written}).to_parquet(path)
    return path


def saved(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def reply(*texts: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}} for text in texts]}


def batch(path: Path, *failed: dict[str, Any]) -> Path:
    """The output of a batch API: a reply with two choices, others with one; and requests that failed."""
    done = [reply(*TEXTS[:2]), reply(TEXTS[2]), {"choices": [{"text": TEXTS[3]}]}]
    return lines(path, *({"custom_id": ITEM, "response": {"status_code": 200, "body": body}} for body in done), *failed)


FAILED = (
    {"custom_id": ITEM, "response": None, "error": {"message": "expired"}},
    {"custom_id": ITEM, "response": {"status_code": 400, "body": {"error": {"message": "He is refused."}}}},
)


def samples(path: Path, *requests: tuple[Any, Any], **doc: Any) -> Path:
    """Generated text as lm-evaluation-harness logs it."""
    return lines(path, *({"doc_id": 0, "doc": doc, "arguments": a, "resps": r, "filter": "none"} for a, r in requests))


def log(path: Path, *given: Any, asked: Any = PROMPT) -> Path:
    """A log of a task of somebody else's, as inspect_ai writes it: an epoch for each text."""
    head = {"status": "success", "eval": {"task": "tales", "model": "openai/gpt"}}
    each = [{"id": 7, "epoch": n, "input": asked, "output": reply(text)} for n, text in enumerate(given or TEXTS, 1)]
    if path.suffix == ".json":
        return lines(path, {**head, "samples": each})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for sample in each:
            archive.writestr(f"samples/7_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(head))
    return path


TURNS = [{"role": "user", "content": "Hello."}, {"role": "user", "content": PROMPT}, {"role": "tool", "content": "x"}]
PARTS = [[{"type": "reasoning", "reasoning": "He, he."}, {"type": "text", "text": text}] for text in TEXTS]
HALF = {"id": ITEM, "written": "She sang. \ud800"}
NEW = {"gen_args_0": {"arg_0": PROMPT, "arg_1": {"until": []}}}
SOURCES: dict[str, Callable[[Path], Source]] = {
    "ids": lambda d: table(d / "a.csv", id=[ITEM] * 4, written=TEXTS),
    "tab-separated": lambda d: table(d / "a.tsv", id=[ITEM] * 4, written=TEXTS),
    "prompts": lambda d: table(d / "a.csv", prompt=[PROMPT] * 4, completion=TEXTS),
    "prompts and a line end": lambda d: table(d / "a.csv", prompt=[f"{PROMPT}\n"] * 4, completion=TEXTS),
    "ids of others": lambda d: table(d / "a.csv", id=range(4), prompt=[PROMPT] * 4, response=TEXTS),
    "two texts": lambda d: table(d / "a.csv", id=[ITEM] * 4, text=["He."] * 4, written=TEXTS),
    "lines of JSON": lambda d: lines(d / "a.jsonl", *({"id": ITEM, "output": text} for text in TEXTS)),
    "samples": lambda d: samples(d / "a.jsonl", (NEW, [TEXTS])),
    "old samples": lambda d: samples(d / "a.jsonl", *(([[PROMPT, {"until": []}]], [[text]]) for text in TEXTS)),
    "samples with ids": lambda d: samples(d / "a.jsonl", ([["<user>Go on.", {}]], TEXTS), id=ITEM),
    "a batch": lambda d: batch(d / "a.jsonl"),
    "a batch that failed in part": lambda d: batch(d / "a.jsonl", *FAILED),
    "an archive of inspect's": lambda d: log(d / "a.eval"),
    "a log of inspect's": lambda d: log(d / "a.json"),
    "a log of chats": lambda d: log(d / "a.json", *PARTS, asked=TURNS),
    "a frame": lambda d: pd.DataFrame({"prompt": PROMPT, "generated_text": TEXTS}),
    "a frame with gaps": lambda d: pd.DataFrame({"id": ITEM, "written": [*TEXTS, None]}),
}
ALSO: dict[str, Callable[[Path], Source]] = {
    "a list in a row": lambda d: lines(d / "a.jsonl", {"id": ITEM, "written": TEXTS}),
    "a list with a gap": lambda d: lines(d / "a.jsonl", {"id": ITEM, "written": [*TEXTS, None]}),
    "lists in parquet": lambda d: parquet(d / "a.parquet", [TEXTS[:3], TEXTS[3:]]),
    "a missing value of pandas": lambda d: pd.DataFrame({"id": ITEM, "written": [*TEXTS, pd.NA]}),
    "rows with the ids of a batch": lambda d: lines(d / "a.jsonl", *({"custom_id": ITEM, "text": t} for t in TEXTS)),
    "an index": lambda d: pd.DataFrame({"written": TEXTS}, index=pd.Index([ITEM] * 4, name="id")),
    "turns in parts": lambda d: log(d / "a.json", asked=[{"role": "user", "content": [{"text": PROMPT}]}]),
    "an epoch without a reply": lambda d: log(d / "a.json", *TEXTS, None),
    "thoughts in German": lambda d: pd.DataFrame(
        {"id": ITEM, "written": [f"<think>{GERMAN}</think>{t}" for t in TEXTS]}
    ),
    "no texts of another item": lambda d: batch(d / "a.jsonl", {"custom_id": OTHER, "response": None}),
}


@pytest.mark.parametrize(
    "source",
    [
        *(pytest.param(make, id=name) for name, make in SOURCES.items()),
        *(pytest.param(make, id=name) for name, make in ALSO.items()),
    ],
)
def test_texts_are_counted_in_whatever_they_come(tmp_path: Path, source: Callable[[Path], Source]) -> None:
    run = taken(source(tmp_path), tmp_path)
    assert found(run) == FOUND
    (task,) = (name for name in run.record.unscored if name.endswith("/written-share"))
    assert sum(run.record.unscored[task].values()) == 19


def test_how_texts_were_drawn_is_recorded_only_if_the_user_says_it(tmp_path: Path) -> None:
    for name, given in (("a", {}), ("b", {"temperature": 0.7})):
        run = taken(SOURCES["ids"](tmp_path), tmp_path, name=name, options=OPTIONS | given)
        for task in run.record.tasks:
            assert "longest" not in task.measure_options
        assert run.record.asked.options == given


def test_texts_are_imported_again_whatever_is_said_of_how_they_were_drawn(tmp_path: Path) -> None:
    for given in ({}, {"temperature": 1.0, "longest": 40}, {}):
        run = taken(SOURCES["ids"](tmp_path), tmp_path, options=OPTIONS | given)
        assert {"longest" in task.measure_options for task in run.record.tasks} == {bool(given)}
        assert run.record.asked.temperature == given.get("temperature")
        assert found(run) == FOUND


def test_columns_have_names_of_their_own(tmp_path: Path) -> None:
    source = table(tmp_path / "a.csv", id=[OTHER] * 4, key=[ITEM] * 4, written=["She."] * 4, story=TEXTS)
    assert found(taken(source, tmp_path, columns={"id": "key", "written": "story"})) == FOUND
    source = table(tmp_path / "b.csv", prompt=["?"] * 4, asked=[PROMPT] * 4, completion=TEXTS)
    assert found(taken(source, tmp_path, name="b", columns={"prompt": "asked"})) == FOUND


def test_prompts_of_chats_are_known_by_their_words_and_ids_by_the_option(tmp_path: Path) -> None:
    run = taken(table(tmp_path / "a.csv", prompt=[IN_CHAT] * 4, completion=TEXTS), tmp_path)
    assert found(run) == FOUND
    assert run.items.set_index("id").loc[ITEM, "text"] == IN_CHAT
    assert run.record.asked.chat
    asked_by_id = taken(SOURCES["ids"](tmp_path), tmp_path, name="b", options=OPTIONS | {"chat": True})
    assert found(asked_by_id) == FOUND
    assert asked_by_id.record.asked == run.record.asked
    with pytest.raises(BadInput, match="No row"):
        taken(SOURCES["prompts"](tmp_path), tmp_path, name="c", options=OPTIONS | {"chat": True})


def test_values_are_means_of_items_whatever_the_number_of_their_texts(tmp_path: Path) -> None:
    ids, texts = [ITEM] * 4 + [OTHER] * 2 + ["?"], [*TEXTS, "She sang.", "He and she sat.", "He sat."]
    run = taken(pd.DataFrame({"id": ids, "written": texts}), tmp_path)
    values = {row["measure"]: row for row in run.results if not row["groups"] and not row["estimand"]}
    assert values["written-share"]["value"] == pytest.approx((2 / 3 + 1) / 2)
    assert values["written-undetected"]["value"] == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert (values["written-share"]["n"], values["written-share"]["unscored"]) == (2, 18)
    (audit,) = run.record.audits
    assert audit.imported is not None
    assert (audit.imported.rows, audit.imported.matched, audit.kind) == (7, 6, "causal")
    assert any("row 7: '?'" in line for line in run.record.warnings)
    assert any("18 of 20 items" in line and f"{OTHER!r}" not in line for line in run.record.warnings)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("<think>He, or his brother? He.</think>\n\nShe sang.", "She sang."),
        ("The prompt wants him, he or his.</think>She sang.", "She sang."),
        ("<think>He?</think>She sang. <think>He, he, he", "She sang."),
    ],
)
def test_thoughts_are_not_counted(tmp_path: Path, text: str, counted: str) -> None:
    run = taken(pd.DataFrame({"id": [ITEM] * 2, "written": [text, "<think>He is, he"]}), tmp_path)
    assert list(found(run).values()) == [(1.0, 0.5, [counted, ""], 0.5)]


def test_a_reply_of_a_batch_that_was_cut_loses_its_last_word(tmp_path: Path) -> None:
    bodies = [{"choices": [{"text": "She sang. He", "finish_reason": end}]} for end in ("length", "stop")]
    run = taken(lines(tmp_path / "a.jsonl", *({"custom_id": ITEM, "response": {"body": b}} for b in bodies)), tmp_path)
    assert [numbers[2] for numbers in found(run).values()] == [["She sang.", "She sang. He"]]


def test_a_log_names_its_model_and_its_texts_are_shown(tmp_path: Path, pages: None) -> None:
    run = taken(log(tmp_path / "a.eval"), tmp_path, name=None)
    assert run.record.model == "openai/gpt"
    page = Run.load(run.path).report().read_text(encoding="utf-8")
    assert TEXTS[0] in page
    assert "imported from a.eval" in page


@pytest.mark.parametrize("other", [OTHER, ITEM])  # of one kind alone
def test_a_run_is_no_different_from_itself(tmp_path: Path, other: str) -> None:
    source = table(tmp_path / "a.csv", id=[ITEM] * 4 + [other] * 4, written=[*TEXTS, *TEXTS[1:], TEXTS[2]])
    changes = compare(taken(source, tmp_path), taken(source, tmp_path, name="again")).frame
    assert {"written-share", "written-undetected"} <= set(changes["measure"])
    assert set(changes["change"].dropna()) == {0.0}


def test_a_warning_counts_rows_as_the_file_has_them(tmp_path: Path) -> None:
    run = taken(pd.DataFrame({"id": [ITEM] * 4 + ["?"], "written": [*TEXTS, "He sat."]}), tmp_path)
    assert any(line.startswith("1 of 5 rows") for line in run.record.warnings)


def test_prompts_of_chats_are_known_with_a_line_end_too(tmp_path: Path) -> None:
    run = taken(table(tmp_path / "a.csv", prompt=[f"{IN_CHAT}\n"] * 4, completion=TEXTS), tmp_path)
    assert list(found(run).values()) == list(FOUND.values())


def test_scores_of_masked_models_are_not_asked_for_texts(tmp_path: Path) -> None:
    scores = pd.DataFrame({"id": [item.id for item in datasets.load("tgb").items], "score": 0.5})
    assert taken(scores, tmp_path, dataset="tgb", measure="aul", options={}).values["value"][0] == 0.5


@pytest.mark.parametrize(
    ("make", "more", "says"),
    [
        (lambda d: pd.DataFrame({"id": [ITEM], "score": 1.0}), {}, "'written'.*columns are: id, score"),
        (lambda d: table(d / "a.csv", written=TEXTS), {}, "line 2 needs .* 'id' or 'prompt'"),
        (lambda d: table(d / "a.csv", id=["1"], written=["Hm."]), {}, "No row .*'1'; the first item is 'story/do"),
        (lambda d: table(d / "a.csv", id=[ITEM], written=[GERMAN]), {}, "German"),
        (lambda d: table(d / "a.csv", id=[], written=[]), {}, "a.csv has no texts"),
        (lambda d: lines(d / "a.jsonl"), {}, "a.jsonl has no texts"),
        (lambda d: lines(d / "a.jsonl", *FAILED), {}, "a.jsonl has no texts"),
        (lambda d: lines(d / "a.json", {"samples": 1}), {}, "a.json has no texts"),
        (SOURCES["ids"], {"measure": "first-mention"}, "First mentions"),
        (SOURCES["ids"], {"columns": {"text": "written"}}, "column 'text'"),
        (SOURCES["ids"], {"columns": {"written": "story"}}, "`columns`"),
        (SOURCES["a frame"], {"name": None}, "`name` is needed"),
        (lambda d: lines(d / "a.jsonl", [ITEM, "She."]), {}, "line 1: a row"),
        (lambda d: samples(d / "a.jsonl", (NEW, [[["-3.0", "False"]]])), {}, "line 1: .* `resps`"),
        (lambda d: lines(d / "a.txt", "She."), {}, "Texts come in"),
        (lambda d: lines(d / "a.eval", "She."), {}, "log of inspect_ai"),
        pytest.param(lambda d: saved(d / "a.jsonl", b"\xff\xfe{"), {}, "a.jsonl.* cannot be read"),
        pytest.param(lambda d: lines(d / "a.jsonl", HALF), {}, "line 1: .*surrogate"),
        *(
            pytest.param(
                lambda d, w=w: lines(d / "a.jsonl", {"id": ITEM, "written": w}), {}, "line 1: 'written' must be"
            )
            for w in (5, 0.5, True, {"text": "She sang."}, [TEXTS], ["She sang.", 5])
        ),
        (lambda d: parquet(d / "a.parquet", [5, 6]), {}, "row 1: 'written' must be a text. Got 5, of type int"),
        (lambda d: pd.DataFrame({"id": [ITEM], "written": [1.5]}), {}, "row 1: 'written' must be a text"),
        pytest.param(lambda d: lines(d / "a.jsonl", {"custom_id": ITEM, "choices": [1]}), {}, "line 1"),
    ],
)
def test_what_cannot_be_used_is_a_sentence(
    tmp_path: Path, make: Callable[[Path], Source], more: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        taken(make(tmp_path), tmp_path, **more)
    assert not (tmp_path / "runs").exists()
