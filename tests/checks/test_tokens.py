"""What a tokenizer does to words is seen: masks, word beginnings, capitals."""

from dataclasses import replace

import pytest
from tokenizers import Tokenizer, models, trainers
from transformers import PreTrainedTokenizerFast

from evenhand import Sentence, Span
from evenhand.checks.base import Case
from evenhand.checks.tokens import casing, mask_token, word_beginnings
from evenhand.core.dataset import Dataset
from helpers import tiny
from helpers.checked import Make, one
from helpers.typed import all_of


def with_target(dataset: Dataset, text: str, target: str) -> Dataset:
    """A dataset of one item, whose text has that target."""
    item = all_of(Sentence, dataset.items[:1])[0]
    start = text.index(target)
    span = Span(start, start + len(target))
    return replace(dataset, items=[replace(item, text=text, target=span, attribute=span)])


def test_a_mask_is_named(make: Make) -> None:
    assert one(mask_token, make("roberta")).says == "A hidden word is <mask>."


def test_a_mask_that_is_an_ordinary_word_is_unfit(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    model = make("roberta")
    for mask in ("the", "▁worker"):
        monkeypatch.setattr(type(model), "mask", mask)
        found = one(mask_token, model)
        assert found.verdict == "unfit"
        assert found.says == f"A hidden word is {mask}, which is a word of texts, too."


PREFIX, NONE = "'He', 'She'", "the same tokens"


@pytest.mark.parametrize(
    ("family", "says"), [("roberta", PREFIX), ("modernbert", PREFIX), ("bert-uncased", NONE), ("xlm-roberta", NONE)]
)
def test_a_prefix_space_is_noticed_and_no_fault(family: str, says: str, make: Make, becpro: Dataset) -> None:
    finding = one(word_beginnings, make(family), becpro)
    assert finding.verdict == "fine"
    assert says in finding.says


def test_without_a_dataset_plain_sentences_are_looked_at(make: Make) -> None:
    model = make("roberta")
    assert "'The', 'We', 'There'" in one(word_beginnings, model).says
    assert list(word_beginnings(Case(model, "zh"))) == []  # which has no spaces


def test_a_word_cut_at_the_start_alone_asks_for_care(make: Make, becpro: Dataset) -> None:
    """As with byte-level pieces that were learnt within sentences: ' she' is one, 'she' is not."""
    finding = one(word_beginnings, make("roberta"), with_target(becpro, "nurse is what he is.", "nurse"))
    assert finding.verdict == "careful"
    assert "split further at the start" in finding.says
    assert "'nurse'" in finding.says


def test_pieces_across_words_are_unfit(make: Make, becpro: Dataset) -> None:
    model = make("modernbert")
    across = Tokenizer(models.BPE())
    across.train_from_iterator(
        [item.text for item in all_of(Sentence, becpro.items[:50])] * 5,
        trainers.BpeTrainer(vocab_size=320, special_tokens=tiny.BERT_SPECIAL, show_progress=False),
    )
    model.tokenizer = PreTrainedTokenizerFast(tokenizer_object=across, **tiny.BERT_NAMES)
    finding = one(word_beginnings, model, replace(becpro, items=becpro.items[:50]))
    assert finding.verdict == "unfit"
    assert "share a token with their neighbours" in finding.says


def test_lost_capitals_matter_in_german(make: Make) -> None:
    uncased, cased = make("bert-uncased"), make("bert-cased")
    assert one(casing, uncased).says.startswith("Capitals are not seen")
    assert one(casing, uncased).verdict == "fine"
    assert one(casing, uncased, language="de").verdict == "careful"
    assert one(casing, cased, language="en").says.startswith("Capitals are seen")
    assert list(casing(Case(uncased, "zh"))) == []


def test_words_cut_for_their_capital_ask_for_care(make: Make, becpro: Dataset) -> None:
    finding = one(casing, make("bert-cased"), with_target(becpro, "Man is what he is.", "Man"))
    assert finding.verdict == "careful"
    assert "split because of theirs: 'Man'" in finding.says


def test_a_capital_within_a_sentence_is_the_words_own(make: Make, becpro: Dataset) -> None:
    """As that of a German noun, which is no other word without."""
    assert one(casing, make("bert-cased"), with_target(becpro, "He is the Man.", "Man")).verdict == "fine"
