"""Read an adapter (peft): a few weights that make another model one of natural language inference."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from peft import PeftConfig, PeftModel
from peft.utils import load_peft_weights
from transformers import AutoModelForSequenceClassification

from evenhand.errors import UnfitModel
from evenhand.models.loading.checkpoint import Checkpoint, configuration, read_tokenizer
from evenhand.models.loading.labels import LABELS, order
from evenhand.models.loading.names import ADAPTER, Found, find
from evenhand.models.loading.nli import check_head

WRAPPED = "base_model.model."  # what an adapter's names of weights begin with


def read_adapter(found: Found, dtype: torch.dtype, named: str | Sequence[str], options: dict[str, Any]) -> Checkpoint:
    """The adapter's base with the adapter merged into it, if its classifier is trained and its labels can be told.

    Where the folder has a config.json, that is the whole model's; else it is the base's, with three labels that have no
    names. The fingerprint is of base and adapter, not of the merged weights, which may differ in the last bit from
    machine to machine.
    """
    adapter = PeftConfig.from_pretrained(found.source)
    if adapter.task_type not in (None, "SEQ_CLS"):
        raise UnfitModel(
            f"'{found.name}' is an adapter for {adapter.task_type}. Adapters of classifiers (SEQ_CLS) can be read as "
            "they are. Merge others into their base (merge_and_unload, then save_pretrained), and give that folder.",
            check="kind of model",
        )
    base = find(str(adapter.base_model_name_or_path))
    own = (Path(found.source) / "config.json").is_file()
    config = configuration(found if own else base, options)
    if not own:
        config.num_labels = len(LABELS)
    outputs = order(found.name, config.id2label, named)
    # Merged in float32, whatever comes after: in half precision the adapter's small changes would be lost.
    network, report = AutoModelForSequenceClassification.from_pretrained(
        base.source, config=config, dtype=torch.float32, output_loading_info=True, **options
    )
    missing = set(report["missing_keys"])
    added = load_peft_weights(found.source, device="cpu")
    check_head(found, missing - {name.removeprefix(WRAPPED) for name in added})
    weights = {name: value for name, value in network.state_dict().items() if name not in missing}
    merged = PeftModel.from_pretrained(network, found.source, config=adapter).merge_and_unload()
    has_tokenizer = (Path(found.source) / "tokenizer_config.json").is_file()
    tokenizer = read_tokenizer(found.source if has_tokenizer else base.source, options)
    return Checkpoint(found, merged.to(dtype), tokenizer, weights | added, outputs, f"{dtype} {_settings(found)}")


def _settings(found: Found) -> str:
    """What the adapter says of itself, but for where its base lay."""
    settings = json.loads((Path(found.source) / ADAPTER).read_text(encoding="utf-8"))
    settings.pop("base_model_name_or_path")
    return json.dumps(settings, sort_keys=True)
