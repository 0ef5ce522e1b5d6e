"""The benchmarks compare like with like; what they take is no matter for a test."""

import json
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import transformers

from evenhand import Sentence, Triple, datasets
from evenhand.measures.association import Association
from evenhand.measures.stereoset import Icat
from evenhand.models import load_masked
from evenhand.models.networks.masked import MaskedLM
from evenhand.papers.bartl2020 import AsReleased
from helpers import made_stereoset
from helpers.clusters import Letters
from helpers.typed import all_of

sys.path.append(str(Path(__file__).parent.parent))

from benchmarks import becpro, causal, gpu, page, shapes, stereoset, swap, timing, unmasked, vectors, workers, writing
from benchmarks.rows import Row

WORDS = 16_384
"""The size of the bundled vocabulary, which is not filled up: that takes most of the time."""


def test_the_released_algorithm_and_our_engine_agree_on_the_released_inputs(mini_en: MaskedLM) -> None:
    some = datasets.load("becpro-en").items[3::193]  # all templates; some longer than 16 pieces, some with slips
    items = all_of(Sentence, some)
    questions = [question for item in items for question in Association("words").ask(item)]
    logps = [answer.logp for answer in AsReleased(mini_en).answer(questions)]
    ours = [seen - prior for seen, prior in zip(logps[::2], logps[1::2], strict=True)]
    columns = becpro.columns(items, mini_en.tokenizer.mask_token)
    assert becpro.released(mini_en.network, mini_en.tokenizer, columns) == pytest.approx(ours, abs=1e-4)


def test_stereosets_released_loop_and_our_engine_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    made_stereoset.write(tmp_path)
    folder = stereoset.with_head(tmp_path / "model")
    model = load_masked(folder)
    following = transformers.BertForNextSentencePrediction.from_pretrained(folder).eval()
    items = [item for item in all_of(Triple, datasets.load("stereoset").items) if stereoset.comparable(item)]
    assert len(items) == len(made_stereoset.ROWS) - 1  # one has its blank twice
    ours = [score for item in items for score in stereoset.scores(item, model.answer(Icat().ask(item)))]
    theirs = stereoset.released(model.network, following, model.tokenizer, items)
    assert theirs == pytest.approx(ours, abs=1e-5)


def test_work_in_shares_gives_the_same_answers(mini_en: MaskedLM) -> None:
    items = all_of(Sentence, datasets.load("becpro-en").items[::500])
    asked = becpro.questions(items, "pieces")
    shares = timing.Shares(mini_en, lambda: asked, 3)
    timing.in_turn(shares.parts())
    assert [shares.answers[i] for i in range(len(asked))] == mini_en.answer(asked)


@pytest.mark.parametrize("attention", [False, True])
def test_the_released_loop_of_aul_and_ours_agree(mini_en: MaskedLM, attention: bool) -> None:
    texts = ["She is a nurse.", "My father wants to become a carpenter."]
    usual = mini_en.network.config._attn_implementation
    mini_en.network.set_attn_implementation("eager")
    theirs = unmasked.released(mini_en.network, mini_en.tokenizer, texts, attention)
    mini_en.network.set_attn_implementation(usual)
    assert unmasked.ours(mini_en, texts, attention) == pytest.approx(theirs, abs=1e-5)


def test_the_gpu_script_asks_what_the_association_asks() -> None:
    items = all_of(Sentence, datasets.load("becpro-en").items)
    assert set(gpu.becpro_questions()) == set(becpro.questions(items, "pieces"))


def test_answers_that_differ_stop_the_run() -> None:
    row = Row("this: that", ours=1.0, peer=3.0, ratio=3.0, goal=2, difference=0.5)
    assert row.met
    with pytest.raises(SystemExit, match="0.5.*0.0001"):
        row.check()
    assert not Row("memory", ours=3.0, unit="GB", goal=2).met
    assert "3.0x; largest difference 5.0e-01; goal 2x: met" in page.line(row)


@pytest.mark.parametrize("docs", page.blocks(), ids=lambda docs: docs.name)
def test_the_docs_say_what_the_kept_results_say(docs: Path) -> None:
    """Written by `make bench`, and again by `python -m benchmarks.page`."""
    assert page.blocks()[docs] in docs.read_text(encoding="utf-8")


def test_the_page_on_swapping_has_the_counts_that_were_measured() -> None:
    text = page.SWAPPING.read_text(encoding="utf-8").partition("## Debias")[0]
    rows = json.loads((page.RESULTS / "swap.json").read_text(encoding="utf-8"))["rows"]
    counts = defaultdict[str, Counter[str]](Counter)  # test and dev files of UD together
    for row in rows:
        if row["unit"] == "%":
            part, whole = re.match(r"(\d+) of (\d+):", row["note"]).groups()  # type: ignore[union-attr]
            counts[re.sub("UD (test|dev)", "UD", row["name"])].update(part=int(part), whole=int(whole))
    assert len(counts) == 25
    numbers = set(re.findall(r"\d+(?:,\d{3})*", text))
    for name, count in counts.items():
        assert {f"{number:,}" for number in count.values()} <= numbers, name


def test_without_the_tagger_and_gap_our_own_speed_is_told_and_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setattr(swap, "find_spec", lambda name: None)
    monkeypatch.setattr(swap, "rate", lambda work, texts, jobs: 2.5)
    monkeypatch.setattr("sys.argv", ["swap.py"])
    swap.main()
    printed = capsys.readouterr()
    rows = printed.out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["swap,"] * 6
    for row in rows:
        assert re.search(r" 2\.50 +MB/s +our balanced corpus with names; no peer: HanTa is not installed$", row)
    assert "EVENHAND_DATA" in printed.err
    assert "pip install hanta" in printed.err


def test_a_row_of_the_swap_is_there_before_the_next_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = []

    def rate(work: Callable[[str], None], texts: list[str], jobs: int) -> float:
        measured.append(work)
        return 2.5

    monkeypatch.setattr(swap, "find_spec", lambda name: None)
    monkeypatch.setattr(swap, "rate", rate)
    next(swap.speed(["He left."], "a text"))
    assert measured == [swap.swap_words]


def test_a_causal_model_and_its_peer_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("minicons", reason="minicons is not installed: pip install -e '.[bench]'")
    monkeypatch.setattr(shapes, "BASE", {"width": 64, "layers": 2, "vocabulary": WORDS})
    monkeypatch.setattr(causal, "SENTENCES", 10)
    rows = list(causal.rows())
    assert len(rows) == len(causal.BATCHES)
    for row in rows:
        row.check()


def test_texts_are_written_by_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "SMALL", {"width": 64, "layers": 2, "vocabulary": WORDS})
    monkeypatch.setattr(writing, "LONGEST", 3)
    monkeypatch.setattr(writing, "EACH", 2)
    monkeypatch.setattr(writing, "BATCHES", (32,))
    texts, mentions = writing.rows()
    assert texts.name.startswith("32 texts of 3 tokens")
    assert texts.peer == mentions.peer
    assert texts.ratio is not None


@pytest.mark.proof  # tests/distributed/ compares answers of workers with those of this process
def test_two_workers_and_one_answer_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a model whose values depend on the batches that it gets, and that takes no time to load."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'evenhand[ray]'")
    from evenhand.distributed import workers as on_cluster

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
    made = on_cluster.RemoteModel
    monkeypatch.setattr(on_cluster, "remote_model", lambda name, pool, **_: made(Letters, pool, name=name))
    monkeypatch.setattr(workers, "SENTENCES", 3)
    (row,) = workers.rows()
    row.check()
    assert row.difference == 0


def test_names_that_are_no_persons_are_counted_by_a_treebanks_entities(tmp_path: Path) -> None:
    words = [
        ("Mary", "PROPN", "(1-person-giv:act"),
        ("Smith", "PROPN", "1)"),
        ("saw", "VERB", ""),
        ("Peter", "PROPN", "(2-organization-new"),
        ("Jones", "PROPN", ""),
        ("Shoes", "PROPN", "2)"),
    ]
    lines = ["# newdoc id = a", "# text = Mary Smith saw Peter Jones Shoes"]
    lines += [
        f"{i}\t{form}\t_\t{tag}\t_\t_\t_\t_\t_\t{f'Entity={entity}' if entity else '_'}"
        for i, (form, tag, entity) in enumerate(words, start=1)
    ]
    (tmp_path / "en_gum-ud-test.conllu").write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    wrong, speed = swap.treebanks(tmp_path)
    assert (wrong["name"], wrong["ours"]) == ("swapped, but no person, UD test", 50.0)
    assert speed["unit"] == "MB/s"
    assert speed["ours"] > 0


def test_a_book_is_its_own_label(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("We saw him there, and his brother\nsaw him. It was his.\n", encoding="utf-8")
    found = {row["name"]: row["note"].split(":")[0] for row in swap.books(tmp_path)}
    assert found["her -> him, books, rules"] == "2 of 2"
    assert found["her -> his, books, rules"] == "1 of 1"  # the last one has no noun


def test_the_released_statistics_of_vectors_and_ours_agree() -> None:
    rng = np.random.default_rng(0)
    part = {name: rng.normal(size=(n, 20)) for name, n in (("X", 6), ("Y", 6), ("A", 5), ("B", 7))}
    assert vectors.ours(part) == pytest.approx(vectors.released(part), abs=1e-12)
