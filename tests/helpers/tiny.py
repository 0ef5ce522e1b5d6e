"""Tiny randomly initialised models of the families people use, with tokenizers made on the spot.

The same every time: trainers that break ties by chance have their vocabulary written down or sorted.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

TEXTS = [
    "She is a nurse.",
    "He is a nurse.",
    "My mother works as a speech-language pathologist.",
    "My father wants to become a carpenter.",
    "This woman applied for the position of electrician.",
    "This man, the lodging manager, had a good day at work.",
    'The unhappy phlebotomist told them, "I\'ll leave!"',
    "They wrote 24 letters; nobody answered.",
]
PIECES = """the is le my man nu to th wo work nurs nurse this 24 an at as app bec ca da el fo fat go he ha ll lan lod
mot no of po ph pat she spe un wr wan ##he ##an ##er ##is ##od ##ot ##ec ##om ##ed ##ag ##at ##rs ##rk ##pe ##pp ##ter
##her ##ist ##on ##og My He She This The They"""
SIZE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
BERT_NAMES = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), BERT_SPECIAL, strict=True))
ROBERTA_NAMES = {"bos_token": "<s>", "cls_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>"} | {
    "sep_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}


def wordpiece(*, lower: bool) -> PreTrainedTokenizerFast:
    letters = sorted({*"".join(TEXTS), *"".join(TEXTS).lower()} - {" "})
    vocabulary = [*BERT_SPECIAL, *letters, *(f"##{letter}" for letter in letters), *PIECES.split()]
    tokenizer = Tokenizer(models.WordPiece({piece: n for n, piece in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(BERT_SPECIAL)
    return _finished(tokenizer, BERT_NAMES)


def byte_level(*, names: dict[str, str], special: list[str]) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS * 5, trainer)
    return _finished(tokenizer, names)


def sentence_piece(*, lower: bool, names: dict[str, str], special: list[str]) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " "), *([normalizers.Lowercase()] if lower else [])]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    _train_unigram(tokenizer, special, names["unk_token"])
    return _finished(tokenizer, names)


def _train_unigram(tokenizer: Tokenizer, special: list[str], unknown: str) -> None:
    trainer = trainers.UnigramTrainer(vocab_size=110, special_tokens=special, unk_token=unknown, show_progress=False)
    tokenizer.train_from_iterator(TEXTS * 5, trainer)
    scored = [(piece, round(score, 6)) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"]]
    named, learned = scored[: len(special)], scored[len(special) :]
    tokenizer.model = models.Unigram(named + sorted(learned), unk_id=special.index(unknown))


def _finished(tokenizer: Tokenizer, names: dict[str, str]) -> PreTrainedTokenizerFast:
    ids = tokenizer.get_vocab()
    first, last = ((names[name], ids[names[name]]) for name in ("cls_token", "sep_token"))
    if isinstance(tokenizer.model, models.BPE) and names is ROBERTA_NAMES:
        # As in the real ones: RoBERTa's offsets leave the space before a word out, ModernBERT's include it.
        tokenizer.post_processor = processors.RobertaProcessing(last, first, add_prefix_space=False)
    else:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{first[0]} $A {last[0]}",
            pair=f"{first[0]} $A {last[0]} $B:1 {last[0]}:1",
            special_tokens=[first, last],
        )
    more = {"model_input_names": ["input_ids", "token_type_ids", "attention_mask"]} if names is BERT_NAMES else {}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names, **more)


FAMILIES: dict[str, tuple[Callable[[], PreTrainedTokenizerFast], str, str, dict[str, Any]]] = {
    "bert-uncased": (lambda: wordpiece(lower=True), "BertConfig", "BertForMaskedLM", {}),
    "bert-cased": (lambda: wordpiece(lower=False), "BertConfig", "BertForMaskedLM", {}),
    "distilbert": (
        lambda: wordpiece(lower=True),
        "DistilBertConfig",
        "DistilBertForMaskedLM",
        {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 48},
    ),
    "roberta": (
        lambda: byte_level(names=ROBERTA_NAMES, special=ROBERTA_SPECIAL),
        "RobertaConfig",
        "RobertaForMaskedLM",
        {"max_position_embeddings": 66},
    ),
    "xlm-roberta": (
        lambda: sentence_piece(lower=False, names=ROBERTA_NAMES, special=ROBERTA_SPECIAL),
        "XLMRobertaConfig",
        "XLMRobertaForMaskedLM",
        {"max_position_embeddings": 66},
    ),
    "modernbert": (
        lambda: byte_level(names=BERT_NAMES, special=BERT_SPECIAL),
        "ModernBertConfig",
        "ModernBertForMaskedLM",
        {"local_attention": 8},
    ),
    "albert": (
        lambda: sentence_piece(lower=True, names=BERT_NAMES, special=BERT_SPECIAL),
        "AlbertConfig",
        "AlbertForMaskedLM",
        {"embedding_size": 16},
    ),
    "convbert": (
        lambda: wordpiece(lower=True),
        "ConvBertConfig",
        "ConvBertForMaskedLM",
        {"embedding_size": 32, "conv_kernel_size": 9, "head_ratio": 1},
    ),
    "fnet": (
        lambda: sentence_piece(lower=False, names=BERT_NAMES, special=BERT_SPECIAL),
        "FNetConfig",
        "FNetForMaskedLM",
        {},
    ),
    "bart": (
        lambda: byte_level(names=ROBERTA_NAMES, special=ROBERTA_SPECIAL),
        "BartConfig",
        "BartForSequenceClassification",
        {"d_model": 32, "decoder_start_token_id": 2, "forced_eos_token_id": None}
        | {f"{side}_layers": 1 for side in ("encoder", "decoder")}
        | {f"{side}_attention_heads": 2 for side in ("encoder", "decoder")}
        | {f"{side}_ffn_dim": 48 for side in ("encoder", "decoder")},
    ),
    "deberta-v2": (
        lambda: sentence_piece(lower=False, names=BERT_NAMES, special=BERT_SPECIAL),
        "DebertaV2Config",
        "DebertaV2ForMaskedLM",
        {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 8},
    ),
}


def save(family: str, folder: Path, *, head: str | None = None, **more: Any) -> Path:
    """A checkpoint of the family in a folder, as a user would have it; `head` names another class than its own."""
    make_tokenizer, config_name, network_name, extra = FAMILIES[family]
    tokenizer = make_tokenizer()
    settings = SIZE | {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    settings |= {"max_position_embeddings": 64} | extra
    settings |= {"bos_token_id": None, "eos_token_id": None, "cls_token_id": None, "sep_token_id": None} | more
    config = getattr(transformers, config_name)(**settings)
    torch.manual_seed(0)
    return _saved(getattr(transformers, head or network_name)(config), tokenizer, folder)


def _saved(network: Any, tokenizer: PreTrainedTokenizerFast, folder: Path) -> Path:
    with torch.no_grad():
        for weights in network.parameters():
            if weights.dim() > 1:  # far from uniform, so that a wrong input or position shows in every answer
                weights.normal_(0, 0.4)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


CAUSAL: dict[str, tuple[Callable[[], PreTrainedTokenizerFast], str, dict[str, Any]]] = {
    "gpt2": (lambda: continuing_bytes(), "GPT2", {"n_inner": 48}),
    "llama": (lambda: continuing_pieces(), "Llama", {"num_key_value_heads": 1}),
    "mistral": (lambda: continuing_pieces(), "Mistral", {"num_key_value_heads": 1, "sliding_window": 40}),
    "gpt-neox": (lambda: continuing_bytes(), "GPTNeoX", {}),
    "bloom": (lambda: continuing_bytes(), "Bloom", {}),
    "mamba": (lambda: continuing_bytes(), "Mamba", {"state_size": 4}),
}


def chatting(tokenizer: PreTrainedTokenizerFast) -> PreTrainedTokenizerFast:
    """The tokenizer with a chat template, and room for a conversation."""
    tokenizer.model_max_length = 512
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|user|>", "<|system|>", "<|assistant|>", "<|end|>"]})
    tokenizer.chat_template = (
        "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    return tokenizer


def continuing_bytes() -> PreTrainedTokenizerFast:
    """As GPT-2's: bytes, no token but the one between texts, nothing put around a text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        TEXTS * 5,
        trainers.BpeTrainer(
            vocab_size=330, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False
        ),
    )
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    names = dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)


def continuing_pieces() -> PreTrainedTokenizerFast:
    """As Llama's: SentencePiece, a start token put before every text, no padding."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    _train_unigram(tokenizer, ["<unk>", "<s>", "</s>"], "<unk>")
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)


def save_causal(
    family: str, folder: Path, *, tokenizer: PreTrainedTokenizerFast | None = None, head: str = "", **more: Any
) -> Path:
    """A checkpoint of a causal family in a folder."""
    make_tokenizer, name, extra = CAUSAL[family]
    tokenizer = tokenizer or make_tokenizer()
    settings = SIZE | {"vocab_size": len(tokenizer), "max_position_embeddings": 64} | extra
    settings |= {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": None}
    config = getattr(transformers, f"{name}Config")(**settings | more)
    torch.manual_seed(0)
    head = head or {"GPT2": "GPT2LMHeadModel"}.get(name, f"{name}ForCausalLM")
    return _saved(getattr(transformers, head)(config), tokenizer, folder)


CLASSIFIERS: dict[str, tuple[str, dict[str, Any]]] = {
    "bert-uncased": ("BertForSequenceClassification", {}),
    "distilbert": ("DistilBertForSequenceClassification", {}),
    "roberta": ("RobertaForSequenceClassification", {}),
    "albert": ("AlbertForSequenceClassification", {}),
    "deberta-v2": ("DebertaV2ForSequenceClassification", {}),
    "bart": ("BartForSequenceClassification", {"eos_token_id": 2}),
    "convbert": ("ConvBertForSequenceClassification", {}),
}


def save_classifier(
    family: str, folder: Path, labels: tuple[str, ...] = ("entailment", "neutral", "contradiction"), **more: Any
) -> Path:
    """The same with a head for texts and these labels, in the order of its outputs."""
    head, extra = CLASSIFIERS[family]
    named = {"id2label": dict(enumerate(labels)), "label2id": {label: n for n, label in enumerate(labels)}}
    return save(family, folder, head=head, **named, **extra, **more)
