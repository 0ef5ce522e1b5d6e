"""Models of a given shape with seeded random weights: for time and memory, weights do not matter."""

import json
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

from evenhand.models.loading.names import BUNDLED

BASE = {"width": 768, "layers": 12}
SMALL = {"width": 384, "layers": 6}
LARGE = {"width": 1024, "layers": 24}


def bert(folder: Path, *, width: int, layers: int, vocabulary: int = 30_522, longest: int = 512) -> Path:
    """A BERT with heads of 64 and the bundled tokenizer, its vocabulary filled up to size with unused tokens."""
    torch.manual_seed(0)
    network = BertForMaskedLM(
        BertConfig(
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=max(1, width // 64),
            intermediate_size=4 * width,
            vocab_size=_tokenizer(folder, vocabulary, {"model_max_length": longest}),
            max_position_embeddings=longest,
        )
    )
    network.save_pretrained(folder)
    return folder


def gpt2(folder: Path, *, width: int, layers: int, vocabulary: int = 50_257, longest: int = 1024) -> Path:
    """A GPT-2 with heads of 64 and the same tokenizer, which puts nothing around a text; [CLS] is the start token."""
    names = {"bos_token": "[CLS]", "eos_token": "[SEP]", "model_max_length": longest}
    torch.manual_seed(0)
    network = GPT2LMHeadModel(
        GPT2Config(
            n_embd=width,
            n_layer=layers,
            n_head=max(1, width // 64),
            vocab_size=_tokenizer(folder, vocabulary, names, bare=True),
            n_positions=longest,
        )
    )
    network.save_pretrained(folder)
    return folder


def _tokenizer(folder: Path, vocabulary: int, settings: dict[str, Any], *, bare: bool = False) -> int:
    """Write the tokenizer; the size of its vocabulary."""
    tokenizer = json.loads((BUNDLED / "mini-en" / "tokenizer.json").read_text(encoding="utf-8"))
    pieces = tokenizer["model"]["vocab"]
    pieces |= {f"[unused{n}]": n for n in range(len(pieces), vocabulary)}
    known = json.loads((BUNDLED / "mini-en" / "tokenizer_config.json").read_text(encoding="utf-8"))
    if bare:
        tokenizer["post_processor"] = None
        known["tokenizer_class"] = "PreTrainedTokenizerFast"  # another would put its own tokens around a text
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(known | settings), encoding="utf-8")
    return len(pieces)
