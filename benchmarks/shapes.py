"""Models of a given shape with seeded random weights: for time and memory, weights do not matter."""

import json
from pathlib import Path

import torch
from transformers import BertConfig, BertForMaskedLM

from evenhand.models.names import BUNDLED

BASE = {"width": 768, "layers": 12}
LARGE = {"width": 1024, "layers": 24}


def bert(folder: Path, *, width: int, layers: int, vocabulary: int = 30_522, longest: int = 512) -> Path:
    """A BERT with heads of 64 and the bundled tokenizer, its vocabulary filled up to size with pieces of no text."""
    tokenizer = json.loads((BUNDLED / "mini-en" / "tokenizer.json").read_text(encoding="utf-8"))
    pieces = tokenizer["model"]["vocab"]
    pieces |= {f"[unused{n}]": n for n in range(len(pieces), vocabulary)}
    settings = json.loads((BUNDLED / "mini-en" / "tokenizer_config.json").read_text(encoding="utf-8"))
    torch.manual_seed(0)
    network = BertForMaskedLM(
        BertConfig(
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=max(1, width // 64),
            intermediate_size=4 * width,
            vocab_size=len(pieces),
            max_position_embeddings=longest,
        )
    )
    network.save_pretrained(folder)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        json.dumps(settings | {"model_max_length": longest}), encoding="utf-8"
    )
    return folder
