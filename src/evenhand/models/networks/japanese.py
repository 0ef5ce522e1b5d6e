"""Tokenizers that split Japanese into words first, such as those of Tohoku University's BERT models."""

from typing import Any

from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel, WordPiece
from tokenizers.pre_tokenizers import PreTokenizer, Sequence, Split, WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from evenhand.errors import UnfitModel

ROLES = ("unk_token", "cls_token", "sep_token", "pad_token", "mask_token")


def as_fast(tokenizer: Any) -> Any:
    """A `JapaneseTokenizer` if the tokenizer splits by MeCab, then into WordPieces or characters; else as it is."""
    known = (
        type(tokenizer).__name__ == "BertJapaneseTokenizer"
        and tokenizer.word_tokenizer_type == "mecab"
        and tokenizer.subword_tokenizer_type in ("wordpiece", "character")
        and not tokenizer.do_lower_case
    )
    return JapaneseTokenizer(tokenizer) if known else tokenizer


class JapaneseTokenizer(PreTrainedTokenizerFast):  # type: ignore[misc]
    """Gives the tokens of the original tokenizer, with the interface of fast tokenizers and with token types.

    It has no offsets, since words are split first. So it can be used for NLI, but not for masks. `save_pretrained`
    saves the original tokenizer.
    """

    def __init__(self, original: Any) -> None:
        self._original = original
        super().__init__(
            tokenizer_object=_build_fast(original),
            model_max_length=original.model_max_length,
            model_input_names=["input_ids", "token_type_ids", "attention_mask"],
            **{role: getattr(original, role) for role in ROLES},
        )

    def __call__(self, text: Any, text_pair: Any = None, **options: Any) -> Any:
        if options.get("return_offsets_mapping"):
            raise UnfitModel(
                "This model's tokenizer (BertJapaneseTokenizer) does not say which characters a token stands for: it "
                "can be used for NLI, but not for masked sentences. Use a checkpoint with a tokenizer.json.",
                check="tokenizer",
            )
        return super().__call__(self._words(text), None if text_pair is None else self._words(text_pair), **options)

    def save_pretrained(self, folder: Any, **options: Any) -> Any:
        return self._original.save_pretrained(folder, **options)

    def _words(self, text: Any) -> Any:
        if isinstance(text, str):
            return " ".join(self._original.word_tokenizer.tokenize(text))
        return [self._words(each) for each in text]


def _build_fast(original: Any) -> Tokenizer:
    vocabulary = original.get_vocab()
    cut: PreTokenizer = WhitespaceSplit()
    if original.subword_tokenizer_type == "wordpiece":
        tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=original.unk_token, max_input_chars_per_word=100))
    else:
        tokenizer = Tokenizer(WordLevel(vocabulary, unk_token=original.unk_token))
        cut = Sequence([cut, Split(Regex("."), "isolated")])
    tokenizer.pre_tokenizer = cut
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", original.cls_token_id), ("[SEP]", original.sep_token_id)],
    )
    return tokenizer
