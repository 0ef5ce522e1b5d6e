"""Tokenizers that cut words first: the same pieces, trained and saved, but no places for masks."""

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertJapaneseTokenizer

import evenhand
from evenhand import datasets
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.datasets.nli import into_words
from evenhand.errors import UnfitModel
from evenhand.models.networks.japanese import JapaneseTokenizer
from evenhand.training.nli import NLI_RECIPE, finetune_nli

ITEMS: Any = datasets.load("nli-ja").items


def original(folder: Path, kind: str) -> BertJapaneseTokenizer:
    letters = sorted({letter for item in ITEMS for letter in item.premise + item.hypothesis})
    words = sorted({word for item in ITEMS for word in into_words(item.premise).split()})[::2]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = dict.fromkeys([*special, *words, *letters, *(f"##{letter}" for letter in letters)])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    return BertJapaneseTokenizer(
        str(folder / "vocab.txt"),
        word_tokenizer_type="mecab",
        mecab_kwargs={"mecab_dic": "unidic_lite"},
        subword_tokenizer_type=kind,
    )


@pytest.mark.parametrize("kind", ["wordpiece", "character"])
def test_the_tokens_are_the_same(kind: str, tmp_path: Path) -> None:
    slow = original(tmp_path, kind)
    fast = JapaneseTokenizer(slow)
    for item in ITEMS[::12]:
        found = fast(item.premise, item.hypothesis)
        assert found["input_ids"] == slow(item.premise, item.hypothesis)["input_ids"]
        first = len(slow(item.premise)["input_ids"])
        assert found["token_type_ids"] == [0] * first + [1] * (len(found["input_ids"]) - first)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("japanese") / "base"
    tokenizer = original(folder, "wordpiece")
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.usefixtures("unexamined", "without_pages")
def test_such_a_model_is_trained_saved_and_measured(base: Path, tmp_path: Path) -> None:
    rows = [Example(item.premise, item.hypothesis, "neutral") for item in ITEMS[:32]]
    done = finetune_nli(str(base), rows, NLI_RECIPE, tmp_path / "nli")
    run = evenhand.audit(str(done.folder), suite="nli", lang="ja", limit=24, out=tmp_path / "runs")
    assert run.values["n"].iloc[0] == 24  # no unknown words: they were cut as the tokenizer does
    assert isinstance(evenhand.load(str(done.folder)).tokenizer, JapaneseTokenizer)  # saved as what it was


def test_it_has_no_places_for_masks(base: Path) -> None:
    with pytest.raises(UnfitModel, match="does not say which characters"):
        evenhand.load(str(base)).answer([evenhand.Likelihood("看護師が眠っています。")])


def test_japanese_sets_may_be_cut_into_words() -> None:
    cut: Any = datasets.load("nli-ja", segmented="yes").items[0]
    assert " " in cut.premise
    assert cut.premise.replace(" ", "") == ITEMS[0].premise
