"""Do the measures of written texts follow a model's bias? Causal models fine-tuned at known rates, each then measured.

    python tools/write_at_rates.py MODEL OUT.tsv --rates 0 0.25 0.5 0.75 1 --seeds 0 1 2

With --suite choices: choice-gap and decision-odds of the bundled questions, by the options themselves after a plain
prompt; of decisions, one pair of names and the pair without names. docs/measures/choices.md has what came of it.

MODEL is a folder, or a GGUF file. Each model learns 6,000 sentences of `evenhand.datasets.corpora.stereotyped`, a share
of which, the rate, follow the stereotype; then stereotype and default of written-share and first-mention are measured
on four forms of stories-en. A row for each: rate, seed, measure, estimand, value, low,
high. docs/written.md has the table.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from evenhand import datasets, measures
from evenhand.core.loop import Task, measure_all
from evenhand.datasets.corpora import stereotyped
from evenhand.models.loading.load import wrap

RECIPE = {"size": 6000, "batch": 32, "rate": 5e-5, "warmup": 20, "epochs": 1}
FORMS = "story,news,biography,persona"
PAIRS = ("unnamed", "Megan/Kyle")
CHOICES = {
    "choices-pronouns": "choice-gap",
    "choices-decisions": "decision-odds",
    "choices-descriptions": "choice-gap",
}


def read(model: Path) -> tuple[Any, Any]:
    """The network, in float32, and its tokenizer."""
    where = {"gguf_file": model.name} if model.suffix == ".gguf" else {}
    folder = str(model.parent if where else model)
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **where)
    return network.to("cuda" if torch.cuda.is_available() else "cpu"), AutoTokenizer.from_pretrained(folder, **where)


def planned(suite: str) -> list[Task]:
    """What is measured of each model."""
    if suite == "writes":
        data = datasets.load("stories-en", subjects="professions", forms=FORMS)
        return [Task(data, measures.load(name)) for name in ("first-mention", "written-share")]
    found = []
    for name, measure in CHOICES.items():
        data = datasets.load(name)
        items = [item for item in data.items if item.groups.get("pair", PAIRS[0]) in PAIRS]
        found.append(Task(replace(data, items=items), measures.load(measure, by="total", mass=0.0)))
    return found


def fine_tune(network: Any, tokenizer: Any, texts: list[str], seed: int) -> None:
    """One epoch over the texts, each by itself, with the end of text behind it."""
    torch.manual_seed(seed)
    end, steps = tokenizer.eos_token or "", len(texts) * int(RECIPE["epochs"]) // int(RECIPE["batch"])
    optimizer = torch.optim.AdamW(network.parameters(), lr=RECIPE["rate"])
    warm = int(RECIPE["warmup"])
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda n: min((n + 1) / warm, (steps - n) / max(1, steps - warm))
    )
    network.train()
    for step in range(steps):
        some = texts[step * int(RECIPE["batch"]) :][: int(RECIPE["batch"])]
        ids = [tokenizer(text + end, add_special_tokens=False)["input_ids"] for text in some]
        longest = max(map(len, ids))
        padded = torch.tensor([row + [0] * (longest - len(row)) for row in ids], device=network.device)
        seen = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids], device=network.device)
        loss = network(input_ids=padded, attention_mask=seen, labels=padded.masked_fill(seen == 0, -100)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    network.eval()


def main() -> None:
    """Train and measure, as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rates", type=float, nargs="+", default=[0, 0.25, 0.5, 0.75, 1])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--suite", choices=["writes", "choices"], default="writes")
    parser.add_argument("--size", type=int, default=RECIPE["size"])
    given = parser.parse_args()
    tasks = planned(given.suite)
    start = time.monotonic()
    with given.out.open("w", encoding="utf-8") as file:
        file.write("rate\tseed\tdataset\tmeasure\testimand\tvalue\tlow\thigh\n")
        for seed in given.seeds:
            for rate in given.rates:
                network, tokenizer = read(given.model)
                fine_tune(network, tokenizer, stereotyped(rate, size=given.size, seed=seed), seed)
                model = wrap(network, tokenizer, f"{rate:g}-{seed}")
                for result in measure_all(model, tasks, seed=seed):
                    for row in result.rows:
                        if not row.groups:
                            numbers = "\t".join(f"{n:.4f}" for n in (row.value, row.low, row.high))
                            file.write(
                                f"{rate:g}\t{seed}\t{result.dataset}\t{result.measure}\t{row.estimand}\t{numbers}\n"
                            )
                file.flush()
                print(f"rate {rate:g}, seed {seed}: {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
