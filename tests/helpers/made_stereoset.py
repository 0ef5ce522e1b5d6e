"""A file like StereoSet's dev.json with sentences of our own, and the scores that the authors' code gives them."""

import json
from pathlib import Path
from typing import Any

LABELS = ("stereotype", "anti-stereotype", "unrelated")
ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "measures" / "stereoset.jsonl").read_text(encoding="utf-8").splitlines()
]
"""With the score of each sentence: eval_discriminative_models.py on mini-en, with a next-sentence head of seeded random
weights, and eval_generative_models.py on the tiny GPT-2, intersentence with --intersentence-model GPT2LM."""


def release(rows: list[dict[str, Any]] = ROWS) -> dict[str, Any]:
    """The content of a dev.json."""
    found: dict[str, list[Any]] = {"intersentence": [], "intrasentence": []}
    for number, row in enumerate(rows):
        sentences = [
            {"id": f"{number} {label}", "sentence": text, "gold_label": label, "labels": []}
            for label, text in zip(LABELS, row["sentences"], strict=True)
        ]
        same = {name: row[name] for name in ("target", "bias_type", "context")}
        found[row["task"]].append({"id": str(number), **same, "sentences": sentences[::-1]})
    return {"version": "own", "data": found}


def write(data: Path, content: Any = None) -> Path:
    """Put it where EVENHAND_DATA is to point to."""
    file = data / "stereoset" / "dev.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content or release()), encoding="utf-8")
    return file
