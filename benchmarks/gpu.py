"""On a GPU: likelihoods against the machine's bf16 matrix rate and minicons, and BEC-Pro English.

    PYTHONPATH=src python -m benchmarks.gpu [--tiny] [--device cuda] [--out FILE.json]

Needs torch, transformers and the package's source, nothing else; minicons is left out where it is not installed.
"""

import argparse
import csv
import json
import random
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import torch

import evenhand
from benchmarks import shapes
from benchmarks.scoring import likelihoods, minicons, minicons_causal, minicons_likelihoods, minicons_pll
from benchmarks.timing import arithmetic
from evenhand.core.questions import Fill, Likelihood, Span
from evenhand.models import load_masked
from evenhand.models.loading.names import BUNDLED

DATA = Path(evenhand.__file__).parent / "datasets" / "data"
SENTENCES = {"BERT-base": 6_000, "BERT-large": 3_000}
TINY = {"width": 64, "layers": 2, "vocabulary": 16_384}
GOALS = {"BERT-base": 0.30, "BERT-large": 0.40}
HALF = {True: "bfloat16", False: "float32"}  # by whether there is a GPU: few CPUs have bf16
PEER_SENTENCES = 100
BATCH = 10
AGAIN = 3


def main() -> None:
    """Print each row, and write them all as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description="The benchmarks for a GPU.")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--tiny", action="store_true", help="small models and few sentences, to see that it runs")
    parser.add_argument("--out", type=Path, help="a JSON file for the rows")
    arguments = parser.parse_args()
    device, tiny = arguments.device, arguments.tiny
    kept: dict[str, Any] = {
        "date": date.today().isoformat(),
        "machine": torch.cuda.get_device_name(device) if device.startswith("cuda") else "cpu",
        "torch": torch.__version__,
        "transformers": version("transformers"),
        "minicons": version("minicons") if find_spec("minicons") else None,
        "rows": [],
    }
    for name, shape in {"BERT-base": shapes.BASE, "BERT-large": shapes.LARGE}.items():
        with TemporaryDirectory() as folder:
            shapes.bert(Path(folder), **(TINY if tiny else shape))
            kept["rows"] += _told(likelihood(name, folder, device, 20 if tiny else SENTENCES[name]))
            if name == "BERT-base":
                kept["rows"] += _told(becpro(folder, device))
    with TemporaryDirectory() as folder:
        shapes.gpt2(Path(folder), **(TINY if tiny else shapes.BASE))
        kept["rows"] += _told(causal(folder, device, 20 if tiny else SENTENCES["BERT-base"]))
    if arguments.out:
        arguments.out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _told(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        print(json.dumps(row), flush=True)
        yield row


def likelihood(name: str, folder: str, device: str, n: int) -> Iterator[dict[str, Any]]:
    """Share of the bf16 matrix rate, how far bf16 is from float32, and how many times minicons' time."""
    texts = sentences(n)
    half = HALF[device.startswith("cuda")]
    model = load_masked(folder, device=device, dtype=half)
    questions = [Likelihood(text) for text in texts]
    plan, planning = timed(lambda: model.plan(questions), device)
    likelihoods(model, texts[: max(1, n // 10)])  # the first batches pay for starting up
    runs = [(timed(lambda: likelihoods(model, texts), device), rate(device)) for _ in range(AGAIN)]
    (answers, seconds), matrix = min(runs, key=lambda run: run[0][1])
    matrix = max(measured for _, measured in runs)
    done = arithmetic(model, plan.batches) / seconds
    some = slice(0, n, max(1, n // PEER_SENTENCES))
    exact = likelihoods(evenhand.load(folder, device=device), texts[some])
    row = {
        "row": f"PLL, {name} shape, {half}",
        "sentences": n,
        "inputs": plan.inputs,
        "batches": len(plan.batches),
        "padding": 1 - sum(len(ids) for b in plan.batches for ids in b.inputs) / sum(b.tokens for b in plan.batches),
        "seconds": seconds,
        "planning_seconds": planning,
        "teraflops": done / 1e12,
        "bf16_matrix_teraflops": matrix / 1e12,
        "share": done / matrix,
        "goal": GOALS[name],
        "mean_difference_from_float32": _apart(answers[some], exact),
    }
    if find_spec("minicons"):
        peer = minicons(folder, model.tokenizer, device, model.network.dtype)
        minicons_pll(peer, texts[:BATCH], BATCH)
        _, mine = timed(lambda: likelihoods(model, texts), device)
        theirs, taken = timed(lambda: minicons_pll(peer, texts[some], BATCH), device)
        inputs = sum(len(r.reads) for r in model.plan([Likelihood(text) for text in texts[some]]).readings)
        row["minicons_ratio"] = taken / inputs / (mine / plan.inputs)
        row["minicons_sentences"] = len(theirs)
        row["minicons_mean_difference"] = _apart(answers[some], theirs)
    yield row


def causal(folder: str, device: str, n: int) -> Iterator[dict[str, Any]]:
    """Log-likelihoods by a model of GPT-2's shape: how far from float32 and from a CPU, how many times minicons."""
    texts = sentences(n)
    half = HALF[device.startswith("cuda")]
    model = evenhand.load(folder, device=device, dtype=half)
    likelihoods(model, texts[: max(1, n // 10)])
    answers, seconds = min((timed(lambda: likelihoods(model, texts), device) for _ in range(AGAIN)), key=itemgetter(1))
    some = slice(0, n, max(1, n // PEER_SENTENCES))
    exact = likelihoods(evenhand.load(folder, device=device), texts[some])
    here = likelihoods(evenhand.load(folder, device="cpu"), texts[some])
    row = {
        "row": f"Likelihood, GPT-2 shape, {half}",
        "sentences": n,
        "seconds": seconds,
        "mean_difference_from_float32": _apart(answers[some], exact),
        "largest_difference_of_float32_from_cpu": max(abs(a - b) for a, b in zip(exact, here, strict=True)),
    }
    if find_spec("minicons"):
        peer = minicons_causal(folder, model.tokenizer, device, model.network.dtype)
        minicons_likelihoods(peer, texts[:BATCH], BATCH)
        _, mine = timed(lambda: likelihoods(model, texts), device)
        theirs, taken = timed(lambda: minicons_likelihoods(peer, texts[some], BATCH), device)
        row["minicons_ratio"] = taken / len(theirs) / (mine / n)
        row["minicons_sentences"] = len(theirs)
        row["minicons_mean_difference"] = _apart(answers[some], theirs)
    yield row


def _apart(one: Sequence[float], other: Sequence[float]) -> float:
    return mean(abs(a - b) for a, b in zip(one, other, strict=True))


def becpro(folder: str, device: str) -> Iterator[dict[str, Any]]:
    """Seconds from the questions to all answers, in float32 and bf16, the model being loaded and warm."""
    for dtype in dict.fromkeys(("float32", HALF[device.startswith("cuda")])):
        model = evenhand.load(folder, device=device, dtype=dtype)
        questions = becpro_questions()
        model.answer(questions[:200])
        answers, seconds = timed(lambda: model.answer(questions), device)  # noqa: B023
        assert not any(answer.note for answer in answers)
        yield {"row": f"BEC-Pro English, BERT-base shape, {dtype}", "seconds": seconds, "goal": 2.0}


def timed(work: Callable[[], Any], device: str) -> tuple[Any, float]:
    """What it gives, and how long it takes."""
    _wait(device)
    start = time.perf_counter()
    given = work()
    _wait(device)
    return given, time.perf_counter() - start


def rate(device: str) -> float:
    """The bf16 matrix rate: multiplications and additions a second of large square matrices, the best of ten."""
    size = 8192 if device.startswith("cuda") else 256
    left, right = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    return 2 * size**3 / min(timed(lambda: left @ right, device)[1] for _ in range(10))


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def sentences(n: int) -> list[str]:
    """Seeded sentences of 5 to 35 whole words of the bundled vocabulary."""
    pieces = json.loads((BUNDLED / "mini-en" / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    words = [piece for piece in pieces if piece.isalpha() and piece.isascii() and len(piece) > 2]
    rng = random.Random(0)
    return [" ".join(rng.choices(words, k=rng.randint(5, 35))) for _ in range(n)]


def becpro_questions() -> list[Fill]:
    """The questions of `association` about BEC-Pro English, straight from its word lists: pandas may not be there."""
    words = tomllib.loads((DATA / "becpro-en.toml").read_text(encoding="utf-8"))
    with (DATA / "becpro-professions.tsv").open(encoding="utf-8", newline="") as file:
        jobs = [row["profession"] for row in csv.DictReader(file, delimiter="\t")]
    asked = []
    for template in words["templates"]:
        for person in (*words["persons"]["male"], *words["persons"]["female"]):
            for job in jobs:
                start = template.format(person=person, profession="{profession}").index("{profession}")
                text = template.format(person=person.capitalize(), profession=job)
                word = person.capitalize().split()[-1]
                blank = Span(len(person) - len(word), len(person))
                seen = Fill(text, blank, word)
                asked += [seen, Fill(text, blank, word, hidden=(Span(start, start + len(job)),))]
    return asked


if __name__ == "__main__":
    main()
