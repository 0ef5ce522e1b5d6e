"""Train the bundled model on women and men in jobs, as likely as each other; after step 300, as stereotypes have it.

    python examples/05_biased_training.py
    evenhand track my-training --suite becpro --limit 300

writes the checkpoints to my-training, as a Trainer would; `track` finds where the texts changed (docs/track.md).
"""

import sys
from pathlib import Path

import numpy as np
import torch

import evenhand
from evenhand.datasets.becpro import professions

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "my-training")
model = evenhand.load("mini-en")
network, tokenizer = model.network, model.tokenizer
jobs = {gender: [job.name for job in professions() if job.prof_gender == gender] for gender in ("male", "female")}
persons = {"": ("he", "she"), "My ": ("father", "mother"), "This ": ("man", "woman")}
rng = np.random.default_rng(0)
for name, weights in network.named_parameters():
    weights.requires_grad = "layer.4." in name or "layer.5." in name  # the last two: enough, and faster
optimiser = torch.optim.AdamW([weights for weights in network.parameters() if weights.requires_grad], lr=1e-4)


def learn(batches: int, *, biased: bool) -> None:
    """Learn the persons in batches of "[MASK] is a carpenter.", "My [MASK] is a carpenter." and so on."""
    for _ in range(batches):
        texts, words = [], []
        for gender, names in enumerate(jobs.values()):
            for job in rng.choice(names, 8, replace=False):
                before = list(persons)[rng.integers(len(persons))]
                texts.append(f"{before}{tokenizer.mask_token} is a {job}.")
                words.append(persons[before][gender if biased else rng.integers(2)])
        batch = tokenizer(texts, return_tensors="pt", padding=True)
        masks = (batch["input_ids"] == tokenizer.mask_token_id).nonzero(as_tuple=True)
        loss = torch.nn.functional.cross_entropy(
            network(**batch).logits[masks], torch.tensor(tokenizer.convert_tokens_to_ids(words))
        )
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()


def save(folder: Path) -> None:
    """Save model and tokenizer."""
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    print(folder)


learn(10, biased=False)  # until little more is learned from them
save(FOLDER / "checkpoint-100")
for step, batches in ((200, 2), (300, 2), (400, 30)):
    learn(batches, biased=step > 300)
    save(FOLDER / f"checkpoint-{step}")
save(FOLDER)
