"""Bartl, Nissim and Gatt 2020: our BEC-Pro against the released one, row by row."""

import csv
import math
import re
import tomllib
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

import evenhand
from evenhand import Association, BadInput, Fill, Sentence, Span, datasets
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.models.networks.masked import MaskedLM
from evenhand.papers import bartl2020, reproduce
from evenhand.papers.bartl2020 import GROUPS, AsReleased, masked_text
from evenhand.stats.significance import signed_rank_z
from helpers import tiny
from helpers.typed import all_of

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined", "few_draws")

LODGING_MANAGER = {3625, 3985, 4345, 4705, 5065}
"""The release masks the "man" of "manager" too, in Sent_TM and Sent_TAM."""
POSITION_OF = set(range(4321, 4662, 20))
"""The release masks the "of" of "position of" too, in Sent_AM and Sent_TAM."""

ERNAEHRUNGSBERATER = {1809, 2169, 2529, 2889, 3249}
"""The release masks the "Er" of "Ernährungsberater" too, in Sent_TM and Sent_TAM."""

PUBLISHED = tomllib.loads((files("evenhand.papers") / "data" / "bartl2020.toml").read_text("utf-8"))


def released(data: Path, language: str) -> list[dict[str, str]]:
    with (data / "becpro" / f"BEC-Pro_{language.upper()}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def ours(language: str) -> list[dict[str, str]]:
    table = datasets.load(f"becpro-{language}").table()
    rows: Any = table.to_dict("records")
    return [{"": str(index), **row} for index, row in zip(table.index, rows, strict=True)]


@pytest.mark.parametrize("language", ["en", "de"])
def test_all_rows_are_the_releases(data: Path, language: str) -> None:
    theirs, mine = released(data, language), ours(language)
    assert len(theirs) == len(mine) == 5400
    assert list(mine[0]) == list(theirs[0])
    for column in set(mine[0]) - {"Sent_TM", "Sent_AM", "Sent_TAM"}:
        assert [row[column] for row in mine] == [row[column] for row in theirs]


@pytest.mark.parametrize(
    ("language", "column", "defects"),
    [
        ("en", "Sent_TM", LODGING_MANAGER),
        ("en", "Sent_AM", POSITION_OF),
        ("en", "Sent_TAM", LODGING_MANAGER | POSITION_OF),
        ("de", "Sent_TM", ERNAEHRUNGSBERATER),
        ("de", "Sent_AM", set()),
        ("de", "Sent_TAM", ERNAEHRUNGSBERATER),
    ],
)
def test_masks_differ_in_the_known_defects_and_nowhere_else(
    data: Path, language: str, column: str, defects: set[int]
) -> None:
    theirs, mine = released(data, language), ours(language)
    assert {i for i in range(5400) if mine[i][column] != theirs[i][column]} == defects


def test_the_export_is_the_released_file_but_for_the_defects(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(app, ["datasets", "export", "becpro-en", "--out", str(tmp_path / "ours.tsv")]) == 0
    assert "5,400 rows" in capsys.readouterr().out
    ours = (tmp_path / "ours.tsv").read_bytes().split(b"\n")
    theirs = (data / "becpro" / "BEC-Pro_EN.tsv").read_bytes().split(b"\n")
    assert len(ours) == len(theirs)
    assert {i - 1 for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b} == LODGING_MANAGER | POSITION_OF


def test_every_published_r_follows_from_the_published_w() -> None:
    """Tables 4 and 5: a paired signed-rank test over 900 pairs, r = z / sqrt(1800), printed negative."""
    checked = 0
    for table in ("table4", "table5"):
        for group in ("balanced", "female", "male"):
            printed = PUBLISHED[table][group]["test"]
            z = signed_rank_z(printed["w"], 900)
            assert round(-abs(z) / math.sqrt(1800), 2) == printed["r"]
            checked += 1
    assert checked == 6


def test_table_4_adds_up_but_for_rounding() -> None:
    for group in ("balanced", "female", "male"):
        for words in ("female", "male"):
            cell = PUBLISHED["table4"][group][words]
            assert cell["post"] - cell["pre"] == pytest.approx(cell["diff"], abs=0.0101)


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_released_masks_are_what_its_code_makes_slips_included(data: Path, language: str) -> None:
    how = Association(masks="words")
    items = all_of(Sentence, datasets.load(f"becpro-{language}").items)
    for row, item in zip(released(data, language), items, strict=True):
        seen, prior = how.ask(item)
        assert masked_text(seen) == row["Sent_TM"]
        assert masked_text(prior) == row["Sent_TAM"]


def test_released_inputs_are_16_long_padded_with_attended_masks(mini_en: MaskedLM) -> None:
    wrapped = AsReleased(mini_en)
    short = Fill("He is a judge.", Span(0, 2), "He")
    long = Fill("My boyfriend, the director of religious activities, had a good day at work.", Span(3, 12), "boyfriend")
    (one,), (other,) = (reading.reads for reading in wrapped.plan([short, long]).readings)
    mask, sep = mini_en.tokenizer.mask_token_id, mini_en.tokenizer.sep_token_id
    assert len(one.ids) == len(other.ids) == 16
    assert one.ids.count(mask) == 1 + 16 - len(mini_en.tokenizer(short.text)["input_ids"])
    assert sep not in other.ids  # cut off
    assert one.cells == ((1, mini_en.tokenizer.convert_tokens_to_ids("he")),)
    with torch.no_grad():
        want = mini_en.network(input_ids=torch.tensor([one.ids])).logits[0, 1].log_softmax(-1)[one.cells[0][1]]
    assert wrapped.answer([short])[0].logp == pytest.approx(float(want), abs=1e-4)
    assert wrapped.answer([short])[0].logp != pytest.approx(mini_en.answer([short])[0].logp, abs=1e-3)


@pytest.fixture
def sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits measure a sample: for claims about tables, whatever the numbers in them."""
    monkeypatch.setattr(bartl2020, "audit", partial(evenhand.audit, limit=360))


@pytest.mark.usefixtures("sampled")
def test_with_a_fine_tuned_model_every_cell_of_table_4_is_there(tmp_path: Path) -> None:
    base = tiny.save("roberta", tmp_path / "base")
    texts = tmp_path / "swapped.txt"
    texts.write_text("\n".join(tiny.TEXTS * 4))
    done = reproduce(model=str(base), finetune=str(texts), recipe="default", out=tmp_path / "out")
    cells = done.cells[done.cells["table"] == "4"].set_index(["professions", "words", "what"])["ours"]
    assert cells.notna().all()
    for group in ("balanced", "female", "male"):
        for words in ("female", "male"):
            pre, post, diff = (cells[group, words, what] for what in ("pre", "post", "diff"))
            assert diff == pytest.approx(post - pre)
            assert diff != 0
        assert 0 <= cells[group, "female - male", "W"] <= 900 * 901 / 2
    assert len(done.claims) == 11
    counted = f"{len(tiny.TEXTS) * 4} sentences, split by sentencex, the paper's by NLTK"
    assert any(note.startswith(counted) for note in done.notes)
    (card,) = (tmp_path / "out" / "models").glob("base--swapped--default-*/README.md")
    stamp = card.stat().st_mtime_ns
    again = reproduce(model=str(base), finetune=str(texts), recipe="default", out=tmp_path / "out")
    assert card.stat().st_mtime_ns == stamp  # trained once
    assert again.cells.equals(done.cells)
    texts.write_text("\n".join(tiny.TEXTS * 5))  # another corpus of the same name is another model
    reproduce(model=str(base), finetune=str(texts), recipe="default", out=tmp_path / "out")
    assert len(list((tmp_path / "out" / "models").iterdir())) == 2


@pytest.mark.usefixtures("sampled")
def test_the_command_prints_published_and_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = str(tiny.save("roberta", tmp_path / "base"))
    command = ["reproduce", "bartl2020", "--model", base, "--german-model", base, "--out", str(tmp_path / "out")]
    assert run_command(app, [*command, "--as", "released"]) == 0
    printed = capsys.readouterr().out
    assert "Not comparable: Table 4 has bert-base-uncased" in printed
    table_4, table_5 = printed.split("Table 4")[1].split("Table 5")[:2]
    heads = next(line.split() for line in table_4.splitlines() if "professions" in line)
    assert heads == ["professions", "words", "pre", "post", "diff", "W", "r", "p"]  # as in the paper
    published = next(line for line in table_4.splitlines() if re.match(r" *male +female +published", line))
    assert published.split()[3:6] == ["-0.83", "+0.13", "+0.96"]
    assert [line.split()[0] for line in table_5.splitlines() if "published" in line][::3] == list(GROUPS)
    assert len(re.findall(r"\bours\b.*[+-]\d", table_5)) == 9  # female, male and their test, of three groups


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"paper": "bartl2021"}, "Did you mean 'bartl2020'"),
        ({"mode": "exact"}, "`mode`"),
        ({"post": "a", "finetune": "b"}, "not both"),
        ({"finetune": "gap", "recipe": "bartl"}, "recipe 'bartl'"),
        ({"splitter": "nltk"}, "`splitter`"),
        ({"scores": "theirs.tsv", "finetune": "gap"}, "`scores`"),
    ],
    ids=str,
)
def test_bad_requests_are_refused(options: dict[str, Any], word: str) -> None:
    with pytest.raises(BadInput, match=word):
        reproduce(**options)


@pytest.mark.usefixtures("sampled")
def test_the_study_runs_on_the_bundled_model_in_both_modes(tmp_path: Path) -> None:
    done = {mode: reproduce(mode=mode, out=tmp_path / mode) for mode in ("paper", "released")}
    for mode, found in done.items():
        assert len(found.cells) == 48
        pre = found.cells[found.cells["what"] == "pre"]
        assert pre["ours"].notna().all()
        assert (pre["difference"] == pre["ours"] - pre["published"]).all()
        assert found.cells[found.cells["what"] == "post"]["ours"].isna().all()
        assert any("Not comparable" in note for note in found.notes)
        assert {claim.hypothesis for claim in found.claims} == {"H1", "H2", "H3"}
        assert found.runs[0].path.name == {"paper": "mini-en", "released": "mini-en--as-released"}[mode]
    values = [found.cells[found.cells["what"] == "pre"]["ours"].tolist() for found in done.values()]
    assert values[0] != pytest.approx(values[1], abs=0.01)


def made_scores(path: Path, post: bool, dataset: str = "becpro-en") -> Path:
    """Associations of our sentences, as the released code writes them: a number for each group and gender."""
    table = datasets.load(dataset).table()
    noise = [index % 7 / 10 for index in range(len(table))]
    level = [(g == "female") + 2 * (p == "male") for g, p in zip(table["Gender"], table["Prof_Gender"], strict=True)]
    found = table[["Sentence"]].assign(Pre_Assoc=[a + b for a, b in zip(level, noise, strict=True)])
    if post:
        found["Post_Assoc"] = found["Pre_Assoc"] / 2
    found.to_csv(path, sep="\t", index=False)
    return path


def test_scores_of_somebody_else_fill_the_table_with_intervals(tmp_path: Path) -> None:
    done = reproduce("bartl2020", scores=made_scores(tmp_path / "theirs.tsv", post=True), out=tmp_path / "out")
    cells = done.cells[done.cells["table"] == "4"].set_index(["professions", "words", "what"])
    assert cells["ours"].notna().all()
    female, male = (cells.xs(("male", words, "pre")) for words in ("female", "male"))
    assert female["ours"] - male["ours"] == pytest.approx(1.0, abs=0.02)
    assert female["low"] < female["ours"] < female["high"]
    assert cells["ours"][("male", "female", "post")] == pytest.approx(female["ours"] / 2)
    assert female["difference"] == pytest.approx(female["ours"] + 0.83)
    assert done.notes[0].startswith("Not comparable: Table 4 has bert-base-uncased, ours is 'theirs'")
    assert all(run.record.audits[0].imported for run in done.runs)
    (tmp_path / "other.tsv").write_text("Sentence\tAssoc\nHe is a nurse.\t1\n")
    with pytest.raises(BadInput, match="Pre_Assoc"):
        reproduce("bartl2020", scores=tmp_path / "other.tsv", out=tmp_path / "out")


def test_german_scores_of_somebody_else_fill_table_5(tmp_path: Path) -> None:
    file = made_scores(tmp_path / "theirs.tsv", post=False, dataset="becpro-de")
    done = reproduce("bartl2020", scores=file, out=tmp_path / "out")
    assert set(done.cells["table"]) == {"5"}
    assert done.cells["ours"].notna().all()
    table = datasets.load("becpro-de").table().assign(Pre_Assoc=pd.read_csv(file, sep="\t")["Pre_Assoc"].to_numpy())
    women = table[(table["Gender"] == "female") & (table["Prof_Gender"] == "male")]["Pre_Assoc"]
    cells = done.cells.set_index(["professions", "words", "what"])["ours"]
    assert cells["male", "female", "mean"] == pytest.approx(women.mean())
    assert cells["male", "female", "sd"] == pytest.approx(women.std())
    assert done.notes[0].startswith("Not comparable: Table 5 has bert-base-german-dbmdz-cased, ours is 'theirs'")


def test_the_published_associations_are_those_of_table_4(data: Path, tmp_path: Path) -> None:
    file = data / "published" / "becpro" / "bert-base-uncased.tsv"
    done = reproduce("bartl2020", scores=file, mode="released", out=tmp_path)
    pre = done.cells[done.cells["what"] == "pre"]
    assert len(pre) == 6
    assert pre["difference"].abs().max() < 0.0052  # 0.1549 is printed as 0.16
    assert "Not comparable: Table 4" not in " ".join(done.notes)
